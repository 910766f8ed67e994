"""Socket Mode with Slack's builtin client."""

import json
import threading
from contextlib import ExitStack

import pytest
from websockets.sync.client import connect as open_socket

from tests.workspace.clients import connected


@pytest.fixture
def heard(app):
    """Texts of every message the app was told of, each acknowledged."""
    texts = []
    app.event("message")(lambda event: texts.append(event["text"]))
    return texts


@pytest.fixture
def raw(client, workspace):
    """A bare connection past its hello, which acknowledges nothing by itself."""
    with open_socket(client.apps_connections_open(app_token=workspace.bot.app_token)["url"], proxy=None) as socket:
        hello = json.loads(socket.recv())
        assert hello["type"] == "hello"
        assert hello["connection_info"] == {"app_id": workspace.bot.app_id}
        yield socket


def receive(socket):
    return json.loads(socket.recv(timeout=10))


def test_event_when_posted_then_the_app_hears_and_acknowledges_it(app, connect, heard, emma, workspace):
    connect(app)
    emma.post("k3-incidents", "안녕, 世界, привет")
    workspace.wait_until(lambda: heard)
    workspace.settle()
    assert heard == ["안녕, 世界, привет"]
    assert [(one.outcome, one.attempts) for one in workspace.deliveries()] == [("acked", 1)]


def test_answer_when_said_in_the_thread_then_the_person_reads_it(app, connect, emma, workspace):
    app.event("app_mention")(lambda event, say: say("on it", thread_ts=event["ts"]))
    connect(app)
    question = emma.post("k3-incidents", f"<@{workspace.bot.user_id}> help")
    assert [one.text for one in emma.wait_for_reply(question)] == ["on it"]


def test_own_message_when_it_comes_back_then_bolt_ignores_it(app, connect, heard, client, workspace):
    connect(app)
    client.chat_postMessage(channel="k3-incidents", text="own")
    workspace.settle()
    assert heard == []


def test_event_when_not_acknowledged_then_again_at_once_after_a_minute_and_after_five(raw, emma, workspace):
    emma.post("k3-incidents", "x")
    first = receive(raw)
    assert (first["type"], first["accepts_response_payload"], first["retry_attempt"]) == ("events_api", False, 0)
    attempts = []
    for number, wait in enumerate((0, 60, 300), 1):
        workspace.clock.advance(3)
        workspace.wait_until(lambda n=number: workspace.deliveries()[0].retry_num == n)
        workspace.clock.advance(wait)
        again = receive(raw)
        attempts.append((again["retry_attempt"], again["retry_reason"]))
        assert again["payload"] == first["payload"]
        assert again["envelope_id"] != first["envelope_id"]
    assert attempts == [(1, "timeout"), (2, "timeout"), (3, "timeout")]
    workspace.clock.advance(3)
    workspace.settle()
    assert (workspace.deliveries()[0].outcome, workspace.deliveries()[0].attempts) == ("timed_out", 4)


def test_event_when_acknowledged_late_then_it_does_not_count(raw, emma, workspace):
    emma.post("k3-incidents", "x")
    first = receive(raw)
    workspace.clock.advance(3)
    again = receive(raw)
    raw.send(json.dumps({"envelope_id": first["envelope_id"]}))
    raw.send("no json")
    raw.send(json.dumps({"envelope_id": again["envelope_id"], "payload": {}}))
    workspace.settle()
    assert workspace.deliveries()[0].attempts == 2


@pytest.mark.parametrize("how", ["close", "cut"])
def test_socket_when_closed_in_the_middle_of_an_event_then_reconnected_and_redelivered(
    app, connect, heard, emma, workspace, how
):
    connect(app)
    workspace.faults.close_socket(how=how)
    emma.post("k3-incidents", "important")
    workspace.settle()
    assert heard[-1] == "important"
    delivery = workspace.deliveries()[0]
    assert (delivery.outcome, delivery.attempts, delivery.retry_num) == ("acked", 2, 1)


def test_socket_when_asked_to_refresh_then_the_client_connects_anew(app, connect, heard, server, emma, workspace):
    connect(app)
    server.refresh_sockets()
    workspace.wait_until(lambda: server.sockets_opened == 2)
    emma.post("k3-incidents", "after")
    workspace.wait_until(lambda: heard == ["after"])


def test_event_when_no_app_is_connected_then_it_waits_for_one(app, server, heard, emma, workspace):
    emma.post("k3-incidents", "early")
    with connected(app, server):
        workspace.settle()
    assert heard == ["early"]


def test_event_when_nobody_comes_then_given_up_after_the_last_retry(server, emma, workspace):
    emma.post("k3-incidents", "x")
    delivery = workspace.deliveries()[0]
    for attempt, wait in enumerate((0, 0, 60, 300)):
        workspace.clock.advance(wait)
        workspace.wait_until(lambda: delivery.offered_at is not None)
        workspace.clock.advance(3)
        workspace.wait_until(lambda n=attempt: delivery.retry_num > n or delivery.outcome != "open")
    assert (delivery.outcome, delivery.attempts) == ("not_connected", 0)


def test_connections_when_several_then_each_envelope_goes_to_one_of_them(app, connect, heard, emma, workspace):
    connect(app)
    connect(app)
    for number in range(4):
        emma.post("k3-incidents", str(number))
    workspace.settle()
    workspace.wait_until(lambda: len(heard) == 4)
    assert sorted(heard) == ["0", "1", "2", "3"]


def test_connections_when_eleven_then_the_last_is_turned_away(client, workspace):
    url = client.apps_connections_open(app_token=workspace.bot.app_token)["url"]
    with ExitStack() as stack:
        sockets = [stack.enter_context(open_socket(url, proxy=None)) for _ in range(11)]
        assert [receive(one)["type"] for one in sockets] == ["hello"] * 10 + ["disconnect"]


def test_event_when_told_to_deliver_twice_then_twice(app, connect, heard, emma, workspace):
    connect(app)
    workspace.faults.deliver_twice()
    emma.post("k3-incidents", "x")
    workspace.settle()
    workspace.wait_until(lambda: heard == ["x", "x"])
    first, second = workspace.deliveries()
    assert first.payload["event_id"] == second.payload["event_id"]


def test_network_when_slow_then_the_envelope_comes_late(app, connect, heard, emma, workspace):
    connect(app)
    workspace.faults.delay("socket", 0.1)
    emma.post("k3-incidents", "x")
    assert heard == []
    workspace.wait_until(lambda: heard)


def test_listener_when_it_fails_before_the_ack_then_redelivered(app, connect, emma, workspace):
    attempts = []
    tried = threading.Event()

    @app.event("message", middleware=[lambda next_: next_()])
    def handle(event):
        pass

    @app.middleware
    def fail_once(body, next_):
        attempts.append(body["event_id"])
        tried.set()
        if len(attempts) == 1:
            raise RuntimeError("the database is away")
        next_()

    connect(app)
    emma.post("k3-incidents", "x")
    assert tried.wait(10)
    workspace.clock.advance(3)
    workspace.settle()
    assert len(attempts) == 2
    assert attempts[0] == attempts[1]
