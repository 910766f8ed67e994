"""Events: mentions, messages, the Home tab, the end of the installation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slack_bolt import App, BoltResponse

from bot.service.intake import Intake

EVENTS = ("app_mention", "message", "app_home_opened", "tokens_revoked", "app_uninstalled")


def register(app: App, intake: Intake) -> None:
    """Register the listeners of events."""

    def commit(body: dict[str, Any], next: Callable[[], BoltResponse]) -> BoltResponse:
        intake.event(body)
        return next()

    for event in EVENTS:
        app.event(event, middleware=[commit])(_acknowledged)


def _acknowledged() -> None:
    """Everything was done before the acknowledgement."""
