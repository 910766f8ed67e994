"""The slash command `/k3`."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App, Respond

from bot.service.forms import Forms
from bot.service.intake import Intake


def register(app: App, intake: Intake, forms: Forms) -> None:
    """Register the command."""

    @app.command("/k3")
    def k3(ack: Ack, body: dict[str, Any], respond: Respond) -> None:
        verb, rest = [*str(body.get("text") or "").split(maxsplit=1), "", ""][:2]
        user, channel = str(body["user_id"]), str(body["channel_id"])
        if verb == "diagnose" and rest.strip():
            intake.typed(body, via="command", user=user, channel=channel, text=rest.strip())
            ack()
            return
        fresh = intake.seen(body)
        ack()
        if fresh:
            told = [] if verb in ("", "help", "diagnose") else [forms.text(user, "service.unknown_command")]
            respond(text="\n".join([*told, forms.text(user, "service.help")]), response_type="ephemeral")
