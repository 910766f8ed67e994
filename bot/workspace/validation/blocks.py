"""Checks of blocks, for messages, modals and the Home tab."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

from bot.workspace import limits
from bot.workspace.validation.elements import IN_INPUT, IN_SECTION, INTERACTIVE, check_element
from bot.workspace.validation.problems import Problems

Surface = Literal["message", "modal", "home"]
Check = Callable[[Problems, dict[str, Any], str], None]


def check_blocks(blocks: Any, surface: Surface = "message", at: str = "/blocks") -> list[str]:
    """What Slack would say is wrong with `blocks`; empty when it would take them."""
    problems = Problems()
    most = limits.MESSAGE_BLOCKS if surface == "message" else limits.VIEW_BLOCKS
    if not problems.items(blocks, at, most, least=0):
        return problems.found
    seen: set[str] = set()
    for number, block in enumerate(blocks):
        place = f"{at}/{number}"
        kind = block.get("type") if isinstance(block, dict) else None
        check = _CHECKS.get(str(kind))
        if check is None or surface not in _SURFACES.get(str(kind), (surface,)):
            problems.add(place, f"unsupported type: {kind}")
            continue
        block_id = block.get("block_id")
        problems.string(block_id, f"{place}/block_id", limits.ID)
        if block_id and str(block_id) in seen:
            problems.add(f"{place}/block_id", f"block_id already exists: {block_id}")
        seen.add(str(block_id))
        check(problems, block, place)
        _unique_actions(problems, block, place)
    markdown = sum(len(str(block.get("text", ""))) for block in blocks if _is(block, "markdown"))
    if markdown > limits.MARKDOWN_TOTAL:
        problems.add(at, f"markdown text must be less than {limits.MARKDOWN_TOTAL + 1} characters")
    if sum(_is(block, "table") for block in blocks) > 1:
        problems.add(at, "only one table block is allowed per message")
    return problems.found


def text_total(blocks: list[dict[str, Any]]) -> int:
    """Characters of all text in `blocks`, as counted against the whole-message budget."""
    return sum(_texts(block) for block in blocks)


def elements_of(block: dict[str, Any]) -> list[dict[str, Any]]:
    """The elements of a block a person can act on."""
    found = [*(block.get("elements") or ())] if block.get("type") == "actions" else []
    found += [block[name] for name in ("accessory", "element") if isinstance(block.get(name), dict)]
    return [element for element in found if isinstance(element, dict) and element.get("type") != "image"]


def _texts(value: Any) -> int:
    if isinstance(value, dict):
        return sum(len(one) if key == "text" and isinstance(one, str) else _texts(one) for key, one in value.items())
    return sum(map(_texts, value)) if isinstance(value, list) else 0


def _is(block: Any, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind


def _unique_actions(problems: Problems, block: dict[str, Any], at: str) -> None:
    ids = [str(element["action_id"]) for element in elements_of(block) if element.get("action_id")]
    for action_id in {one for one in ids if ids.count(one) > 1}:
        problems.add(at, f"action_id already exists: {action_id}")


def _section(problems: Problems, block: dict[str, Any], at: str) -> None:
    problems.known_keys(block, at, ("type", "block_id", "text", "fields", "accessory", "expand"))
    if block.get("text") is None and block.get("fields") is None:
        problems.add(at, "missing required field: text or fields")
    problems.text(block.get("text"), f"{at}/text")
    fields = block.get("fields")
    if fields is not None and problems.items(fields, f"{at}/fields", limits.SECTION_FIELDS):
        for number, field in enumerate(fields):
            problems.text(field, f"{at}/fields/{number}", limits.SECTION_FIELD_TEXT)
    if block.get("accessory") is not None:
        check_element(problems, block["accessory"], f"{at}/accessory", IN_SECTION)


def _header(problems: Problems, block: dict[str, Any], at: str) -> None:
    problems.known_keys(block, at, ("type", "block_id", "text", "level"))
    problems.required(block, at, "text")
    problems.plain(block.get("text"), f"{at}/text", limits.HEADER_TEXT)


def _divider(problems: Problems, block: dict[str, Any], at: str) -> None:
    problems.known_keys(block, at, ("type", "block_id"))


def _image(problems: Problems, block: dict[str, Any], at: str) -> None:
    problems.known_keys(block, at, ("type", "block_id", "image_url", "alt_text", "title", "slack_file"))
    problems.required(block, at, "alt_text", *(() if block.get("slack_file") else ("image_url",)))
    problems.string(block.get("image_url"), f"{at}/image_url", limits.IMAGE_URL, least=1)
    problems.string(block.get("alt_text"), f"{at}/alt_text", limits.IMAGE_ALT, least=1)
    problems.plain(block.get("title"), f"{at}/title", limits.IMAGE_ALT)


def _context(problems: Problems, block: dict[str, Any], at: str) -> None:
    problems.known_keys(block, at, ("type", "block_id", "elements"))
    if not problems.items(block.get("elements"), f"{at}/elements", limits.CONTEXT_ELEMENTS):
        return
    for number, element in enumerate(block["elements"]):
        place = f"{at}/elements/{number}"
        if _is(element, "image"):
            check_element(problems, element, place, frozenset({"image"}))
        else:
            problems.text(element, place)


def _actions(problems: Problems, block: dict[str, Any], at: str) -> None:
    problems.known_keys(block, at, ("type", "block_id", "elements"))
    if problems.items(block.get("elements"), f"{at}/elements", limits.ACTIONS_ELEMENTS):
        for number, element in enumerate(block["elements"]):
            check_element(problems, element, f"{at}/elements/{number}", INTERACTIVE)


def _input(problems: Problems, block: dict[str, Any], at: str) -> None:
    known = ("type", "block_id", "label", "element", "hint", "optional", "dispatch_action")
    problems.known_keys(block, at, known)
    if problems.required(block, at, "label", "element"):
        problems.plain(block["label"], f"{at}/label", limits.INPUT_LABEL)
        problems.plain(block.get("hint"), f"{at}/hint", limits.INPUT_LABEL)
        check_element(problems, block["element"], f"{at}/element", IN_INPUT)


def _markdown(problems: Problems, block: dict[str, Any], at: str) -> None:
    problems.known_keys(block, at, ("type", "block_id", "text"))
    if problems.required(block, at, "text"):
        problems.string(block["text"], f"{at}/text", limits.MARKDOWN_TOTAL, least=1)


def _rich_text(problems: Problems, block: dict[str, Any], at: str) -> None:
    problems.known_keys(block, at, ("type", "block_id", "elements"))
    if not problems.items(block.get("elements"), f"{at}/elements", 10_000, least=0):
        return
    kinds = ("rich_text_section", "rich_text_preformatted", "rich_text_list", "rich_text_quote")
    for number, element in enumerate(block["elements"]):
        if not isinstance(element, dict) or element.get("type") not in kinds:
            problems.add(f"{at}/elements/{number}", f"unsupported type: {json.dumps(element)[:80]}")
        else:
            problems.items(element.get("elements"), f"{at}/elements/{number}/elements", 100_000, least=0)


def _table(problems: Problems, block: dict[str, Any], at: str) -> None:
    problems.known_keys(block, at, ("type", "block_id", "rows", "column_settings"))
    if not problems.items(block.get("rows"), f"{at}/rows", limits.TABLE_ROWS):
        return
    for number, row in enumerate(block["rows"]):
        if problems.items(row, f"{at}/rows/{number}", limits.TABLE_COLUMNS):
            for column, cell in enumerate(row):
                if not (_is(cell, "raw_text") or _is(cell, "rich_text")):
                    problems.add(f"{at}/rows/{number}/{column}", "unsupported type in a table cell")


_CHECKS: dict[str, Check] = {
    "section": _section,
    "header": _header,
    "divider": _divider,
    "image": _image,
    "context": _context,
    "actions": _actions,
    "input": _input,
    "markdown": _markdown,
    "rich_text": _rich_text,
    "table": _table,
}
_SURFACES: dict[str, tuple[str, ...]] = {"markdown": ("message",), "table": ("message",)}
