"""What an answer says where nothing failed: that the server is well, if the log shows it; then the notes."""

from __future__ import annotations

from bot.catalogue import say
from kb.report import HEALTHY, Report, ReportNote


def nothing_failed(report: Report) -> tuple[str, str]:
    """(headline, a sentence more or nothing) of a report in which nothing failed."""
    note = next((note for note in report.notes if note.entry == HEALTHY), None)
    return (note.title, note.text) if note else (say(report.language, "outcome.unrelated"), "")


def other_notes(report: Report) -> list[ReportNote]:
    """The notes but the one that is the headline."""
    return [note for note in report.notes if note.entry != HEALTHY]
