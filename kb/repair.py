"""Undo what Slack, forums, terminals and screenshots do to a pasted log, and tell the person's words from the log.

Raw line numbers are kept: a line put together from several parts carries the number of the first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb.columns import Column
from kb.decoration import Numbered, straight, undecorated, unfenced, unnumbered, unquoted
from kb.prose import NATIVE, is_personal, is_report, is_retyped, is_sentence, looks_like_log
from kb.records import Records
from kb.wrapping import Row, unwrap

_TOP = 12
_BOTTOM = 6
_LONG = 400
_SHORT = 12
_RECORD = re.compile(r'\{ ?"[\w.@-]{1,40}" ?: ?["\d{\[]')


@dataclass(frozen=True, slots=True)
class Paste:
    """A paste after repair: its lines in order as (raw number, text), and the person's own words among them."""

    lines: list[tuple[int, str]]
    prose: str
    prose_numbers: frozenset[int]
    joined: frozenset[int]
    """Raw numbers of the lines that were put together from several."""


def repair(raw: list[tuple[int, str]], column: Column | None = None) -> Paste:
    """Repair the lines of a paste, given as (raw number, text without its line end); `column` as `find_column` told."""
    lines = unnumbered(unquoted(straight(raw)))
    fenced, lines = unfenced(lines)
    bare, lines = undecorated(lines)
    rows = _rows(lines, fenced, bare, column)
    whole = unwrap(rows)
    before = {row.number: row.text for row in rows} if len(whole) < len(rows) else {}
    joined = frozenset(row.number for row in whole if before.get(row.number, row.text) != row.text)
    whole = _without_json(whole)
    prose_rows = _prose(whole, fenced, bare)
    numbers = frozenset(row.number for row in prose_rows)
    prose = "\n".join(row.text.strip() for row in prose_rows)
    return Paste([(row.number, row.text) for row in whole], prose, numbers, joined)


def _rows(lines: Numbered, fenced: set[int], bare: set[int], column: Column | None) -> list[Row]:
    """The lines, each with what is known of it. Sentences above the log are no part of what was wrapped."""
    rows = []
    above = True
    for number, text in lines:
        in_column = column is not None and column.take(text) is not None
        log = in_column or _RECORD.match(text) is not None or looks_like_log(text)
        above = above and not log and number not in fenced
        words = number not in fenced and not log and (above or NATIVE.match(text) is not None) and is_sentence(text)
        rows.append(Row(number, text, log, number in bare or words))
    return rows


def _without_json(rows: list[Row]) -> list[Row]:
    """The rows with log records in JSON taken out of it, which repair may have made whole again."""
    if not any(_RECORD.match(row.text) for row in rows):
        return rows
    records = Records()
    out = []
    for row in rows:
        if not _RECORD.match(row.text):
            out.append(row)
            continue
        for number, text in records.unwrap([(row.number, row.text.encode("utf-8", "replace"))]):
            message = text.decode("utf-8", "replace")
            out.append(row._replace(number=number, text=message, log=row.log or looks_like_log(message)))
    for number, text in records.finish():
        out.append(Row(number, text.decode("utf-8", "replace"), log=True, fixed=False))
    return out


def _prose(rows: list[Row], fenced: set[int], bare: set[int]) -> list[Row]:
    """The rows that are a person's own words."""
    marks = [at for at, row in enumerate(rows) if row.log]
    open_rows = [row for row in rows if not row.log and row.number not in fenced and row.number not in bare]
    if not marks and not fenced:
        found = [row for row in open_rows if is_sentence(row.text)]
        retyped = found and len(open_rows) <= _SHORT
        return [row for row in open_rows if is_retyped(row.text) or row in found] if retyped else found
    apart = _apart(rows, marks)
    found = [row for row in open_rows if is_sentence(row.text) and _beside_log(row, apart)]
    if len(found) == 1 and len(rows) > _LONG and not fenced and found[0] not in [*rows[:_BOTTOM], *rows[-_BOTTOM:]]:
        return []  # one odd line within a long log is no message of a person
    return found


def _apart(rows: list[Row], marks: list[int]) -> set[int]:
    """Raw numbers of the lines above the log, and of those below it that a blank line parts from it."""
    if not marks:
        return {row.number for row in rows}
    below = next((at for at in range(marks[-1], len(rows)) if not rows[at].text.strip()), len(rows))
    return {row.number for row in [*rows[: min(marks[0], _TOP)], *rows[max(below, len(rows) - _BOTTOM) :]]}


def _beside_log(row: Row, apart: set[int]) -> bool:
    """Whether a sentence in a paste with a log is a person's."""
    return is_personal(row.text) or (row.number in apart and not row.text[:1].isspace() and is_report(row.text))
