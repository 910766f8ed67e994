from __future__ import annotations

from typing import Any

import pytest

from bot.rendering import ids
from bot.rendering.ids import TickBlock, check_key, incident_of, section_of, show_more, tick_changes


def press(mask: int, *selected: str) -> dict[str, Any]:
    return {
        "action_id": "tick",
        "block_id": TickBlock("abc", 0, mask).block_id,
        "selected_options": [{"value": value} for value in selected],
    }


BLOCKS = [
    {"type": "header"},
    {"block_id": "tick:abc:0:0", "elements": [{"options": [{"value": one} for one in ("e/a", "e/b", "e/c")]}]},
    {"block_id": "tick:abc:1:0", "elements": [{"options": [{"value": "e/d"}]}]},
]


@pytest.mark.parametrize(
    ("mask", "selected", "ticked_by", "changes"),
    [
        pytest.param(0, ["e/a"], {}, (["e/a"], []), id="a tick"),
        pytest.param(0b001, [], {"e/a": "U1"}, ([], ["e/a"]), id="an untick"),
        pytest.param(0b001, [], {"e/a": "U2"}, ([], ["e/a"]), id="an untick of what another ticked"),
        pytest.param(0, ["e/a"], {"e/a": "U2"}, ([], []), id="ticked by another meanwhile"),
        pytest.param(0, ["e/a"], {"e/b": "U2"}, (["e/a"], []), id="another's tick that is not drawn yet stays"),
        pytest.param(0, [], {"e/a": "U1"}, ([], ["e/a"]), id="own tick taken back before it is drawn"),
        pytest.param(0b010, ["e/a", "e/b"], {}, (["e/a"], []), id="unticked by another meanwhile stays unticked"),
        pytest.param(0b111, ["e/a", "e/b", "e/c"], {"e/a": "U1", "e/b": "U1", "e/c": "U1"}, ([], []), id="nothing"),
    ],
)
def test_a_press_changes_only_what_the_person_changed(
    mask: int, selected: list[str], ticked_by: dict[str, str], changes: tuple[list[str], list[str]]
) -> None:
    assert tick_changes(press(mask, *selected), BLOCKS, ticked_by, "U1") == changes


@pytest.mark.parametrize(
    ("selected", "ticked_by", "changes"),
    [
        pytest.param(["e/a", "e/b"], {}, (["e/b"], []), id="the box that another has unticked is still on show"),
        pytest.param(["e/a"], {}, (["e/a"], []), id="ticked again on purpose"),
        pytest.param(["e/a", "e/b"], {"e/b": "U1"}, (["e/a"], []), id="ticked again, beside an own tick"),
    ],
)
def test_a_press_on_a_stale_message_does_not_tick_again_what_another_has_unticked(
    selected: list[str], ticked_by: dict[str, str], changes: tuple[list[str], list[str]]
) -> None:
    assert tick_changes(press(0, *selected), BLOCKS, ticked_by, "U1", undone={"e/a"}) == changes


def test_a_press_on_a_group_that_is_no_longer_there_still_ticks() -> None:
    assert tick_changes(press(0, "e/x"), [], {}, "U1") == (["e/x"], [])
    assert tick_changes({"block_id": "other"}, BLOCKS, {}, "U1") == ([], [])


def test_a_tick_block_is_read_back() -> None:
    block = TickBlock("abc123abc123", 3, 0x3FF)
    assert block.block_id == "tick:abc123abc123:3:3ff"
    assert TickBlock.parse(block.block_id) == block
    assert TickBlock.parse("tick:abc:x:0") is None


def test_the_incident_of_an_action_is_found_in_its_value_or_its_block() -> None:
    assert incident_of({"action_id": "resolved", "value": "abc"}) == "abc"
    assert incident_of({"action_id": "tick", "block_id": "tick:abc:0:1", "value": None}) == "abc"
    assert incident_of({"action_id": "language_select", "block_id": ids.menu_block("abc")}) == "abc"
    assert incident_of({"action_id": "language_select", "block_id": "home"}) is None
    assert incident_of({"action_id": "resolved"}) is None


def test_sections_are_named_in_action_ids() -> None:
    assert section_of(show_more("recovery")) == "recovery"
    assert section_of("show_more:nothing") is None
    assert section_of("resolved") is None


def test_the_key_of_a_check_tells_entries_apart_and_stays_short() -> None:
    assert check_key("nixl-missing", "import") == "nixl-missing/import"
    assert check_key("a", "same") != check_key("b", "same")
    long = check_key("e" * 64, "c" * 64)
    assert len(long) <= 110
    assert long != check_key("e" * 64, "c" * 63 + "d")
