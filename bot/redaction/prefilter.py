"""One Hyperscan pass that finds the anchors of all rules; what is not near one is never looked at again."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

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

        database = hyperscan.Database()
        caseless = hyperscan.HS_FLAG_CASELESS
        database.compile(
            expressions=[rule.anchor for rule in self._rules],
            ids=list(range(len(self._rules))),
            flags=[hyperscan.HS_FLAG_SOM_LEFTMOST | (caseless if rule.caseless else 0) for rule in self._rules],
        )
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
