"""Bots of other people that post into the same channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.workspace import posting
from bot.workspace.model import Message, User

if TYPE_CHECKING:
    from bot.workspace.workspace import Workspace


class Integration:
    """A bot of somebody else's: monitoring, CI."""

    def __init__(self, workspace: Workspace, user: User) -> None:
        self.workspace = workspace
        self.name = user.real_name
        self._bot_id = user.bot_id

    def post(self, channel: str, text: str, *, thread: Message | None = None) -> Message:
        """Post `text` as it stands (Slack's escaped text), with subtype bot_message."""
        draft = Message(
            self.workspace.channel(channel).id,
            "",
            text,
            bot_id=self._bot_id,
            username=self.name,
            subtype="bot_message",
            thread_ts=thread.root_ts if thread else None,
        )
        return posting.post(self.workspace, draft)
