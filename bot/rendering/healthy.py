"""What an answer says where nothing of vLLM failed: that the server is well, or that the log is another engine's."""

from __future__ import annotations

from bot.catalogue import say
from kb.report import ELSEWHERE, HEALTHY, Report, ReportNote

_HEADLINES = (HEALTHY, ELSEWHERE)


def nothing_failed(report: Report) -> tuple[str, str]:
    """(headline, a sentence more or nothing) of a report in which nothing failed."""
    note = next((note for note in report.notes if note.entry in _HEADLINES), None)
    return (note.title, note.text) if note else (say(report.language, "outcome.unrelated"), "")


def other_notes(report: Report) -> list[ReportNote]:
    """The notes but the one that is the headline."""
    return [note for note in report.notes if note.entry not in _HEADLINES]
