"""Slack's limits and our own, checked on finished blocks without any code of the renderer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from bot.rendering.message import OutgoingMessage
from bot.workspace.validation import check_content

Json = dict[str, Any]
MENTION = r"<@[UWB][A-Z0-9]+>"
DATE = r"<!date\^-?\d+\^\{date_short_pretty\} \{time\}\|[0-9: -]+ UTC>"
TICKS = re.compile(rf"✓ (?:\d+ (?:{MENTION}|\?)(?: {DATE})?(?: · )?)+")
UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def walk(value: Any) -> Iterator[Json]:
    """Every object in a JSON value."""
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from walk(item)
    elif isinstance(value, list):
        for item in value:
            yield from walk(item)


def escaped(text: str) -> int:
    """Characters of a text once Slack has escaped it, in UTF-16."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def texts(value: Any) -> list[str]:
    """Every text and address in a JSON value."""
    found = [one[key] for one in walk(value) for key in ("text", "url") if isinstance(one.get(key), str)]
    return found + [one["user_id"] for one in walk(value) if one.get("type") == "user"]


def assert_within_limits(message: OutgoingMessage) -> None:
    """The message is one that Slack takes, within our own budget, with nothing alive in it."""
    blocks = message.blocks
    assert 1 <= len(blocks) <= 50
    assert sum(map(escaped, texts(blocks))) <= 13_000
    json.dumps(blocks, ensure_ascii=False).encode("utf-8")
    block_ids = [block["block_id"] for block in blocks if "block_id" in block]
    assert len(block_ids) == len(set(block_ids))
    for block in blocks:
        assert escaped("".join(texts(block))) <= 3_000 or block["type"] == "actions"
    for one in walk(blocks):
        _check(one)
    assert 1 <= len(message.text) <= 3_000
    assert not re.search(r"[<>`]|@(?i:here|channel|everyone)|&(?!amp;|lt;|gt;)|://", message.text)
    assert not UNSEEN.search(message.text.replace("\u2060", ""))
    check_content(message.text, blocks, None)  # the local workspace's own opinion


def _check(one: Json) -> None:
    kind = one.get("type")
    for key in ("block_id", "action_id"):
        assert len(one.get(key, "")) <= 255
    assert len(one.get("value", "")) <= 2_000
    if isinstance(one.get("text"), str):
        assert one["text"] != ""
        assert not UNSEEN.search(one["text"])
        assert escaped(one["text"]) <= 3_000
    if kind == "mrkdwn":
        assert TICKS.fullmatch(one["text"])
    if kind == "plain_text":
        assert one["emoji"] is False
    if kind == "header":
        assert escaped(one["text"]["text"]) <= 150
    if kind == "button":
        assert escaped(one["text"]["text"]) <= 75
    if kind == "checkboxes":
        assert 1 <= len(one["options"]) <= 10
        assert all(option in one["options"] for option in one.get("initial_options", []))
        assert len({option["value"] for option in one["options"]}) == len(one["options"])
    if "options" in one:
        for option in one["options"]:
            assert escaped(option["text"]["text"]) <= 75
            assert escaped(option.get("description", {}).get("text", "")) <= 75
            assert 1 <= len(option["value"]) <= 150
    if "confirm" in one and isinstance(one["confirm"], dict) and "title" in one["confirm"]:
        sizes = {"title": 100, "text": 300, "confirm": 30, "deny": 30}
        assert all(escaped(one["confirm"][name]["text"]) <= size for name, size in sizes.items())
    if str(kind).startswith("rich_text"):
        assert one["elements"]
    if kind == "link":
        assert re.fullmatch(r"https?://[^\s<>|\"]{1,3000}", one["url"])
