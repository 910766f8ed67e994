"""What the templates show: the conversation list, messages, threads, modals, prepared for one person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.workspace.errors import SlackError
from bot.workspace.inputs import Key, initial
from bot.workspace.model import Channel, File, Json, Message, View
from bot.workspace.page.dates import Reader
from bot.workspace.person import Person
from bot.workspace.reading import author_name, plain
from bot.workspace.workspace import Workspace

HOME = "home"
_PREVIEW_LINES = 8
_ONE_PASTE = 5.0  # seconds within which messages are taken for parts of one paste


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
    when: str
    typed: str
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
    reader = reader_of(workspace, person)
    found = []
    for message in messages:
        replies = workspace.log.replies(message)
        found.append(
            Line(
                message=message,
                author=author_name(workspace, message),
                app=message.bot_id is not None,
                own=message.user == person.id,
                time=reader.clock(float(message.ts)),
                when=reader.full(float(message.ts)),
                typed=plain(workspace, message.text),
                replies=len(replies),
                files=workspace.files_of(message),
                last_reply=reader.clock(float(replies[-1].ts)) if replies else "",
            )
        )
    return found


def reader_of(workspace: Workspace, person: Person) -> Reader:
    """The person's zone and language, at the present moment."""
    user = workspace.directory.user(person.id)
    return Reader.of(user.timezone, user.language, workspace.clock.now())


def unheard(workspace: Workspace, channel: Channel, person: Person) -> str:
    """The ts of the person's last message, where a bot that is there does not hear it: unmentioned, unanswered."""
    if channel.kind == "im" or workspace.bot.user_id not in channel.members:
        return ""
    timeline = workspace.log.timeline(channel.id, person.id)
    own = [one for one in timeline if one.user == person.id and one.subtype in (None, "file_share")]
    if not own or workspace.log.replies(own[-1]):
        return ""
    parts = [one for one in own if float(own[-1].ts) - float(one.ts) <= _ONE_PASTE]
    return "" if any(f"<@{workspace.bot.user_id}>" in one.text for one in parts) else own[-1].ts


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
