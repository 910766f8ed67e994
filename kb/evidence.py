"""Evidence: the lines that matter, each with its origin, out of any amount of text.

Small inputs are kept whole and repaired. Of a large one the start, the end and the surroundings of every sign of
failure, every anchor of a fact and every hit of a pattern are kept, within fixed budgets: the rest has been scanned,
and counted, and is not held.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from kb.blocks import Block, Reading, UnreadableError, read_blocks
from kb.columns import find_column
from kb.framing import parse_line
from kb.lines import Line
from kb.repair import repair
from kb.scanner import Scanner
from kb.windows import Budget, Watch, Windows

__all__ = ["SMALL", "Collector", "Evidence", "NotRead", "Source", "Watch"]

SMALL = 512 << 10
"""Bytes up to which one input is kept whole; a paste is kept whole up to one block."""
_SMALL_TOTAL = 8 << 20
_MAX_LINES = 60_000
_MAX_BYTES = 40 << 20
_MIN_LINES = 500
_MIN_BYTES = 256 << 10
_MOST_FILES = 200
_MAX_TEXT = 16 << 10
"""Characters of one line that are held; all of it has been scanned."""
_MOST_HITS = 100


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to read: a name to cite and its bytes. `paste` says that a person may have written words into it."""

    name: str
    chunks: Iterable[bytes]
    paste: bool = False


@dataclass(frozen=True, slots=True)
class NotRead:
    """Something that was not read. `reason` is a key of the catalogue, `detail` fills its placeholder."""

    file: str
    reason: str
    detail: str = ""


@dataclass(slots=True)
class Evidence:
    """Kept lines in the order of files and lines, with the patterns that hit each of them."""

    lines: list[Line] = field(default_factory=list)
    hits: dict[int, list[int]] = field(default_factory=dict)
    """Pattern position -> indices into `lines`, ascending."""
    prose: str = ""
    bytes_read: int = 0
    lines_read: int = 0
    files: list[str] = field(default_factory=list)
    not_read: list[NotRead] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    """For each kept line its place among the lines of its own process, as far as they are known."""
    times: list[float | None] = field(default_factory=list)
    """For each kept line its time, or that of the line before it in its file."""
    quoted: set[int] = field(default_factory=set)
    """Indices of the lines that are a person's own words."""
    given: dict[int, str] = field(default_factory=dict)
    """Index of a line that was repaired -> the line as the person sees it; not for one put together from several."""


