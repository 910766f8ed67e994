"""Bolt apps connected to a served workspace, closed again without the seconds their threads would wait."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.wsgi import SlackRequestHandler

from bot.workspace import Server


@contextmanager
def connected(app: App, server: Server) -> Iterator[SocketModeHandler]:
    """`app` connected by Socket Mode with Slack's builtin client; it is there when the context begins."""
    before = server.sockets
    handler = SocketModeHandler(app, server.workspace.bot.app_token, ping_interval=0.2)
    handler.connect()
    try:
        server.workspace.wait_until(lambda: server.sockets > before)
        yield handler
    finally:
        client = handler.client
        client.auto_reconnect_enabled = client.default_auto_reconnect_enabled = False
        client.closed = True
        client.message_queue.put(None)  # wakes its reader, which would wait for a second
        server.close_sockets()  # ends its recv, which would wait for three
        handler.close()


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class _ThreadingServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True


@contextmanager
def listening(app: App, port: int) -> Iterator[None]:
    """`app` served over HTTP on a port of loopback by Bolt's own adapter."""
    running = make_server("127.0.0.1", port, SlackRequestHandler(app), _ThreadingServer, _QuietHandler)
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        running.shutdown()
        thread.join()
        running.server_close()


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
