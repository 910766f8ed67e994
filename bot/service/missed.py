"""What was said while nobody listened: after an absence the history of the known channels is read and taken in.

Slack tells the app of an event once and three more times, within about six minutes, and then never again
(https://docs.slack.dev/apis/events-api, "Retries"). So the time until which we listened is kept in the database, and
what came later is read from the channels that the bot has heard something from, and those of the settings. Every
message takes the same way in as a delivery, under the same key: what is known already does nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from bot.service.intake import Intake
from bot.slackio.client import SlackCannotPost, SlackError, SlackGateway, SlackGone, SlackRetryLater
from bot.store import ChannelStore, Database, IncidentStore

log = logging.getLogger(__name__)

_LISTENED = "listened_until"
_LOOK = 20.0
"""Seconds between two looks at whether we listen."""
_ABSENCE = 90.0
"""Seconds of silence that Slack's own redelivery may not cover: it tries at once, after one minute and after five."""
_OVERLAP = 360.0
"""Seconds before the absence that are read as well: their redeliveries may have come to nothing."""
_THREADS_FOR = 14 * 86_400.0
_THREADS = 200
"""Threads of a channel that are looked through: those of its last incidents, within `_THREADS_FOR` seconds."""
_PAGES = 50
_AT_ONCE, _PAUSE, _LONG_PAUSE = 20, 0.2, 1.5
"""Seconds between the first calls, and between more: Slack allows fifty a minute of conversations.history, with bursts,
and looking for replies of ours needs some of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Reads what was missed. `listening`: whether deliveries reach us at the moment."""

    database: Database
    store: IncidentStore
    heard: ChannelStore
    gateway: SlackGateway
    intake: Intake
    team: str
    channels: frozenset[str]
    longest: float
    """Seconds that are looked back at most; 0 switches it off."""
    listening: Callable[[], bool]
    stopping: threading.Event
    clock: Callable[[], float] = time.time

    def watch(self) -> None:
        """Keep the time until which we listened, and catch up after an absence; until `stopping` is set."""
        fresh = True
        while True:
            if self.listening():
                try:
                    fresh = not self.look(fresh=fresh) and fresh
                except SQLAlchemyError as error:  # the database is away: it counts as an absence
                    log.warning("cannot note that we listen", extra={"error": type(error).__name__})
            if self.stopping.wait(1.0 if fresh else _LOOK):
                return

    def look(self, *, fresh: bool) -> bool:
        """Catch up if there was an absence, or the process is `fresh`; False where Slack or a stop got in the way."""
        now = self.clock()
        known = self.database.setting(_LISTENED)
        if known is None:  # at once: the first catching up may be broken off, too
            self.database.put_setting(_LISTENED, f"{now:.3f}")
        listened = float(known or now)
        if (fresh or now - listened > _ABSENCE) and self.longest and not self._catch_up(listened, now):
            return False
        self.database.put_setting(_LISTENED, f"{now:.3f}")
        return True

    def _catch_up(self, listened: float, now: float) -> bool:
        since = max(listened - _OVERLAP, now - self.longest)
        pauses = chain(repeat(_PAUSE, _AT_ONCE), repeat(_LONG_PAUSE))
        try:
            taken = self._take_all(since, pauses)
        except SlackGone:
            return False
        except SlackRetryLater as busy:
            log.info("cannot read the history yet", extra={"error": str(busy)})
            self.stopping.wait(busy.retry_after or 5)
            return False
        if taken:
            log.info("caught up", extra={"count": taken})
        return not self.stopping.is_set()

    def _take_all(self, since: float, pauses: Iterator[float]) -> int:
        """Questions first, which nobody has answered; then what may have come to the threads."""
        taken = 0
        threads: list[tuple[str, str, float]] = []
        for channel in sorted({*self.heard.all(), *self.channels}):
            # A reply from before its incident was evidence for nobody; the one who asks later names what counts.
            begun = self.store.threads(channel, self.clock() - _THREADS_FOR, _THREADS)
            for message in sorted(self._read(channel, None, since, pauses), key=lambda one: float(one["ts"])):
                taken += self._take(channel, message, since)
                if float(message.get("latest_reply") or 0) > since:
                    begun.setdefault(str(message["ts"]), 0.0)
            threads += [(channel, root, since_when) for root, since_when in begun.items()]
        for channel, root, since_when in threads:
            for message in self._read(channel, root, max(since, since_when), pauses):
                if message["ts"] != root:
                    taken += self._take(channel, message, since)
        return taken

    def _read(
        self, channel: str, thread: str | None, since: float, pauses: Iterator[float]
    ) -> Iterator[dict[str, Any]]:
        if self.stopping.wait(next(pauses)):
            return
        try:
            yield from self.gateway.messages(channel, thread, oldest=f"{since:.6f}", pages=_PAGES)
        except (SlackGone, SlackRetryLater):
            raise
        except SlackError as error:
            log.info("the history of a channel cannot be read", extra={"channel": channel, "error": str(error)})
            if isinstance(error, SlackCannotPost) and thread is None:  # we were removed from it, or it was never ours
                self.heard.forget(channel)

    def _take(self, channel: str, message: dict[str, Any], since: float) -> int:
        return sum(self.intake.event(event) for event in self._of_message(channel, message, since))

    def _of_message(self, channel: str, message: dict[str, Any], since: float) -> Iterator[dict[str, Any]]:
        place = {"channel": channel, "channel_type": "im" if channel.startswith("D") else "channel"}
        if float(message["ts"]) > since:
            yield self._event(
                f"history:{channel}:{message['ts']}", {**message, **place, "type": "message", "history": True}
            )
        edited = str((message.get("edited") or {}).get("ts") or "0")
        if float(edited) > since:
            changed = {**place, "type": "message", "subtype": "message_changed", "message": message}
            yield self._event(f"history:{channel}:{message['ts']}:{edited}", changed)

    def _event(self, event_id: str, event: dict[str, Any]) -> dict[str, Any]:
        return {"type": "event_callback", "team_id": self.team, "event_id": event_id, "event": event}
