"""Sections of an answer, laid out within what a message holds, with a note for everything that is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slack_sdk.models.blocks import ButtonElement, RichTextElement, SectionBlock

from bot.rendering import ids
from bot.rendering.blocks_text import Writer, line, plain, rich, run, weigh, weight
from bot.rendering.message import Json

MAX_BLOCKS = 50
MAX_CHARACTERS = 13_000
"""Of all blocks. Slack refuses more than about 13,200 (bolt-js#2509)."""
BLOCK_CHARACTERS = 2_950
"""Of one rich_text block, so that it stays below the 3,000 of a section."""
ITEM_CHARACTERS = 2_700
"""Of one item of a section; it is never split."""

Item = list[RichTextElement]
MakeItem = Callable[[], Item]


@dataclass(slots=True)
class Room:
    """What is left of a message."""

    blocks: int = MAX_BLOCKS
    characters: int = MAX_CHARACTERS

    def take(self, blocks: Sequence[Json]) -> None:
        """Account for blocks."""
        self.blocks -= len(blocks)
        self.characters -= weight(list(blocks))

    def less(self, other: Room) -> Room:
        """What is left besides the room kept for others."""
        return Room(self.blocks - other.blocks, self.characters - other.characters)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of an answer that can be unfolded.

    `items` are made as there is room for them. `compact`: how many are shown until somebody unfolds the section.
    `folded`: whether the items are shorter until then.
    """

    name: str
    heading: str
    items: Sequence[MakeItem] = ()
    compact: int = 3
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Laid:
    """Blocks of a section. `beyond`: how many items not even unfolding shows."""

    blocks: list[Json]
    beyond: int = 0


class Layout:
    """Lays out sections of one incident's answer."""

    def __init__(self, writer: Writer, incident: str, expanded: frozenset[str]) -> None:
        self._writer = writer
        self._incident = incident
        self._expanded = expanded

    def is_expanded(self, section: str) -> bool:
        """Whether somebody has unfolded the section."""
        return section in self._expanded

    def reserve(self, heading: str) -> Room:
        """What a section needs at least: its heading and a note."""
        return Room(2, weigh([self.heading(heading)]) + self.note_weight())

    def note_weight(self) -> int:
        """The most that a note about what is left out weighs."""
        return max(weight(self.note("checks", 999_999, beyond=beyond)) for beyond in (False, True))

    def heading(self, text: str) -> RichTextElement:
        """The heading of a section."""
        return line(run(text, bold=True))

    def note(self, section: str, count: int, *, beyond: bool = False) -> Json:
        """Says how many items are left out, with a button that brings them."""
        key = "slack.more.report" if beyond else "slack.more.hidden" if count else "slack.more.folded"
        button = ButtonElement(
            text=plain(self._writer.say("slack.button.report" if beyond else "slack.button.show_more"), 75),
            action_id=ids.REPORT_FILE if beyond else ids.show_more(section),
            value=self._incident,
        )
        text = plain(self._writer.say(key, count=count), 300)
        return SectionBlock(text=text, accessory=button).to_dict()

    def lay(self, section: Section, room: Room) -> Laid:
        """The section in at most `room`, which must hold at least `reserve`."""
        expanded = self.is_expanded(section.name)
        wanted = section.items if expanded else section.items[: section.compact]
        note = self.note_weight()
        elements: list[RichTextElement] = [self.heading(section.heading)] if section.heading else []
        blocks: list[list[RichTextElement]] = [elements]
        used = size = weigh(elements)
        shown = 0
        for make in wanted:
            item = make()
            more = weigh(item)
            new_block = size + more > BLOCK_CHARACTERS
            if used + more + note > room.characters or len(blocks) + new_block + 1 > room.blocks:
                break
            if new_block:
                blocks.append([])
                size = 0
            blocks[-1] += item
            used += more
            size += more
            shown += 1
        laid = [rich(*part) for part in blocks if part]
        return self._with_note(laid, section, len(section.items) - shown, expanded=expanded)

    def _with_note(self, laid: list[Json], section: Section, hidden: int, *, expanded: bool) -> Laid:
        if hidden:
            laid.append(self.note(section.name, hidden, beyond=expanded))
        elif section.folded and not expanded:
            laid.append(self.note(section.name, 0))
        return Laid(laid, hidden if expanded else 0)
