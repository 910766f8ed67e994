"""Forgetting: incidents nobody has touched for the time of retention, with everything that belongs to them."""

from __future__ import annotations

from dataclasses import dataclass

from bot.inbox import Inbox
from bot.store import IncidentStore

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Purged:
    """What was forgotten."""

    incidents: int
    deliveries: int


def purge(store: IncidentStore, inbox: Inbox, days: float, now: float) -> Purged:
    """Forget what is older than `days`. The messages in Slack stay; Slack's own retention rules them."""
    before = now - days * DAY
    count = 0
    while found := store.older_than(before):
        for incident in found:
            store.delete(incident)
        count += len(found)
    return Purged(count, inbox.forget(before))
