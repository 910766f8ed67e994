"""Ids and timestamps in Slack's shape, the same in every run."""

from __future__ import annotations

import hashlib
from collections import Counter


class Ids:
    """Counts up per prefix: C0000000001, C0000000002, …"""

    def __init__(self) -> None:
        self._last: Counter[str] = Counter()
        self._last_ts = 0

    def next(self, prefix: str) -> str:
        """The next id with this prefix, eleven characters long."""
        self._last[prefix] += 1
        return f"{prefix}{self._last[prefix]:0{11 - len(prefix)}d}"

    def short(self, prefix: str) -> str:
        """The next short id, as Slack makes for blocks and actions that have none: "b0001"."""
        self._last[prefix] += 1
        return f"{prefix}{self._last[prefix]:04d}"

    def uuid(self, prefix: str) -> str:
        """The next id in the shape of a UUID, as of envelopes."""
        self._last[prefix] += 1
        digest = hashlib.sha256(f"{prefix}{self._last[prefix]}".encode()).hexdigest()
        return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))

    def ts(self, now: float) -> str:
        """A message timestamp, unique in the workspace and never going back: "1790000000.000100"."""
        self._last_ts = max(round(now * 1_000_000), self._last_ts + 100)
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"
