"""Cutting a connection under the client, which ASGI has no word for; works with uvicorn's protocols."""

from __future__ import annotations

from typing import Any

from starlette.types import Receive, Scope
from websockets.frames import Frame, Opcode

RAW_SEND = "k3.raw_send"  # where the application leaves the server's own `send` in the scope


def _transport(scope: Scope) -> Any:
    protocol = getattr(scope.get(RAW_SEND), "__self__", None)
    transport = getattr(protocol, "transport", None)
    if transport is None:
        raise RuntimeError("connections can only be cut when uvicorn serves the workspace")
    return transport


async def drop(scope: Scope, receive: Receive) -> None:
    """Cut the connection now, whatever was sent."""
    _transport(scope).abort()
    while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
        pass


def cut_frame(scope: Scope, text: str) -> None:
    """Send the first half of a WebSocket text frame, then nothing more ever."""
    transport = _transport(scope)
    frame = Frame(Opcode.TEXT, text.encode()).serialize(mask=False)
    transport.write(frame[: len(frame) // 2])
    transport.close()