class Collector:
    """Reads sources one after another into one body of evidence."""

    def __init__(self, scanner: Scanner, watches: Sequence[Watch]) -> None:
        self._scanner = scanner
        self._watches = watches
        self._evidence = Evidence()
        self._prose: list[str] = []
        self._small_bytes = 0
        self._large_files = 0
        self._with_gaps: set[str] = set()
        self._lines_left = _MAX_LINES
        self._bytes_left = _MAX_BYTES

    def add(self, source: Source) -> None:
        """Read one source. What cannot be read is noted in the evidence, never raised."""
        reading = Reading()
        evidence = self._evidence
        blocks = read_blocks(source.chunks, reading)
        try:
            first = next(blocks, None)
        except UnreadableError as error:
            evidence.not_read.append(NotRead(source.name, error.reason))
            return
        if first is None:
            evidence.not_read.append(NotRead(source.name, "empty"))
            return
        evidence.files.append(source.name)
        second = next(blocks, None)
        small = second is None and (source.paste or len(first.data) <= SMALL)
        if small and self._small_bytes <= _SMALL_TOTAL:
            self._small_bytes += len(first.data)
            self._keep(source, _numbered(first))
        else:
            windows = Windows(self._scanner, self._watches, self._budget())
            held = windows.read(chain([first], [second] if second is not None else [], blocks))
            self._lines_left -= len(held)
            self._bytes_left -= sum(len(data) for _, data in held)
            numbered = [(number, data.decode("utf-8", "replace")) for number, data in held]
            self._with_gaps.add(source.name)
            self._keep(source, numbered, most=_MOST_HITS)
        evidence.bytes_read += reading.bytes_read
        evidence.lines_read += reading.lines_read
        if reading.cut_lines:
            shown = ", ".join(map(str, reading.cut_lines[:5])) + (", …" if len(reading.cut_lines) > 5 else "")
            evidence.not_read.append(NotRead(source.name, "long_line", shown))
        if reading.undecodable:
            evidence.not_read.append(NotRead(source.name, "undecodable"))

    def skip(self, file: str, reason: str, detail: str = "") -> None:
        """Note something that was not read at all."""
        self._evidence.not_read.append(NotRead(file, reason, detail))

    def finish(self) -> Evidence:
        """The evidence. The collector must not be used afterwards."""
        evidence = self._evidence
        evidence.prose = "\n".join(self._prose)
        evidence.positions = _positions(evidence.lines, self._with_gaps)
        evidence.times = _times(evidence.lines)
        return evidence

    def _budget(self) -> Budget:
        """Half of what is left, so that one noisy file leaves room for the others; a little for each of the first."""
        self._large_files += 1
        least = self._large_files <= _MOST_FILES
        return Budget(
            max(self._lines_left // 2, _MIN_LINES if least else 0),
            max(self._bytes_left // 2, _MIN_BYTES if least else 0),
        )

    def _keep(self, source: Source, numbered: list[tuple[int, str]], most: int | None = None) -> None:
        """Add lines with their origin and the patterns that hit them: of each about the first and last `most`."""
        evidence = self._evidence
        if not numbered:
            return
        column = find_column(text for _, text in numbered)
        prose: frozenset[int] = frozenset()
        seen: dict[int, str] = {}
        if source.paste:
            paste = repair(numbered, column)
            several = {number for number, count in Counter(number for number, _ in numbered).items() if count > 1}
            seen = {number: text for number, text in numbered if number not in paste.joined | several}
            numbered, prose = paste.lines, paste.prose_numbers
            if paste.prose:
                self._prose.append(paste.prose)
        base = len(evidence.lines)
        for number, whole in numbered:
            text = whole[:_MAX_TEXT]
            if seen.get(number, whole) != whole:
                evidence.given[len(evidence.lines)] = seen[number][:_MAX_TEXT]
            if number in prose:
                evidence.quoted.add(len(evidence.lines))
                evidence.lines.append(Line(source.name, number, text, text))
            else:
                evidence.lines.append(parse_line(source.name, number, text, column))
        data = "\n".join(text for _, text in numbered).encode("utf-8", "replace") + b"\n"
        starts = _line_starts(data)
        for position in self._scanner.present(data):
            found = {bisect_right(starts, at) - 1 for at in self._offsets(position, data, most)}
            evidence.hits.setdefault(position, []).extend(base + index for index in sorted(found))

    def _offsets(self, position: int, data: bytes, most: int | None) -> Iterable[int]:
        if most is None:
            return self._scanner.offsets(position, data)
        found = list(self._scanner.offsets(position, data, most))
        if len(found) == most:
            later = max(data.find(b"\n", found[-1]), data.rfind(b"\n", 0, max(len(data) - SMALL // 4, 0)))
            found.extend(self._scanner.offsets(position, data, most, later))
        return found


def _numbered(block: Block) -> list[tuple[int, str]]:
    texts = block.data.decode("utf-8", "replace").split("\n")
    texts.pop()
    numbers = block.numbers if block.numbers is not None else range(block.first, block.first + len(texts))
    return list(zip(numbers, texts, strict=True))


def _line_starts(data: bytes) -> list[int]:
    starts = [0]
    find = data.find
    at = find(b"\n")
    last = len(data) - 1
    while -1 < at < last:
        starts.append(at + 1)
        at = find(b"\n", at + 1)
    return starts


def _positions(lines: list[Line], with_gaps: set[str]) -> list[int]:
    """Count the lines of each process; a gap between two windows counts as that many lines of every process."""
    counts: dict[tuple[str, str | None, str | int | None], tuple[int, int]] = {}
    out = []
    skipped = 0
    file, last = "", 0
    for line in lines:
        if line.file != file:
            file, last, skipped = line.file, 0, 0
        if last and line.number > last + 1 and file in with_gaps:
            skipped += line.number - last - 1
        last = max(last, line.number)
        stream = line.stream
        count, seen = counts.get(stream, (0, skipped))
        count += 1 + skipped - seen
        counts[stream] = (count, skipped)
        out.append(count)
    return out


def _times(lines: list[Line]) -> list[float | None]:
    out: list[float | None] = []
    file, known = "", None
    for line in lines:
        if line.file != file:
            file, known = line.file, None
        known = line.time if line.time is not None else known
        out.append(known)
    return out
