"""What the templates show: the conversation list, messages, threads, modals, prepared for one person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.workspace.errors import SlackError
from bot.workspace.inputs import Key, initial
from bot.workspace.model import Channel, File, Json, Message, View
from bot.workspace.person import Person
from bot.workspace.reading import author_name
from bot.workspace.workspace import Workspace

HOME = "home"
_PREVIEW_LINES = 8


@dataclass(frozen=True, slots=True)
class Place:
    """What is on the screen: who looks, at which channel (or HOME), and in which thread."""

    person: Person
    channel: Channel | None
    thread: Message | None

    @property
    def at(self) -> str:
        """The channel id, or HOME."""
        return self.channel.id if self.channel else HOME


@dataclass(frozen=True, slots=True)
class Line:
    """One message on the screen."""

    message: Message
    author: str
    app: bool
    own: bool
    time: str
    replies: int
    files: list[File]
    last_reply: str


def find_place(workspace: Workspace, parameters: Mapping[str, str]) -> Place:
    """From the query of the page's address; what is unknown falls back to the first."""
    try:
        person = workspace.person(parameters.get("as", ""))
    except SlackError:
        person = workspace.person(workspace.people[0].id)
    at = parameters.get("at", "k3-incidents")
    if at == HOME:
        return Place(person, None, None)
    try:
        channel = workspace.channel(person.dm if at == "dm" else at)
    except SlackError:
        channel = workspace.channel("general")
    if person.id not in channel.members:
        channel = workspace.channel("general")
    try:
        thread = workspace.log.get(channel.id, parameters["thread"])
    except (KeyError, SlackError):
        thread = None
    return Place(person, channel, thread)


def channels_of(workspace: Workspace, person: Person) -> list[Channel]:
    """The channels the person is in, without direct messages."""
    mine = [one for one in workspace.directory.channels if person.id in one.members]
    return [one for one in mine if one.kind in ("channel", "group")]


def lines(workspace: Workspace, messages: list[Message], person: Person) -> list[Line]:
    """Messages with all that is shown around them."""
    zone = _zone(workspace.directory.user(person.id).timezone)
    found = []
    for message in messages:
        replies = workspace.log.replies(message)
        found.append(
            Line(
                message=message,
                author=author_name(workspace, message),
                app=message.bot_id is not None,
                own=message.user == person.id,
                time=_time(message.ts, zone),
                replies=len(replies),
                files=workspace.files_of(message),
                last_reply=_time(replies[-1].ts, zone) if replies else "",
            )
        )
    return found


def state_of(surface: Message | View, workspace: Workspace, person: Person, block: Json, element: Json) -> Any:
    """What is filled in at an element: a text, an id, an option's value, or a list of them."""
    key: Key = (block["block_id"], element["action_id"])
    values = surface.values if isinstance(surface, View) else workspace.log.values(surface, person.id)
    state = values.get(key) or initial(element) or {}
    value = next((value for name, value in state.items() if name != "type"), None)
    if isinstance(value, dict):
        return value.get("value")
    if isinstance(value, list):
        return [one.get("value") or one["id"] if isinstance(one, dict) else one for one in value]
    return value


def preview(file: File) -> str:
    """The first lines of a text file; "" of any other."""
    if not file.mimetype.startswith("text/") or file.content is None:
        return ""
    first = file.content[:4000].decode("utf-8", "replace").splitlines()[:_PREVIEW_LINES]
    return "\n".join(line[:200] for line in first)


def size(length: int) -> str:
    """A size for people."""
    if length < 1024:
        return f"{length} B"
    return f"{length / 1024:.1f} KB" if length < 1024 * 1024 else f"{length / 1024 / 1024:.1f} MB"


def initials(name: str) -> str:
    """One or two letters for the avatar."""
    words = name.split()
    return "".join(word[0] for word in words[:2]).upper() if name.isascii() else name[:1]


def hue(name: str) -> int:
    """A colour for the avatar, 0 to 359."""
    return sum(ord(letter) * 37 for letter in name) % 360


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        return ZoneInfo("UTC")


def _time(ts: str, zone: ZoneInfo) -> str:
    return datetime.fromtimestamp(float(ts), zone).strftime("%H:%M")
