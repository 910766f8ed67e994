"""Errors of the knowledge base.

KbError
├── EntryError        an entry or a layer file is not valid
└── UnknownEntryError no entry has this id
"""


class KbError(Exception):
    """Base of all errors of this package; its text is one sentence for a person."""


class EntryError(KbError):
    """An entry is not valid. `problems` holds one sentence per problem."""

    def __init__(self, where: str, problems: list[str]) -> None:
        self.where = where
        self.problems = problems
        super().__init__(f"{where}: " + "; ".join(problems))


class UnknownEntryError(KbError):
    """No entry has the id asked for."""
