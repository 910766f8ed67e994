"""Submitted forms."""

from __future__ import annotations

import json
from typing import Any

from slack_bolt import Ack, App

from bot.rendering import ids
from bot.service.forms import Forms
from bot.service.intake import Intake


def register(app: App, intake: Intake, forms: Forms) -> None:
    """Register the listeners of forms."""

    @app.view(ids.DIAGNOSE_TEXT_VIEW)
    def diagnose_text(ack: Ack, body: dict[str, Any], view: dict[str, Any]) -> None:
        text = _value(view, ids.TEXT_BLOCK, ids.TEXT_INPUT).strip()
        if text:
            user = str(body["user"]["id"])
            intake.typed(body, via="form", user=user, channel=user, text=text)
            ack(response_action="update", view=forms.notice(user, "service.reading"))
        else:
            ack()

    @app.view(ids.WRONG_VIEW)
    def wrong(ack: Ack, body: dict[str, Any], view: dict[str, Any]) -> None:
        entry = _value(view, ids.WRONG_ENTRY_BLOCK, ids.WRONG_ENTRY_INPUT)
        text = _value(view, ids.WRONG_TEXT_BLOCK, ids.WRONG_TEXT_INPUT).strip()
        if not entry and not text:
            need = forms.text(str(body["user"]["id"]), "slack.wrong_modal.need_one")
            ack(response_action="errors", errors={ids.WRONG_TEXT_BLOCK: need})
            return
        intake.action(body, name="wrong", incident=_incident(view), values={"entry": entry, "text": text})
        ack()

    @app.view(ids.LANGUAGE_VIEW)
    def language(ack: Ack, body: dict[str, Any], view: dict[str, Any]) -> None:
        chosen = _value(view, ids.LANGUAGE_BLOCK, ids.LANGUAGE_INPUT)
        intake.action(body, name="language", incident=_incident(view), values={"language": chosen})
        ack()


def _value(view: dict[str, Any], block: str, action: str) -> str:
    state = ((view.get("state") or {}).get("values") or {}).get(block, {}).get(action) or {}
    chosen = state.get("selected_option") or {}
    return str(state.get("value") or chosen.get("value") or "")


def _incident(view: dict[str, Any]) -> str:
    """The incident in `private_metadata`, which is its id or JSON that holds it."""
    raw = str(view.get("private_metadata") or "")
    try:
        data = json.loads(raw)
    except ValueError:
        return raw
    return str(data.get("incident_id") or data.get("incident") or "") if isinstance(data, dict) else str(data)
