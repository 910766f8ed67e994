"""Who may use the bot where, and who is a lead."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

_KEEP = 300.0


class Access:
    """The allowed teams and channels, and the leads: named users and the members of a user group."""

    def __init__(
        self,
        *,
        teams: Iterable[str] = (),
        channels: Iterable[str] = (),
        leads: Iterable[str] = (),
        group_members: Callable[[], Iterable[str]] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._teams = frozenset(teams)
        self._channels = frozenset(channels)
        self._leads = frozenset(leads)
        self._group_members = group_members
        self._clock = clock
        self._members: frozenset[str] = frozenset()
        self._asked = float("-inf")

    def team(self, team: str) -> bool:
        """Whether people of this team may use the bot."""
        return not self._teams or team in self._teams

    def channel(self, channel: str) -> bool:
        """Whether the bot may answer there; direct messages are always allowed."""
        return not self._channels or channel in self._channels or channel.startswith(("D", "U", "W"))

    def is_lead(self, user: str) -> bool:
        """Whether the user is a lead. Asks Slack for the group at most every five minutes."""
        if user in self._leads:
            return True
        if self._group_members is None:
            return False
        if self._clock() - self._asked > _KEEP:
            self._members = frozenset(self._group_members())
            self._asked = self._clock()
        return user in self._members
