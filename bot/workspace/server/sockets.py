"""Socket Mode: the app connects here and gets envelopes; any of its connections may get any envelope.

docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextlib import suppress

from starlette.types import Receive, Scope, Send

from bot.workspace import limits
from bot.workspace.deliveries import Delivery
from bot.workspace.model import Json
from bot.workspace.server.dropping import cut_frame
from bot.workspace.workspace import Workspace


class Connection:
    """One open WebSocket: what to send, and which envelopes wait for their ack on it."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.outgoing: asyncio.Queue[Delivery | Json] = asyncio.Queue()
        self.unacknowledged: set[str] = set()


class SocketTransport:
    """The Transport over all open connections, in turn; also the ASGI endpoint they arrive at."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._connections: deque[Connection] = deque()
        self.opened = 0

    @property
    def connected(self) -> bool:
        """Whether the app is there."""
        return bool(self._connections)

    @property
    def count(self) -> int:
        """How many connections the app holds."""
        return len(self._connections)

    def send(self, delivery: Delivery) -> None:
        """Put an envelope on the next connection's way."""
        self._connections.rotate(-1)
        connection = self._connections[0]
        connection.unacknowledged.add(delivery.envelope_id)
        connection.outgoing.put_nowait(delivery)

    def refresh(self, reason: str = "refresh_requested") -> None:
        """Ask the app to reconnect, as Slack does every few hours; from any thread."""
        self._tell_all({"type": "disconnect", "reason": reason, "debug_info": {"host": "local"}})

    def close_all(self) -> None:
        """Close every connection without a word; from any thread."""
        self._tell_all({})

    def _tell_all(self, item: Json) -> None:
        for connection in list(self._connections):
            connection.loop.call_soon_threadsafe(connection.outgoing.put_nowait, item)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold one connection until it ends."""
        await receive()  # websocket.connect
        await send({"type": "websocket.accept"})
        if len(self._connections) >= limits.SOCKETS:
            await _send_json(send, {"type": "disconnect", "reason": "too_many_websockets"})
            await send({"type": "websocket.close", "code": 1008})
            return
        connection = Connection()
        self._connections.append(connection)
        self.opened += 1
        await _send_json(send, self._hello())
        self._workspace.dispatcher.wake()
        with self._workspace.changing():
            pass  # wakes who waits for the app to connect
        sender = asyncio.create_task(self._feed(connection, scope, send))
        try:
            await self._listen(connection, receive)
        finally:
            self._connections.remove(connection)
            sender.cancel()
            with suppress(asyncio.CancelledError):
                await sender
            for envelope_id in list(connection.unacknowledged):
                self._workspace.dispatcher.miss(envelope_id, "timeout")
            with self._workspace.changing():
                pass

    async def _listen(self, connection: Connection, receive: Receive) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            try:
                ack = json.loads(message.get("text") or "{}")
            except ValueError:
                continue
            if isinstance(ack, dict) and isinstance(ack.get("envelope_id"), str):
                connection.unacknowledged.discard(ack["envelope_id"])
                payload = ack.get("payload")
                self._workspace.dispatcher.acknowledge(
                    ack["envelope_id"], payload if isinstance(payload, dict) and payload else None
                )

    async def _feed(self, connection: Connection, scope: Scope, send: Send) -> None:
        """Send what is queued. A connection that breaks meanwhile is noticed by its listener."""
        faults = self._workspace.faults
        while True:
            item = await connection.outgoing.get()
            if not isinstance(item, Delivery):
                if item:
                    await _send_json(send, item)
                await send({"type": "websocket.close", "code": 1000})
                return
            slow = faults.take("socket", "delay")
            if slow:
                await asyncio.sleep(slow.details["seconds"])
            envelope = _envelope(item)
            broken = faults.take("socket", "close_socket") if item.kind == "events_api" else None
            if broken and broken.details["how"] == "cut":
                cut_frame(scope, json.dumps(envelope))
                return
            await _send_json(send, envelope)
            if broken:
                await send({"type": "websocket.close", "code": 1000})
                return

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self._connections),
            "debug_info": {"host": "local", "build_number": 1, "approximate_connection_time": 18060},
            "connection_info": {"app_id": self._workspace.bot.app_id},
        }


def _envelope(delivery: Delivery) -> Json:
    envelope: Json = {
        "envelope_id": delivery.envelope_id,
        "payload": delivery.payload,
        "type": delivery.kind,
        "accepts_response_payload": delivery.kind != "events_api",
    }
    if delivery.kind == "events_api":
        reason = delivery.retry_reason.replace("http_timeout", "timeout")
        envelope |= {"retry_attempt": delivery.retry_num, "retry_reason": reason}
    return envelope


async def _send_json(send: Send, data: Json) -> None:
    await send({"type": "websocket.send", "text": json.dumps(data)})
