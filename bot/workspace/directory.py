"""Who is there and where they talk: users, channels, user groups."""

from __future__ import annotations

from dataclasses import replace

from bot.workspace.errors import SlackError
from bot.workspace.ids import Ids
from bot.workspace.model import Channel, ChannelKind, User, UserGroup


class Directory:
    """Users, channels and user groups, found by id or by name."""

    def __init__(self, ids: Ids, created: int) -> None:
        self._ids = ids
        self._created = created
        self._users: dict[str, User] = {}
        self._channels: dict[str, Channel] = {}
        self._groups: dict[str, UserGroup] = {}

    def add_user(
        self, name: str, real_name: str, *, locale: str = "en-US", timezone: str = "Etc/UTC", bot: bool = False
    ) -> User:
        """A new member of the team."""
        bot_id = self._ids.next("B") if bot else None
        user = User(self._ids.next("U"), name, real_name, locale, timezone, bot_id)
        self._users[user.id] = user
        return user

    def add_channel(self, name: str, members: list[User], *, kind: ChannelKind = "channel") -> Channel:
        """A new channel; `kind` is "channel", "group" for a private one, "im" or "mpim"."""
        prefix = {"channel": "C", "group": "C", "im": "D", "mpim": "C"}[kind]
        ids = frozenset(user.id for user in members)
        channel = Channel(self._ids.next(prefix), name, kind, ids, self._created, members[0].id if members else "")
        self._channels[channel.id] = channel
        return channel

    def add_group(self, handle: str, name: str, members: list[User]) -> UserGroup:
        """A new user group."""
        group = UserGroup(self._ids.next("S"), handle, name, tuple(user.id for user in members))
        self._groups[group.id] = group
        return group

    def set_locale(self, user: str, locale: str) -> None:
        """Change a person's language, as in Slack's preferences."""
        found = self.user(user)
        self._users[found.id] = replace(found, locale=locale)

    def replace_channel(self, channel: Channel) -> None:
        """Store a changed channel."""
        self._channels[channel.id] = channel

    def user(self, what: str) -> User:
        """By id or name. Raises SlackError user_not_found."""
        found = self._users.get(what) or next((user for user in self._users.values() if user.name == what), None)
        if found is None:
            raise SlackError("user_not_found")
        return found

    def bot(self, bot_id: str) -> User:
        """By bot id. Raises SlackError bot_not_found."""
        for user in self._users.values():
            if user.bot_id == bot_id:
                return user
        raise SlackError("bot_not_found")

    def channel(self, what: str) -> Channel:
        """By id or name, with or without "#". Raises SlackError channel_not_found."""
        name = what.removeprefix("#")
        found = self._channels.get(what) or next(
            (one for one in self._channels.values() if one.name == name and one.kind in ("channel", "group")), None
        )
        if found is None:
            raise SlackError("channel_not_found")
        return found

    def direct(self, *users: str) -> Channel:
        """The direct message of these user ids, opened if it is not yet."""
        kind: ChannelKind = "im" if len(users) <= 2 else "mpim"
        for channel in self._channels.values():
            if channel.kind == kind and channel.members == frozenset(users):
                return channel
        return self.add_channel("", [self.user(user) for user in users], kind=kind)

    def group(self, what: str) -> UserGroup:
        """By id or handle. Raises SlackError no_such_subteam."""
        found = self._groups.get(what) or next((one for one in self._groups.values() if one.handle == what), None)
        if found is None:
            raise SlackError("no_such_subteam")
        return found

    @property
    def users(self) -> list[User]:
        """All, bots included."""
        return list(self._users.values())

    @property
    def channels(self) -> list[Channel]:
        """All of every kind."""
        return list(self._channels.values())

    @property
    def groups(self) -> list[UserGroup]:
        """All user groups."""
        return list(self._groups.values())
