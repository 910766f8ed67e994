"""What the app is told, and whether it acknowledged within three seconds; if not, again at once, after 1 and 5 min.

Only events are redelivered. An interaction or a command that is not acknowledged has failed, and the person sees it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from bot.workspace import limits
from bot.workspace.clock import Clock
from bot.workspace.faults import Faults
from bot.workspace.ids import Ids
from bot.workspace.model import Json

Kind = Literal["events_api", "interactive", "slash_commands"]
Outcome = Literal["open", "acked", "timed_out", "not_connected", "refused"]


@dataclass(eq=False, slots=True)
class Delivery:
    """One thing to tell the app. `attempts` counts how often it was sent; `response` is what came with the ack."""

    kind: Kind
    payload: Json
    due: float
    attempts: int = 0
    outcome: Outcome = "open"
    response: Json | None = None
    retry_num: int = 0
    retry_reason: str = ""
    envelope_id: str = ""
    offered_at: float | None = None
    sent_at: float | None = None
    when_done: Callable[[Delivery], None] | None = None
    _done: threading.Event = field(default_factory=threading.Event)

    @property
    def acked(self) -> bool:
        """Whether the app acknowledged it."""
        return self.outcome == "acked"

    @property
    def event(self) -> Json:
        """The event of an event callback; {} of anything else."""
        event: Json = self.payload.get("event", {})
        return event

    def wait(self, seconds: float = 10) -> Delivery:
        """Wait until it is acknowledged or given up. Raises TimeoutError, always real time."""
        if not self._done.wait(seconds):
            raise TimeoutError(f"{self.kind} is still open after {seconds} s; with a manual clock, advance it")
        return self

    def finish(self, outcome: Outcome, response: Json | None = None) -> None:
        """Settle it, and let the person see what follows."""
        self.outcome, self.response = outcome, response
        if self.when_done is not None:
            self.when_done(self)
        self._done.set()


class Transport(Protocol):
    """A way to the app: Socket Mode, or HTTP."""

    @property
    def connected(self) -> bool:
        """Whether the app can be reached."""

    def send(self, delivery: Delivery) -> None:
        """Start sending; never waits."""


class Dispatcher:
    """Sends deliveries, repeats what is not acknowledged. `tick` moves it on and never waits."""

    def __init__(self, clock: Clock, ids: Ids, faults: Faults, lock: threading.Condition) -> None:
        self._clock, self._ids, self._faults, self._lock = clock, ids, faults, lock
        self.transport: Transport | None = None
        self.wake: Callable[[], None] = lambda: None
        self.log: list[Delivery] = []
        self._open: list[Delivery] = []

    def submit(self, kind: Kind, payload: Json, when_done: Callable[[Delivery], None] | None = None) -> Delivery:
        """Take a delivery in; it leaves at the next tick."""
        with self._lock:
            delivery = self._add(Delivery(kind, payload, self._clock.now(), when_done=when_done))
            if kind == "events_api" and self._faults.take("events", "give_up"):
                self._open.remove(delivery)
                delivery.finish("not_connected")
            if kind == "events_api" and self._faults.take("events", "deliver_twice"):
                self._add(Delivery(kind, payload, self._clock.now(), retry_num=1, retry_reason="timeout"))
        self.wake()
        return delivery

    def tick(self) -> None:
        """Send what is due, give up on what was not acknowledged in time."""
        with self._lock:
            now = self._clock.now()
            for delivery in list(self._open):
                if delivery.sent_at is not None:
                    if now - delivery.sent_at >= limits.ACK:
                        self._missed(delivery, "timed_out", "http_timeout")
                elif delivery.due <= now:
                    self._offer(delivery, now)
                    self._lock.notify_all()

    def acknowledge(self, envelope_id: str, response: Json | None = None) -> bool:
        """Settle the delivery sent in this envelope; False when it is too late or unknown."""
        with self._lock:
            delivery = self._sent(envelope_id)
            if delivery is None:
                return False
            self._open.remove(delivery)
            delivery.finish("acked", response)
            self._lock.notify_all()
            return True

    def miss(self, envelope_id: str, reason: str, *, retry: bool = True) -> None:
        """The envelope was refused or its connection broke; `reason` as in X-Slack-Retry-Reason."""
        with self._lock:
            delivery = self._sent(envelope_id)
            if delivery is not None:
                self._missed(delivery, "refused", reason, retry=retry)
        self.wake()

    @property
    def open(self) -> list[Delivery]:
        """What is neither acknowledged nor given up."""
        return list(self._open)

    def _add(self, delivery: Delivery) -> Delivery:
        self.log.append(delivery)
        self._open.append(delivery)
        return delivery

    def _sent(self, envelope_id: str) -> Delivery | None:
        return next((one for one in self._open if one.sent_at is not None and one.envelope_id == envelope_id), None)

    def _offer(self, delivery: Delivery, now: float) -> None:
        if self.transport is not None and self.transport.connected:
            delivery.envelope_id = self._ids.uuid("envelope")
            delivery.sent_at = now
            delivery.attempts += 1
            self.transport.send(delivery)
        elif delivery.kind != "events_api":
            self._missed(delivery, "not_connected", "connection_failed")
        elif delivery.offered_at is None:
            delivery.offered_at = now  # an app that reconnects within the three seconds still gets it
        elif now - delivery.offered_at >= limits.ACK:
            self._missed(delivery, "not_connected", "connection_failed")

    def _missed(self, delivery: Delivery, outcome: Outcome, reason: str, *, retry: bool = True) -> None:
        if delivery.kind == "events_api" and retry and delivery.retry_num < len(limits.RETRY_AFTER):
            delivery.due = self._clock.now() + limits.RETRY_AFTER[delivery.retry_num]
            delivery.retry_num += 1
            delivery.retry_reason = reason
            delivery.sent_at = delivery.offered_at = None
        else:
            self._open.remove(delivery)
            delivery.finish(outcome)
        self._lock.notify_all()
