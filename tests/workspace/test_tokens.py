import json

import httpx
import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.workspace import Manifest, ManualClock, Workspace, serve
from tests.workspace.conftest import error_of


@pytest.fixture
def raw(server):
    def call(method, **given):
        return httpx.post(server.api_url + method, trust_env=False, **given)

    return call


def test_scope_when_not_in_the_manifest_then_missing_scope_with_what_is_needed():
    with serve(Workspace(clock=ManualClock())) as server:
        client = WebClient(server.workspace.bot.bot_token, base_url=server.api_url)
        with pytest.raises(SlackApiError) as refusal:
            client.reactions_add(channel="C1", timestamp="1.1", name="eyes")
    answer = refusal.value.response
    assert (answer["error"], answer["needed"]) == ("missing_scope", "reactions:write")
    assert answer["provided"] == ",".join(sorted(Manifest.load().scopes))


@pytest.mark.parametrize(
    ("channel", "scope"), [("k3-incidents", "channels:history"), ("k3-leads", "groups:history"), ("dm", "im:history")]
)
def test_history_when_its_kind_of_channel_has_no_scope_then_missing_scope(client, workspace, emma, channel, scope):
    channel_id = emma.dm if channel == "dm" else workspace.channel(channel).id
    client.conversations_history(channel=channel_id)
    workspace.scopes.discard(scope)
    assert error_of(lambda: client.conversations_history(channel=channel_id)) == "missing_scope"


def test_headers_when_answered_then_they_name_the_scopes(client):
    headers = client.users_list().headers
    assert headers["x-accepted-oauth-scopes"] == "users:read"
    assert "chat:write" in headers["x-oauth-scopes"]


@pytest.mark.parametrize(
    ("token", "method", "error"),
    [
        (None, "auth.test", "not_authed"),
        ("xoxb-wrong", "auth.test", "invalid_auth"),
        ("xapp-local-workspace-app", "auth.test", "not_allowed_token_type"),
        ("xoxb-local-workspace-bot", "apps.connections.open", "not_allowed_token_type"),
        ("xoxb-local-workspace-bot", "chat.fly", "unknown_method"),
    ],
)
def test_call_when_not_allowed_then_slacks_error(raw, token, method, error):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    assert raw(method, headers=headers).json()["error"] == error


def test_token_when_in_the_body_then_taken(raw, workspace):
    assert raw("auth.test", data={"token": workspace.bot.bot_token}).json()["ok"]


@pytest.mark.parametrize(
    ("kind", "body", "error"),
    [
        ("application/json", "{", "invalid_json"),
        ("application/json", "[]", "json_not_object"),
        ("text/plain", "x", "invalid_post_type"),
        ("application/x-www-form-urlencoded", b"\xff", "invalid_form_data"),
    ],
)
def test_body_when_unreadable_then_slacks_error(raw, kind, body, error):
    assert raw("api.test", headers={"Content-Type": kind}, content=body).json()["error"] == error


def test_blocks_when_sent_as_a_form_then_they_are_read_as_json(raw, workspace):
    form = {"token": workspace.bot.bot_token, "channel": "k3-incidents", "blocks": json.dumps([{"type": "divider"}])}
    assert raw("chat.postMessage", data=form).json()["message"]["blocks"][0]["type"] == "divider"
    assert raw("chat.postMessage", data=form | {"blocks": "{"}).json()["error"] == "invalid_blocks_format"


@pytest.mark.parametrize(
    ("do", "error"),
    [
        (lambda workspace: workspace.revoke_token(), "token_revoked"),
        (lambda workspace: workspace.uninstall(), "account_inactive"),
    ],
)
def test_token_when_revoked_then_every_call_is_refused_and_the_app_is_told(client, workspace, do, error):
    do(workspace)
    assert error_of(client.auth_test) == error
    assert len(workspace.deliveries("tokens_revoked")) == 1


def test_auth_revoke_when_called_then_the_token_is_gone(client):
    assert client.auth_revoke(test=True)["revoked"] is False
    assert client.auth_revoke()["revoked"] is True
    assert error_of(client.auth_test) == "token_revoked"
