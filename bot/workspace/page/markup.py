"""mrkdwn, rich text and markdown as HTML. Everything that is not markup of Slack's is escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from bot.workspace.model import Json
from bot.workspace.page.dates import Moment, Reader
from bot.workspace.reading import plain, rich_word

if TYPE_CHECKING:
    from bot.workspace.workspace import Workspace

_FENCE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_TOKEN = re.compile(r"<([^<>\s][^<>]*)>")
_STYLES = (
    (re.compile(r"(?<![\w*])\*(\S(?:[^*\n]*\S)?)\*(?![\w*])"), r"<b>\1</b>"),
    (re.compile(r"(?<![\w_])_(\S(?:[^_\n]*\S)?)_(?![\w_])"), r"<i>\1</i>"),
    (re.compile(r"(?<![\w~])~(\S(?:[^~\n]*\S)?)~(?![\w~])"), r"<s>\1</s>"),
)
_EMOJI = re.compile(r":([a-z0-9_+-]+):")
_HELD = re.compile("\x00(\\d+)\x00")
_QUOTE = re.compile(r"(?:^|(?<=\n))&gt; ?(.*)(?:\n|$)")
_SAFE = ("http://", "https://", "mailto:")
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").enable("strikethrough")

EMOJI = {
    **{"white_check_mark": "✅", "heavy_check_mark": "✔️", "x": "❌", "warning": "⚠️", "no_entry": "⛔", "eyes": "👀"},
    **{"rotating_light": "🚨", "fire": "🔥", "bulb": "💡", "mag": "🔍", "wrench": "🔧", "hammer_and_wrench": "🛠️"},
    **{"memo": "📝", "books": "📚", "link": "🔗", "paperclip": "📎", "package": "📦", "gear": "⚙️", "robot_face": "🤖"},
    **{"large_green_circle": "🟢", "large_yellow_circle": "🟡", "large_orange_circle": "🟠", "red_circle": "🔴"},
    **{"white_circle": "⚪", "hourglass_flowing_sand": "⏳", "arrows_counterclockwise": "🔄", "question": "❓"},
    **{"information_source": "ℹ️", "+1": "👍", "-1": "👎", "thumbsup": "👍", "thumbsdown": "👎", "wave": "👋"},
    **{"tada": "🎉", "pushpin": "📌", "clipboard": "📋", "stethoscope": "🩺", "computer": "💻", "zap": "⚡"},
}


def mrkdwn(workspace: Workspace, text: str, *, reader: Reader | None = None) -> Markup:
    """Slack's mrkdwn; dates as `reader` sees them, else their fallback."""
    out, position = [], 0
    for fence in _FENCE.finditer(text):
        out.append(_inline(workspace, text[position : fence.start()].rstrip("\n"), reader))
        out.append(Markup("<pre>{}</pre>").format(plain(workspace, fence.group(1))))
        position = fence.end() + text.startswith("\n", fence.end())
    out.append(_inline(workspace, text[position:], reader))
    return Markup("").join(out)


def text_object(workspace: Workspace, value: Json | None, *, reader: Reader | None = None) -> Markup:
    """A text object of either type."""
    if not value:
        return Markup("")
    if value["type"] == "mrkdwn":
        return mrkdwn(workspace, value["text"], reader=reader)
    return _trusted(_emojis(str(escape(plain(workspace, value["text"]))))).replace("\n", Markup("<br>"))


def markdown(text: str) -> Markup:
    """The markdown block's standard Markdown."""
    return _trusted(_emojis(_MARKDOWN.render(text)))


def rich_text(workspace: Workspace, element: Json, *, reader: Reader | None = None) -> Markup:
    """One part of a rich_text block."""
    kind, inner = element["type"], element["elements"]
    if kind == "rich_text_list":
        tag = "ol" if element.get("style") == "ordered" else "ul"
        shown = [rich_text(workspace, one, reader=reader) for one in inner]
        items = Markup("").join(Markup("<li>{}</li>").format(one) for one in shown)
        return _trusted(f"<{tag}>{items}</{tag}>")
    if kind == "rich_text_preformatted":
        return Markup("<pre>{}</pre>").format("".join(rich_word(workspace, one) for one in inner))
    words = Markup("").join(_word(workspace, one, reader) for one in inner)
    return _trusted(f"<blockquote>{words}</blockquote>" if kind == "rich_text_quote" else f"<p>{words}</p>")


def emoji(name: str) -> str:
    """The character of an emoji name, or the name between colons."""
    return EMOJI.get(name, f":{name}:")


def _trusted(html: str) -> Markup:
    """HTML put together here from escaped parts."""
    return Markup(html)  # noqa: S704


def _word(workspace: Workspace, word: Json, reader: Reader | None) -> Markup:
    text = rich_word(workspace, word)
    if word["type"] == "date" and reader is not None:
        moment = Moment(reader.formatted(word["timestamp"], word["format"], text), text, word.get("url") or "")
        return _moment(moment)
    if word["type"] == "emoji":
        return escape(emoji(word["name"]))
    if word["type"] == "link":
        return _link(word["url"], text)
    html = escape(text).replace("\n", Markup("<br>"))
    if word["type"] in ("user", "channel", "usergroup", "broadcast"):
        return Markup('<span class="mention">{}</span>').format(html)
    for style, tag in (("code", "code"), ("bold", "b"), ("italic", "i"), ("strike", "s")):
        if word.get("style", {}).get(style):
            html = _trusted(f"<{tag}>{html}</{tag}>")
    return html


def _inline(workspace: Workspace, text: str, reader: Reader | None) -> Markup:
    """Code and tokens are held back while the styles are applied around them."""
    held: list[Markup] = []

    def hold(html: Markup) -> str:
        held.append(html)
        return f"\x00{len(held) - 1}\x00"

    text = text.replace("\x00", "")
    text = _CODE.sub(lambda found: hold(Markup("<code>{}</code>").format(plain(workspace, found.group(1)))), text)
    text = _TOKEN.sub(lambda found: hold(_token(workspace, found.group(), reader)), text)
    html = str(escape(plain(workspace, text)))
    for pattern, replacement in _STYLES:
        html = pattern.sub(replacement, html)
    html = _QUOTE.sub(r"<blockquote>\1</blockquote>", _emojis(html)).replace("\n", "<br>")
    return _trusted(_HELD.sub(lambda found: str(held[int(found.group(1))]), html))


def _token(workspace: Workspace, token: str, reader: Reader | None) -> Markup:
    shown = plain(workspace, token)
    if token.startswith("<!date^"):
        return _moment((reader.moment(token) if reader else None) or Moment(shown, shown, ""))
    if token[1] in "@#!":
        return Markup('<span class="mention">{}</span>').format(shown)
    return _link(plain(workspace, token[1:-1].partition("|")[0]), shown)


def _moment(moment: Moment) -> Markup:
    html = Markup('<time title="{}">{}</time>').format(moment.fallback, moment.shown)
    return _link(moment.link, html) if moment.link else html


def _link(url: str, shown: str) -> Markup:
    if not url.startswith(_SAFE):
        return escape(shown)
    return Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>').format(url, shown)


def _emojis(html: str) -> str:
    return _EMOJI.sub(lambda found: EMOJI.get(found.group(1), found.group()), html)
