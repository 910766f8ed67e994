"""One Hyperscan pass that finds the anchors of all rules; what is not near one is never looked at again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

from bot.cachedir import cache_directory
from bot.redaction.rule import Rule


class Prefilter:
    """The anchors of rules, found in blocks of bytes. Threads may share one."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._local = threading.local()
        self._compiling = threading.Lock()

    @cached_property
    def _database(self) -> Any:
        import hyperscan  # noqa: PLC0415 - costs start-up time

        caseless = hyperscan.HS_FLAG_CASELESS
        anchors = [rule.anchor for rule in self._rules]
        flags = [hyperscan.HS_FLAG_SOM_LEFTMOST | (caseless if rule.caseless else 0) for rule in self._rules]
        key = hashlib.sha256(repr((version("hyperscan"), anchors, flags)).encode()).hexdigest()[:24]
        path = cache_directory() / f"redaction-{key}.hsdb"
        try:
            database = hyperscan.loadb(path.read_bytes(), mode=hyperscan.HS_MODE_BLOCK)
        except (OSError, hyperscan.HyperscanError, ValueError):
            database = hyperscan.Database()
            database.compile(expressions=anchors, ids=list(range(len(anchors))), flags=flags)
            _keep(path, hyperscan.dumpb(database))
        database.scratch = hyperscan.Scratch(database)
        return database

    def hits(self, data: bytes) -> Iterator[tuple[int, int, int]]:
        """(start, end, number of the rule) of every anchor, in the order of the starts; of several ends the last."""
        with self._compiling:
            database = self._database
        scratch = getattr(self._local, "scratch", None)
        if scratch is None:  # Hyperscan must not use one twice at a time
            with self._compiling:
                scratch = self._local.scratch = database.scratch.clone()
        found: list[int] = []
        append = found.append

        def on_match(number: int, start: int, end: int, _flags: int, _context: object) -> None:
            append(start << 32 | number << 16 | min(end - start, 0xFFFF))  # numbers cost a tenth of tuples

        database.scan(data, match_event_handler=on_match, scratch=scratch)
        found.sort()
        found.append(-1)
        for hit, following in pairwise(found):
            if hit >> 16 != following >> 16:
                yield hit >> 32, (hit >> 32) + (hit & 0xFFFF), hit >> 16 & 0xFFFF


def _keep(path: Path, database: bytes) -> None:
    """Keep the compiled patterns for next time. A cache that cannot be written costs time only."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_bytes(database)
        os.replace(temporary, path)
