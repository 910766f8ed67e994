"""What a person wrote in a message: the log, and the words around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]

_TOKEN = re.compile(r"<([^<>\n]*)>")
_FENCE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_INDENT = "    "
_DEPTH = 4


@dataclass(frozen=True, slots=True)
class MessageText:
    """`log`: what stands in code blocks. `prose`: the rest. `whole`: both, in their order."""

    log: str
    prose: str
    whole: str


@dataclass(slots=True)
class _Parts:
    parts: list[tuple[bool, str]] = field(default_factory=list)

    def add(self, is_log: bool, text: str) -> None:
        """Add what is there of it; blank lines around it are Slack's."""
        if text.strip():
            self.parts.append((is_log, text.strip("\n")))

    def text(self) -> MessageText:
        """All of it."""
        log = "\n".join(text for is_log, text in self.parts if is_log)
        prose = "\n".join(text for is_log, text in self.parts if not is_log)
        return MessageText(log, prose, "\n".join(text for _, text in self.parts))


def evidence_of(message: Json) -> MessageText:
    """What a message says, as it was typed.

    From the `rich_text` blocks where there are some, else from `text`, else from other blocks; and from forwarded
    messages and the attachments of other bots, but not from the previews of links. Users, groups and channels without a
    name in the message stay as Slack writes them: `<@U1>`.
    """
    parts = _Parts()
    _message(parts, message, 0)
    return parts.text()


def without_mention(text: str, bot_user_id: str) -> str:
    """The text without mentions of the bot."""
    if not bot_user_id:
        return text
    return re.sub(rf"<@{re.escape(bot_user_id)}(?:\|[^<>\n]*)?>[ \t]?", "", text).strip()


def plain(text: str) -> str:
    """Slack's `text` as it was typed: escapes, links and mentions undone."""
    shown = _TOKEN.sub(lambda match: _token(match[1]), text)
    return shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _message(parts: _Parts, message: Json, depth: int) -> None:
    blocks = _list(message.get("blocks"))
    if any(block.get("type") == "rich_text" for block in blocks):
        for block in blocks:
            if block.get("type") == "rich_text":
                _rich_text(parts, block)
    elif str(message.get("text") or "").strip():
        _mrkdwn(parts, str(message["text"]))
    else:
        for text in _texts(blocks):
            _mrkdwn(parts, text)
    if depth < _DEPTH:
        for attachment in _list(message.get("attachments")):
            _attachment(parts, attachment, depth + 1)


def _attachment(parts: _Parts, attachment: Json, depth: int) -> None:
    shared = attachment.get("is_share") or attachment.get("is_msg_unfurl")
    if attachment.get("from_url") and not shared:
        return
    forwarded = [one["message"] for one in _list(attachment.get("message_blocks")) if _is_json(one.get("message"))]
    if forwarded:
        for message in forwarded:
            _message(parts, message, depth)
        return
    given = [str(attachment[key]) for key in ("pretext", "title", "text") if attachment.get(key)]
    for one in _list(attachment.get("fields")):
        given.append("\n".join(str(one[key]) for key in ("title", "value") if one.get(key)))
    given += _texts(_list(attachment.get("blocks")))
    for text in given or [str(attachment.get("fallback") or "")]:
        _mrkdwn(parts, text)


def _texts(blocks: Iterable[Json]) -> Iterator[str]:
    """mrkdwn of sections, headers, contexts and markdown blocks."""
    for block in blocks:
        inner: list[Any] = [block.get("text"), *_any(block.get("fields"))]
        if block.get("type") == "context":
            inner += _any(block.get("elements"))
        for one in inner:
            if isinstance(one, str):
                yield one
            elif _is_json(one) and isinstance(one.get("text"), str):
                yield one["text"]


def _mrkdwn(parts: _Parts, text: str) -> None:
    position = 0
    for match in _FENCE.finditer(text):
        parts.add(False, plain(text[position : match.start()]))
        parts.add(True, plain(match[1]))
        position = match.end()
    rest = text[position:]
    head, fence, tail = rest.partition("```")
    parts.add(False, plain(head))
    parts.add(bool(fence), plain(tail))  # never closed: cut off, or typed so


def _rich_text(parts: _Parts, block: Json) -> None:
    for element in _list(block.get("elements")):
        kind = element.get("type")
        if kind == "rich_text_list":
            parts.add(False, "\n".join(_items(element)))
        else:
            parts.add(kind == "rich_text_preformatted", _inline(element))


def _items(element: Json) -> Iterator[str]:
    indent = element.get("indent")
    first = element.get("offset")
    number = first + 1 if isinstance(first, int) else 1
    margin = _INDENT * min(indent, 16) if isinstance(indent, int) else ""
    for index, item in enumerate(_list(element.get("elements"))):
        mark = f"{number + index}. " if element.get("style") == "ordered" else "- "
        yield margin + mark + _inline(item)


def _inline(element: Json) -> str:
    return "".join(_typed(one) for one in _list(element.get("elements")))


def _typed(one: Json) -> str:
    kind = one.get("type")
    if kind == "link":
        return str(one.get("text") or one.get("url") or "").removeprefix("mailto:")
    if kind == "emoji":
        tone = one.get("skin_tone")
        return f":{one.get('name', '')}:" + (f":skin-tone-{tone}:" if tone else "")
    if kind == "broadcast":
        return f"@{one.get('range', '')}"
    for name, form in (("user_id", "<@{}>"), ("usergroup_id", "<!subteam^{}>"), ("channel_id", "<#{}>")):
        if name in one:
            return form.format(one[name])
    if kind == "date":
        return str(one.get("fallback") or one.get("timestamp") or "")
    typed = str(one.get("text") or one.get("value") or "")
    style: Any = one.get("style")
    code = _is_json(style) and bool(style.get("code"))
    # Backticks of a log that was pasted as words became code; `text` of the message has them, too.
    return f"`{typed}`" if code and typed and "`" not in typed else typed


def _token(inner: str) -> str:
    """What was typed for `<inner>`."""
    target, _, label = inner.partition("|")
    if target.startswith(("@", "#")):
        return f"{target[0]}{label.removeprefix(target[0])}" if label else f"<{target}>"
    if target.startswith("!subteam^"):
        return f"@{label.removeprefix('@')}" if label else f"<{target}>"
    if target.startswith("!date^"):
        return label or target
    if target.startswith("!"):
        return f"@{target[1:]}"
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return label or target.removeprefix("mailto:")
    return f"<{inner}>"


def _list(value: object) -> list[Json]:
    return [one for one in _any(value) if _is_json(one)]


def _any(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_json(value: object) -> bool:
    return isinstance(value, Mapping)
