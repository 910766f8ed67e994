"""All patterns over all lines in one linear-time pass.

Hyperscan tells which patterns occur in a block, at memory speed and whatever their number; RE2 then finds the lines and
captures of those alone. Both are linear in the input, so no entry can hang the caller.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

_HEAD = 20
"""Bytes at the start of a serialised database: magic, version, length, and the platform it is made for."""
_NAMED_GROUP = re.compile(r"\(\?P<\w+>")


class PatternError(Exception):
    """A pattern does not compile in one of the two engines; the text says which and why."""


def compile_re2(pattern: str) -> Any:
    """RE2 program of one pattern over bytes; a match never crosses a line end."""
    import re2  # noqa: PLC0415 - costs start-up time

    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        text = error.args[0] if error.args else error
        raise PatternError(f"RE2 refuses {pattern!r}: {text.decode() if isinstance(text, bytes) else text}") from error


def compile_hyperscan(patterns: Sequence[str]) -> bytes:
    """Hyperscan database of the patterns, serialised; ids are their positions. Raises PatternError."""
    import hyperscan  # noqa: PLC0415 - costs start-up time

    database = hyperscan.Database()
    expressions = [_NAMED_GROUP.sub("(?:", pattern).encode() for pattern in patterns]
    flags = [_flags(pattern) for pattern in patterns]
    try:
        database.compile(expressions=expressions, ids=list(range(len(expressions))), flags=flags)
    except hyperscan.HyperscanError as error:
        raise PatternError(f"Hyperscan refuses {_culprit(expressions, flags)}: {error}") from error
    return bytes(hyperscan.dumpb(database))


def platform_mark() -> bytes:
    """Differs wherever a serialised database of another Hyperscan or another kind of processor cannot be used."""
    return compile_hyperscan(["a"])[:_HEAD]


def _flags(pattern: str) -> int:
    """Characters outside ASCII need the slower UTF-8 mode: for classes, repeats and letter case."""
    import hyperscan  # noqa: PLC0415

    return int(hyperscan.HS_FLAG_SINGLEMATCH | (0 if pattern.isascii() else hyperscan.HS_FLAG_UTF8))


def _culprit(expressions: list[bytes], flags: list[int]) -> str:
    import hyperscan  # noqa: PLC0415

    for expression, flag in zip(expressions, flags, strict=True):
        try:
            hyperscan.Database().compile(expressions=[expression], ids=[0], flags=flag)
        except hyperscan.HyperscanError:
            return repr(expression.decode())
    return "the patterns together"


class Scanner:
    """Finds patterns, known by their position in `patterns`, in blocks of UTF-8 lines. Threads may share one."""

    def __init__(self, patterns: Sequence[str], database: bytes | None = None) -> None:
        self.patterns = tuple(patterns)
        self._serialised = database
        self._programs: dict[int, Any] = {}
        self._local = threading.local()

    @cached_property
    def database(self) -> bytes:
        """The compiled database, to be kept and given back next time."""
        return self._serialised if self._serialised is not None else compile_hyperscan(self.patterns)

    @cached_property
    def _loaded(self) -> Any:
        import hyperscan  # noqa: PLC0415

        try:
            loaded = hyperscan.loadb(self.database, mode=hyperscan.HS_MODE_BLOCK)
        except hyperscan.HyperscanError:  # it was kept by another machine, or damaged since
            loaded = hyperscan.loadb(compile_hyperscan(self.patterns), mode=hyperscan.HS_MODE_BLOCK)
        loaded.scratch = hyperscan.Scratch(loaded)
        return loaded

    def _scratch(self) -> Any:
        """Working memory of this thread: Hyperscan must not use one twice at a time."""
        scratch = getattr(self._local, "scratch", None)
        if scratch is None:
            scratch = self._local.scratch = self._loaded.scratch.clone()
        return scratch

    def present(self, data: bytes) -> list[int]:
        """Positions of the patterns that occur in `data`, ascending."""
        return [position for position, _ in self.first_ends(data)]

    def first_ends(self, data: bytes) -> list[tuple[int, int]]:
        """Positions of the patterns that occur in `data`, ascending, with the offsets where their first matches end."""
        if not self.patterns:
            return []
        found: list[tuple[int, int]] = []

        def on_match(position: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found.append((position, end))

        self._loaded.scan(data, match_event_handler=on_match, scratch=self._scratch())
        return sorted(found)

    def program(self, position: int) -> Any:
        """The RE2 program of one pattern."""
        program = self._programs.get(position)
        if program is None:
            program = self._programs[position] = compile_re2(self.patterns[position])
        return program

    def offsets(self, position: int, data: bytes, limit: int | None = None, start: int = 0) -> Iterator[int]:
        """Offsets of the matches of a pattern from `start` on, one a line, ascending; at most `limit` lines."""
        search = self.program(position).search
        left = -1 if limit is None else limit
        while left and (match := search(data, start)) is not None:
            left -= 1
            at = match.start()
            yield at
            start = data.find(b"\n", at) + 1
            if not start:
                return

    def hits_line(self, position: int, line: bytes) -> bool:
        """Whether the pattern matches within the line."""
        return self.program(position).search(line) is not None

    def captures(self, position: int, text: str) -> dict[str, str]:
        """Named groups of the pattern on one line."""
        match = self.program(position).search(text.encode("utf-8", "replace"))
        if match is None:
            return {}
        return {
            (name.decode() if isinstance(name, bytes) else name): value.decode("utf-8", "replace")
            for name, value in match.groupdict().items()
            if value is not None
        }
