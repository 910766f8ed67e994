"""Workers: huey threads that lease lanes of the inbox and hand their rows to the service.

The queue only carries wake-up calls, one lane name each. It may lose any of them: a ticker looks for due lanes and
calls again, so the inbox row stays the truth. Embedded in the bot by default; with a queue of its own (`redis://…`,
`postgresql://…`, `sqlite:///…`) several processes share the calls.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from huey import Huey, MemoryHuey
from huey.consumer import Consumer

from bot.errors import UsageError, WorkReturned
from bot.inbox import DIED, Inbox, Row
from bot.lease import Lease

log = logging.getLogger(__name__)

_TICK = 0.25
_REVIVED = 24 * 3600.0
"""Rows given up within so many seconds are tried again by a new process, which may be of a newer release."""
_CALL_AGAIN = 2.0
"""Seconds after which a call that nobody has answered is repeated: another process may have taken it and died."""
_STARTS = 12
"""How often work on a row may end with its process before the row is given up: over some eight minutes, as the inbox
makes it wait longer each time. Whoever ends the process in a hurry hits the innocent, too."""
_FREE_DEAD_EVERY = 8
"""Ticks between two looks for lanes of dead processes."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The row is to be worked on again later."""

    delay: float
    error: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The row is given up."""

    error: str


Outcomes = Mapping[int, Retry | Failed]
"""What is not done, by the id of the row; everything else is."""


class _Consumer(Consumer):  # type: ignore[misc]
    """A consumer inside a program that handles its own signals."""

    def _set_signal_handlers(self) -> None:
        pass


class Workers:
    """The workers of one process."""

    def __init__(
        self,
        inbox: Inbox,
        work: Callable[[list[Row], Lease], Outcomes],
        *,
        count: int = 4,
        queue_url: str = "memory://",
        lease_seconds: float = 30,
        give_up: Callable[[Row], None] = lambda row: None,
    ) -> None:
        """`give_up` tells whom it concerns that a row ended its process again and again."""
        self._inbox = inbox
        self._work = work
        self._give_up = give_up
        self._suspects = threading.Lock()
        self._lease_seconds = lease_seconds
        self._stop_soon = threading.Event()
        self._stop_now = threading.Event()
        self._leases: dict[str, Lease] = {}
        self._called: dict[str, float] = {}
        self._lock = threading.Lock()
        self._huey = open_queue(queue_url)
        self._task = self._huey.task(name="work")(self._run)
        self._consumer = _Consumer(
            self._huey, workers=count, periodic=False, initial_delay=0.02, backoff=1.3, max_delay=0.1
        )
        self._threads = [
            threading.Thread(target=self._tick, name="k3-ticker", daemon=True),
            threading.Thread(target=self._renew, name="k3-leases", daemon=True),
        ]

    def start(self) -> None:
        """Begin to work."""
        self._inbox.free_dead()
        self._inbox.revive(_REVIVED)
        self._consumer.start()
        for thread in self._threads:
            thread.start()

    def call(self, lane: str) -> None:
        """Wake a worker for a lane; cheap, and harmless when repeated."""
        now = time.monotonic()
        with self._lock:
            if now - self._called.get(lane, -_CALL_AGAIN) < _CALL_AGAIN:
                return
            self._called[lane] = now
        self._task(lane)

    @property
    def busy(self) -> int:
        """How many lanes are being worked on."""
        return len(self._leases)

    def stop(self, seconds: float = 20) -> bool:
        """Finish the rows at hand, give back what takes longer; False where a worker did not come back in time."""
        self._stop_soon.set()
        self._consumer.stop_flag.set()
        if not self._wait_idle(seconds):
            self._stop_now.set()
        idle = self._wait_idle(5)
        self._stop_now.set()
        for _, thread in self._consumer.worker_threads:
            if thread.is_alive():
                thread.join(1)
        self._huey.storage.close()
        return idle

    def _wait_idle(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._leases and time.monotonic() < deadline:
            time.sleep(0.02)
        return not self._leases

    def _run(self, lane: str) -> None:
        with self._lock:
            self._called.pop(lane, None)
        while not self._stop_soon.is_set() and self._inbox.take(lane) is not None:
            lease = Lease(lane, self._stop_now)
            self._leases[lane] = lease
            try:
                self._work_off(lane, lease)
            finally:
                self._leases.pop(lane, None)
                self._inbox.release(lane)

    def _work_off(self, lane: str, lease: Lease) -> None:
        rows = self._inbox.rows(lane)
        if not any(row.starts for row in rows):
            self._try(lane, rows, lease)
            return
        # The process died while these were worked on, with others at the same time perhaps. One after the other now, so
        # that only the guilty one is counted again.
        with self._suspects:
            for row in rows:
                if self._stop_soon.is_set():
                    return
                if row.starts < _STARTS:
                    self._try(lane, [row], lease)
                    continue
                log.error("given up, as it ends the process", extra={"row": row.id, "lane": lane})
                self._inbox.fail(row, DIED)
                self._give_up(row)

    def _try(self, lane: str, rows: list[Row], lease: Lease) -> None:
        if not rows:
            return
        self._inbox.begin(*rows)
        try:
            outcomes = self._work(rows, lease)
        except WorkReturned:
            log.info("work returned", extra={"lane": lane})
            self._inbox.put_back(*rows)
            return
        except Exception as error:
            log.exception("work failed", extra={"lane": lane})
            outcomes = {row.id: Retry(min(60.0, 2.0**row.attempts), type(error).__name__) for row in rows}
        finished = []
        for row in rows:
            outcome = outcomes.get(row.id)
            if outcome is None:
                finished.append(row)
            elif isinstance(outcome, Retry):
                self._inbox.retry(row, outcome.delay, outcome.error)
            else:
                self._inbox.fail(row, outcome.error)
        if finished:
            self._inbox.done(*finished)

    def _tick(self) -> None:
        ticks = 0
        while not self._stop_soon.wait(_TICK):
            try:
                if ticks % _FREE_DEAD_EVERY == 0:
                    self._inbox.free_dead()
                self._call_all(self._inbox.due_lanes())
            except Exception:  # the database may be away for a while; the next tick tries again
                log.warning("cannot look for due work", exc_info=True)
            ticks += 1

    def _call_all(self, lanes: Iterable[str]) -> None:
        for lane in lanes:
            self.call(lane)

    def _renew(self) -> None:
        while not self._stop_now.wait(self._lease_seconds / 3):
            for lane, lease in list(self._leases.items()):
                try:
                    kept = self._inbox.renew(lane)
                except Exception:  # as above; the lease runs out if this lasts
                    log.warning("cannot renew a lease", exc_info=True)
                    continue
                if not kept:
                    lease.lose()


def open_queue(url: str) -> Huey:
    """The queue behind a URL. Raises UsageError."""
    scheme, _, rest = url.partition("://")
    common: dict[str, Any] = {"results": False}
    if scheme == "memory":
        return MemoryHuey("k3triage", **common)
    if scheme == "sqlite":
        from huey import SqliteHuey  # noqa: PLC0415

        return SqliteHuey("k3triage", filename=rest.removeprefix("/"), **common)
    if scheme in ("redis", "rediss"):
        from huey import RedisHuey  # noqa: PLC0415

        return RedisHuey("k3triage", url=url, **common)
    if scheme.startswith("postgres"):
        from huey.api import PostgresHuey  # noqa: PLC0415

        # Waiting for notifications, huey would leave one connection a worker open for good.
        return PostgresHuey("k3triage", dsn=url, blocking=False, **common)
    raise UsageError(
        f"K3TRIAGE_QUEUE_URL {scheme}:// is not known; use memory://, sqlite:///, redis:// or postgresql://"
    )
