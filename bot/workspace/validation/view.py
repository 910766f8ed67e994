"""Checks of views: modals and the Home tab."""

from __future__ import annotations

import json
from typing import Any

from bot.workspace import limits
from bot.workspace.errors import SlackError
from bot.workspace.validation.blocks import Surface, check_blocks
from bot.workspace.validation.problems import Problems

_KNOWN = (
    *("type", "title", "submit", "close", "blocks", "private_metadata", "callback_id", "clear_on_close"),
    *("notify_on_close", "external_id", "submit_disabled"),
)


def check_view(view: Any, kind: Surface) -> None:
    """Raise the SlackError with which Slack refuses `view`, which must be a "modal" or a "home"."""
    if not isinstance(view, dict):
        raise SlackError("invalid_arguments", ["must provide an object [json-pointer:/view]"])
    problems = Problems()
    if view.get("type") != kind:
        problems.add("/view/type", f"must be {kind}, found {view.get('type')}")
    problems.known_keys(view, "/view", _KNOWN)
    problems.required(view, "/view", "blocks", *(("title",) if kind == "modal" else ()))
    problems.plain(view.get("title"), "/view/title", limits.VIEW_TITLE)
    problems.plain(view.get("submit"), "/view/submit", limits.VIEW_BUTTON)
    problems.plain(view.get("close"), "/view/close", limits.VIEW_BUTTON)
    problems.string(view.get("private_metadata"), "/view/private_metadata", limits.PRIVATE_METADATA)
    problems.string(view.get("callback_id"), "/view/callback_id", limits.CALLBACK_ID)
    problems.string(view.get("external_id"), "/view/external_id", limits.EXTERNAL_ID)
    blocks = view.get("blocks")
    found = problems.found + (check_blocks(blocks, kind, "/view/blocks") if blocks is not None else [])
    has_input = isinstance(blocks, list) and any(isinstance(one, dict) and one.get("type") == "input" for one in blocks)
    if kind == "modal" and has_input and not view.get("submit"):
        found.append("must define `submit` to use an `input` block in modals [json-pointer:/view]")
    if found:
        raise SlackError("invalid_arguments", found)
    if len(json.dumps(view, ensure_ascii=False).encode()) > limits.VIEW_BYTES:
        raise SlackError("view_too_large")
