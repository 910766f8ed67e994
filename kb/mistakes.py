"""What is wrong with an entry file, in the words and at the lines of the person who writes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import yaml

from kb.entry import (
    LANGUAGES,
    AppliesTo,
    Check,
    Condition,
    Entry,
    LocalList,
    LocalText,
    Signature,
    Source,
    Step,
)
from kb.errors import Mistake
from kb.yamlfile import UNUSABLE

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

Place = tuple[str | int, ...]
"""Where in a file: keys and places in lists, from the outermost inwards."""

_FIELDS = sorted(
    {
        name
        for model in (Entry, Signature, Condition, AppliesTo, Check, Step, Source, LocalText)
        for name in model.model_fields
    }
)
_MAY_BE_LEFT_OUT = ("expect", "verify")
_UNFILLED = ("missing", "string_too_short", "too_short")
_EXPECTED = {
    "string_type": "text; put it in quotes",
    "list_type": "a list: [..., ...]",
    "date_type": "a day such as 2026-11-29",
    "date_parsing": "a day such as 2026-11-29",
    "date_from_datetime_parsing": "a day such as 2026-11-29",
    "date_from_datetime_inexact": "a day such as 2026-11-29",
    "string_pattern_mismatch": "lower-case letters and digits, parted by single hyphens",
    "string_too_long": "at most 64 characters long",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}


def yaml_mistake(error: yaml.YAMLError) -> Mistake:
    """Why the file is not YAML."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        hint = "; a text with ': ' or ' #' in it needs quotes" if "mapping values" in str(error.problem) else ""
        return Mistake(f"is not YAML: {error.problem}{hint}", error.problem_mark.line + 1)
    return Mistake(f"is not YAML: {str(error).splitlines()[0]}")


def value_mistake(text: str) -> Mistake:
    """Which value of the text is not of the kind that it is written as."""
    loader = yaml.SafeLoader(text)
    try:
        for node in _scalars(loader.get_single_node()):
            try:
                loader.construct_object(node)
            except UNUSABLE:
                kind = _KINDS.get(node.tag.rpartition(":")[2], "a value of its kind; put it in quotes")
                return Mistake(f"{_short(node.value)} is not {kind}", node.start_mark.line + 1)
    except RecursionError:
        pass
    finally:
        loader.dispose()
    return Mistake("cannot be read: it is nested too deeply")


_KINDS = {
    "timestamp": "a day that the calendar has",
    "int": "a number of a sensible length; put it in quotes if it is text",
}


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")


def _scalars(root: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    """The plain values below a node, each once, in their order."""
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            yield node
        elif isinstance(node, yaml.SequenceNode):
            waiting += reversed(node.value)
        elif isinstance(node, yaml.MappingNode):
            waiting += reversed([part for pair in node.value for part in pair])


class Lines:
    """The line of each part of a YAML document."""

    def __init__(self, text: str) -> None:
        try:
            self._root = yaml.compose(text, Loader=yaml.SafeLoader)
        except RecursionError:  # nested too deeply for the parser that knows lines
            self._root = None

    def of(self, place: Sequence[str | int]) -> int:
        """The line, from 1, of the innermost part of `place` that is there."""
        node = self._root
        line = 1
        for part in place:
            found = next(_inside(node, part), None)
            if found is None:
                break
            line, node = found
        return line


def _inside(node: yaml.Node | None, part: str | int) -> Iterator[tuple[int, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                yield key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        yield node.value[part].start_mark.line + 1, node.value[part]


def mistakes_of(text: str, error: ValidationError) -> list[Mistake]:
    """The mistakes in an entry file with this text, one per field whatever the number of its languages."""
    unfilled: dict[Place, list[str]] = {}
    found: dict[str, Place] = {}
    for item in error.errors():
        place = _place(item)
        where, language = _apart(place)
        if language is not None and _is_unfilled(item):
            unfilled.setdefault(where, [])
            if language not in unfilled[where]:
                unfilled[where].append(language)
        else:
            found.setdefault(_sentence(item, place), place)
    for where, languages in unfilled.items():
        optional = ", or leave it out" if where[-1] in _MAY_BE_LEFT_OUT else ""
        found[f"fill in {name_of(where)} ({', '.join(languages)}){optional}"] = where
    lines = Lines(text)
    return sorted((Mistake(words, lines.of(place)) for words, place in found.items()), key=lambda item: item.line or 0)


def name_of(place: Sequence[str | int]) -> str:
    """The place in words: `command of checklist item 2`."""
    last = max((at for at, part in enumerate(place) if isinstance(part, int)), default=-1)
    if last < 0:
        return ".".join(map(str, place))
    outer = f"{name_of(place[:last])} item {int(place[last]) + 1}"
    inner = ".".join(map(str, place[last + 1 :]))
    return f"{inner} of {outer}" if inner else outer


def _place(item: ErrorDetails) -> Place:
    place: Place = item["loc"]
    for at, part in enumerate(place):
        if part in ("equals", "one_of"):  # what follows names a branch of the union
            return place[: at + 1]
    return place


def _apart(place: Place) -> tuple[Place, str | None]:
    """The place of a text or list without its language, and the language."""
    for at in (len(place) - 1, len(place) - 2):
        if at > 0 and place[at] in LANGUAGES:
            return place[:at], str(place[at])
    return place, None


def _is_unfilled(item: ErrorDetails) -> bool:
    return item["type"] in _UNFILLED or (item["type"].endswith("_type") and item["input"] is None)


def _sentence(item: ErrorDetails, place: Place) -> str:
    kind, context = item["type"], item.get("ctx", {})
    name = name_of(place)
    if not place:
        return "holds no entry: it is to be a mapping of fields, as docs/writing-entries.md shows"
    if kind == "missing":
        return f"{name} is missing"
    if kind == "extra_forbidden":
        close = get_close_matches(str(place[-1]), _FIELDS, 1)
        return f"there is no field {name!r}" + (f"; is {close[0]!r} meant?" if close else "")
    if _is_unfilled(item):
        return f"fill in {name}" + (", or leave it out" if place[-1] in _MAY_BE_LEFT_OUT else "")
    if kind == "literal_error":
        return f"{name} is {item['input']!r}; it must be one of {context['expected'].replace(chr(39), '')}"
    if kind == "value_error":
        return f"{name}: {context['error']}"
    return f"{name} {_must_be(item, place)}"


def _must_be(item: ErrorDetails, place: Place) -> str:
    kind, given = item["type"], item["input"]
    if item.get("ctx", {}).get("class_name") in (LocalText.__name__, LocalList.__name__):
        return "must be given per language: {en: ..., ko: ..., zh: ..., ru: ...}"
    if place[-1] in ("equals", "one_of"):
        return "must be text, a number, true or false" + (", in a list" if place[-1] == "one_of" else "")
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return "must be a mapping of fields"
    shown = f"is {given!r}; it " if isinstance(given, str | int | float) else ""
    if kind in _EXPECTED:
        return f"{shown}must be {_EXPECTED[kind]}"
    return f"{shown}is refused: {item['msg']}"
