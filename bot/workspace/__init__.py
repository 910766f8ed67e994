"""A local Slack-compatible workspace, for newcomers and for tests.

    with serve(Workspace(clock=ManualClock())) as server:
        client = WebClient(server.workspace.bot.bot_token, base_url=server.api_url)
        emma = server.workspace.person("emma")
        question = emma.post("k3-incidents", "It does not start")

It knows nothing of the bot, and the bot nothing of it: the real clients of Slack are the only way in.
"""

from bot.workspace.clock import ManualClock, SystemClock
from bot.workspace.errors import ManifestError, PersonError, SlackError, WorkspaceError
from bot.workspace.hand import Submission
from bot.workspace.manifest import Manifest
from bot.workspace.model import File, Message, View
from bot.workspace.person import Person
from bot.workspace.reading import Shown
from bot.workspace.server import Server, create_app, serve
from bot.workspace.workspace import Workspace

__all__ = [
    "File",
    "Manifest",
    "ManifestError",
    "ManualClock",
    "Message",
    "Person",
    "PersonError",
    "Server",
    "Shown",
    "SlackError",
    "Submission",
    "SystemClock",
    "View",
    "Workspace",
    "WorkspaceError",
    "create_app",
    "serve",
]
