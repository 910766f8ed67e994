"""What a workspace is made of. Values are frozen; a store replaces them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
ChannelKind = Literal["channel", "group", "im", "mpim"]


@dataclass(frozen=True, slots=True)
class User:
    """A member of the team, human or bot."""

    id: str
    name: str
    real_name: str
    locale: str = "en-US"
    timezone: str = "Etc/UTC"
    bot_id: str | None = None

    @property
    def language(self) -> str:
        """The language of the locale: "ko" of "ko-KR"."""
        return self.locale.split("-")[0]


@dataclass(frozen=True, slots=True)
class Channel:
    """A conversation of any kind. `members` are user ids."""

    id: str
    name: str
    kind: ChannelKind
    members: frozenset[str]
    created: int
    creator: str
    archived: bool = False
    topic: str = ""


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A group of people that can be mentioned, as the team leads."""

    id: str
    handle: str
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """Who changed a message, and when."""

    user: str
    ts: str


@dataclass(frozen=True, slots=True)
class Reaction:
    """One emoji on a message, with who gave it."""

    name: str
    users: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A message as stored; `text` is Slack's escaped text, `visible_to` is set for an ephemeral one."""

    channel: str
    ts: str
    text: str
    user: str | None = None
    bot_id: str | None = None
    app_id: str | None = None
    username: str | None = None
    subtype: str | None = None
    thread_ts: str | None = None
    blocks: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()
    files: tuple[str, ...] = ()
    metadata: Json | None = None
    edited: Edit | None = None
    reactions: tuple[Reaction, ...] = ()
    visible_to: str | None = None
    client_msg_id: str | None = None

    @property
    def is_reply(self) -> bool:
        """Whether it stands in a thread below another message."""
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def root_ts(self) -> str:
        """The timestamp of the thread this message is in or would start."""
        return self.thread_ts or self.ts


@dataclass(frozen=True, slots=True)
class Share:
    """A place where a file was posted."""

    channel: str
    ts: str
    thread_ts: str | None = None


@dataclass(frozen=True, slots=True)
class File:
    """A file; `content` is None until its bytes have been uploaded."""

    id: str
    name: str
    title: str
    user: str
    created: int
    mimetype: str
    filetype: str
    length: int
    content: bytes | None = None
    mode: str = "hosted"
    shares: tuple[Share, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """A modal or a Home tab of one person. `body` is what the app sent, `values` what the person has filled in."""

    id: str
    user: str
    body: Json
    hash: str
    root_id: str
    previous_id: str | None = None
    values: Mapping[tuple[str, str], Json] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """ "modal" or "home"."""
        return str(self.body["type"])

    @property
    def blocks(self) -> list[Json]:
        """Its blocks, each with a block_id."""
        blocks: list[Json] = self.body["blocks"]
        return blocks
