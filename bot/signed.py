"""Slack's requests over HTTP: whatever is not signed well gets 401, is counted, and is never logged.

In front of Bolt, which answers 500 to a junk timestamp or a non-ASCII signature and logs the body it refuses.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Iterable

from slack_bolt import App
from slack_bolt.adapter.starlette.handler import to_bolt_request, to_starlette_response
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

_MAX_BODY = 4 << 20
_WINDOW = 300


def is_signed(headers: Iterable[tuple[bytes, bytes]], body: bytes, secret: str, now: float) -> bool:
    """Whether a request comes from Slack and is at most five minutes old. Never raises."""
    stamps = [value for name, value in headers if name.lower() == b"x-slack-request-timestamp"]
    given = [value for name, value in headers if name.lower() == b"x-slack-signature"]
    if len(stamps) != 1 or len(given) != 1 or not (stamps[0].isdigit() and len(stamps[0]) <= 12):
        return False
    if abs(now - int(stamps[0])) > _WINDOW:
        return False
    digest = hmac.new(secret.encode(), b"v0:" + stamps[0] + b":" + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(b"v0=" + digest.encode(), given[0])


def slack_route(
    app: App,
    secret: str,
    *,
    clock: Callable[[], float] = time.time,
    refused: Callable[[], object] = lambda: None,
    acked: Callable[[float], object] = lambda seconds: None,
) -> Route:
    """The route `/slack/events` for events, interactions and commands."""

    async def handle(request: Request) -> Response:
        began = time.perf_counter()
        body = await _body(request)
        if body is None or not is_signed(list(request.headers.raw), body, secret, clock()):
            refused()
            return PlainTextResponse("not signed by Slack\n", status_code=401)
        answer = await run_in_threadpool(app.dispatch, to_bolt_request(request, body))
        acked(time.perf_counter() - began)
        return to_starlette_response(answer)

    return Route("/slack/events", handle, methods=["POST"])


async def _body(request: Request) -> bytes | None:
    """The body; None where it is larger than anything Slack sends."""
    parts = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > _MAX_BODY:
            return None
        parts.append(part)
    return b"".join(parts)
