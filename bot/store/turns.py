"""Whose turn it is to write, where only one can: what somebody waits for goes before what can wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """A lock with two queues."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._urgent = threading.Condition(self._lock)
        self._ordinary = threading.Condition(self._lock)
        self._busy = False
        self._urgent_waiting = 0

    @contextmanager
    def take(self, *, urgent: bool = False) -> Iterator[None]:
        """Hold the lock; the urgent ones get it first."""
        with self._lock:
            if urgent:
                self._urgent_waiting += 1
                try:
                    self._urgent.wait_for(lambda: not self._busy)
                finally:
                    self._urgent_waiting -= 1
            else:
                self._ordinary.wait_for(lambda: not self._busy and not self._urgent_waiting)
            self._busy = True
        try:
            yield
        finally:
            with self._lock:
                self._busy = False
                (self._urgent if self._urgent_waiting else self._ordinary).notify()
