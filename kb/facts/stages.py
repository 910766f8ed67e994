"""How far a server had come, and which start of it a line belongs to.

The processes of one server share its stages, so the marks of a file form one track; only where several hosts write
into one file and each starts a server of its own does every host have its own. A new start begins with a launch
command, the banner or the arguments, whichever of them is seen first, or where the same engine process appears anew.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from kb.facts.vocabulary import STAGES
from kb.lines import Line

START_MARKS = ("command", "banner", "arguments")
"""Marks of a new start, in the order in which one start leaves them."""

_OF_REQUESTS = frozenset({"request", "refused", "first_request"})
_OF_A_RUNNING_SERVER = _OF_REQUESTS | {"answering", "serving"}
"""Marks that a server leaves long after its start, too."""

_ORDER = {stage: index for index, stage in enumerate(STAGES)}
_ENGINE_START = _ORDER["engine_start"]
_FIRST_REQUEST = _ORDER["first_request"]
_READY = _ORDER["ready"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A line that shows progress.

    `kind` is a stage, a start mark, `import_traceback`, an answered `request`, one that was `refused`, or `answering`,
    a line of the access log.
    """

    kind: str
    line: Line


@dataclass(slots=True)
class _Track:
    numbers: list[int] = field(default_factory=list)
    stages: list[int] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    def append(self, line: Line, stage: int, epoch: int) -> None:
        self.numbers.append(line.number)
        self.stages.append(stage)
        self.epochs.append(epoch)
        self.lines.append(line)


def _track(marks: Iterable[Mark]) -> _Track:
    track = _Track()
    stage, epoch, started, seen = -1, 0, -1, False
    engines: dict[str | None, int | None] = {}
    for mark in marks:
        line = mark.line
        if mark.kind in START_MARKS:
            kind = START_MARKS.index(mark.kind)
            if kind <= started or stage >= _ENGINE_START or epoch == 0:
                stage, epoch, engines = -1, epoch + 1, {}
            started = kind
            stage = max(stage, _ORDER["import"] if mark.kind != "command" else -1)
        elif mark.kind == "import_traceback":
            if track.numbers and stage > -1:
                continue
            stage = _ORDER["import"]
        elif mark.kind in _OF_REQUESTS and not seen:
            # Where the log does not show the start, nothing tells that the request was the first one.
            stage = _ORDER["serving"]
        elif mark.kind == "request":
            stage = max(stage, _FIRST_REQUEST) if stage < _FIRST_REQUEST else _ORDER["serving"]
        elif mark.kind in ("answering", "refused"):
            stage = max(stage, _READY)
        else:
            reached = _ORDER[mark.kind]
            if reached == _ENGINE_START:
                again = line.process in engines and engines[line.process] != line.pid
                if stage >= _READY or again:
                    stage, epoch, engines, started = -1, epoch + 1, {}, -1
                engines[line.process] = line.pid
            stage = max(stage, reached)
        seen = seen or mark.kind in START_MARKS or (stage >= 0 and mark.kind not in _OF_A_RUNNING_SERVER)
        track.append(line, stage, epoch)
    return track


class Stages:
    """The progress of every server in the evidence."""

    def __init__(self, marks: Iterable[Mark] = ()) -> None:
        files: dict[str, list[Mark]] = {}
        for mark in marks:
            files.setdefault(mark.line.file, []).append(mark)
        self._tracks: dict[tuple[str, str | None], _Track] = {}
        self._own: set[tuple[str, str | None]] = set()
        for file, group in files.items():
            self._tracks[file, None] = _track(group)
            hosts: dict[str | None, list[Mark]] = {}
            for mark in group:
                hosts.setdefault(mark.line.host, []).append(mark)
            starting = {mark.line.host for mark in group if mark.kind in START_MARKS[1:]}
            if len(starting) > 1:
                for host in starting:
                    self._own.add((file, host))
                    self._tracks[file, host] = _track(hosts[host])

    def _of(self, line: Line) -> _Track | None:
        key = (line.file, line.host)
        return self._tracks.get(key if key in self._own else (line.file, None))

    def at(self, line: Line) -> str | None:
        """The furthest stage marked before `line` since the last start."""
        track = self._of(line)
        if track is None:
            return None
        index = bisect_left(track.numbers, line.number) - 1
        return STAGES[track.stages[index]] if index >= 0 and track.stages[index] >= 0 else None

    def epoch(self, line: Line) -> int:
        """Which start of the file the line belongs to, counted from 1; 0 before the first."""
        track = self._of(line)
        if track is None:
            return 0
        index = bisect_right(track.numbers, line.number) - 1
        return track.epochs[index] if index >= 0 else 0

    def furthest(self) -> tuple[str, Line] | None:
        """The furthest stage of the last start, with the line that marks it."""
        runs: list[tuple[int, Line, float | None, float | None]] = []
        keys = {file for file, _ in self._own}
        for key, track in self._tracks.items():
            if not track.numbers or (key[1] is None and key[0] in keys and key not in self._own):
                continue
            last = [index for index, epoch in enumerate(track.epochs) if epoch == track.epochs[-1]]
            best = max(last, key=lambda index: (track.stages[index], -index))
            times = [time for index in last if (time := track.lines[index].time) is not None]
            begin, end = (min(times), max(times)) if times else (None, None)
            runs.append((track.stages[best], track.lines[best], begin, end))
        newest = max((begin for _, _, begin, _ in runs if begin is not None), default=None)
        current = [run for run in runs if newest is None or run[3] is None or run[3] >= newest]
        reached = max(current, key=lambda run: run[0], default=None)
        return (STAGES[reached[0]], reached[1]) if reached is not None and reached[0] >= 0 else None


class StageLog:
    """Collects marks and drops those that change nothing, so that an access log costs no memory."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self._reached: dict[tuple[str, str | None], int] = {}
        self._answered: set[tuple[tuple[str, str | None], str]] = set()

    def add(self, kind: str, line: Line) -> None:
        """Note a mark."""
        key = (line.file, line.host)
        if kind in START_MARKS:
            self._reached.pop(key, None)
        elif kind == "request":
            before = self._reached.get(key, -1)
            if before >= _ORDER["serving"]:
                return
            self._reached[key] = _FIRST_REQUEST if before < _FIRST_REQUEST else _ORDER["serving"]
        elif kind in ("answering", "refused"):
            if (key, kind) in self._answered and self._reached.get(key, -1) >= _READY:
                return
            self._answered.add((key, kind))
            self._reached[key] = max(self._reached.get(key, -1), _READY)
        elif kind != "engine_start" and kind in _ORDER:
            if _ORDER[kind] <= self._reached.get(key, -1):
                return
            self._reached[key] = _ORDER[kind]
        elif kind == "engine_start":
            self._reached[key] = _ENGINE_START
        self.marks.append(Mark(kind, line))
