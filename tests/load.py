"""A bot in a process of its own against a workspace in this one, for the kill test and the benchmark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from bot.workspace.model import Message
from bot.workspace.server.running import Server
from bot.workspace.workspace import Workspace

LOGS = sorted(Path(__file__).parents[1].glob("kb/entries/environment/*/match/*.log"))


class Child:
    """`k3triage run` as a process."""

    def __init__(self, workspace: Workspace, server: Server, directory: Path, **settings: str) -> None:
        self._server = server
        self._log = directory / "bot.log"
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("K3TRIAGE_", "SLACK_"))}
        self._environment = kept | {
            "SLACK_BOT_TOKEN": workspace.bot.bot_token,
            "SLACK_APP_TOKEN": workspace.bot.app_token,
            "SLACK_API_URL": server.api_url,
            "K3TRIAGE_DATA_DIR": str(directory),
            "K3TRIAGE_HTTP_PORT": "0",
            **settings,
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._began_at = 0

    def start(self) -> None:
        """Start the process."""
        with self._log.open("ab") as log:
            self._began_at = log.seek(0, os.SEEK_END)
            self._process = subprocess.Popen(
                [sys.executable, "-c", "from bot.cli import main; main()", "run"],
                env=self._environment,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        """SIGKILL, at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(40)
        except subprocess.TimeoutExpired:
            self.kill()
            return -9

    @property
    def is_at_work(self) -> bool:
        """Whether it has said that it is ready, since it was started the last time."""
        with self._log.open("rb") as log:
            log.seek(self._began_at)
            return b'"message": "ready"' in log.read()

    @property
    def ended(self) -> bool:
        """Whether it ended by itself."""
        return self._process is not None and self._process.poll() is not None


class Answers:
    """Counts the bot's answers by thread, as they are posted."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def of(self, message: Message) -> list[Message]:
        """The bot's replies with buttons in the thread of a message."""
        with self._workspace.lock:
            thread = self._workspace.log.thread(message.channel, message.root_ts, message.user or "")
        bot = self._workspace.bot.user_id
        return [one for one in thread if one.user == bot and one.is_reply and one.visible_to is None]


def wait(condition: object, seconds: float) -> bool:
    """Poll `condition()` until it is true; False where it never was."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False
