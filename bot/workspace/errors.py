"""Errors of the workspace.

WorkspaceError (a BotError)
├── SlackError      what the Web API answers with: {"ok": false, "error": code}
├── ManifestError   the app manifest cannot be used
└── PersonError     a person cannot do this: no such button, no such command
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bot.errors import BotError


class WorkspaceError(BotError):
    """Base of all errors of this package."""


class ManifestError(WorkspaceError):
    """The app manifest cannot be used."""


class PersonError(WorkspaceError):
    """A person cannot do this in Slack."""


class SlackError(WorkspaceError):
    """A refusal by Slack's own name, with its explanations and further fields."""

    def __init__(self, code: str, messages: Iterable[str] = (), **extra: Any) -> None:
        self.code = code
        self.messages = tuple(messages)
        self.extra = extra
        super().__init__(f"{code}: {'; '.join(self.messages)}" if self.messages else code)

    def answer(self) -> dict[str, Any]:
        """The body Slack sends."""
        body: dict[str, Any] = {"ok": False, "error": self.code, **self.extra}
        if self.messages:
            body["errors"] = list(self.messages)
            body["response_metadata"] = {"messages": [f"[ERROR] {text}" for text in self.messages]}
        return body
