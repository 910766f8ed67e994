"""Slack's requests over HTTP: only signed ones get in, and what is refused leaves no trace but a count."""

import contextlib
import hashlib
import hmac
import http.client
import json
import time

import pytest

from bot.signed import is_signed
from tests.e2e.world import DRIVER, World, fenced

CANARY = "canary-in-a-refused-body"
BODY = json.dumps({"type": "event_callback", "event": {"type": "app_mention", "text": CANARY}}).encode()


def _sign(secret: str, stamp: str, body: bytes) -> str:
    return "v0=" + hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()


NOW = "now"  # the time of the request, not that of collecting the tests


def _post(world: World, headers: list[tuple[str, bytes]], body: bytes = BODY) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", world.settings.http_port, timeout=10)
    connection.putrequest("POST", "/slack/events")
    for name, value in [("Content-Type", b"application/json"), ("Content-Length", str(len(body)).encode()), *headers]:
        connection.putheader(name, value)
    connection.endheaders(body)
    status = connection.getresponse().status
    connection.close()
    return status


def _headers(stamp: object, signature: object) -> list[tuple[str, bytes]]:
    found = []
    stamp = str(int(time.time())) if stamp == NOW else stamp
    for name, value in (("X-Slack-Request-Timestamp", stamp), ("X-Slack-Signature", signature)):
        if value is not None:
            found.append((name, value if isinstance(value, bytes) else str(value).encode()))
    return found


@pytest.mark.parametrize(
    ("stamp", "signature"),
    [
        (None, None),
        (NOW, None),
        (None, "v0=ab"),
        ("abc", "v0=ab"),
        ("", "v0=ab"),
        ("-5", "v0=ab"),
        ("1e9", "v0=ab"),
        ("9" * 400, "v0=ab"),
        (NOW, ""),
        (NOW, "v0="),
        (NOW, b"v0=\xff\xfe\xd0\xbf"),
        (b"\xd9\xa1\xd9\xa2", "v0=ab"),
        (NOW, "v1=" + "0" * 64),
        (NOW, "v0=" + "0" * 64),
    ],
)
def test_request_when_badly_signed_then_401_and_no_trace(http: World, stamp: object, signature: object) -> None:
    assert _post(http, _headers(stamp, signature)) == 401
    assert CANARY not in http.log.getvalue()
    assert CANARY not in http.stored()


@pytest.mark.parametrize("age", [-301, 301, 86_400])
def test_request_when_too_old_or_from_the_future_then_401(http: World, age: int) -> None:
    stamp = str(int(time.time()) - age)
    secret = http.workspace.bot.signing_secret
    assert _post(http, _headers(stamp, _sign(secret, stamp, BODY))) == 401


def test_request_when_headers_are_doubled_then_401(http: World) -> None:
    stamp = str(int(time.time()))
    headers = _headers(stamp, _sign(http.workspace.bot.signing_secret, stamp, BODY))
    assert _post(http, [*headers, headers[1]]) == 401
    assert _post(http, [*headers, headers[0]]) == 401


def test_request_when_enormous_then_401(http: World) -> None:
    stamp = str(int(time.time()))
    body = b"x" * (5 << 20)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
        assert _post(http, _headers(stamp, _sign(http.workspace.bot.signing_secret, stamp, body)), body) == 401


def test_request_when_well_signed_and_delivered_three_times_then_accepted_once(http: World) -> None:
    before = http.bot.metrics.refused._value.get()
    event = {"type": "app_mention", "user": "U0000000002", "text": "hi", "channel": "C0000000001", "ts": "1790000000.5"}
    envelope = {"type": "event_callback", "event_id": "EvThrice", "team_id": http.workspace.team_id, "event": event}
    body = json.dumps(envelope).encode()
    for attempt in range(3):
        stamp = str(int(time.time()))
        headers = _headers(stamp, _sign(http.workspace.bot.signing_secret, stamp, body))
        assert _post(http, [*headers, ("X-Slack-Retry-Num", str(attempt).encode())], body) == 200
    with http.bot.database.read() as connection:
        found = connection.exec_driver_sql("select count(*) from inbox where key like 'msg:%1790000000.5'").scalar()
    assert found == 1
    assert http.bot.metrics.refused._value.get() == before


def test_mention_when_it_comes_over_http_then_an_answer(http: World) -> None:
    message = http.workspace.person("emma").post("general", f"{http.mention}\n{fenced(DRIVER[:3000])}")
    assert http.answer(message)


def test_button_when_pressed_over_http_then_it_works(http: World) -> None:
    emma = http.workspace.person("emma")
    message = emma.post("general", f"{http.mention} again please\n{fenced(DRIVER[:3000])}")
    emma.press(http.answer(message).message, "resolved")
    assert http.answer_when(message, lambda shown: "Emma" in shown.text)


def test_health_when_all_is_well_then_ready_and_metrics(http: World) -> None:
    connection = http_get(http, "/readyz")
    assert connection == (200, {"database": True, "slack": True, "socket": True})
    status, metrics = http_get(http, "/metrics")
    assert status == 200
    for name in ("k3triage_ack_seconds_bucket", "k3triage_answer_seconds_count", "k3triage_inbox_open"):
        assert name in str(metrics)


def http_get(world: World, path: str) -> tuple[int, object]:
    connection = http.client.HTTPConnection("127.0.0.1", world.settings.http_port, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, json.loads(body) if body.startswith("{") else body


def test_is_signed_when_the_clock_stands_at_the_edges_then_five_minutes_count() -> None:
    headers = [(b"x-slack-request-timestamp", b"1000"), (b"x-slack-signature", _sign("s", "1000", b"b").encode())]
    assert is_signed(headers, b"b", "s", 1300)
    assert not is_signed(headers, b"b", "s", 1301)
    assert not is_signed(headers, b"c", "s", 1000)
