"""Running the bot: with the workspace of the settings, or a local one where there is no token; until a signal."""

from __future__ import annotations

import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from bot.app import Bot, Slack
from bot.config import Settings
from bot.errors import UsageError


@contextmanager
def local_workspace(settings: Settings) -> Iterator[tuple[Slack, Settings, str]]:
    """A workspace on loopback, its address, and settings for it: a database for as long as it lasts, and free ports."""
    from bot.workspace.errors import WorkspaceError  # noqa: PLC0415 - not needed with a real workspace
    from bot.workspace.server.running import serve  # noqa: PLC0415
    from bot.workspace.workspace import Workspace  # noqa: PLC0415

    try:
        workspace = Workspace()
    except WorkspaceError as error:
        raise UsageError(f"the local workspace needs deploy/slack-manifest.yaml beside the code: {error}") from None
    with (
        tempfile.TemporaryDirectory(prefix="k3triage-", ignore_cleanup_errors=True) as directory,
        serve(workspace, port=_free("127.0.0.1", settings.workspace_port)) as server,
    ):
        slack = Slack(workspace.bot.bot_token, workspace.bot.app_token, workspace.bot.signing_secret, server.api_url)
        own = {
            "data_dir": Path(directory),
            "database_url": None,
            "slack_mode": "socket",
            "http_port": _free(settings.http_host, settings.http_port),
        }
        yield slack, settings.model_copy(update=own), server.origin


def _free(host: str, port: int) -> int:
    """The port, or 0 (any free one) where it is taken."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return 0
    return port


def run(settings: Settings, say: Callable[[str], None] = print) -> None:
    """Run until SIGINT or SIGTERM. Raises BotError."""
    if settings.bot_token is None:
        with local_workspace(settings) as (slack, local, origin):
            wanted = urlsplit(origin).port == settings.workspace_port
            why = "" if wanted else f" (port {settings.workspace_port} is taken, perhaps by another k3triage run)"
            _run(local, slack, lambda: say(f"No SLACK_BOT_TOKEN: a local workspace is open at {origin}{why}"))
        return
    if settings.slack_mode == "socket" and settings.app_token is None:
        raise UsageError("SLACK_APP_TOKEN (xapp-…) is needed for Socket Mode; see docs/slack-setup.md")
    slack = Slack(settings.bot_token, settings.app_token, settings.signing_secret, settings.slack_api_url)
    if urlsplit(slack.api_url).scheme != "https" and urlsplit(slack.api_url).hostname not in ("127.0.0.1", "localhost"):
        raise UsageError("SLACK_API_URL must be https://, as the token travels with every call")
    _run(settings, slack)


def _run(settings: Settings, slack: Slack, started: Callable[[], None] = lambda: None) -> None:
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    bot = Bot(settings, slack)
    try:
        bot.start()
        started()
        while not stopping.wait(1):
            pass
    finally:
        bot.stop()
