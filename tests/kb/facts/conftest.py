from collections.abc import Callable, Sequence

import pytest

from kb.facts import Facts, extract_facts
from kb.framing import parse_line
from kb.lines import Line


@pytest.fixture
def lines() -> Callable[..., list[Line]]:
    """Text as lines of one file, with the framing taken off."""

    def read(text: str, file: str = "paste.log", first: int = 1) -> list[Line]:
        return [parse_line(file, number, row) for number, row in enumerate(text.strip("\n").split("\n"), first)]

    return read


@pytest.fixture
def facts(lines: Callable[..., list[Line]]) -> Callable[..., Facts]:
    """The facts of one text."""

    def read(text: str, prose: str = "", file: str = "paste.log") -> Facts:
        return extract_facts(lines(text, file), prose)

    return read


@pytest.fixture
def value(facts: Callable[..., Facts]) -> Callable[..., object]:
    """The value of one fact of a text, or None."""

    def read(text: str, name: str, prose: str = "") -> object:
        fact = facts(text, prose).get(name)
        return None if fact is None else fact.value

    return read


@pytest.fixture
def values(facts: Callable[..., Facts]) -> Callable[..., dict[str, object]]:
    """Name and value of every fact that counts in a text, but for those in `without`."""

    def read(text: str, prose: str = "", without: Sequence[str] = ()) -> dict[str, object]:
        found = facts(text, prose)
        return {name: fact.value for name in found.names() if name not in without and (fact := found.get(name))}

    return read
