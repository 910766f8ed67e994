"""The parts of a large file that are held: its start, its end, and the surroundings of every sign.

Of each pattern the first hits are kept and, since what matters may come late in a log that has been noisy for days, the
last ones too. Memory is bounded by the budget, whatever the size of the file.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kb.blocks import Block
from kb.scanner import Scanner

_HEAD = 192 << 10
_TAIL = 128 << 10
_FIRST_HITS = 24
_FIRST_IF_FREQUENT = 3
_LAST_HITS = 3
_LAST_BYTES = 8 << 20
_LATE_PER_BLOCK = 32
_LATE_AROUND = 40
_EACH_BLOCK = 8
_LATER_EVERY = 4
"""What hits in more blocks than that is noise, and is noted in every fourth block only."""


class Watch(NamedTuple):
    """How lines that a pattern hits are kept: how many around them, and whether hits are to be expected en masse."""

    after: int = 4
    before: int = 0
    frequent: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be held of one file beside its start and its end."""

    lines: int
    bytes: int


class _Kept(NamedTuple):
    place: int  # among the clean lines of the file, from 0
    number: int  # raw line number
    data: bytes


class Windows:
    """Chooses what to hold while the blocks of one file pass by."""

    def __init__(self, scanner: Scanner, watches: Sequence[Watch], budget: Budget) -> None:
        self._scanner = scanner
        self._watches = watches
        self._lines_left = budget.lines
        self._bytes_left = budget.bytes
        self._seen: Counter[int] = Counter()
        self._kept: dict[int, _Kept] = {}
        self._last: dict[int, deque[_Window]] = {}
        self._last_bytes = 0
        self._late: Counter[int] = Counter()
        self._until = 0  # places before this one belong to a window that began in an earlier block

    def read(self, blocks: Iterator[Block]) -> list[tuple[int, bytes]]:
        """The lines to hold as (raw number, text without line end), in the order of the file."""
        place = 0
        previous: _Lines | None = None
        current: _Lines | None = None
        for block in blocks:
            previous, current = current, _Lines(block, place)
            if previous is None:
                self._keep_all(current.between(0, _HEAD))
            self._keep_hits(current, previous)
            place += current.count
        if current is not None:
            self._keep_tail(current, previous)
        for windows in self._last.values():
            for window in windows:
                self._keep_all(window.lines())
        return [(kept.number, kept.data) for _, kept in sorted(self._kept.items())]

    def _keep_all(self, lines: Iterable[_Kept]) -> None:
        for kept in lines:
            self._kept[kept.place] = kept

    def _keep_tail(self, block: _Lines, previous: _Lines | None) -> None:
        missing = _TAIL - len(block.data)
        if missing > 0 and previous is not None:
            self._keep_all(previous.between(len(previous.data) - missing, len(previous.data)))
        self._keep_all(block.between(len(block.data) - _TAIL, len(block.data)))

    def _keep_hits(self, block: _Lines, previous: _Lines | None) -> None:
        wanted: list[tuple[int, int, int]] = []
        late: list[tuple[int, int]] = []
        for position, end in self._scanner.first_ends(block.data):
            watch = self._watches[position]
            left = (_FIRST_IF_FREQUENT if watch.frequent else _FIRST_HITS) - self._seen[position]
            if left > 0:
                hits = list(self._scanner.offsets(position, block.data, left))
                self._seen[position] += len(hits)
                wanted.extend((at, watch.before, watch.after) for at in hits)
            elif not watch.frequent:
                self._late[position] += 1
                if self._late[position] <= _EACH_BLOCK or self._late[position] % _LATER_EVERY == 0:
                    late.append((end - 1, position))
        self._keep_windows(block, previous, sorted(wanted))
        late.sort(key=lambda hit: self._late[hit[1]])  # the rarest first
        for at, position in sorted(late[:_LATE_PER_BLOCK]):
            self._note_late(block, at, position)

    def _keep_windows(self, block: _Lines, previous: _Lines | None, wanted: list[tuple[int, int, int]]) -> None:
        """Keep so many lines before and after each offset; windows that overlap are one."""
        spans = [(block.place, 0, self._until)] if self._until > block.place else []
        for at, before, after in wanted:
            start, place = block.locate(at)
            begin, above = block.back(start, before)
            if above < before and previous is not None:
                self._spend(previous.last(before - above))
            spans.append((place - above, begin, place + after + 1))
        done = offset = 0
        for first, begin, until in sorted(spans):
            if until <= done:
                continue
            if first >= done:
                self._spend(block.forward(begin, first, until - first))
            else:
                self._spend(block.forward(offset, done, until - done))
            offset, done = block.reached, until
        self._until = max(self._until, done)

    def _spend(self, lines: Iterable[_Kept]) -> None:
        """Keep lines as long as the budget lasts."""
        for kept in lines:
            if kept.place in self._kept:
                continue
            if self._lines_left <= 0 or self._bytes_left < len(kept.data):
                return
            self._lines_left -= 1
            self._bytes_left -= len(kept.data)
            self._kept[kept.place] = kept

    def _note_late(self, block: _Lines, at: int, position: int) -> None:
        """Remember a hit of a pattern of which enough hits have been kept, in place of an earlier such hit."""
        start, place = block.locate(at)
        if place in self._kept or not self._scanner.hits_line(position, block.line(start)):
            return
        watch = self._watches[position]
        window = block.window(start, place, min(watch.before, _LATE_AROUND // 2), min(watch.after, _LATE_AROUND))
        windows = self._last.setdefault(position, deque())
        if len(windows) == _LAST_HITS:
            self._last_bytes -= len(windows.popleft().data)
        if self._last_bytes + len(window.data) <= _LAST_BYTES:
            self._last_bytes += len(window.data)
            windows.append(window)


@dataclass(frozen=True, slots=True)
class _Window:
    """Lines of one block, not yet told apart."""

    place: int
    numbers: Sequence[int]
    data: bytes

    def lines(self) -> Iterator[_Kept]:
        for index, (number, line) in enumerate(zip(self.numbers, self.data.split(b"\n"), strict=False)):
            yield _Kept(self.place + index, number, line)


class _Lines:
    """The lines of one block by their offset. Places are counted only as far as somebody asks."""

    def __init__(self, block: Block, place: int) -> None:
        self._block = block
        self.data = block.data
        self.place = place
        self.count = len(block.numbers) if block.numbers is not None else block.raw_lines
        self.reached = 0  # offset behind the lines that `forward` gave last
        self._known = (0, place)

    def locate(self, at: int) -> tuple[int, int]:
        """The offset at which the line around `at` starts, and its place."""
        start = self.data.rfind(b"\n", 0, at) + 1
        offset, place = self._known
        if offset <= start:
            place += self.data.count(b"\n", offset, start)
        else:
            place -= self.data.count(b"\n", start, offset)
        self._known = (start, place)
        return start, place

    def line(self, start: int) -> bytes:
        """The line that starts at the offset."""
        return self.data[start : self.data.find(b"\n", start)]

    def back(self, start: int, lines: int) -> tuple[int, int]:
        """The offset so many lines before the line at `start`, and how many lines there are between."""
        for done in range(lines):
            if start == 0:
                return 0, done
            start = self.data.rfind(b"\n", 0, start - 1) + 1
        return start, lines

    def forward(self, start: int, place: int, lines: int) -> list[_Kept]:
        """So many lines from the offset on, as far as the block reaches."""
        data, numbers = self.data, self._block.numbers
        out = []
        for index in range(place - self.place, min(place - self.place + lines, self.count)):
            end = data.find(b"\n", start)
            number = numbers[index] if numbers is not None else self._block.first + index
            out.append(_Kept(self.place + index, number, data[start:end]))
            start = end + 1
        self.reached = start
        return out

    def window(self, start: int, place: int, before: int, after: int) -> _Window:
        """The line at an offset with so many lines around it, as far as the block reaches."""
        begin, above = self.back(start, before)
        end = start
        for _ in range(after + 1):
            end = self.data.find(b"\n", end) + 1
            if end == len(self.data):
                break
        first = place - above - self.place
        numbers = self._block.numbers
        most = above + after + 1
        raw = range(self._block.first + first, self._block.first + first + most)
        return _Window(
            place - above, numbers[first : first + most] if numbers is not None else raw, self.data[begin : end - 1]
        )

    def last(self, lines: int) -> list[_Kept]:
        """The last lines of the block."""
        begin, found = self.back(len(self.data), lines)
        return self.forward(begin, self.place + self.count - found, found)

    def between(self, begin: int, end: int) -> list[_Kept]:
        """The lines that start between two offsets."""
        start, place = self.locate(max(begin, 0))
        return self.forward(start, place, self.data.count(b"\n", start, max(end, 0)) + 1)
