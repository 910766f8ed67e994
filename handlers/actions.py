"""Buttons, checkboxes and menus of an answer."""

from __future__ import annotations

import re
from typing import Any

from slack_bolt import Ack, App

from bot.rendering import ids
from bot.service.forms import Forms
from bot.service.intake import Intake

_HOME = "home"
"""The block of the Home tab whose menu chooses a person's own language."""
_AT_ONCE = {
    ids.RESOLVED: "resolved",
    ids.REOPEN: "reopen",
    ids.ALTERNATIVES: "alternatives",
    ids.REPORT_FILE: "report",
    ids.DELETE_INCIDENT: "delete",
}


def register(app: App, intake: Intake, forms: Forms) -> None:
    """Register the listeners of actions."""

    @app.action(ids.WRONG)
    def wrong(ack: Ack, body: dict[str, Any], action: dict[str, Any]) -> None:
        incident = ids.incident_of(action) or ""
        fresh = intake.seen(body)
        ack()
        if fresh:
            forms.open_wrong(body, incident)

    @app.action(re.compile(".*"))
    def other(ack: Ack, body: dict[str, Any], action: dict[str, Any]) -> None:
        name, values = _read(body, action)
        if name == "language" and action.get("block_id") == _HOME:
            intake.prefer(body, str(values["language"]))
        elif name is not None:
            incident = ids.incident_of(action) or ""
            intake.action(body, name=name, incident=incident, values={**values, **_place(body)})
        ack()


def _place(body: dict[str, Any]) -> dict[str, Any]:
    message = body.get("message") or {}
    return {"thread_ts": message.get("thread_ts") or message.get("ts")}


def _read(body: dict[str, Any], action: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """(what was done, with which values); (None, …) for links and whatever is not ours."""
    action_id = str(action.get("action_id"))
    if action_id in _AT_ONCE:
        return _AT_ONCE[action_id], {}
    section = ids.section_of(action_id)
    if section is not None:
        return f"{ids.SHOW_MORE}:{section}", {}
    if action_id == ids.LANGUAGE_SELECT:
        return "language", {"language": (action.get("selected_option") or {}).get("value")}
    if action_id == ids.TICK:
        blocks = (body.get("message") or {}).get("blocks") or []
        return "tick", {
            "block_id": action.get("block_id"),
            "chosen": [option["value"] for option in action.get("selected_options") or []],
            "blocks": [_options(block) for block in blocks if str(block.get("block_id", "")).startswith(ids.TICK)],
        }
    return None, {}


def _options(block: dict[str, Any]) -> dict[str, Any]:
    elements = block.get("elements") or []
    options = [[{"value": option["value"]} for option in element.get("options") or []] for element in elements]
    return {"block_id": block.get("block_id"), "elements": [{"options": one} for one in options]}
