"""Running the workspace: in a thread for tests, or in the foreground for a person."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from bot.workspace.server.app import WorkspaceApp, create_app
from bot.workspace.workspace import Workspace

_PATIENCE = 2.0  # seconds that requests under way get when the server stops
_POLL = 0.005


class _QuickServer(uvicorn.Server):
    """uvicorn as it is, but for the tenths of a second it sleeps before it stops: hundreds of tests pay them."""

    async def main_loop(self) -> None:
        """Wait for the order to stop."""
        await self.on_tick(0)
        while not self.should_exit:
            await asyncio.sleep(_POLL)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close everything, and wait only as long as something is open."""
        for server in self.servers:
            server.close()
        for listener in sockets or ():
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        deadline = time.monotonic() + _PATIENCE
        while (self.server_state.connections or self.server_state.tasks) and time.monotonic() < deadline:
            await asyncio.sleep(_POLL)
        for task in self.server_state.tasks:
            task.cancel()
        await self.lifespan.shutdown()


class Server:
    """A workspace being served. `api_url` is what `WebClient(base_url=…)` takes."""

    def __init__(self, workspace: Workspace, app: WorkspaceApp, port: int = 0) -> None:
        self.workspace = workspace
        self._app = app
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self.origin = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        workspace.origin = self.origin
        config = uvicorn.Config(
            app,
            http="h11",
            ws="websockets-sansio",
            ws_per_message_deflate=False,
            log_config=None,
            log_level="warning",
            access_log=False,
            lifespan="on",
        )
        self._uvicorn = _QuickServer(config)

    @property
    def api_url(self) -> str:
        """The base URL of the Web API, with the slash at its end."""
        return f"{self.origin}/api/"

    @property
    def sockets(self) -> int:
        """How many Socket Mode connections the app holds."""
        return self._app.sockets.count

    @property
    def sockets_opened(self) -> int:
        """How many Socket Mode connections there have been."""
        return self._app.sockets.opened

    def wait_for_app(self, seconds: float = 10) -> None:
        """Wait until the app has a Socket Mode connection. Raises TimeoutError."""
        self.workspace.wait_until(lambda: self.sockets, seconds)

    def refresh_sockets(self) -> None:
        """Ask the app to reconnect, as Slack does every few hours."""
        self._app.sockets.refresh()

    def close_sockets(self) -> None:
        """Close all Socket Mode connections from this side."""
        self._app.sockets.close_all()

    def run(self) -> None:
        """Serve until interrupted."""
        self._uvicorn.run(sockets=[self._socket])

    def start(self) -> threading.Thread:
        """Serve in a thread; returns once requests are taken."""
        thread = threading.Thread(target=self.run, name="workspace", daemon=True)
        thread.start()
        while not self._uvicorn.started:
            if not thread.is_alive():
                raise RuntimeError("the workspace did not start; its log says why")
            thread.join(0.005)
        return thread

    def stop(self, thread: threading.Thread) -> None:
        """Stop serving and close all connections."""
        self._uvicorn.should_exit = True
        thread.join(10)


@contextmanager
def serve(
    workspace: Workspace, *, port: int = 0, request_url: str | None = None, samples: Path | None = None
) -> Iterator[Server]:
    """Serve `workspace` on loopback, on a free port unless one is given, as long as the context lasts."""
    server = Server(workspace, create_app(workspace, request_url=request_url, samples=samples), port)
    thread = server.start()
    try:
        yield server
    finally:
        server.stop(thread)
