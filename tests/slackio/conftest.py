"""The real client of Slack against a local workspace, with time that costs nothing."""

from collections.abc import Iterator

import pytest
from slack_sdk import WebClient

from bot.rendering.message import OutgoingMessage
from bot.slackio.client import SlackGateway
from bot.slackio.files import FileFetcher
from bot.workspace import Person, Server, Workspace, serve


class Time:
    """A clock that only sleeping moves, and that remembers how long was slept."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def workspace() -> Workspace:
    """As the manifest has it."""
    return Workspace(rate_limits=False)


@pytest.fixture
def server(workspace: Workspace) -> Iterator[Server]:
    with serve(workspace) as running:
        yield running


@pytest.fixture
def client(server: Server) -> WebClient:
    return WebClient(server.workspace.bot.bot_token, base_url=server.api_url, retry_handlers=[], timeout=5)


@pytest.fixture
def gateway(client: WebClient, time: Time) -> SlackGateway:
    return SlackGateway(client, time.clock, time.sleep)


@pytest.fixture
def fetcher(client: WebClient, workspace: Workspace, time: Time) -> FileFetcher:
    return FileFetcher(client, workspace.bot.bot_token, 1 << 20, clock=time.clock, sleep=time.sleep)


@pytest.fixture
def emma(workspace: Workspace) -> Person:
    return workspace.person("emma")


def said(text: str) -> OutgoingMessage:
    block = {"type": "section", "text": {"type": "plain_text", "text": text}}
    return OutgoingMessage(blocks=[block], text=text)
