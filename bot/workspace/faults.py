"""What can be made to go wrong, on order.

A target is the name of a Web API method, or of one of `files.download`, `files.upload`, `response_url`, `socket`,
`events`; `chat.*` and `*` match several. Every fault happens `times` times and is then over.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any


@dataclass(slots=True)
class Fault:
    """One thing that will go wrong at `target`. `kind` is the name of the method of Faults that ordered it."""

    kind: str
    target: str
    times: int
    details: Mapping[str, Any] = field(default_factory=dict)


class Faults:
    """Orders for failures; the server takes them as calls come in."""

    def __init__(self) -> None:
        self._orders: list[Fault] = []
        self._lock = threading.Lock()

    def lose_answer(self, target: str, times: int = 1) -> None:
        """Carry the call out, then cut the connection: the client cannot know that it succeeded."""
        self._order("lose_answer", target, times)

    def lose_request(self, target: str, times: int = 1) -> None:
        """Cut the connection before the call is carried out."""
        self._order("lose_request", target, times)

    def delay(self, target: str, seconds: float, times: int = 1) -> None:
        """Carry the call out at once, answer so many real seconds later; delay an envelope on `socket`."""
        self._order("delay", target, times, seconds=seconds)

    def rate_limit(self, target: str, retry_after: str | None = "1", times: int = 1) -> None:
        """Answer 429 with this Retry-After header as it stands, or with none."""
        self._order("rate_limit", target, times, retry_after=retry_after)

    def fail(self, target: str, status: int = 503, times: int = 1) -> None:
        """Answer with this HTTP status and an HTML page, without carrying the call out."""
        self._order("fail", target, times, status=status)

    def error(self, target: str, code: str = "internal_error", times: int = 1) -> None:
        """Answer {"ok": false, "error": code}."""
        self._order("error", target, times, code=code)

    def close_socket(self, times: int = 1, how: str = "cut") -> None:
        """End the connection in the middle of the next events, so that they are redelivered.

        `how`: "close" sends the event and then a close frame before the ack is read; "cut" drops the connection after
        half of the frame.
        """
        self._order("close_socket", "socket", times, how=how)

    def deliver_twice(self, times: int = 1) -> None:
        """Deliver the next events a second time at once, though they were or will be acknowledged."""
        self._order("deliver_twice", "events", times)

    def give_up(self, times: int = 1) -> None:
        """Never deliver the next events, as after the last redelivery came to nothing."""
        self._order("give_up", "events", times)

    def login_page(self, times: int = 1) -> None:
        """Answer file downloads with 200 and Slack's HTML login page, as for a token without files:read."""
        self._order("login_page", "files.download", times)

    def cut_download(self, after: int = 0, times: int = 1) -> None:
        """Cut downloads after so many bytes of the body."""
        self._order("cut_download", "files.download", times, after=after)

    def file_not_ready(self, times: int = 1) -> None:
        """Answer files.info without a download URL, and downloads with 404, as right after an upload."""
        self._order("file_not_ready", "files.*", times)

    @property
    def open(self) -> int:
        """How many orders are left."""
        return len(self._orders)

    def clear(self) -> None:
        """Forget all orders."""
        with self._lock:
            self._orders.clear()

    def take(self, target: str, *kinds: str) -> Fault | None:
        """The next order for `target` of one of the `kinds`, used up once."""
        with self._lock:
            for fault in self._orders:
                if fault.kind in kinds and fnmatchcase(target, fault.target):
                    fault.times -= 1
                    if fault.times <= 0:
                        self._orders.remove(fault)
                    return fault
        return None

    def _order(self, kind: str, target: str, times: int, **details: Any) -> None:
        with self._lock:
            self._orders.append(Fault(kind, target, times, details))
