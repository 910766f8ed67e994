"""What a tool puts in front of every line of a whole file, where one line does not tell: pod, service, task, host.

stern (`pod container text`), Docker Compose (`service-1  | text`), `srun --label` (`3: text`), pdsh and clush
(`node01: text`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from enum import Enum

_SAMPLE = 400
_FIRST = 20


class Column(Enum):
    """A column of one tool."""

    STERN = re.compile(r"(?:[+-] )?([a-z0-9][a-z0-9.-]{0,252}-[a-z0-9]{1,63})(?: ›)? [a-z][a-z0-9.-]{0,62}(?: |$)")
    COMPOSE = re.compile(r"([A-Za-z0-9][\w.-]{0,100}) {1,100}\|(?: |$)", re.ASCII)
    TASK = re.compile(r" {0,4}([0-9]{1,5}): ?")
    HOST = re.compile(r"([A-Za-z][A-Za-z0-9.-]{0,100}): ?")

    def take(self, text: str) -> tuple[int, str, str | None] | None:
        """Where the rest of the line starts, the unit, and the host where the column names one; None without column."""
        match = self.value.match(text)
        if match is None:
            return None
        unit = match.group(1)
        return match.end(), unit, unit if self in (Column.STERN, Column.HOST) else None


def find_column(sample: Iterable[str]) -> Column | None:
    """The column in front of nearly all lines of a file, or None: its values recur, as no word of a message does."""
    lines = [text for text, _ in zip(sample, range(_SAMPLE), strict=False) if text.strip()]
    if len(lines) < 3:
        return None
    for column in Column:
        if sum(column.take(text) is not None for text in lines[:_FIRST]) < 0.5 * min(len(lines), _FIRST):
            continue
        units: Counter[str] = Counter()
        for text in lines:
            cell = column.take(text)
            if cell is not None:
                units[cell[1]] += 1
        share = units.total() / len(lines)
        if share >= _NEEDED[column] and units.most_common(1)[0][1] >= 2 and _believable(column, units):
            return column
    return None


_NEEDED = {Column.STERN: 0.8, Column.COMPOSE: 0.9, Column.TASK: 0.95, Column.HOST: 0.95}


def _believable(column: Column, units: Counter[str]) -> bool:
    recurring = sum(count for count in units.values() if count >= 2) >= 0.6 * units.total()
    numbered = sum(count for unit, count in units.items() if any(ch.isdigit() for ch in unit)) >= 0.8 * units.total()
    if column is Column.COMPOSE:
        return recurring and len(units) <= max(3, units.total() / 4)
    return recurring and numbered and len(units) <= max(2, units.total() / 2)
