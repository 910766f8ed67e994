"""The channels the bot is in, as far as it has heard: Slack tells it of every message in them."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import delete, select

from bot.store.database import Database
from bot.store.schema import channels


class ChannelStore:
    """Channels by their id. Thread-safe."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._known: set[str] = set()

    def hear(self, channel: str) -> None:
        """Note that something was said there; it costs a write once in the life of a process."""
        if channel in self._known or not channel:
            return
        with self._database.write() as connection:
            statement = self._database.insert(channels).values(channel=channel[:40], heard_at=self._clock())
            connection.execute(statement.on_conflict_do_nothing(index_elements=["channel"]))
        self._known.add(channel)

    def all(self) -> list[str]:
        """All of them."""
        with self._database.read() as connection:
            return list(connection.execute(select(channels.c.channel)).scalars())

    def forget(self, channel: str) -> None:
        """The bot is not there any more."""
        with self._database.write() as connection:
            connection.execute(delete(channels).where(channels.c.channel == channel))
        self._known.discard(channel)
