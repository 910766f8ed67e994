"""From lines to facts: which reader looks at which line, and which of several values counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from kb.facts import (
    amd_tools,
    described,
    engine_log,
    environment,
    gpu_tools,
    images,
    launch,
    manifests,
    metrics,
    network,
    packages,
    stage_marks,
    system,
)
from kb.facts.derive import derived
from kb.facts.model import Fact, Facts, Source
from kb.facts.prose import PROSE_FILE, prose_facts
from kb.facts.reading import Cursor, Found, Reader
from kb.facts.stages import StageLog, Stages
from kb.facts.values import typed
from kb.lines import Line

READERS: tuple[Reader, ...] = (
    *stage_marks.READERS,
    *engine_log.READERS,
    *launch.READERS,
    *environment.READERS,
    *images.READERS,
    *manifests.READERS,
    *described.READERS,
    *gpu_tools.READERS,
    *amd_tools.READERS,
    *packages.READERS,
    *system.READERS,
    *network.READERS,
    *metrics.READERS,
)

_ENGINE_PROCESS = re.compile(r"APIServer|ApiServer|EngineCore|Worker|DPCoordinator|RustFrontend")
_HEAD = 4096
"""Characters of a line in which a reader's pattern is looked for."""

_FIRST = frozenset({"xid", "exit_code", "oom_tried_gib", "oom_free_gib", "oom_total_gib", "architecture"})
"""The first one of a start is the cause, those after it follow from it."""

_LOWEST = frozenset({"kv_cache_available_gib", "gpu_memory_gib"})
_HIGHEST = frozenset({"weights_gib", "kv_cache_usage", "gpu_memory_used_gib", "preemptions", "rdma_devices"})
_GAUGES = frozenset({"kv_cache_usage", "prefix_cache_hit_rate", "preemptions", "spec_acceptance_length"})
"""Printed again and again: one value per start is kept."""


class Anchor(NamedTuple):
    """A line that the scanner of a huge file must hand to `extract_facts`, together with the lines after it."""

    name: str
    pattern: str
    after: int
    frequent: bool = False


ANCHORS: tuple[Anchor, ...] = tuple(
    Anchor(reader.name, reader.pattern, reader.after, reader.frequent) for reader in READERS if reader.anchor
)


@cache
def _index() -> Any:
    """One automaton of all readers' patterns."""
    import re2  # noqa: PLC0415  the import of kb.facts must not cost anything

    patterns = re2.Set.SearchSet()
    for reader in READERS:
        patterns.Add(reader.pattern)
    patterns.Compile()
    return patterns


class _Entry(NamedTuple):
    fact: Fact
    epoch: int
    last: int
    """Position of the last line that says it."""


class _Collection:
    """Facts as they come in: typed, with equal ones of one start joined."""

    def __init__(self, stages: Stages) -> None:
        self._stages = stages
        self._entries: dict[tuple[object, ...], _Entry] = {}

    def add(self, found: Found, position: int) -> None:
        value = typed(found.name, found.value)
        if value is None:
            return
        line = found.line
        epoch = self._stages.epoch(line)
        kept = None if found.name in _GAUGES else (type(value), value)
        key = (found.name, kept, line.file, line.host, epoch, found.source)
        before = self._entries.get(key)
        if before is not None and (kept is not None or not _replaces(found.name, value, before.fact.value)):
            self._entries[key] = before._replace(last=position)
            return
        fact = Fact(found.name, value, line.file, line.number, line.host, line.time, line.text, found.source)
        self._entries[key] = _Entry(fact, epoch, position)

    def ranked(self) -> Iterator[Fact]:
        """The facts of every name, the one that counts first; those of overtaken starts are left out."""
        names: dict[str, list[_Entry]] = {}
        for entry in self._entries.values():
            names.setdefault(entry.fact.name, []).append(entry)
        launches = self._newest([entry for entry in self._entries.values() if _is_flag(entry.fact)])
        for name, entries in names.items():
            newest = launches if name.startswith("flag.") else self._newest(entries)
            current = [e for e in entries if e.epoch == newest.get((e.fact.file, e.fact.host), e.epoch)]
            current.sort(key=lambda entry: _rank(name, entry))
            seen: set[tuple[object, ...]] = set()
            for entry in current:
                fact = entry.fact
                key = (type(fact.value), fact.value, fact.file, fact.host)
                if key not in seen:
                    seen.add(key)
                    yield fact

    @staticmethod
    def _newest(entries: Sequence[_Entry]) -> dict[tuple[str, str | None], int]:
        newest: dict[tuple[str, str | None], int] = {}
        for entry in entries:
            key = (entry.fact.file, entry.fact.host)
            newest[key] = max(newest.get(key, 0), entry.epoch)
        return newest


def _is_flag(fact: Fact) -> bool:
    return fact.name.startswith("flag.")


def _replaces(name: str, new: object, old: object) -> bool:
    if name in _HIGHEST and isinstance(new, int | float) and isinstance(old, int | float):
        return new > old
    return True


def _rank(name: str, entry: _Entry) -> tuple[object, ...]:
    fact = entry.fact
    source = -int(fact.source)
    if name == "exit_code":
        return (fact.value == 0, source, entry.last)
    if name == "nic_state":
        return (fact.value != "down", source, -entry.last)
    if name in _FIRST:
        return (source, fact.file, fact.line)
    if name in _LOWEST:
        return (source, fact.value, -entry.last)
    if name in _HIGHEST and isinstance(fact.value, int | float):
        return (source, -fact.value, -entry.last)
    return (source, -entry.last)


def extract_facts(lines: Sequence[Line], prose: str = "") -> Facts:
    """The facts in `lines` (those of one file together and in order) and in the person's own words."""
    found: list[tuple[Found, int]] = []
    log = StageLog()
    for position, said in _read(lines):
        if said.name == "stage":
            log.add(str(said.value), said.line)
        else:
            found.append((said, position))
    stages = Stages(log.marks)
    collection = _Collection(stages)
    for said, position in found:
        collection.add(said, position)
    for position, said in enumerate(_told(prose, lines)):
        collection.add(said, position)
    facts = list(collection.ranked())
    furthest = stages.furthest()
    if furthest is not None:
        stage, line = furthest
        facts.append(Fact("stage", stage, line.file, line.number, line.host, line.time, line.text, Source.ENGINE))
    return Facts(derived(facts), stages)


def _read(lines: Sequence[Line]) -> Iterator[tuple[int, Found]]:
    match = _index().Match
    busy: dict[int, int] = {}
    for position, line in enumerate(lines):
        hits = match(line.body[:_HEAD].encode("utf-8", "replace"))
        if not hits:
            continue
        for hit in hits:
            if busy.get(hit, 0) > position:
                continue
            cursor = Cursor(lines, position)
            for said in READERS[hit].read(cursor):
                yield position, said
            busy[hit] = position + cursor.used


def _told(prose: str, lines: Sequence[Line]) -> Iterator[Found]:
    """Facts of the prose, on the lines of the evidence where it stands."""
    serving = any(_ENGINE_PROCESS.match(line.process) for line in lines if line.process)
    said = list(prose_facts(prose, serving=serving)) if prose.strip() else []
    wanted = {found.line.text.strip() for found in said}
    places: dict[str, Line] = {}
    if wanted:
        for line in lines:
            text = line.text.strip()
            if text in wanted:
                places.setdefault(text, line)
    for found in said:
        place = places.get(found.line.text.strip(), replace(found.line, file=PROSE_FILE))
        yield found._replace(line=place)
