"""What Slack's message field makes of typed or pasted text: escaped `text` and rich_text, in one message or several.

Typed text may hold <@U…>, <#C…>, <!subteam^S…> and <!here>, `code` and ```fences```; everything else is literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.workspace import limits
from bot.workspace.model import Json

_TOKEN = re.compile(
    r"(?P<user><@(?P<user_id>[UW][A-Z0-9]+)>)"
    r"|(?P<channel><\#(?P<channel_id>[CG][A-Z0-9]+)>)"
    r"|(?P<group><!subteam\^(?P<group_id>S[A-Z0-9]+)>)"
    r"|(?P<range><!(?P<range_id>here|channel|everyone)>)"
    r"|(?P<code>`(?P<code_text>[^`\n]+)`)"
    r"|(?P<url>https?://[^\s<>`]+)"
    # Slack makes a link of what looks like a host, and so of README.md and core.py:12; which endings is unverified
    r"|(?P<host>(?<![\w./@:-])(?P<host_text>[a-zA-Z][\w-]*\.(?:com|org|net|io|ai|dev|md|py|sh|rs|so)(?::\d+)?)(?![\w/.-]))"
)
_LINK = re.compile(r"https?://[^\s<>`]+")
_FENCE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)


def escape(text: str) -> str:
    """The three characters Slack escapes."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def compose(typed: str) -> tuple[str, Json]:
    """(`text`, rich_text block without a block_id) of one message."""
    texts: list[str] = []
    elements: list[Json] = []
    for is_code, part in _fenced(typed):
        if is_code:
            texts.append(f"```{_links(part, [])}```")
            inner: list[Json] = []
            _links(part, inner)
            elements.append({"type": "rich_text_preformatted", "border": 0, "elements": inner})
        elif part:
            inner = []
            texts.append(_inline(part, inner))
            elements.append({"type": "rich_text_section", "elements": inner})
    return "\n".join(texts), {"type": "rich_text", "elements": elements}


def split(typed: str, most: int = limits.TEXT_SPLIT) -> list[str]:
    """The messages that a long paste becomes, cut at line ends where possible; a fence is closed and opened again."""
    parts: list[str] = []
    rest = typed
    while len(rest) > most:
        room = most - 8  # for closing and opening a fence
        cut = rest.rfind("\n", 1, room) + 1 or room
        head, rest = rest[:cut].rstrip("\n"), rest[cut:]
        if head.count("```") % 2:
            head, rest = f"{head}\n```", f"```\n{rest}"
        parts.append(head)
    return [part for part in (*parts, rest) if part.strip()]


def _fenced(typed: str) -> Iterator[tuple[bool, str]]:
    position = 0
    for match in _FENCE.finditer(typed):
        yield False, typed[position : match.start()].rstrip("\n")
        yield True, match.group(1)
        position = match.end()
        if typed[position : position + 1] == "\n":
            position += 1
    yield False, typed[position:]


def _links(text: str, elements: list[Json]) -> str:
    """Code keeps its text, but its URLs become links all the same."""
    out: list[str] = []
    position = 0
    for match in _LINK.finditer(text):
        _literal(text[position : match.start()], elements, out)
        elements.append({"type": "link", "url": match.group()})
        out.append(f"<{escape(match.group())}>")
        position = match.end()
    _literal(text[position:], elements, out)
    return "".join(out)


def _literal(text: str, elements: list[Json], out: list[str]) -> None:
    if text:
        elements.append({"type": "text", "text": text})
        out.append(escape(text))


def _inline(text: str, elements: list[Json]) -> str:
    out: list[str] = []
    position = 0
    for match in _TOKEN.finditer(text):
        _literal(text[position : match.start()], elements, out)
        element, shown = _token(match)
        elements.append(element)
        out.append(shown)
        position = match.end()
    _literal(text[position:], elements, out)
    return "".join(out)


def _token(match: re.Match[str]) -> tuple[Json, str]:
    whole = match.group()
    if match["user"]:
        return {"type": "user", "user_id": match["user_id"]}, whole
    if match["channel"]:
        return {"type": "channel", "channel_id": match["channel_id"]}, whole
    if match["group"]:
        return {"type": "usergroup", "usergroup_id": match["group_id"]}, whole
    if match["range"]:
        return {"type": "broadcast", "range": match["range_id"]}, whole
    if match["code"]:
        return {"type": "text", "text": match["code_text"], "style": {"code": True}}, escape(whole)
    if match["host"]:
        return {"type": "link", "url": f"http://{whole}", "text": whole}, f"<http://{whole}|{whole}>"
    return {"type": "link", "url": whole}, f"<{escape(whole)}>"
