"""The Events API: which events the app gets, and the envelope around them.

An event reaches the app when the manifest subscribes to it, the token has its scope, and, for what happens in a
channel, the bot is a member there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.workspace.model import Channel, Json, Message
from bot.workspace.shapes import message_json

if TYPE_CHECKING:
    from bot.workspace.deliveries import Delivery
    from bot.workspace.workspace import Workspace

_SCOPES = {
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "app_mention": "app_mentions:read",
    "file_shared": "files:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "member_joined_channel": "channels:read",
    "member_left_channel": "channels:read",
    "channel_archive": "channels:read",
}
_MESSAGES = {"channel": "message.channels", "group": "message.groups", "im": "message.im", "mpim": "message.mpim"}
_AFTER_REVOKING = ("tokens_revoked", "app_uninstalled")


def emit(workspace: Workspace, name: str, event: Json, channel: Channel | None = None) -> Delivery | None:
    """Tell the app, if it gets this event. `name` is the subscription, as "message.channels"."""
    scope = _SCOPES.get(name)
    if name not in workspace.events or (scope is not None and scope not in workspace.scopes):
        return None
    if channel is not None and workspace.bot.user_id not in channel.members:
        return None
    if workspace.revoked and name not in _AFTER_REVOKING:
        return None
    bot = workspace.bot
    event_id = workspace.ids.next("Ev")
    payload = {
        "token": bot.verification_token,
        "team_id": workspace.team_id,
        "context_team_id": workspace.team_id,
        "context_enterprise_id": None,
        "api_app_id": bot.app_id,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(workspace.clock.now()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": workspace.team_id,
                "user_id": bot.user_id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": f"4-{event_id}",
    }
    return workspace.dispatcher.submit("events_api", payload)


def posted(workspace: Workspace, message: Message) -> None:
    """A message was posted: `message` to members, and `app_mention` as well when it names the bot."""
    channel = workspace.directory.channel(message.channel)
    event = message_json(workspace, message, threads=False)
    event |= {"channel": channel.id, "event_ts": message.ts, "channel_type": channel.kind}
    if message.subtype == "thread_broadcast":
        event["root"] = message_json(workspace, workspace.log.get(channel.id, message.root_ts))
    emit(workspace, _MESSAGES[channel.kind], event, channel)
    if message.user != workspace.bot.user_id and _names_bot(workspace, message.text):
        _mentioned(workspace, message, channel)
    for file_id in message.files:
        shared = {
            "type": "file_shared",
            "file_id": file_id,
            "user_id": message.user,
            "file": {"id": file_id},
            "channel_id": channel.id,
            "event_ts": message.ts,
        }
        emit(workspace, "file_shared", shared, channel)


def changed(workspace: Workspace, message: Message, before: Message) -> None:
    """A message was edited, by a person or by chat.update. An edit that newly names the bot is a mention."""
    channel = workspace.directory.channel(message.channel)
    ts = workspace.ids.ts(workspace.clock.now())
    event = {
        "type": "message",
        "subtype": "message_changed",
        "message": message_json(workspace, message),
        "previous_message": message_json(workspace, before),
        "channel": channel.id,
        "hidden": True,
        "ts": ts,
        "event_ts": ts,
        "channel_type": channel.kind,
    }
    emit(workspace, _MESSAGES[channel.kind], event, channel)
    by_person = message.user != workspace.bot.user_id
    if by_person and _names_bot(workspace, message.text) and not _names_bot(workspace, before.text):
        _mentioned(workspace, message, channel)


def deleted(workspace: Workspace, message: Message) -> None:
    """A message was deleted."""
    channel = workspace.directory.channel(message.channel)
    ts = workspace.ids.ts(workspace.clock.now())
    event = {
        "type": "message",
        "subtype": "message_deleted",
        "previous_message": message_json(workspace, message),
        "channel": channel.id,
        "hidden": True,
        "deleted_ts": message.ts,
        "ts": ts,
        "event_ts": ts,
        "channel_type": channel.kind,
    }
    emit(workspace, _MESSAGES[channel.kind], event, channel)


def reacted(workspace: Workspace, message: Message, user: str, name: str, *, removed: bool) -> None:
    """Someone gave or took back an emoji."""
    kind = "reaction_removed" if removed else "reaction_added"
    event = {
        "type": kind,
        "user": user,
        "reaction": name,
        "item_user": message.user,
        "item": {"type": "message", "channel": message.channel, "ts": message.ts},
        "event_ts": workspace.ids.ts(workspace.clock.now()),
    }
    emit(workspace, kind, event, workspace.directory.channel(message.channel))


def _names_bot(workspace: Workspace, text: str) -> bool:
    return f"<@{workspace.bot.user_id}>" in text


def _mentioned(workspace: Workspace, message: Message, channel: Channel) -> None:
    if channel.kind == "im":
        return  # in a direct message there is only message.im
    event = message_json(workspace, message, threads=False)
    event |= {"type": "app_mention", "channel": channel.id, "event_ts": message.ts}
    emit(workspace, "app_mention", event, channel)
