"""One message a second per channel: above that Slack may hide messages without an error."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bot.slackio.errors import SlackRetryLater

_INTERVAL = 1.0
_PATIENCE = 10.0
_KEPT = 1_000


class Pace:
    """Hands out the moments at which a channel may get its next message. Thread-safe."""

    def __init__(self, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._clock = clock
        self._sleep = sleep
        self._free: dict[str, float] = {}
        self._lock = threading.Lock()

    def wait(self, channel: str) -> None:
        """Wait for the channel's turn. Raises SlackRetryLater where so many wait that it would hold up other work."""
        with self._lock:
            now = self._clock()
            at = max(now, self._free.get(channel, now))
            if at - now > _PATIENCE:
                raise SlackRetryLater("channel_busy", at - now)
            if len(self._free) >= _KEPT:
                self._free = {name: free for name, free in self._free.items() if free > now}
            self._free[channel] = at + _INTERVAL
        if at > now:
            self._sleep(at - now)
