"""The inbox: every delivery of Slack is committed here before it is acknowledged, and stays until its work is done.

Work is ordered by lane (one Slack thread). A worker leases a lane, works off its rows in order and gives it back; a
lease that is not renewed, or whose process has died, is free for the next worker. So no two workers act on one thread
at a time, in one process or in several, and a row whose worker was killed is taken again.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select, update

from bot.store.database import Database
from bot.store.schema import inbox, lanes
from bot.store.texts import to_json

MAX_SETTLE = 10.0
"""Seconds that a row waits at most for further parts of a paste."""

_UNLUCKY, _LONGEST_PAUSE = 2, 60.0
"""Deaths of the process after which a row that was being worked on waits, and for how many seconds at most."""

DIED = "died"
"""Error of a row whose work ended the process again and again."""

_OWNERS: set[str] = set()
"""The inboxes of this process, to tell them from those of a dead process that had the same number."""


@dataclass(frozen=True, slots=True)
class Row:
    """One delivery. `payload` is JSON."""

    id: int
    key: str
    kind: str
    lane: str
    payload: dict[str, Any]
    attempts: int
    received_at: float
    starts: int = 0
    """How often it was begun and came to no end at all, as its process died."""


@dataclass(frozen=True, slots=True)
class InboxStats:
    """How much is open, and for how many seconds the oldest row has been due."""

    open: int
    failed: int
    oldest: float


class Inbox:
    """The inbox of one process. Two inboxes on one database share the work."""

    def __init__(
        self, database: Database, *, clock: Callable[[], float] = time.time, lease_seconds: float = 30
    ) -> None:
        self._database = database
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._host = f"{socket.gethostname()[:60]}:"
        self._owner = f"{self._host}{os.getpid()}:{secrets.token_hex(4)}"
        _OWNERS.add(self._owner)

    def accept(
        self,
        key: str,
        kind: str,
        payload: dict[str, Any],
        *,
        lane: str = "",
        delay: float = 0,
        settle: Sequence[str] = (),
        wait: bool = False,
    ) -> bool:
        """Commit a delivery; False where the key is known, so that a redelivery does nothing.

        `delay`: seconds before it is worked on. `settle`: earlier rows of the lane, of these kinds, wait for this one.
        `wait`: it is worked on together with those that wait in the lane already.
        """
        with self._database.write(urgent=True) as connection:
            return self.accept_in(connection, key, kind, payload, lane=lane, delay=delay, settle=settle, wait=wait)

    def accept_in(
        self,
        connection: Connection,
        key: str,
        kind: str,
        payload: dict[str, Any],
        *,
        lane: str = "",
        delay: float = 0,
        settle: Sequence[str] = (),
        wait: bool = False,
    ) -> bool:
        """As `accept`, as part of a transaction."""
        now = self._clock()
        due = now + delay
        settling = and_(
            inbox.c.lane == (lane or kind),
            inbox.c.state == "new",
            inbox.c.attempts == 0,
            inbox.c.received_at > now - MAX_SETTLE,
        )
        if wait:
            due = max(due, connection.execute(select(func.max(inbox.c.not_before)).where(settling)).scalar() or due)
        statement = self._database.insert(inbox).values(
            key=key[:200],
            kind=kind,
            lane=lane or kind,
            payload=to_json(payload),
            state="new",
            attempts=0,
            starts=0,
            not_before=due,
            received_at=now,
        )
        added = connection.execute(statement.on_conflict_do_nothing(index_elements=["key"]).returning(inbox.c.id))
        if added.first() is None:
            return False
        if settle:
            connection.execute(
                update(inbox).where(settling, inbox.c.kind.in_(settle), inbox.c.not_before < due).values(not_before=due)
            )
        self._wake(connection, lane or kind)
        return True

    def known(self, key: str) -> bool:
        """Whether a delivery with this key was accepted."""
        with self._database.read() as connection:
            return connection.execute(select(inbox.c.id).where(inbox.c.key == key[:200])).first() is not None

    def lane_of(self, key: str) -> str | None:
        """The lane of the delivery with this key, whether it is worked off or not."""
        with self._database.read() as connection:
            return connection.execute(select(inbox.c.lane).where(inbox.c.key == key[:200])).scalar()

    def due_in(self, key: str) -> float | None:
        """Seconds until the delivery with this key is worked on; None where there is none, or nothing left to do."""
        query = select(inbox.c.not_before).where(inbox.c.key == key[:200], inbox.c.state == "new")
        with self._database.read() as connection:
            due = connection.execute(query).scalar()
        return None if due is None else max(0.0, due - self._clock())

    def _wake(self, connection: Connection, lane: str) -> None:
        due = select(func.min(inbox.c.not_before)).where(inbox.c.lane == lane, inbox.c.state == "new").scalar_subquery()
        statement = self._database.insert(lanes).values(lane=lane, due_at=due)
        connection.execute(statement.on_conflict_do_update(index_elements=["lane"], set_={"due_at": due}))

    def take(self, lane: str | None = None) -> str | None:
        """Lease a lane that has due work (this one, or the longest due); None where there is none."""
        now = self._clock()
        free = or_(lanes.c.lease_until.is_(None), lanes.c.lease_until < now)
        query = select(lanes.c.lane).where(lanes.c.due_at <= now, free)
        query = query.where(lanes.c.lane == lane) if lane is not None else query
        if self._database.is_sqlite:
            with self._database.read() as connection:  # no write lock where there is nothing to do
                if connection.execute(query.limit(1)).first() is None:
                    return None
        with self._database.write() as connection:
            found = connection.execute(
                query.order_by(lanes.c.due_at).limit(1).with_for_update(skip_locked=True)
            ).scalar()
            if found is not None:
                connection.execute(
                    update(lanes)
                    .where(lanes.c.lane == found)
                    .values(leased_by=self._owner, lease_until=now + self._lease_seconds)
                )
            return found

    def due_lanes(self, limit: int = 100) -> list[str]:
        """Lanes with due work that nobody works on."""
        now = self._clock()
        query = select(lanes.c.lane).where(
            lanes.c.due_at <= now, or_(lanes.c.lease_until.is_(None), lanes.c.lease_until < now)
        )
        with self._database.read() as connection:
            return list(connection.execute(query.order_by(lanes.c.due_at).limit(limit)).scalars())

    def rows(self, lane: str) -> list[Row]:
        """The due rows of a lane, in the order they came."""
        query = select(inbox).where(inbox.c.lane == lane, inbox.c.state == "new", inbox.c.not_before <= self._clock())
        with self._database.read() as connection:
            found = connection.execute(query.order_by(inbox.c.id).limit(500)).all()
        return [
            Row(row.id, row.key, row.kind, row.lane, json.loads(row.payload), row.attempts, row.received_at, row.starts)
            for row in found
        ]

    def begin(self, *rows: Row) -> None:
        """Note that work on these rows begins: whatever becomes of the process, it is counted.

        Should the process die, a row that has seen that before waits, the longer the more often.
        """
        now = self._clock()
        with self._database.write() as connection:
            self._count(connection, rows, inbox.c.starts + 1)
            for row in rows:
                if row.starts >= _UNLUCKY:
                    pause = min(2.0**row.starts, _LONGEST_PAUSE)
                    connection.execute(update(inbox).where(inbox.c.id == row.id).values(not_before=now + pause))

    def put_back(self, *rows: Row) -> None:
        """Give rows back that were begun, as if nothing had been tried."""
        with self._database.write() as connection:
            self._count(connection, rows, inbox.c.starts - 1)
            unlucky = [row.id for row in rows if row.starts >= _UNLUCKY]
            connection.execute(update(inbox).where(inbox.c.id.in_(unlucky)).values(not_before=self._clock()))

    def _count(self, connection: Connection, rows: Sequence[Row], starts: ColumnElement[int]) -> None:
        connection.execute(update(inbox).where(inbox.c.id.in_([row.id for row in rows])).values(starts=starts))

    def renew(self, lane: str) -> bool:
        """Keep the lease; False where it was lost."""
        with self._database.write() as connection:
            changed = connection.execute(
                update(lanes)
                .where(lanes.c.lane == lane, lanes.c.leased_by == self._owner)
                .values(lease_until=self._clock() + self._lease_seconds)
            )
            return bool(changed.rowcount)

    def done(self, *rows: Row) -> None:
        """Mark rows as worked off; their payload is forgotten, their keys are kept to know redeliveries."""
        with self._database.write() as connection:
            connection.execute(
                update(inbox)
                .where(inbox.c.id.in_([row.id for row in rows]))
                .values(state="done", done_at=self._clock(), payload="{}", error=None)
            )

    def retry(self, row: Row, delay: float, error: str) -> None:
        """Work on the row again after `delay` seconds."""
        with self._database.write() as connection:
            connection.execute(
                update(inbox)
                .where(inbox.c.id == row.id)
                .values(attempts=row.attempts + 1, starts=0, not_before=self._clock() + delay, error=error[:200])
            )

    def fail(self, row: Row, error: str) -> None:
        """Give the row up; its payload is kept for a person to look at."""
        with self._database.write() as connection:
            connection.execute(
                update(inbox)
                .where(inbox.c.id == row.id)
                .values(state="failed", attempts=row.attempts + 1, done_at=self._clock(), error=error[:200])
            )

    def revive(self, seconds: float) -> int:
        """Give rows that were given up within so many seconds another chance; how many lanes they are in.

        Not those that took their process with them.
        """
        now = self._clock()
        with self._database.write() as connection:
            given_up = and_(inbox.c.state == "failed", inbox.c.done_at > now - seconds, inbox.c.error != DIED)
            lane_names = list(connection.execute(select(inbox.c.lane).where(given_up).distinct()).scalars())
            if lane_names:
                connection.execute(
                    update(inbox).where(given_up).values(state="new", attempts=0, not_before=now, done_at=None)
                )
            for lane in lane_names:
                self._wake(connection, lane)
        return len(lane_names)

    def release(self, lane: str) -> None:
        """Give a lane back; it is due again when rows are left."""
        with self._database.write() as connection:
            mine = and_(lanes.c.lane == lane, lanes.c.leased_by == self._owner)
            if connection.execute(select(lanes.c.lane).where(mine).with_for_update()).first() is None:
                return
            due = connection.execute(
                select(func.min(inbox.c.not_before)).where(inbox.c.lane == lane, inbox.c.state == "new")
            ).scalar()
            if due is None:
                connection.execute(delete(lanes).where(mine))
            else:
                connection.execute(update(lanes).where(mine).values(due_at=due, leased_by=None, lease_until=None))

    def free_dead(self) -> int:
        """Give back lanes leased by processes of this host that are gone; returns how many."""
        with self._database.read() as connection:
            owners = connection.execute(
                select(lanes.c.leased_by).where(lanes.c.leased_by.startswith(self._host, autoescape=True)).distinct()
            ).scalars()
            dead = [owner for owner in owners if owner != self._owner and not self._alive(owner)]
        if not dead:
            return 0
        with self._database.write() as connection:
            freed = connection.execute(
                update(lanes).where(lanes.c.leased_by.in_(dead)).values(leased_by=None, lease_until=None)
            )
            return int(freed.rowcount)

    def _alive(self, owner: str) -> bool:
        pid = int(owner.removeprefix(self._host).split(":")[0])
        if pid == os.getpid():
            # Our own number: a predecessor in a container, or another inbox of this very process.
            return owner in _OWNERS
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def stats(self) -> InboxStats:
        """Figures for health and metrics."""
        now = self._clock()
        with self._database.read() as connection:
            states = select(inbox.c.state, func.count()).where(inbox.c.state != "done").group_by(inbox.c.state)
            counts = {str(row[0]): int(row[1]) for row in connection.execute(states)}
            oldest = connection.execute(select(func.min(lanes.c.due_at))).scalar()
        return InboxStats(counts.get("new", 0), counts.get("failed", 0), max(0.0, now - oldest) if oldest else 0.0)

    def forget(self, before: float) -> int:
        """Delete rows finished before that time, and failed ones with what they hold."""
        with self._database.write() as connection:
            gone = connection.execute(delete(inbox).where(inbox.c.state != "new", inbox.c.done_at < before))
            return int(gone.rowcount)

    def forget_lane(self, lane: str) -> None:
        """Drop what the failed rows of a lane hold, as when an incident is deleted."""
        with self._database.write() as connection:
            connection.execute(
                update(inbox).where(inbox.c.lane == lane, inbox.c.state == "failed").values(payload="{}", state="done")
            )
