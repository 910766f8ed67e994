"""Errors of the knowledge base.

KbError
├── EntryError        an entry or a layer file is not valid
└── UnknownEntryError no entry has this id
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class KbError(Exception):
    """Base of all errors of this package; its text is one sentence for a person."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing to mend in a file, as a sentence for the person who wrote it, and its line, from 1, if it has one."""

    text: str
    line: int | None = None

    def __str__(self) -> str:
        return self.text if self.line is None else f"line {self.line}: {self.text}"


class EntryError(KbError):
    """A file of the knowledge base is not valid, or a directory of it is not there."""

    def __init__(self, where: str, mistakes: Sequence[Mistake | str]) -> None:
        self.where = where
        self.mistakes = [Mistake(item) if isinstance(item, str) else item for item in mistakes]
        super().__init__(f"{where}: " + "; ".join(map(str, self.mistakes)))


class UnknownEntryError(KbError):
    """No entry has the id asked for."""
