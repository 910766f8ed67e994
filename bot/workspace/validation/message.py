"""Checks of a message as a whole: text, blocks, attachments, metadata."""

from __future__ import annotations

import json
from typing import Any

from bot.workspace import limits
from bot.workspace.errors import SlackError
from bot.workspace.model import Json
from bot.workspace.validation.blocks import check_blocks, text_total


def check_content(text: str, blocks: Any, attachments: Any, *, text_max: int = limits.TEXT_MAX) -> None:
    """Raise the SlackError with which Slack refuses this content."""
    if blocks is not None and not isinstance(blocks, list):
        raise SlackError("invalid_blocks_format")
    if attachments is not None and not isinstance(attachments, list):
        raise SlackError("invalid_arguments", ["must provide an array [json-pointer:/attachments]"])
    if not text.strip() and not blocks and not attachments:
        raise SlackError("no_text")
    if len(text) > text_max:
        raise SlackError("msg_too_long")
    problems = check_blocks(blocks or [])
    if problems:
        raise SlackError("invalid_blocks", problems)
    if text_total(blocks or []) > limits.BLOCKS_TEXT_TOTAL:
        raise SlackError("msg_blocks_too_long")
    if len(attachments or []) > limits.ATTACHMENTS:
        raise SlackError("too_many_attachments")
    for number, attachment in enumerate(attachments or []):
        found = check_blocks(attachment.get("blocks") or [], at=f"/attachments/{number}/blocks")
        if found:
            raise SlackError("invalid_attachments", found)


def check_metadata(metadata: Any) -> Json | None:
    """The metadata to store; None when an empty object asks to remove it. Raises SlackError."""
    if not isinstance(metadata, dict):
        raise SlackError("invalid_metadata_format")
    if not metadata:
        return None
    if not isinstance(metadata.get("event_type"), str) or not isinstance(metadata.get("event_payload"), dict):
        raise SlackError("invalid_metadata_format")
    if len(json.dumps(metadata["event_payload"], ensure_ascii=False).encode()) > limits.METADATA_BYTES:
        raise SlackError("metadata_too_large")
    return {"event_type": metadata["event_type"], "event_payload": metadata["event_payload"]}
