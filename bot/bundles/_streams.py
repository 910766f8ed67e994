"""Byte streams that can be peeked into, skipped, cut at a limit and read at any place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from bot.bundles._limits import Budget, Memory, Unread, size_text

UNIT = 256 << 10
"""Bytes asked for at once where fewer are wanted."""


class Seekable(Protocol):
    """Bytes that can be read at any place."""

    size: int

    def at(self, offset: int, size: int) -> bytes:
        """`size` bytes from `offset` on; fewer only where the bytes end."""


class Stream:
    """A stream over `pull(size)`, which returns up to `size` bytes, b"" at the end only, or raises Unread.

    An Unread is raised again by every later read: what lies behind a fault cannot be reached. `skip(size)`, if given,
    passes over bytes without reading them and returns how many there were.
    """

    def __init__(self, pull: Callable[[int], bytes], skip: Callable[[int], int] | None = None) -> None:
        self._pull = pull
        self._skip = skip
        self._buffer = b""
        self._at = 0
        self._ended = False
        self._fault: Unread | None = None
        self._pulled = 0

    @property
    def consumed(self) -> int:
        """Bytes read and skipped so far."""
        return self._pulled - (len(self._buffer) - self._at)

    @property
    def can_skip(self) -> bool:
        """Whether skipping costs no reading."""
        return self._skip is not None

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; b"" at the end only. Raises Unread."""
        if self._at < len(self._buffer):
            data = self._buffer[self._at : self._at + size]
            self._at += len(data)
            return data
        if size >= UNIT:
            self._buffer, self._at = b"", 0
            return self._next(size)
        self._buffer = self._next(UNIT)
        self._at = min(size, len(self._buffer))
        return self._buffer[: self._at]

    def exactly(self, size: int) -> bytes:
        """`size` bytes; fewer only where the stream ends. Raises Unread, then having consumed nothing of it."""
        if len(self._buffer) - self._at < size:
            self.peek(size)
            if self._fault is not None and len(self._buffer) - self._at < size:
                raise self._fault
        return self.read(size)

    def peek(self, size: int) -> bytes:
        """The next `size` bytes without consuming them, fewer at the end or before a fault.

        Raises Unread where a fault comes next.
        """
        parts = [self._buffer[self._at :]]
        have = len(parts[0])
        while have < size:
            try:
                data = self._next(UNIT)
            except Unread:
                if not have:
                    raise
                break
            if not data:
                break
            parts.append(data)
            have += len(data)
        if len(parts) > 1:
            self._buffer, self._at = b"".join(parts), 0
        return self._buffer[self._at : self._at + size]

    def unread(self, data: bytes) -> None:
        """Put back the end of what was read last."""
        if self._at >= len(data):
            self._at -= len(data)
        else:
            self._buffer, self._at = data + self._buffer[self._at :], 0

    def skip(self, size: int) -> int:
        """Pass over `size` bytes; returns how many there were. Raises Unread."""
        skipped = min(size, len(self._buffer) - self._at)
        self._at += skipped
        if self._skip is not None and skipped < size and self._fault is None:
            passed = self._skip(size - skipped)
            self._pulled += passed
            return skipped + passed
        while skipped < size and (data := self.read(min(size - skipped, UNIT))):
            skipped += len(data)
        return skipped

    def _next(self, size: int) -> bytes:
        if self._fault is not None:
            raise self._fault
        if self._ended:
            return b""
        try:
            data = self._pull(size)
        except Unread as fault:
            self._fault = fault
            raise
        self._pulled += len(data)
        self._ended = not data
        return data


def limited(source: Stream, budget: Budget, reason: str) -> Stream:
    """The source up to what the budget allows; then, if there is more, Unread(reason).

    Skipping is not counted where it costs no reading.
    """

    def pull(size: int) -> bytes:
        if budget.left > 0:
            data = source.read(min(size, budget.left))
            budget.used += len(data)
            return data
        if not source.peek(1):
            return b""
        budget.exceeded = True
        raise Unread(reason, size_text(budget.limit))

    return Stream(pull, source.skip if source.can_skip else None)


def part_of(source: Seekable, start: int, end: int) -> Stream:
    """The bytes of a seekable source from `start` to `end`."""
    position = start

    def pull(size: int) -> bytes:
        nonlocal position
        data = source.at(position, min(size, end - position)) if position < end else b""
        position += len(data)
        return data

    return Stream(pull)


class Held:
    """A stream held in memory, so that it can be read at any place."""

    def __init__(self, source: Stream, limit: int, memory: Memory) -> None:
        """Raises Unread where there is more than `limit` bytes, or more than the memory allows."""
        held = bytearray()
        limit = min(limit, memory.left)
        while data := source.read(min(UNIT, limit + 1 - len(held))):
            held += data
            if len(held) > limit:
                raise Unread("nested_zip", size_text(limit))
        memory.swap(0, len(held))
        self._held = memoryview(held)
        self.size = len(held)

    def at(self, offset: int, size: int) -> bytes:
        """See Seekable."""
        return bytes(self._held[offset : offset + size])
