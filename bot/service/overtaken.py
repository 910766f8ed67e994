"""Events that came before what they belong to.

Nothing promises that what Slack tells arrives in the order in which it happened: deliveries go over several
connections, are repeated after a failure, and are taken in by several threads. So a reply may arrive before the mention
that its thread begins with, and an edit before its message. Whether an event is for us is known only when the other one
is there: until then it is kept for some seconds, in memory only, as most of what is kept turns out to be none of our
business. A call that comes later than that looks into its thread itself; and should the process end meanwhile, the
catching up of the next one finds the messages.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

log = logging.getLogger(__name__)

_KEPT_FOR = 10.0
"""Seconds."""
_MOST = 200
_LOOK = 0.25
"""Seconds between two looks; each event is tried after this time, after twice, four times, … of it, and
a last time when it has been kept long enough."""


class Overtaken:
    """Keeps events that nobody knows the message of. Threads may share one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, float, Mapping[str, Any]]] = OrderedDict()
        """By event id: since when it is kept, when it is tried again, and what it says."""

    @property
    def waiting(self) -> int:
        """How many events are kept."""
        return len(self._kept)

    def keep(self, event_id: str, body: Mapping[str, Any]) -> None:
        """Try the event again soon; one that is kept already stays as old as it is."""
        now = self._clock()
        with self._lock:
            self._kept.setdefault(event_id, (now, now + _LOOK, body))
            if len(self._kept) > _MOST:
                self._kept.popitem(last=False)

    def look(self, take_in: Callable[[Mapping[str, Any]], bool]) -> None:
        """Try the events whose time has come; those that are taken in, or too old, are kept no more."""
        now = self._clock()
        with self._lock:
            due = [(event_id, *kept) for event_id, kept in self._kept.items() if kept[1] <= now]
        for event_id, since, _, body in due:
            done = now - since >= _KEPT_FOR
            try:
                done = take_in(body) or done
            finally:  # one that cannot be taken in must not keep the others waiting
                with self._lock:
                    if done:
                        self._kept.pop(event_id, None)
                    elif event_id in self._kept:
                        again = min(now + max(_LOOK, now - since), since + _KEPT_FOR)
                        self._kept[event_id] = (since, again, body)

    def watch(self, take_in: Callable[[Mapping[str, Any]], bool], stopping: threading.Event) -> None:
        """Look again and again, until `stopping` is set."""
        while not stopping.wait(_LOOK):
            try:
                self.look(take_in)
            except Exception:  # the database may be away for a while; what is kept is tried again
                log.warning("cannot take in what came too early", exc_info=True)
