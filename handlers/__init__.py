"""Slack listeners, one module per surface: read the payload, commit it to the inbox, acknowledge. The work comes later.

Events are committed in a listener middleware, as Bolt acknowledges them before their listener runs. An error of the
database leaves the delivery unacknowledged, and Slack delivers it again.
"""

from __future__ import annotations

from slack_bolt import App

from bot.service.forms import Forms
from bot.service.intake import Intake
from handlers import actions, commands, events, shortcuts, views

__all__ = ["register"]


def register(app: App, intake: Intake, forms: Forms) -> None:
    """Register all listeners."""
    events.register(app, intake)
    commands.register(app, intake, forms)
    shortcuts.register(app, intake, forms)
    actions.register(app, intake, forms)
    views.register(app, intake, forms)
