"""A served workspace and the real clients of Slack against it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.workspace import ManualClock, Person, Server, Workspace, serve
from tests.workspace.clients import connected

SCOPES = {
    *(
        "app_mentions:read",
        "channels:history",
        "groups:history",
        "im:history",
        "mpim:history",
        "chat:write",
        "commands",
    ),
    *(
        "files:read",
        "files:write",
        "users:read",
        "usergroups:read",
        "channels:read",
        "groups:read",
        "im:read",
        "im:write",
    ),
    *("mpim:read", "mpim:write", "reactions:read", "reactions:write", "channels:join", "team:read"),
}
EVENTS = {
    *("app_mention", "message.channels", "message.groups", "message.im", "message.mpim", "app_home_opened"),
    *("file_shared", "reaction_added", "tokens_revoked", "app_uninstalled", "member_joined_channel"),
}


@pytest.fixture
def workspace() -> Workspace:
    """All scopes and events, on a clock that stands still."""
    return Workspace(clock=ManualClock(), scopes=SCOPES, events=EVENTS)


@pytest.fixture
def server(workspace: Workspace) -> Iterator[Server]:
    with serve(workspace) as running:
        yield running


@pytest.fixture
def client(server: Server) -> WebClient:
    """The real client, without its own retries."""
    return WebClient(server.workspace.bot.bot_token, base_url=server.api_url, retry_handlers=[])


@pytest.fixture
def emma(workspace: Workspace) -> Person:
    return workspace.person("emma")


@pytest.fixture
def app(client: WebClient, workspace: Workspace) -> App:
    """A Bolt app, which tests give listeners to."""
    return App(client=client, signing_secret=workspace.bot.signing_secret)


@pytest.fixture
def connect(server: Server) -> Iterator[Callable[[App], SocketModeHandler]]:
    """Connect an app by Socket Mode and wait until it is there."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(connected(app, server))


def error_of(call: Callable[[], object]) -> str:
    """The error name with which Slack refuses a call."""
    with pytest.raises(SlackApiError) as refusal:
        call()
    return str(refusal.value.response["error"])
