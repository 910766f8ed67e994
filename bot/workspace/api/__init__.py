"""The Web API: https://docs.slack.dev/reference/methods, as far as an app like this one needs it."""

from bot.workspace.api import auth, chat, conversations, files, people, reactions, views
from bot.workspace.api.call import Call, Method, read_arguments


def all_methods() -> dict[str, Method]:
    """Every method by name."""
    tables = (module.METHODS for module in (auth, chat, conversations, files, people, reactions, views))
    return {method.name: method for table in tables for method in table}


__all__ = ["Call", "Method", "all_methods", "read_arguments"]
