"""A worker's hold on the thread it works on."""

from __future__ import annotations

import threading

from bot.errors import WorkReturned


class Lease:
    """A worker's hold on a lane."""

    def __init__(self, lane: str, stop: threading.Event) -> None:
        self.lane = lane
        self._stop = stop
        self._lost = threading.Event()

    def check(self) -> None:
        """Raise WorkReturned where the work is no longer ours: the lease was lost, or the bot is told to stop now."""
        if self._lost.is_set() or self._stop.is_set():
            raise WorkReturned

    def lose(self) -> None:
        """Another worker may have the lane by now."""
        self._lost.set()
