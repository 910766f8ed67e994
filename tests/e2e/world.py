"""A bot and a workspace, joined by the real SDK, and everything they leave behind."""

from __future__ import annotations

import io
import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

from bot.app import Bot, Slack
from bot.config import Settings
from bot.logs import JsonFormatter
from bot.store.schema import metadata
from bot.workspace.model import Message
from bot.workspace.person import Person
from bot.workspace.reading import Shown
from bot.workspace.server.running import Server, serve
from bot.workspace.workspace import Workspace
from kb.library import Library

ENTRIES = Path(__file__).parents[2] / "kb/entries"
DMABUF = (ENTRIES / "communication/nccl-dmabuf-errno-524/match/ibv_033_tp16.log").read_text()
DRIVER = (ENTRIES / "environment/cuda-driver-too-old/match/ru_worker_error.log").read_text()
FENCE = "```"


def fenced(log: str) -> str:
    return f"{FENCE}\n{log}\n{FENCE}"


def until(condition: Callable[[], Any], seconds: float = 30) -> Any:
    """Wait for something that no lock tells of. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.02)


@dataclass
class World:
    """What a test acts on."""

    workspace: Workspace
    server: Server
    bot: Bot
    settings: Settings
    log: io.StringIO
    sent: list[str] = field(default_factory=list)

    @property
    def mention(self) -> str:
        return f"<@{self.workspace.bot.user_id}>"

    def of_bot(self, message: Message) -> list[Shown]:
        """The bot's messages in the thread of `message`."""
        reader = self.workspace.person("emma")
        shown = reader.read_thread(message)
        return [one for one in shown if one.message.user == self.workspace.bot.user_id]

    def opens(self, person: Person, channel: str) -> Callable[[], Shown]:
        """What waits for the next thread the bot opens in a channel, and gives its first message."""
        before = {one.ts for one in self._opened(person, channel)}

        def wait() -> Shown:
            return until(lambda: [one for one in self._opened(person, channel) if one.ts not in before])[0]  # type: ignore[no-any-return]

        return wait

    def _opened(self, person: Person, channel: str) -> list[Shown]:
        shown = person.read(channel)
        return [one for one in shown if one.message.user == self.workspace.bot.user_id and not one.ephemeral]

    def answer(self, message: Message, seconds: float = 30) -> Shown:
        """The bot's one reply in the thread, once it is an answer."""
        found = until(lambda: [one for one in self.of_bot(message) if one.buttons], seconds)
        assert len(found) == 1
        return found[0]  # type: ignore[no-any-return]

    def answer_when(self, message: Message, condition: Callable[[Shown], Any], seconds: float = 30) -> Shown:
        """The answer once it shows something."""
        try:
            until(lambda: self.of_bot(message) and condition(self.of_bot(message)[0]), seconds)
        except TimeoutError:
            raise AssertionError([one.text for one in self.of_bot(message)]) from None
        return self.answer(message)

    def idle(self, seconds: float = 30) -> None:
        """Wait until nothing is on its way and nothing is left to do."""
        self.workspace.settle(seconds)
        until(lambda: self.bot.inbox.stats().open == 0 and not self.bot.workers.busy, seconds)

    def stored(self) -> str:
        """Everything in the database, as text."""
        parts = []
        with self.bot.database.read() as connection:
            for table in metadata.sorted_tables:
                parts += [repr(tuple(row)) for row in connection.execute(text(f"select * from {table.name}"))]
        return "\n".join(parts)

    def written(self) -> str:
        """Everything of the bot that people or files got: all messages, the log, the raw database file."""
        messages = [
            json.dumps([one.text, one.blocks, one.metadata], ensure_ascii=False)
            for channel in self.workspace.directory.channels
            for one in self.workspace.messages(channel.id)
            if one.user == self.workspace.bot.user_id
        ]
        return "\n".join([*messages, self.log.getvalue(), self.stored()])


@contextmanager
def world(
    directory: Path, library: Library | None = None, *, workspace: Workspace | None = None, **changes: Any
) -> Iterator[World]:
    """A running pair. Changes are settings."""
    workspace = workspace or Workspace(rate_limits=False)
    given: dict[str, Any] = {
        "data_dir": directory,
        "http_port": 0,
        "readers": 0,
        "settle_seconds": 0.6,
        "stop_seconds": 5,
    } | changes
    settings = Settings(_env_file=None, **given)
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    levels = {name: logging.getLogger(name).level for name in ("bot", "handlers", "slack_bolt", "slack_sdk")}
    for name in levels:
        logging.getLogger(name).setLevel(logging.DEBUG)
    try:
        request_url = None
        if settings.slack_mode == "http":
            request_url = f"http://127.0.0.1:{settings.http_port}/slack/events"
        with serve(workspace, request_url=request_url) as server:
            slack = Slack(
                workspace.bot.bot_token, workspace.bot.app_token, workspace.bot.signing_secret, server.api_url
            )
            bot = Bot(settings, slack, library)
            bot.start()
            if settings.slack_mode == "socket":
                server.wait_for_app()
            try:
                yield World(workspace, server, bot, settings, log)
            finally:
                bot.stop()
    finally:
        root.removeHandler(handler)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
