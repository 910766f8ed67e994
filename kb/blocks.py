"""Evidence as blocks of clean UTF-8: any encoding, colours, progress bars and JSON wrapping in, whole lines out.

A stream of bytes becomes blocks that end at a line end and keep the raw line numbers. How the stream was cut into
chunks makes no difference. The work for an ordinary UTF-8 log is a few passes at memory speed; only what needs it is
looked at line by line.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from kb.encodings import Legacy, sniff
from kb.records import Records, may_hold_records
from kb.terminal import overwritten, spells_colours, without_colours, without_spelt_colours

BLOCK = 1 << 20
MAX_LINE = BLOCK
"""Bytes of one line that are read; the rest is cut, and said."""
_SNIFF = 1 << 16

_LEADING_NULS = 8
_LINE_END = re.compile(rb"(?<!\r)\r++\n")


class UnreadableError(Exception):
    """The stream is not text; `reason` says why."""

    def __init__(self, reason: Literal["binary", "empty"]) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of clean UTF-8.

    `data` ends with a line end. `first` is the raw number of its first line, `raw_lines` how many raw lines it was made
    of; where lines of `data` and raw lines are not one to one, `numbers` holds the raw number of each line of `data`.
    """

    data: bytes
    first: int
    raw_lines: int
    numbers: list[int] | None = None


@dataclass(slots=True)
class Reading:
    """What happened to one stream; filled while its blocks are consumed."""

    bytes_read: int = 0
    lines_read: int = 0
    encoding: str = "utf-8"
    cut_lines: list[int] = field(default_factory=list)
    undecodable: bool = False


def read_blocks(chunks: Iterable[bytes], reading: Reading) -> Iterator[Block]:
    """Yield the stream as blocks. Raises UnreadableError before the first block where the stream is not text."""
    head, stream = _head(_without_leading_nuls(_counted(chunks, reading)))
    if not head:
        raise UnreadableError("empty")
    found = sniff(head)
    if found is None:
        raise UnreadableError("binary")
    reading.encoding, mark = found
    cleaner = _Cleaner(reading, spelt=spells_colours(head))
    if reading.encoding != "utf-8":
        stream = _transcoded(stream, reading, mark)
    else:
        stream = _skipped(stream, mark)
        if _ends_lines_with_cr(head):
            stream = (chunk.replace(b"\r", b"\n") for chunk in stream)
    number = 1
    for data, lines in _whole_lines(stream, reading):
        block = cleaner.clean(data, number, lines)
        number += lines
        reading.lines_read = number - 1
        if block.data:
            yield block
    if (last := cleaner.finish(number)) is not None:
        yield last


def _counted(chunks: Iterable[bytes], reading: Reading) -> Iterator[bytes]:
    for chunk in chunks:
        reading.bytes_read += len(chunk)
        if chunk:
            yield chunk


