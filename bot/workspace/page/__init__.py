"""The page: a chat to try the bot in, rendered on the server."""

from bot.workspace.page.routes import page_routes

__all__ = ["page_routes"]
