"""What can be made to go wrong, as the real client sees it."""

from http.client import RemoteDisconnected

import httpx
import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler

from bot.workspace import ManualClock, Workspace, serve
from bot.workspace.rates import POSTING, TIER_3, Rates
from tests.workspace.conftest import error_of


def say(client, text="x"):
    return client.chat_postMessage(channel="k3-incidents", text=text)


def test_answer_when_lost_then_the_client_fails_though_the_message_was_posted(client, workspace):
    workspace.faults.lose_answer("chat.postMessage")
    with pytest.raises((RemoteDisconnected, ConnectionResetError)):
        say(client)
    assert len(workspace.messages("k3-incidents")) == 1


def test_answer_when_lost_then_the_clients_own_retry_posts_twice(server, workspace):
    retrying = WebClient(
        workspace.bot.bot_token, base_url=server.api_url, retry_handlers=[ConnectionErrorRetryHandler()]
    )
    workspace.faults.lose_answer("chat.postMessage")
    say(retrying)
    assert len(workspace.messages("k3-incidents")) == 2


def test_request_when_lost_then_nothing_was_posted(client, workspace):
    workspace.faults.lose_request("chat.*")
    with pytest.raises((RemoteDisconnected, ConnectionResetError)):
        say(client)
    assert workspace.messages("k3-incidents") == []


@pytest.mark.parametrize("header", ["30", "0", "soon", None])
def test_rate_limit_when_ordered_then_429_with_the_header_as_given(client, workspace, header):
    workspace.faults.rate_limit("chat.postMessage", header)
    with pytest.raises(SlackApiError) as refusal:
        say(client)
    assert refusal.value.response.status_code == 429
    assert refusal.value.response["error"] == "ratelimited"
    assert refusal.value.response.headers.get("Retry-After") == header
    assert say(client)["ok"]


def test_server_error_when_ordered_then_html_with_that_status(client, workspace):
    workspace.faults.fail("chat.postMessage", 503, times=2)
    for _ in range(2):
        with pytest.raises(SlackApiError) as refusal:
            say(client)
        assert refusal.value.response.status_code == 503
    assert say(client)["ok"]


def test_error_when_ordered_then_that_name(client, workspace):
    workspace.faults.error("chat.postMessage", "fatal_error")
    assert error_of(lambda: say(client)) == "fatal_error"


def test_delay_when_longer_than_the_clients_patience_then_it_times_out_though_posted(server, workspace):
    hasty = WebClient(workspace.bot.bot_token, base_url=server.api_url, timeout=0.1, retry_handlers=[])
    workspace.faults.delay("chat.postMessage", 0.3)
    with pytest.raises(TimeoutError):
        say(hasty)
    workspace.wait_until(lambda: workspace.messages("k3-incidents"))
    assert len(workspace.messages("k3-incidents")) == 1


def test_upload_and_response_url_when_told_to_fail_then_so(client, workspace, server):
    url = client.files_getUploadURLExternal(filename="a.log", length=1)["upload_url"]
    workspace.faults.fail("files.upload", 500)
    assert httpx.post(url, content=b"1", trust_env=False).status_code == 500
    workspace.faults.lose_answer("files.upload")
    with pytest.raises(httpx.TransportError):
        httpx.post(url, content=b"1", trust_env=False)
    assert httpx.post(url, content=b"1", trust_env=False).status_code == 400
    response_url = f"{server.origin}/response/{workspace.tickets.response('C0000000002', 'U0000000002')}"
    workspace.faults.fail("response_url", 500)
    assert httpx.post(response_url, json={"text": "x"}, trust_env=False).status_code == 500
    workspace.faults.lose_answer("response_url")
    with pytest.raises(httpx.TransportError):
        httpx.post(response_url, json={"text": "x"}, trust_env=False)
    assert len(workspace.person("emma").read("k3-incidents")) == 1


def test_faults_when_cleared_then_all_is_well(client, workspace):
    workspace.faults.fail("*")
    workspace.faults.clear()
    assert say(client)["ok"]


def test_posting_when_faster_than_slack_allows_then_429_and_later_again(client, workspace):
    for _ in range(10):
        say(client)
    with pytest.raises(SlackApiError) as refusal:
        say(client)
    assert (refusal.value.response.status_code, refusal.value.response.headers["Retry-After"]) == (429, "1")
    assert client.chat_postMessage(channel="general", text="another channel")["ok"]
    workspace.clock.advance(1)
    assert say(client)["ok"]


def test_rate_limits_when_turned_off_then_never_429():
    with serve(Workspace(clock=ManualClock(), rate_limits=False)) as server:
        client = WebClient(server.workspace.bot.bot_token, base_url=server.api_url)
        assert all(say(client)["ok"] for _ in range(15))


def test_tier_when_used_up_then_refilled_over_a_minute():
    clock = ManualClock()
    rates = Rates(clock)
    assert [rates.take("chat.update", TIER_3) for _ in range(51)] == [0] * 50 + [2]
    assert rates.take("chat.delete", TIER_3) == 0
    clock.advance(60)
    assert [rates.take("chat.update", TIER_3) for _ in range(51)] == [0] * 50 + [2]
    assert rates.take("chat.postMessage", POSTING, "C1") == 0
