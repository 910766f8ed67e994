"""Events, commands and interactions over HTTP, into Bolt's own adapter."""

import threading

import pytest
from slack_bolt import App
from slack_sdk import WebClient

from bot.workspace import ManifestError, create_app, serve
from tests.workspace.clients import free_port, listening


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def server(workspace, port):
    with serve(workspace, request_url=f"http://127.0.0.1:{port}/slack/events") as running:
        yield running


@pytest.fixture
def heard(app, port):
    requests = []
    app.event("message")(lambda event: None)

    @app.use
    def note(request, next_):
        requests.append(request)
        return next_()

    with listening(app, port):
        yield requests


def test_event_when_signed_then_bolt_takes_it(heard, emma, workspace):
    emma.post("k3-incidents", "привет")
    workspace.settle()
    assert heard[0].body["event"]["text"] == "привет"
    assert workspace.deliveries()[0].outcome == "acked"
    assert "x-slack-retry-num" not in heard[0].headers


def test_event_when_signed_with_another_secret_then_refused_and_redelivered(client, port, emma, workspace):
    stranger = App(client=client, signing_secret="another")
    with listening(stranger, port):
        emma.post("k3-incidents", "x")
        workspace.wait_until(lambda: workspace.deliveries()[0].retry_num == 2)
    assert workspace.deliveries()[0].retry_reason == "http_error"


def test_event_when_not_answered_in_3_seconds_then_again_with_retry_headers(app, port, emma, workspace):
    headers, release = [], threading.Event()

    @app.use
    def slow(request, next_):
        headers.append(request.headers)
        if len(headers) == 1:
            release.wait(10)
        return next_()

    app.event("message")(lambda event: None)
    with listening(app, port):
        emma.post("k3-incidents", "x")
        workspace.wait_until(lambda: workspace.deliveries()[0].sent_at is not None)
        deadline = threading.Event()
        while not headers:
            deadline.wait(0.01)
        workspace.clock.advance(3)
        workspace.wait_until(lambda: workspace.deliveries()[0].attempts == 2)
        release.set()
        workspace.settle()
    assert headers[1]["x-slack-retry-num"] == ["1"]
    assert headers[1]["x-slack-retry-reason"] == ["http_timeout"]


def test_event_when_the_app_is_away_then_connection_failed(server, emma, workspace):
    emma.post("k3-incidents", "x")
    workspace.wait_until(lambda: workspace.deliveries()[0].retry_num == 2)
    assert workspace.deliveries()[0].retry_reason == "connection_failed"


def test_command_when_acked_with_text_then_the_caller_reads_it(app, port, emma):
    app.command("/k3")(lambda ack, command: ack(f"you said {command['text']}"))
    with listening(app, port):
        emma.run("k3-incidents", "/k3 a&b=c 노드")
    assert emma.read("k3-incidents")[0].text == "you said a&b=c 노드"


def test_submission_when_answered_with_errors_then_shown(app, port, emma, workspace):
    app.view("paste")(lambda ack: ack(response_action="errors", errors={"log": "no log"}))
    label = {"type": "plain_text", "text": "Log"}
    element = {"type": "plain_text_input", "action_id": "text"}
    block = {"type": "input", "block_id": "log", "label": label, "element": element}
    view = {"type": "modal", "callback_id": "paste", "title": label, "submit": label, "blocks": [block]}
    workspace.views.open(emma.id, view)
    with listening(app, port):
        assert emma.submit({"Log": "x"}).errors == {"log": "no log"}


def test_request_url_when_not_on_this_machine_then_refused(workspace):
    with pytest.raises(ManifestError, match="is not on this machine"):
        create_app(workspace, request_url="https://example.com/slack/events")


def test_client_when_used_beside_then_it_works_as_in_socket_mode(server):
    client = WebClient(server.workspace.bot.bot_token, base_url=server.api_url)
    assert client.auth_test()["ok"]
