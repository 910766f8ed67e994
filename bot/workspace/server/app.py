"""The ASGI application: Web API, Socket Mode, files, response URLs and the page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from bot.workspace.page import page_routes
from bot.workspace.server.dropping import RAW_SEND
from bot.workspace.server.requesting import HttpTransport, is_loopback
from bot.workspace.server.sockets import SocketTransport
from bot.workspace.server.transfers import Downloads, ResponseUrls, Uploads
from bot.workspace.server.webapi import WebApi
from bot.workspace.workspace import Workspace

_TICK = 0.02  # seconds between looks at the clock


class WorkspaceApp(Starlette):
    """Serves only requests that name this machine, so that no web page elsewhere can reach it by a rebound name."""

    sockets: SocketTransport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a foreign host name, and what a page of a foreign site sends; then route."""
        scope[RAW_SEND] = send
        if scope["type"] in ("http", "websocket") and not _is_ours(scope):
            if scope["type"] == "websocket":
                await receive()  # websocket.connect
                await send({"type": "websocket.close", "code": 1008})
                return
            await PlainTextResponse("This workspace answers only on this machine.", 403)(scope, receive, send)
            return
        await super().__call__(scope, receive, send)


def create_app(workspace: Workspace, *, request_url: str | None = None, samples: Path | None = None) -> WorkspaceApp:
    """The workspace as a web application. `workspace.origin` must be set to the address it is served at.

    With `request_url` (on loopback) the app gets everything there over HTTP; otherwise it comes by Socket Mode.
    `samples` is a directory of example logs for the page in place of our own, see `bot.workspace.page.samples`.
    """
    sockets = SocketTransport(workspace)
    http = HttpTransport(workspace, request_url) if request_url else None

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        dispatcher = workspace.dispatcher
        dispatcher.transport = http or sockets

        def wake() -> None:
            loop.call_soon_threadsafe(dispatcher.tick)

        dispatcher.wake = wake
        ticking = asyncio.create_task(_tick(workspace))
        yield
        dispatcher.wake = lambda: None
        dispatcher.transport = None
        ticking.cancel()
        with suppress(asyncio.CancelledError):
            await ticking
        if http is not None:
            await http.close()

    app = WorkspaceApp(
        routes=[
            Route("/api/{method}", WebApi(workspace), methods=["GET", "POST"]),
            Route("/upload/v1/{key}", Uploads(workspace), methods=["POST"]),
            Route("/files-pri/{place}/download/{name:path}", Downloads(workspace), methods=["GET"]),
            Route("/files-pri/{place}/{name:path}", Downloads(workspace), methods=["GET"]),
            Route("/response/{key:path}", ResponseUrls(workspace), methods=["POST"]),
            WebSocketRoute("/link/", sockets),
            *page_routes(workspace, samples),
        ],
        lifespan=lifespan,
        exception_handlers={ClientDisconnect: _nobody_listens},
    )
    app.sockets = sockets
    return app


async def _nobody_listens(_: Request, __: Exception) -> Response:
    """For who went away in the middle of a request, as a bot that is killed does."""
    return Response(status_code=400)


async def _tick(workspace: Workspace) -> None:
    while True:
        workspace.dispatcher.tick()
        await asyncio.sleep(_TICK)


def _is_ours(scope: Scope) -> bool:
    origin = _header(scope, b"origin")
    return is_loopback(_host(_header(scope, b"host"))) and (
        not origin or is_loopback(_host(origin.partition("://")[2]))
    )


def _header(scope: Scope, wanted: bytes) -> str:
    value: bytes = next((value for name, value in scope["headers"] if name == wanted), b"")
    return value.decode("latin-1")


def _host(address: str) -> str:
    return address.partition("]")[0] + "]" if address.startswith("[") else address.partition(":")[0]
