"""What was read out of the evidence, with the line it stands on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from kb.facts.stages import Stages
from kb.lines import Line

Value = str | int | float | bool


class Source(IntEnum):
    """Who says it, the most trustworthy last: a higher source wins."""

    PROSE = 0  # the person's own words
    DERIVED = 1  # concluded from something else, such as a version from an image tag
    LAUNCH = 2  # a command line or a manifest: what was asked for
    TOOL = 3  # nvidia-smi, pip list, /metrics and the like
    ARGS = 4  # the arguments as the server understood them
    ENGINE = 5  # what the engine says that it uses


@dataclass(frozen=True, slots=True)
class Fact:
    """One value with its origin. `line` is the raw number of the line in `file`, `text` the line itself."""

    name: str
    value: Value
    file: str
    line: int
    host: str | None = None
    time: float | None = None
    text: str = ""
    source: Source = Source.TOOL


class Facts:
    """All facts of one body of evidence. Of the facts of one name, the first one given is the one that counts."""

    def __init__(self, facts: Iterable[Fact] = (), stages: Stages | None = None) -> None:
        ranked: dict[str, list[Fact]] = {}
        for fact in facts:
            ranked.setdefault(fact.name, []).append(fact)
        self._ranked: Mapping[str, tuple[Fact, ...]] = {name: tuple(group) for name, group in ranked.items()}
        self._stages = stages or Stages()

    def get(self, name: str) -> Fact | None:
        """The fact that counts: the engine's word before a flag, a flag before prose, a later start before an older."""
        group = self._ranked.get(name)
        return group[0] if group else None

    def all(self, name: str) -> tuple[Fact, ...]:
        """Every distinct value per file and host, the one that counts first, without those of overtaken starts."""
        return self._ranked.get(name, ())

    def names(self) -> tuple[str, ...]:
        """The names of the facts that are known, sorted."""
        return tuple(sorted(self._ranked))

    def stage_at(self, line: Line) -> str | None:
        """How far the server had come when `line` was written; None where nothing before the line tells."""
        return self._stages.at(line)

    @property
    def stage(self) -> str | None:
        """The furthest stage of the last start."""
        furthest = self._stages.furthest()
        return furthest[0] if furthest else None

    def __iter__(self) -> Iterator[Fact]:
        for group in self._ranked.values():
            yield from group

    def __len__(self) -> int:
        return sum(len(group) for group in self._ranked.values())

    def __contains__(self, name: object) -> bool:
        return name in self._ranked

    def __repr__(self) -> str:
        return f"Facts({', '.join(f'{name}={group[0].value!r}' for name, group in sorted(self._ranked.items()))})"
