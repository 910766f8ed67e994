"""The ids by which Slack tells what was pressed, ticked or submitted, and how to read them back.

Every id stays under Slack's 255 characters. Buttons carry the incident's id as their `value`; checkboxes and the
language menu, which have no value of their own, carry it in their `block_id`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

# Elements of an answer
TICK: Final = "tick"
RESOLVED: Final = "resolved"
REOPEN: Final = "reopen"
WRONG: Final = "wrong"
ALTERNATIVES: Final = "alternatives"
LANGUAGE_SELECT: Final = "language_select"
REPORT_FILE: Final = "report_file"
SHOW_MORE: Final = "show_more"
DELETE_INCIDENT: Final = "delete_incident"

# Shortcuts
DIAGNOSE_MESSAGE: Final = "diagnose_message"
DIAGNOSE_TEXT: Final = "diagnose_text"

# Views, and the inputs in them: state["values"][block][action]
DIAGNOSE_TEXT_VIEW: Final = "diagnose_text_view"
WRONG_VIEW: Final = "wrong_view"
LANGUAGE_VIEW: Final = "language_view"
TEXT_BLOCK: Final = "text"
TEXT_INPUT: Final = "text"
WRONG_ENTRY_BLOCK: Final = "wrong_entry"
WRONG_ENTRY_INPUT: Final = "entry"
WRONG_TEXT_BLOCK: Final = "wrong_text"
WRONG_TEXT_INPUT: Final = "text"
LANGUAGE_BLOCK: Final = "language"
LANGUAGE_INPUT: Final = "language"

SECTIONS: Final = (
    *("evidence", "consequences", "checks", "recovery", "avoid", "missing", "alternatives", "notes"),
    *("sources", "not_read"),
)
"""The parts of an answer that `show_more:<section>` unfolds."""

_CHECK_ID_MAX = 110


def show_more(section: str) -> str:
    """The action id that unfolds a section."""
    return f"{SHOW_MORE}:{section}"


def section_of(action_id: str) -> str | None:
    """The section that an action id unfolds; None for other ids and unknown sections."""
    name, _, section = action_id.partition(":")
    return section if name == SHOW_MORE and section in SECTIONS else None


def check_key(entry: str, check: str) -> str:
    """The id of a check as it is ticked: check ids are unique only within their entry."""
    key = f"{entry}/{check}"
    if len(key) <= _CHECK_ID_MAX and key.isprintable():
        return key
    return f"{entry[:30]}/{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:32]}"


@dataclass(frozen=True, slots=True)
class TickBlock:
    """A group of checkboxes: whose, which, and what was ticked when it was drawn (bit n stands for option n)."""

    incident: str
    group: int
    mask: int

    @property
    def block_id(self) -> str:
        """The id of the block. It changes with what is ticked, so that no client keeps an older state on show."""
        return f"{TICK}:{self.incident}:{self.group}:{self.mask:x}"

    @classmethod
    def parse(cls, block_id: str) -> TickBlock | None:
        """The group that a block id names; None where it is none."""
        found = re.fullmatch(rf"{TICK}:([^:]+):(\d{{1,4}}):([0-9a-f]{{1,4}})", block_id)
        return cls(found[1], int(found[2]), int(found[3], 16)) if found else None


def menu_block(incident: str) -> str:
    """The block id of the buttons, which also hold the language menu."""
    return f"answer:{incident}"


def incident_of(action: Mapping[str, Any]) -> str | None:
    """The incident that an action of a block_actions payload belongs to."""
    block_id = str(action.get("block_id") or "")
    if action.get("action_id") == TICK:
        block = TickBlock.parse(block_id)
        return block.incident if block else None
    if action.get("action_id") == LANGUAGE_SELECT:
        return block_id.removeprefix("answer:") if block_id.startswith("answer:") else None
    return str(action["value"]) if action.get("value") else None


def tick_changes(
    action: Mapping[str, Any],
    blocks: Iterable[Mapping[str, Any]],
    ticked_by: Mapping[str, str],
    user: str,
    undone: Collection[str] = (),
) -> tuple[list[str], list[str]]:
    """What a person newly ticked and unticked: (on, off), as ids of checks.

    `action`: of the payload. `blocks`: of the payload's message. `ticked_by`: check id -> who has ticked it by now.
    `undone`: what that person ticked and another has unticked since.
    Slack sends the whole group as that person saw it. So what others changed since it was drawn is left alone, and only
    a person's own tick that is not drawn yet is undone by a second press. A press is about one box: where more have
    changed, an earlier tick of that person is still on show, and stays undone where another has undone it.
    """
    block = TickBlock.parse(str(action.get("block_id") or ""))
    if block is None:
        return [], []
    selected = {str(option["value"]) for option in action.get("selected_options") or ()}
    options = _options_of(block, blocks) or sorted(selected)
    drawn = {key for at, key in enumerate(options) if block.mask >> at & 1}
    on = [key for key in options if key in selected - drawn and key not in ticked_by]
    off = [key for key in options if key not in selected and (key in drawn or ticked_by.get(key) == user)]
    off = [key for key in off if key in ticked_by]
    if len(on) + len(off) > 1:
        on = [key for key in on if key not in undone]
    return on, off


def _options_of(block: TickBlock, blocks: Iterable[Mapping[str, Any]]) -> list[str]:
    for one in blocks:
        found = TickBlock.parse(str(one.get("block_id") or ""))
        if found is not None and (found.incident, found.group) == (block.incident, block.group):
            return [str(option["value"]) for element in one.get("elements") or () for option in element["options"]]
    return []
