"""Events, interactions and commands over HTTP, signed: docs.slack.dev/authentication/verifying-requests-from-slack"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from bot.workspace.deliveries import Delivery
from bot.workspace.errors import ManifestError
from bot.workspace.model import Json
from bot.workspace.workspace import Workspace


class HttpTransport:
    """The Transport to an app that has a request URL, which must be on loopback."""

    connected = True

    def __init__(self, workspace: Workspace, request_url: str) -> None:
        if not is_loopback(urlsplit(request_url).hostname or ""):
            raise ManifestError(f"the request URL {request_url} is not on this machine; use 127.0.0.1")
        self._workspace = workspace
        self._url = request_url
        self._client: httpx.AsyncClient | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, delivery: Delivery) -> None:
        """Start the request; its answer settles the delivery."""
        task = asyncio.create_task(self._deliver(delivery, delivery.envelope_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def verify_url(self) -> bool:
        """Slack's check when a request URL is entered: the app must echo the challenge."""
        body: Json = {"token": self._workspace.bot.verification_token, "challenge": "c", "type": "url_verification"}
        response = await self._post(json.dumps(body), "application/json", {})
        return response.status_code == 200 and "c" in response.text

    async def close(self) -> None:
        """Give up what is under way."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()

    async def _deliver(self, delivery: Delivery, envelope_id: str) -> None:
        dispatcher, faults = self._workspace.dispatcher, self._workspace.faults
        slow = faults.take("socket", "delay")
        if slow:
            await asyncio.sleep(slow.details["seconds"])
        body, kind = _encode(delivery)
        retry = {}
        if delivery.retry_num:
            retry = {"X-Slack-Retry-Num": str(delivery.retry_num), "X-Slack-Retry-Reason": delivery.retry_reason}
        try:
            response = await self._post(body, kind, retry)
        except httpx.TooManyRedirects:
            dispatcher.miss(envelope_id, "too_many_redirects")
            return
        except httpx.TransportError:
            dispatcher.miss(envelope_id, "connection_failed")
            return
        if response.is_success:
            dispatcher.acknowledge(envelope_id, _answer(response))
        else:
            dispatcher.miss(envelope_id, "http_error", retry=response.headers.get("x-slack-no-retry") != "1")

    async def _post(self, body: str, kind: str, headers: dict[str, str]) -> httpx.Response:
        if self._client is None:  # the three seconds are counted on the workspace's clock, not here
            self._client = httpx.AsyncClient(trust_env=False, timeout=60, follow_redirects=True, max_redirects=2)
        return await self._client.post(
            self._url, content=body, headers={"Content-Type": kind, **self._signature(body), **headers}
        )

    def _signature(self, body: str) -> dict[str, str]:
        """Signed with the machine's time, as the app compares with it."""
        timestamp = str(int(time.time()))
        secret = self._workspace.bot.signing_secret.encode()
        digest = hmac.new(secret, f"v0:{timestamp}:{body}".encode(), hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}


def is_loopback(host: str) -> bool:
    """Whether a host name is this machine, without asking a resolver."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _encode(delivery: Delivery) -> tuple[str, str]:
    if delivery.kind == "events_api":
        return json.dumps(delivery.payload), "application/json"
    form = delivery.payload if delivery.kind == "slash_commands" else {"payload": json.dumps(delivery.payload)}
    return urlencode(form), "application/x-www-form-urlencoded"


def _answer(response: httpx.Response) -> Json | None:
    if not response.content:
        return None
    if response.headers.get("content-type", "").startswith("application/json"):
        data: Any = response.json()
        return data if isinstance(data, dict) else None
    return {"text": response.text}
