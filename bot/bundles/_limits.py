"""What may be read at most, and how a limit or a fault says why something was not read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what comes out of archives. Plain files, and plain text on stdin, are read whole.

    `total_bytes`: bytes unpacked by one call, at every level of nesting, skipped members included.
    `file_bytes`: bytes of one unpacked file.
    `members`: entries of one outermost archive, those of the archives in it included.
    `depth`: archives one inside another, the outermost counted; `x.tar.gz` is one.
    `ratio`: bytes out per byte in of one compressed stream, judged after `ratio_from` bytes out.
    `nested_zip_bytes`: memory for zips that have to be held because they come as a stream.
    """

    total_bytes: int = 4 << 30
    file_bytes: int = 4 << 30
    members: int = 10_000
    depth: int = 3
    ratio: int = 200
    ratio_from: int = 10 << 20
    nested_zip_bytes: int = 64 << 20


class Unread(Exception):
    """Reading ended before the end. `reason` and `detail` are those of a NotRead."""

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(reason, detail)


@dataclass(slots=True)
class Budget:
    """A number of things that may be used up, and whether more was wanted."""

    limit: int
    used: int = 0
    exceeded: bool = False

    @property
    def left(self) -> int:
        """How many may still be used."""
        return self.limit - self.used


class Memory:
    """Memory held at the same time by zips and by the dictionaries of decompressors, in bytes."""

    _DICTIONARIES = 32 << 20

    def __init__(self, limits: Limits) -> None:
        self.limit = limits.nested_zip_bytes + self._DICTIONARIES
        self.used = 0

    @property
    def left(self) -> int:
        """Bytes that may still be held."""
        return self.limit - self.used

    def swap(self, held: int, wanted: int) -> int:
        """Give back `held` bytes and take `wanted` ones. Raises Unread where they are too many."""
        if self.used - held + wanted > self.limit:
            raise Unread("memory", size_text(self.limit - self.used + held))
        self.used += wanted - held
        return wanted


@dataclass(slots=True)
class LeftOut:
    """What a limit left out: the first such name, and how many things there are; None where that is not known."""

    first: str | None = None
    count: int | None = 0

    def add(self, name: str, count: int | None) -> None:
        """Note `count` things more, beginning with `name`."""
        if self.first is None:
            self.first = name
        self.count = None if count is None or self.count is None else self.count + count


def size_text(size: int) -> str:
    """A number of bytes for a person: `4 GiB`, `1.5 MiB`, `700 B`."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{size} B"
