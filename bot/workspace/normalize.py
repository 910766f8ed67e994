"""What Slack makes of an app's blocks and text before it stores them."""

from __future__ import annotations

import re
from typing import Any

from bot.workspace.composer import escape
from bot.workspace.ids import Ids
from bot.workspace.model import Json
from bot.workspace.validation.blocks import elements_of

# <@U1>, <#C1|name>, <!here>, <https://x|label>, <mailto:x>, <!date^1^{date} at {time}^https://x|fallback>:
# everything else in angle brackets is text
_CONTROL = re.compile(
    r"<(?:(?:[@#!][^<>\s|]+|(?:https?|mailto|tel|slack):[^<>\s|]+)(?:\|[^<>]*)?"
    r"|!date\^\d+\^[^<>|^]+(?:\^[^<>\s|]+)?\|[^<>]+)>"
)
_ENTITY = re.compile(r"&(?:amp|lt|gt);")


def normalize_text(text: str) -> str:
    """Escape what is neither markup nor escaped already."""
    return _outside(_CONTROL, text, lambda plain: _outside(_ENTITY, plain, escape))


def normalize_blocks(ids: Ids, blocks: list[Json]) -> list[Json]:
    """A copy with a block_id on every block, an action_id on every element, and text objects made explicit."""
    copies: list[Json] = [_explicit(block) for block in blocks]
    for block in copies:
        if not block.get("block_id"):
            block["block_id"] = ids.short("b")
        for element in elements_of(block):
            if not element.get("action_id"):
                element["action_id"] = ids.short("a")
    return copies


def _explicit(value: Any) -> Any:
    if isinstance(value, list):
        return [_explicit(item) for item in value]
    if not isinstance(value, dict):
        return value
    copy = {key: _explicit(item) for key, item in value.items()}
    if copy.get("type") == "plain_text":
        copy.setdefault("emoji", True)
        copy["text"] = normalize_text(copy["text"])
    elif copy.get("type") == "mrkdwn":
        copy.setdefault("verbatim", False)
        copy["text"] = normalize_text(copy["text"])
    return copy


def _outside(pattern: re.Pattern[str], text: str, change: Any) -> str:
    parts, position = [], 0
    for match in pattern.finditer(text):
        parts += [change(text[position : match.start()]), match.group()]
        position = match.end()
    return "".join((*parts, change(text[position:])))
