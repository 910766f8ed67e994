"""A message as a person reads it: plain text of its blocks, names for ids, and what can be pressed or ticked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.workspace.errors import SlackError
from bot.workspace.inputs import Key, find_option, initial, options_of
from bot.workspace.model import Json, Message
from bot.workspace.validation.blocks import elements_of

if TYPE_CHECKING:
    from bot.workspace.workspace import Workspace

_MARKUP = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_PINGS = re.compile(r"<(?:@[UW]|![a-z]|!subteam)[^<>]*>")


@dataclass(frozen=True, slots=True)
class Tick:
    """An option of checkboxes."""

    value: str
    text: str
    ticked: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A message on the screen. `pings` are the mentions in it that notify somebody."""

    author: str
    text: str
    message: Message
    buttons: tuple[str, ...] = ()
    ticks: tuple[Tick, ...] = ()
    files: tuple[str, ...] = ()
    pings: tuple[str, ...] = ()

    @property
    def ts(self) -> str:
        """Its timestamp."""
        return self.message.ts

    @property
    def ephemeral(self) -> bool:
        """Whether only this reader sees it."""
        return self.message.visible_to is not None

    @property
    def edited(self) -> bool:
        """Whether Slack says "(edited)"."""
        return self.message.edited is not None


def show(workspace: Workspace, message: Message, reader: str) -> Shown:
    """What `reader` (a user id) sees of `message`."""
    blocks = message.blocks
    text = "\n".join(blocks_text(workspace, blocks)) if blocks else plain(workspace, message.text)
    values = workspace.log.values(message, reader)
    elements = [(block, element) for block in blocks for element in elements_of(block)]
    return Shown(
        author=author_name(workspace, message),
        text=text,
        message=message,
        buttons=tuple(one["text"]["text"] for _, one in elements if one["type"] == "button"),
        ticks=tuple(
            tick for block, one in elements if one["type"] == "checkboxes" for tick in _ticks(block, one, values)
        ),
        files=tuple(file.name for file in workspace.files_of(message)),
        pings=tuple(_PINGS.findall("\n".join(_strings(list(blocks)) if blocks else [message.text]))),
    )


def author_name(workspace: Workspace, message: Message) -> str:
    """Who is shown as the author."""
    if message.username:
        return message.username
    try:
        return workspace.directory.user(message.user or "").real_name
    except SlackError:
        return "Slackbot"


def plain(workspace: Workspace, text: str) -> str:
    """Slack's escaped text with mentions and links as they are read, and entities undone."""

    def name(match: re.Match[str]) -> str:
        sigil, body, label = match.groups()
        try:
            if sigil == "@":
                return f"@{workspace.directory.user(body).real_name}"
            if sigil == "#":
                return f"#{workspace.directory.channel(body).name}"
            if sigil == "!" and body.startswith("subteam^"):
                return f"@{workspace.directory.group(body.removeprefix('subteam^')).handle}"
        except SlackError:
            return match.group()
        if sigil == "!":
            return label or f"@{body}"
        return label or body

    return _MARKUP.sub(name, text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def blocks_text(workspace: Workspace, blocks: Iterable[Json]) -> list[str]:
    """The text of blocks, one entry a block or element, from top to bottom."""
    lines: list[str] = []
    for block in blocks:
        kind = block["type"]
        if kind == "rich_text":
            lines.append("\n".join(rich_text(workspace, element) for element in block["elements"]))
        elif kind == "table":
            lines += [" | ".join(_cell(workspace, cell) for cell in row) for row in block["rows"]]
        elif kind == "image":
            lines.append(f"[{block['alt_text']}]")
        elif kind == "markdown":
            lines.append(block["text"])
        else:
            texts = [block.get("text"), *(block.get("fields") or ()), block.get("label")]
            texts += [one for one in block.get("elements") or () if one["type"] in ("mrkdwn", "plain_text")]
            lines += [plain(workspace, one["text"]) for one in texts if one]
        for element in elements_of(block):
            lines += [plain(workspace, option["text"]["text"]) for option in _listed(element)]
    return lines


def rich_text(workspace: Workspace, element: Json) -> str:
    """The text of one part of a rich_text block."""
    if element["type"] == "rich_text_list":
        return "\n".join(f"• {rich_text(workspace, one)}" for one in element["elements"])
    return "".join(rich_word(workspace, one) for one in element["elements"])


def rich_word(workspace: Workspace, word: Json) -> str:
    """The text of one word or link in a rich_text block."""
    kind = word["type"]
    if kind == "user":
        return plain(workspace, f"<@{word['user_id']}>")
    if kind == "channel":
        return plain(workspace, f"<#{word['channel_id']}>")
    if kind == "usergroup":
        return plain(workspace, f"<!subteam^{word['usergroup_id']}>")
    if kind == "broadcast":
        return f"@{word['range']}"
    if kind == "emoji":
        return f":{word['name']}:"
    if kind == "date":
        return str(word.get("fallback") or word["timestamp"])
    return str(word.get("text") or word.get("url") or "")


def _cell(workspace: Workspace, cell: Json) -> str:
    if cell["type"] == "raw_text":
        return str(cell["text"])
    return " ".join(rich_text(workspace, one) for one in cell["elements"])


def _listed(element: Json) -> list[Json]:
    return options_of(element) if element["type"] in ("checkboxes", "radio_buttons") else []


def _ticks(block: Json, element: Json, values: Mapping[Key, Json]) -> list[Tick]:
    state = values.get((block["block_id"], element["action_id"])) or initial(element) or {}
    chosen = [find_option(element, one["value"]) for one in state.get("selected_options", ())]
    return [Tick(one["value"], one["text"]["text"], one in chosen) for one in options_of(element)]


def _strings(value: Any) -> list[str]:
    """All mrkdwn that could ping; plain text and code in rich text never do, rich_text mentions always."""
    if isinstance(value, dict):
        if value.get("type") in ("plain_text", "raw_text", "markdown"):
            return []
        if value.get("type") == "mrkdwn":
            return [value["text"]]
        if value.get("type") == "user":
            return [f"<@{value['user_id']}>"]
        if value.get("type") == "usergroup":
            return [f"<!subteam^{value['usergroup_id']}>"]
        if value.get("type") == "broadcast":
            return [f"<!{value['range']}>"]
        return [text for item in value.values() for text in _strings(item)]
    return [text for item in value for text in _strings(item)] if isinstance(value, list) else []
