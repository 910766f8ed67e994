"""The messages of all channels."""

from __future__ import annotations

from collections.abc import Mapping

from bot.workspace.errors import SlackError
from bot.workspace.inputs import Key, kept
from bot.workspace.model import Json, Message


class Messages:
    """Messages by channel and timestamp, with what each person has ticked or chosen in them."""

    def __init__(self) -> None:
        self._channels: dict[str, dict[str, Message]] = {}
        self._values: dict[tuple[str, str, str], dict[Key, Json]] = {}

    def put(self, message: Message) -> Message | None:
        """Add or replace; the message replaced, if any. What people filled in stays where its element does."""
        channel = self._channels.setdefault(message.channel, {})
        before = channel.get(message.ts)
        channel[message.ts] = message
        if before is not None and before.blocks != message.blocks:
            for key, values in self._values.items():
                if key[:2] == (message.channel, message.ts):
                    self._values[key] = kept(values, before.blocks, message.blocks)
        return before

    def remove(self, channel: str, ts: str) -> None:
        """Forget a message; nothing happens when it is not there."""
        self._channels.get(channel, {}).pop(ts, None)

    def get(self, channel: str, ts: str) -> Message:
        """One message, ephemeral ones too. Raises SlackError message_not_found."""
        try:
            return self._channels[channel][ts]
        except KeyError:
            raise SlackError("message_not_found") from None

    def visible(self, channel: str, user: str | None = None) -> list[Message]:
        """All messages in order of time, with the ephemeral ones of `user`."""
        found = self._channels.get(channel, {}).values()
        return sorted((one for one in found if one.visible_to in (None, user)), key=lambda one: one.ts)

    def timeline(self, channel: str, user: str | None = None) -> list[Message]:
        """What stands in the channel itself: no replies, save those also sent to the channel."""
        return [one for one in self.visible(channel, user) if not one.is_reply or one.subtype == "thread_broadcast"]

    def thread(self, channel: str, ts: str, user: str | None = None) -> list[Message]:
        """The message `ts` and its replies. Raises SlackError thread_not_found."""
        found = [one for one in self.visible(channel, user) if ts in (one.ts, one.thread_ts)]
        if not any(one.ts == ts for one in found):
            raise SlackError("thread_not_found")
        return found

    def replies(self, message: Message) -> list[Message]:
        """The replies below a message that everyone sees."""
        if message.is_reply:
            return []
        return [one for one in self.visible(message.channel) if one.is_reply and one.thread_ts == message.ts]

    def values(self, message: Message, user: str) -> Mapping[Key, Json]:
        """What `user` has filled in in this message."""
        return self._values.get((message.channel, message.ts, user), {})

    def fill(self, message: Message, user: str, key: Key, state: Json) -> None:
        """Note what `user` ticked or chose."""
        self._values.setdefault((message.channel, message.ts, user), {})[key] = state
