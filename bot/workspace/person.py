"""Acting as someone in the workspace: what tests do, and what the page does for the person before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.workspace import composer, events, interactions, posting
from bot.workspace.deliveries import Delivery
from bot.workspace.errors import PersonError, SlackError
from bot.workspace.hand import Hand, waited
from bot.workspace.model import Edit, Json, Message, View
from bot.workspace.reading import Shown, show
from bot.workspace.shapes import view_json


class Person(Hand):
    """One user. Channels are given by name or id, messages and views as objects.

    What concerns the app returns its Delivery, waited for unless `wait` is False. Raises PersonError for what is not
    possible on the screen, SlackError for what Slack refuses.
    """

    def __repr__(self) -> str:
        return f"<Person {self.name} {self.id}>"

    @property
    def mention(self) -> str:
        """How to name this person in a text."""
        return f"<@{self.id}>"

    @property
    def dm(self) -> str:
        """The channel id of the direct message with the bot."""
        with self.workspace.changing():
            return self.workspace.directory.direct(self.id, self.workspace.bot.user_id).id

    # Messages

    def post(self, channel: str, text: str, *, thread: Message | None = None, broadcast: bool = False) -> Message:
        """Type or paste `text`; the first message it became."""
        return self.paste(channel, text, thread=thread, broadcast=broadcast)[0]

    def paste(
        self, channel: str, text: str, *, thread: Message | None = None, broadcast: bool = False
    ) -> list[Message]:
        """Post a text of any length: Slack makes several messages of a long one."""
        place = self._may_post(channel)
        parts = composer.split(text)
        if not parts:
            raise PersonError("there is nothing to send")
        return [self._send(place, part, thread, (), broadcast=broadcast) for part in parts]

    def upload(
        self,
        channel: str,
        files: Mapping[str, bytes],
        text: str = "",
        *,
        thread: Message | None = None,
        snippet_type: str | None = None,
    ) -> Message:
        """Drop files, by name, with a text; with `snippet_type` ("text") they are snippets."""
        staged = [self.stage(name, content, snippet_type=snippet_type) for name, content in files.items()]
        return self.share(channel, staged, text, thread=thread)

    def stage(self, name: str, content: bytes, *, snippet_type: str | None = None) -> str:
        """Bring a file into the message field without sending it; its id."""
        with self.workspace.changing():
            return self.workspace.files.add(self.id, name, content, snippet_type=snippet_type).id

    def share(self, channel: str, file_ids: list[str], text: str = "", *, thread: Message | None = None) -> Message:
        """Send staged files."""
        return self._send(self._may_post(channel), text, thread, tuple(file_ids))

    def reply(self, message: Message, text: str, *, broadcast: bool = False) -> Message:
        """Answer in the thread of `message`."""
        root = self.workspace.log.get(message.channel, message.root_ts)
        return self.post(message.channel, text, thread=root, broadcast=broadcast)

    def edit(self, message: Message, text: str) -> Message:
        """Change an own message."""
        current = self._own(message)
        escaped, block = composer.compose(text)
        with self.workspace.changing():
            edit = Edit(self.id, self.workspace.ids.ts(self.workspace.clock.now()))
            blocks = ({**block, "block_id": self.workspace.ids.short("b")},)
            return posting.edit(self.workspace, replace(current, text=escaped, blocks=blocks, edited=edit))

    def delete(self, message: Message) -> None:
        """Delete an own message."""
        posting.delete(self.workspace, self._own(message))

    def react(self, message: Message, name: str) -> Message:
        """Add an emoji."""
        return posting.react(self.workspace, self._current(message), self.id, name)

    def delete_file(self, file_id: str) -> None:
        """Delete an own file."""
        with self.workspace.changing():
            if self.workspace.files.get(file_id).user != self.id:
                raise PersonError("only its owner can delete a file")
            self.workspace.files.remove(file_id)

    # Reading

    def read(self, channel: str) -> list[Shown]:
        """The channel as this person sees it, oldest first, without replies."""
        with self.workspace.lock:
            found = self.workspace.log.timeline(self.workspace.channel(channel).id, self.id)
            return [show(self.workspace, message, self.id) for message in found]

    def read_thread(self, message: Message) -> list[Shown]:
        """The thread `message` is in or started, its root first."""
        with self.workspace.lock:
            found = self.workspace.log.thread(message.channel, message.root_ts, self.id)
            return [show(self.workspace, one, self.id) for one in found]

    def wait_for_reply(self, message: Message, count: int = 1, seconds: float = 30) -> list[Shown]:
        """The replies below `message`, once there are `count`. Raises TimeoutError."""
        self.workspace.wait_until(lambda: len(self.read_thread(message)) > count, seconds)
        return self.read_thread(message)[1:]

    # Commands and shortcuts

    def run(self, channel: str, line: str, *, wait: bool = True) -> Delivery:
        """Run a slash command: "/k3 nodes"."""
        name, _, text = line.strip().partition(" ")
        place = self.workspace.channel(channel)
        return waited(interactions.command(self.workspace, self.id, place, name, text.strip()), wait)

    def use_shortcut(self, what: str, message: Message | None = None, *, wait: bool = True) -> Delivery:
        """A global shortcut by callback_id or name, or a message shortcut on `message`."""
        current = self._current(message) if message is not None else None
        return waited(interactions.shortcut(self.workspace, self.id, what, current), wait)

    def open_home(self, tab: str = "home") -> View | None:
        """Open the app's tab ("home" or "messages"); the Home as it is, before the app answers."""
        with self.workspace.changing():
            event: Json = {
                "type": "app_home_opened",
                "user": self.id,
                "channel": self.dm,
                "tab": tab,
                "event_ts": self.workspace.ids.ts(self.workspace.clock.now()),
            }
            home = self.home
            if home is not None and tab == "home":
                event["view"] = view_json(self.workspace, home)
            events.emit(self.workspace, "app_home_opened", event)
            return home

    def _send(
        self, channel: str, text: str, thread: Message | None, files: tuple[str, ...], *, broadcast: bool = False
    ) -> Message:
        escaped, block = composer.compose(text)
        with self.workspace.changing():
            draft = Message(
                channel,
                "",
                escaped,
                user=self.id,
                subtype="file_share" if files else None,
                thread_ts=thread.root_ts if thread else None,
                blocks=({**block, "block_id": self.workspace.ids.short("b")},) if text else (),
                files=files,
                client_msg_id=self.workspace.ids.uuid("client"),
            )
            return posting.post(self.workspace, draft, broadcast=broadcast)

    def _may_post(self, channel: str) -> str:
        place = self.workspace.channel(channel)
        if place.archived:
            raise SlackError("is_archived")
        if self.id not in place.members:
            raise SlackError("not_in_channel")
        return place.id

    def _own(self, message: Message) -> Message:
        current = self._current(message)
        if current.user != self.id:
            raise PersonError("only its author can change a message")
        return current
