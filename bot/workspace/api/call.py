"""One call of a Web API method: its arguments, however they were sent, and who makes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from bot.workspace.errors import SlackError
from bot.workspace.model import Channel, Json, User
from bot.workspace.rates import Tier
from bot.workspace.workspace import Workspace

HISTORY = {"channel": "channels:history", "group": "groups:history", "im": "im:history", "mpim": "mpim:history"}
READ = {"channel": "channels:read", "group": "groups:read", "im": "im:read", "mpim": "mpim:read"}


@dataclass(frozen=True, slots=True)
class Call:
    """Arguments of a call, read in the types Slack expects."""

    workspace: Workspace
    method: str
    arguments: Mapping[str, Any]

    def text(self, name: str, default: str | None = None) -> str:
        """A string argument. Raises SlackError invalid_arguments when it is missing and has no default."""
        value = self.arguments.get(name)
        if value is None or value == "":
            if default is None:
                raise SlackError("invalid_arguments", [f"missing required field: {name}"])
            return default
        return value if isinstance(value, str) else str(value)

    def optional(self, name: str) -> str | None:
        """A string argument, or None."""
        return self.text(name, "") or None

    def flag(self, name: str) -> bool:
        """A boolean argument: true, "true", "1" or 1."""
        return str(self.arguments.get(name, "")).lower() in ("true", "1")

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """An integer argument. Raises SlackError invalid_limit when out of range."""
        try:
            value = int(self.arguments.get(name) or default)
        except (TypeError, ValueError):
            raise SlackError("invalid_arguments", [f"must provide an integer [json-pointer:/{name}]"]) from None
        if not least <= value <= most:
            raise SlackError("invalid_limit")
        return value

    def json(self, name: str, refusal: str = "invalid_arguments") -> Any:
        """An argument that is JSON, given as such or as a string; None when absent."""
        value = self.arguments.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value else None
        except json.JSONDecodeError:
            raise SlackError(refusal) from None

    def needs(self, *scopes: str) -> None:
        """Raise SlackError missing_scope unless the token has one of the scopes."""
        if not self.workspace.scopes.intersection(scopes):
            raise SlackError("missing_scope", needed=",".join(scopes), provided=",".join(sorted(self.workspace.scopes)))

    def channel(self, scopes: Mapping[str, str] | None = None, *, by_name: bool = False) -> Channel:
        """The channel argument, as far as the bot may know of it; only posting takes a name. Raises SlackError."""
        given = self.text("channel")
        channel = self.workspace.channel(given)
        if channel.id != given and not by_name:
            raise SlackError("channel_not_found")
        if scopes is not None:
            self.needs(scopes[channel.kind])
        if channel.kind != "channel" and self.workspace.bot.user_id not in channel.members:
            raise SlackError("channel_not_found")
        return channel

    def member_channel(self, scopes: Mapping[str, str] | None = None) -> Channel:
        """The channel argument, of which the bot must be a member. Raises SlackError."""
        channel = self.channel(scopes)
        if self.workspace.bot.user_id not in channel.members:
            raise SlackError("not_in_channel")
        return channel

    def user(self, name: str = "user") -> User:
        """The user argument, an id. Raises SlackError user_not_found."""
        return self.user_of(self.text(name))

    def user_of(self, user_id: str) -> User:
        """A user by id alone. Raises SlackError user_not_found."""
        user = self.workspace.directory.user(user_id)
        if user.id != user_id:
            raise SlackError("user_not_found")
        return user

    def page(self, items: list[Any], default: int, most: int) -> tuple[list[Any], str]:
        """(items of this page, next_cursor), by `limit` and `cursor`. Raises SlackError invalid_cursor."""
        limit = self.number("limit", default, 1, most)
        cursor = self.text("cursor", "0").removeprefix("next:")
        if not cursor.isdecimal():
            raise SlackError("invalid_cursor")
        start = int(cursor)
        more = len(items) > start + limit
        return items[start : start + limit], f"next:{start + limit}" if more else ""


@dataclass(frozen=True, slots=True)
class Method:
    """A Web API method. It needs all of `scopes`; `caller`, "bot", "app" or "anyone", is whose token it takes."""

    name: str
    run: Callable[[Call], Json]
    tier: Tier
    scopes: tuple[str, ...] = ()
    caller: str = "bot"


def read_arguments(content_type: str, body: bytes, query: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of a request. Raises SlackError as Slack does for a body it cannot read."""
    kind = content_type.partition(";")[0].strip().lower()
    if not body:
        return dict(query)
    if kind == "application/json":
        try:
            data = json.loads(body)
        except ValueError:
            raise SlackError("invalid_json") from None
        if not isinstance(data, dict):
            raise SlackError("json_not_object")
        return {**query, **data}
    if kind in ("application/x-www-form-urlencoded", ""):
        try:
            return {**query, **dict(parse_qsl(body.decode(), keep_blank_values=True))}
        except UnicodeDecodeError:
            raise SlackError("invalid_form_data") from None
    raise SlackError("invalid_post_type")
