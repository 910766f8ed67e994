"""Shortcuts: "Diagnose this message" on a message, "Diagnose a log" anywhere."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from bot.rendering import ids
from bot.service.forms import Forms
from bot.service.intake import Intake


def register(app: App, intake: Intake, forms: Forms) -> None:
    """Register the shortcuts."""

    @app.message_shortcut(ids.DIAGNOSE_MESSAGE)
    def diagnose_message(ack: Ack, body: dict[str, Any]) -> None:
        intake.shortcut(body)
        ack()

    @app.global_shortcut(ids.DIAGNOSE_TEXT)
    def diagnose_text(ack: Ack, body: dict[str, Any]) -> None:
        fresh = intake.seen(body)
        ack()
        if fresh:
            forms.open_text(body)
