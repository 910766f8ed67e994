"""Texts in blocks: what they weigh, how they are cut, and how nothing in them comes alive.

Texts of others go into rich text and plain text only, which Slack does not parse; `mrkdwn` holds nothing but what we
wrote, and the text for notifications, which is mrkdwn, passes through `notification`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from slack_sdk.models.blocks import (
    ContextBlock,
    PlainTextObject,
    RichTextBlock,
    RichTextElement,
    RichTextElementParts,
    RichTextListElement,
    RichTextPreformattedElement,
    RichTextSectionElement,
)

from bot.catalogue import say
from bot.rendering.counted import Counted
from bot.rendering.literal import literal, literal_line
from bot.rendering.message import Json
from bot.rendering.titles import consequence_titles
from kb.entry import Language
from kb.library import Library
from kb.report import ReportDiagnosis

USER_ID = re.compile(r"[UWB][A-Z0-9]{1,40}")
CODE = re.compile(r"`([^`\n]+)`")
_PLACEHOLDER = re.compile(r"\{[a-z][a-z0-9_]*\}")
_BLANK = "—"
OUR_CODE = frozenset(
    {
        *("vllm --version", "docker logs CONTAINER > server.log 2>&1", "kubectl logs POD > server.log"),
        *("docker exec CONTAINER", "kubectl exec POD --"),
    }
)
"""Code in the engine's own messages."""


def cost(text: str) -> int:
    """Characters of a text as Slack may count them at worst: escaped, and in UTF-16."""
    extra = sum(1 for char in text if char > "\uffff") if not text.isascii() else 0
    return len(text) + extra + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))


def weight(value: Any) -> int:
    """The characters of all texts in blocks or parts of them, as Slack may count them against the whole message."""
    if isinstance(value, dict):
        return sum(
            cost(item) if key in ("text", "url", "user_id") and isinstance(item, str) else weight(item)
            for key, item in value.items()
        )
    return sum(map(weight, value)) if isinstance(value, list) else 0


def clip(text: str, limit: int, *, lines: bool = False) -> tuple[str, int]:
    """The text literally, cut to a cost of at most `limit`, and how many of its characters were left out."""
    show = literal if lines else literal_line
    start = text[:limit]
    if len(start) == len(text) and cost(shown := show(text)) <= limit:
        return shown, 0
    low, high = 0, len(start)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(show(start[:middle])) <= limit else (low, middle - 1)
    return show(start[:low]), len(text) - low