def _without_leading_nuls(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Without the hole that log rotation by copy and truncate leaves at the start of a file."""
    start = b""
    for chunk in chunks:
        start += chunk
        if start.strip(b"\0") or len(start) >= _SNIFF:
            bare = start.lstrip(b"\0")
            if not bare:
                start = start[:_LEADING_NULS]
                continue
            yield start if len(start) - len(bare) < _LEADING_NULS else bare
            break
    else:
        if start:
            yield start
        return
    yield from chunks


def _head(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, and the whole stream again."""
    taken = []
    size = 0
    for chunk in chunks:
        taken.append(chunk)
        size += len(chunk)
        if size >= _SNIFF:
            break
    head = b"".join(taken)
    return head[:_SNIFF], chain(iter([head] if head else []), chunks)


def _skipped(chunks: Iterator[bytes], mark: int) -> Iterator[bytes]:
    for chunk in chunks:
        yield chunk[mark:] if mark else chunk
        mark = 0


def _transcoded(chunks: Iterator[bytes], reading: Reading, mark: int) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(reading.encoding)(errors="replace")
    for chunk in _skipped(chunks, mark):
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _ends_lines_with_cr(head: bytes) -> bool:
    """Whether lines end as on old Macs. A progress bar without a line end looks much the same, but repeats itself."""
    if b"\n" in head or head.count(b"\r") < 2:
        return False
    return len(overwritten(head)) > 0.5 * sum(1 for part in head.split(b"\r") if part.strip())


def _whole_lines(chunks: Iterator[bytes], reading: Reading) -> Iterator[tuple[bytes, int]]:
    """Group into pieces of about BLOCK bytes that end at a line end, with the number of raw lines in each."""
    carry: list[bytes] = []
    size = 0
    number = 1
    cut = False  # within a line of which enough has been kept
    for chunk in chunks:
        at = 0
        while at < len(chunk):
            if cut:
                end = chunk.find(b"\n", at)
                if number - 1 not in reading.cut_lines[-1:] and end != at:
                    reading.cut_lines.append(number - 1)
                at = len(chunk) if end < 0 else end + 1
                cut = end < 0
                continue
            take = min(len(chunk) - at, BLOCK - size)
            piece = chunk[at : at + take] if take < len(chunk) else chunk
            at += take
            carry.append(piece)
            size += take
            if size < BLOCK:
                continue
            joined = b"".join(carry)
            end = joined.rfind(b"\n") + 1
            if not end:
                joined = _shortened(joined)
                if len(joined) > MAX_LINE // 2:
                    yield _whole_characters(joined) + b"\n", 1
                    number += 1
                    carry, size, cut = [], 0, True
                else:
                    carry, size = [joined], len(joined)
                continue
            lines = joined.count(b"\n")
            yield joined[:end], lines
            number += lines
            carry = [joined[end:]] if end < len(joined) else []
            size = len(joined) - end
    tail = b"".join(carry)
    if tail:
        if not tail.endswith(b"\n"):
            tail += b"\n"
        yield tail, tail.count(b"\n")


def _shortened(line: bytes) -> bytes:
    """A line that is still going on, without what its carriage returns have overwritten."""
    done, mark, last = line.rpartition(b"\r")
    return b"\r".join(overwritten(done)) + mark + last if mark else line


def _whole_characters(data: bytes) -> bytes:
    """Without a character at the end of which only the first bytes are there."""
    for back in range(1, 4):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if back < needed else data
    return data


class _Cleaner:
    """Makes blocks of whole raw lines."""

    def __init__(self, reading: Reading, *, spelt: bool) -> None:
        self._reading = reading
        self._spelt = spelt
        self._legacy: Legacy | None = None
        self._records: Records | None = None

    def clean(self, data: bytes, first: int, lines: int) -> Block:
        """The block of raw lines that start with number `first`."""
        if not data.isascii():
            data = self._to_utf8(data)
        data = without_colours(data)
        if self._spelt:
            data = without_spelt_colours(data)
        if b"\0" in data:
            data = data.replace(b"\0", b"")
        numbers: list[int] | None = None
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
            if b"\r\n" in data:
                data = _LINE_END.sub(b"\n", data)
            if b"\r" in data:
                data, numbers = _withoutoverwritten(data, first, lines)
        if self._records is not None or may_hold_records(data):
            return self._unwrapped(data, first, lines, numbers)
        return Block(data, first, lines, numbers)

    def finish(self, number: int) -> Block | None:
        """What was held back at the end of the stream."""
        if self._records is None:
            return None
        left = list(self._records.finish())
        return _block(left, number, 0, None) if left else None

    def _unwrapped(self, data: bytes, first: int, lines: int, numbers: list[int] | None) -> Block:
        self._records = self._records or Records()
        raw = data.split(b"\n")
        raw.pop()
        numbered = zip(numbers or range(first, first + lines), raw, strict=True)
        return _block(list(self._records.unwrap(numbered)), first, lines, numbers)

    def _to_utf8(self, data: bytes) -> bytes:
        if b"\xef\xbb\xbf" in data:
            data = data.replace(b"\n\xef\xbb\xbf", b"\n")  # files with byte order marks, one after another
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            if self._legacy is None:
                return data
        lines = data.split(b"\n")
        odd = [line for line in lines if not _is_utf8(line)]
        self._legacy = self._legacy or Legacy()
        self._legacy.learn(odd)
        decode = self._decoder(self._legacy)
        data = b"\n".join(line if line.isascii() else decode(line) for line in lines)
        self._reading.encoding = self._legacy.encoding or self._reading.encoding
        return data

    def _decoder(self, legacy: Legacy) -> Callable[[bytes], bytes]:
        def decode(line: bytes) -> bytes:
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                pass
            else:
                if not legacy.misread(text):
                    return line
            text, whole = legacy.decode(line)
            self._reading.undecodable |= not whole
            return text.encode("utf-8", "replace")

        return decode


def _is_utf8(line: bytes) -> bool:
    if line.isascii():
        return True
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _block(numbered: list[tuple[int, bytes]], first: int, raw_lines: int, numbers: list[int] | None) -> Block:
    """A block of lines with their raw numbers, which are kept only where they say something."""
    data = b"".join(line + b"\n" for _, line in numbered)
    data = without_colours(data)
    found = [number for number, _ in numbered]
    plain = numbers is None and found == list(range(first, first + raw_lines))
    return Block(data, first, raw_lines, None if plain else found)


def _withoutoverwritten(data: bytes, first: int, lines: int) -> tuple[bytes, list[int] | None]:
    """What a terminal shows in the end; text that a progress bar wrote over is kept as a line of its own."""
    out: list[bytes] = []
    numbers: list[int] = []
    raw = data.split(b"\n")
    raw.pop()
    for number, line in enumerate(raw, first):
        kept = overwritten(line) if b"\r" in line else [line]
        out.extend(kept)
        numbers.extend([number] * len(kept))
    return b"\n".join(out) + b"\n", numbers if len(out) != lines else None
