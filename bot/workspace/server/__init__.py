"""The workspace over HTTP and WebSocket, on loopback only."""

from bot.workspace.server.app import create_app
from bot.workspace.server.running import Server, serve

__all__ = ["Server", "create_app", "serve"]
