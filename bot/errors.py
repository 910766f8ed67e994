"""Errors of the application.

BotError
├── AnalysisDied   the process that reads logs is gone
├── BundleError    an input cannot be opened at all
├── StoreError     the database cannot be used
├── UsageError     the command was given something it cannot use
└── WorkReturned   a worker gives its work back, unfinished
"""


class BotError(Exception):
    """Base of all errors of this package; its text is one sentence for a person and a next step."""


class AnalysisDied(BotError):
    """The process that reads logs is gone, as when a library of native code crashed."""


class BundleError(BotError):
    """An input cannot be opened at all."""


class UsageError(BotError):
    """The command was given something it cannot use."""


class StoreError(BotError):
    """The database cannot be used."""


class WorkReturned(BotError):
    """A worker gives its work back, unfinished; another takes it."""
