"""Time as the workspace sees it: real, or moved by hand in tests."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Seconds since the epoch; `advance` moves it forward at once."""

    def now(self) -> float:
        """The present."""

    def advance(self, seconds: float) -> None:
        """Jump forward."""


class SystemClock:
    """The machine's time, plus whatever was advanced."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def now(self) -> float:
        """The present, in seconds since the epoch."""
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Jump forward, for a look at what expires."""
        self._ahead += seconds


class ManualClock:
    """Stands still until advanced. With it no acknowledgement is ever late by itself."""

    def __init__(self, start: float = 1_790_000_000.0) -> None:
        self._now = start

    def now(self) -> float:
        """The present, in seconds since the epoch."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Jump forward."""
        self._now += seconds
