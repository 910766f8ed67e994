"""Why a file of Slack's was not read, as a code in the evidence and in words in a report.

The evidence is read once and put into words in every language, so the code travels: `files.too_large|1 GiB`.
"""

from __future__ import annotations

from dataclasses import replace

from bot.catalogue import say
from kb.evidence import NotRead
from kb.report import Report

PREFIX = "files."


def coded(item: NotRead) -> NotRead:
    """The item with its detail in its reason, where the reason is one of ours."""
    if not item.reason.startswith(PREFIX) or not item.detail:
        return item
    return replace(item, reason=f"{item.reason}|{item.detail}")


def in_words(report: Report) -> Report:
    """The report with our reasons in words of its language."""
    items = report.coverage.not_read
    if not any(one.reason.startswith(PREFIX) for one in items):
        return report
    worded = [one.model_copy(update={"reason": _words(one.reason, report)}) for one in items]
    return report.model_copy(update={"coverage": report.coverage.model_copy(update={"not_read": worded})})


def _words(reason: str, report: Report) -> str:
    if not reason.startswith(PREFIX):
        return reason
    key, _, detail = reason.partition("|")
    try:
        return say(report.language, key, detail=detail)
    except KeyError:
        return reason
