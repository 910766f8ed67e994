"""A collector of what is wrong with a payload, each with a JSON pointer, and the checks used everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import Any

from bot.workspace import limits

TEXT_TYPES = ("plain_text", "mrkdwn")


class Problems:
    """Complaints in Slack's words: "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, at: str, text: str) -> None:
        """Note a complaint about the value at the JSON pointer `at`."""
        self.found.append(f"{text} [json-pointer:{at}]")

    def known_keys(self, value: dict[str, Any], at: str, allowed: Iterable[str]) -> None:
        """Complain of fields that Slack does not know."""
        for key in value.keys() - set(allowed):
            self.add(at, f"invalid additional property: {key}")

    def required(self, value: dict[str, Any], at: str, *names: str) -> bool:
        """Complain of missing fields; True when all are there."""
        missing = [name for name in names if value.get(name) is None]
        for name in missing:
            self.add(at, f"missing required field: {name}")
        return not missing

    def string(self, value: Any, at: str, most: int, least: int = 0) -> None:
        """A string of so many characters, when it is there."""
        if value is None:
            return
        if not isinstance(value, str):
            self.add(at, "must provide a string")
        elif len(value) > most:
            self.add(at, f"must be less than {most + 1} characters")
        elif len(value) < least:
            self.add(at, f"must be more than {least - 1} characters")

    def items(self, value: Any, at: str, most: int, least: int = 1) -> bool:
        """A list of so many items; True when it is a list at all."""
        if not isinstance(value, list):
            self.add(at, "must provide an array")
            return False
        self._size(value, at, most, least)
        return True

    def text(self, value: Any, at: str, most: int = limits.TEXT_OBJECT, types: tuple[str, ...] = TEXT_TYPES) -> None:
        """A text object, when it is there."""
        if value is None:
            return
        if not isinstance(value, dict):
            self.add(at, "must provide an object")
            return
        if value.get("type") not in types:
            self.add(f"{at}/type", f"unsupported type: {value.get('type')}")
            return
        self.known_keys(value, at, ("type", "text", "emoji" if value["type"] == "plain_text" else "verbatim"))
        if self.required(value, at, "text"):
            self.string(value["text"], f"{at}/text", most, least=1)

    def plain(self, value: Any, at: str, most: int) -> None:
        """A plain_text object, when it is there."""
        self.text(value, at, most, ("plain_text",))

    def one_of(self, value: Any, at: str, allowed: tuple[str, ...]) -> None:
        """One of a few words, when it is there."""
        if value is not None and value not in allowed:
            self.add(at, f"must be a valid enum value: {', '.join(allowed)}")

    def _size(self, value: Sized, at: str, most: int, least: int) -> None:
        if len(value) > most:
            self.add(at, f"no more than {most} items allowed")
        elif len(value) < least:
            self.add(at, f"must provide at least {least} items")