def plain(text: str, limit: int) -> PlainTextObject:
    """A plain_text object on one line. A text too long for it ends with an ellipsis: the whole must stand elsewhere."""
    shown, left = clip(text, limit)
    if left:
        shown = clip(text, limit - 1)[0]
        words, space, rest = shown.rpartition(" ")
        shown = (words if space and len(rest) < limit // 4 else shown).rstrip() + "…"
    return PlainTextObject(text=shown if shown.strip() else "…", emoji=False)


def label(text: str, code: frozenset[str]) -> str:
    """A text for where code cannot be shown as code: without the author's backticks."""
    return CODE.sub(lambda found: found[1] if found[1] in code else found[0], text)


def told_plain(text: str, limit: int, language: Language) -> PlainTextObject:
    """As `plain`, but a text that is too long ends with how much more there is."""
    shown, left = clip(text, limit)
    note = " " + say(language, "label.more_lines", count=Counted(left, language)) if left else ""
    return PlainTextObject(text=(shown + note) if shown.strip() else "…", emoji=False)


def context(text: str, language: Language, limit: int = 1200) -> Json:
    """A context block of plain text."""
    return ContextBlock(elements=[told_plain(text, limit, language)]).to_dict()


def run(text: str, **style: bool) -> RichTextElement:
    """A run of rich text; styles: bold, italic, code, strike."""
    return RichTextElementParts.Text(text=text, style=RichTextElementParts.TextStyle(**style) if style else None)


def line(*runs: RichTextElement) -> RichTextSectionElement:
    """A line of runs."""
    return RichTextSectionElement(elements=list(runs))


def rich(*elements: RichTextElement) -> Json:
    """A rich_text block."""
    return RichTextBlock(elements=list(elements)).to_dict()


def user(user_id: str) -> RichTextElement:
    """A mention of a person; what is no user id is shown as it is."""
    return (
        RichTextElementParts.User(user_id=user_id) if USER_ID.fullmatch(user_id) else run(clip(user_id, 40)[0] or "?")
    )


def weigh(elements: Iterable[RichTextElement]) -> int:
    """The weight of elements of rich text."""
    return sum(weight(element.to_dict()) for element in elements)


class Writer:
    """Writes the texts of one report: in its language, with code shown as code where the entry's author wrote it so."""

    def __init__(self, language: Language, library: Library) -> None:
        self.language = language
        self._library = library

    def say(self, key: str, **values: object) -> str:
        """A text of the catalogue."""
        return say(self.language, key, **values)

    def pair(self, label: str, value: str) -> str:
        """`label: value` with the language's own colon."""
        return self.say("label.pair", label=label, value=value)

    def code_of(self, entry_id: str) -> frozenset[str]:
        """What the entry's author wrote between backticks; what a log brought into the texts does not count."""
        entry = self._library.find(entry_id)
        if entry is None:
            return frozenset()
        texts = [entry.title, entry.cause]
        texts += [text for check in entry.checklist for text in (check.text, check.expect) if text]
        texts += [text for step in entry.recovery for text in (step.text, step.verify) if text]
        words = [text.get(self.language) for text in texts] + entry.avoid.get(self.language)
        return frozenset(code for text in words for code in CODE.findall(text) if not _PLACEHOLDER.search(code))

    def consequence_titles(self, item: ReportDiagnosis) -> list[str]:
        """The titles of what only followed."""
        return consequence_titles(self._library, item, self.language)

    def prose(
        self, text: str, limit: int, code: frozenset[str] = frozenset(), *, bold: bool = False
    ) -> list[RichTextElement]:
        """Runs of a text, with a note where it was cut."""
        shown, left = clip(text, limit)
        if not shown.strip():
            return [run(_BLANK), *self.cut(left)]
        runs: list[RichTextElement] = []
        style = {"bold": True} if bold else {}
        start = 0
        for found in CODE.finditer(shown):
            if found[1] in code:
                before = shown[start : found.start()]
                runs += [run(before, **style)] if before else []
                runs.append(run(found[1], code=True, **style))
                start = found.end()
        if shown[start:]:
            runs.append(run(shown[start:], **style))
        return runs + self.cut(left)

    def quote(self, text: str, limit: int) -> list[RichTextElement]:
        """A preformatted element of log text, with a note where it was cut."""
        shown, left = clip(text.strip("\n"), limit, lines=True)
        note = self.cut(left)
        quoted: list[RichTextElement] = (
            [RichTextPreformattedElement(elements=[run(shown)])] if shown.strip() else [line(run(_BLANK))]
        )
        return [*quoted, line(*note)] if note else quoted

    def command(self, command: str | None, limit: int = 1200) -> list[RichTextElement]:
        """A command to copy: whole, or not at all, since half a command may do harm."""
        command = (command or "").strip()
        if not command:
            return []
        shown, left = clip(command, limit, lines=True)
        if left:
            return [line(run(self.say("slack.more.command", count=Counted(len(command), self.language)), italic=True))]
        return [RichTextPreformattedElement(elements=[run(shown)])]

    def bullet(self, runs: Sequence[RichTextElement]) -> RichTextElement:
        """A list of one bullet."""
        return RichTextListElement(style="bullet", elements=[line(*runs)])

    def cut(self, left: int) -> list[RichTextElement]:
        """The note that so many characters were left out; nothing where none were."""
        return (
            [run(" " + self.say("label.more_lines", count=Counted(left, self.language)), italic=True)] if left else []
        )


_ALIVE = re.compile(
    r"@(?=here|channel|everyone|group)|:(?=[a-z0-9_+'-]+:)|:(?=//)|`|(?<!\w)[*~_]|[*~_](?!\w)", re.IGNORECASE
)
_LOOKALIKE = {"`": "\u02cb", "*": "\u2217", "~": "\u223c", "_": "\uff3f"}


def notification(text: str, limit: int = 300) -> str:
    """A text for notifications, in which nothing pings, links, formats or becomes an emoji."""
    shown, left = clip(text, limit)
    shown = shown.rstrip() + "…" if left else shown
    shown = _ALIVE.sub(lambda found: _LOOKALIKE.get(found.group(), found.group() + "\u2060"), shown)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") or "…"
