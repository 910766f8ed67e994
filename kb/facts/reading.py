"""How facts are read: a reader waits for its pattern, then looks at that line and, where needed, at those after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from kb.facts.model import Source
from kb.lines import Line

LONGEST = 64_000
"""Characters of a line that a reader may look at."""

_GAP = 40
"""Line numbers that may be missing inside a block: more means that the evidence was cut there."""


class Found(NamedTuple):
    """A value as it stands in the evidence; its type is settled later, see `kb.facts.values.typed`."""

    name: str
    value: object
    line: Line
    source: Source = Source.TOOL


class Cursor:
    """The line at which a reader was called, and the way on from there."""

    def __init__(self, lines: Sequence[Line], at: int) -> None:
        self.lines = lines
        self.at = at
        self.used = 1
        """Lines for which the reader need not be called again; a reader of blocks raises it."""

    @property
    def line(self) -> Line:
        """The line that the pattern was found on."""
        return self.lines[self.at]

    @property
    def body(self) -> str:
        """Its message without framing, cut to a bounded length."""
        return self.line.body[:LONGEST]

    def after(self, limit: int) -> Iterator[Line]:
        """Up to `limit` following lines of the same file, as long as they stand together."""
        previous = self.line
        for index in range(self.at + 1, min(self.at + 1 + limit, len(self.lines))):
            line = self.lines[index]
            if line.file != previous.file or line.number - previous.number > _GAP:
                return
            yield line
            previous = line

    def block(self, limit: int) -> Iterator[Line]:
        """The line itself, then those after it."""
        yield self.line
        yield from self.after(limit)

    def before(self, limit: int) -> Iterator[Line]:
        """Up to `limit` preceding lines of the same file, the nearest first."""
        for index in range(self.at - 1, max(-1, self.at - 1 - limit), -1):
            if self.lines[index].file != self.line.file:
                return
            yield self.lines[index]


Read = Callable[[Cursor], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Reader:
    """Calls `read` for each line with `pattern` (RE2, also Hyperscan, without `^` and `$`)."""

    name: str
    pattern: str
    read: Read
    after: int = 0
    """Lines after the first that `read` wants to see."""
    anchor: bool = True
    """Whether the scanner of huge files must look for the line."""
    frequent: bool = False
    """Whether a healthy log may be full of such lines."""


@cache
def _compiled(pattern: str) -> Any:
    import re2  # noqa: PLC0415  the import of a fact reader must not cost anything

    return re2.compile(pattern)


def search(pattern: str, text: str) -> Mapping[str, str | None] | None:
    """The named groups of `pattern` (RE2: linear time) in `text`, or None where it does not match."""
    match = _compiled(pattern).search(text.encode("utf-8", "replace").decode("utf-8"))
    return match.groupdict() if match else None


@dataclass(frozen=True, slots=True)
class Says:
    """A line that states facts by itself: each named group of `pattern` is a fact; `also` are facts that go with it."""

    name: str
    pattern: str
    source: Source = Source.TOOL
    also: Mapping[str, object] = field(default_factory=dict)
    anchor: bool = True
    frequent: bool = False

    def reader(self) -> Reader:
        """The reader of such lines."""
        return Reader(self.name, self.pattern, self._read, anchor=self.anchor, frequent=self.frequent)

    def _read(self, cursor: Cursor) -> Iterator[Found]:
        groups = search(self.pattern, cursor.body)
        if groups is None:
            return
        for name, value in groups.items():
            if value is not None:
                yield Found(name, value, cursor.line, self.source)
        for name, constant in self.also.items():
            yield Found(name, constant, cursor.line, self.source)
