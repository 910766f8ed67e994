"""Users, channels, messages, files and views as Slack writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.workspace.inputs import state_values
from bot.workspace.model import Channel, File, Json, Message, User, View

if TYPE_CHECKING:
    from bot.workspace.workspace import Workspace


def user_json(workspace: Workspace, user: User, *, locale: bool = False) -> Json:
    """docs.slack.dev/reference/objects/user-object"""
    shape: Json = {
        "id": user.id,
        "team_id": workspace.team_id,
        "name": user.name,
        "deleted": False,
        "real_name": user.real_name,
        "tz": user.timezone,
        "profile": {"real_name": user.real_name, "display_name": user.name, "team": workspace.team_id},
        "is_admin": False,
        "is_bot": user.bot_id is not None,
        "is_app_user": False,
        "updated": workspace.created,
    }
    if user.bot_id:
        shape["profile"] |= {"bot_id": user.bot_id, "api_app_id": workspace.bot.app_id}
    if locale:
        shape["locale"] = user.locale
    return shape


def channel_json(workspace: Workspace, channel: Channel) -> Json:
    """docs.slack.dev/reference/objects/conversation-object"""
    bot = workspace.bot.user_id
    shape: Json = {
        "id": channel.id,
        "created": channel.created,
        "is_archived": channel.archived,
        "is_channel": channel.kind == "channel",
        "is_group": channel.kind == "group",
        "is_im": channel.kind == "im",
        "is_mpim": channel.kind == "mpim",
        "is_private": channel.kind != "channel",
        "context_team_id": workspace.team_id,
        "updated": channel.created * 1000,
    }
    if channel.kind == "im":
        others = channel.members - {bot} or channel.members
        return shape | {"user": min(others), "is_open": True}
    return shape | {
        "name": channel.name,
        "name_normalized": channel.name,
        "is_general": channel.name == "general",
        "is_member": bot in channel.members,
        "creator": channel.creator,
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "num_members": len(channel.members),
    }


def file_json(workspace: Workspace, file: File, *, ready: bool = True) -> Json:
    """docs.slack.dev/reference/objects/file-object; one that is not `ready` has no URL and no type yet."""
    place = f"{workspace.team_id}-{file.id}"
    shape: Json = {
        "id": file.id,
        "created": file.created,
        "timestamp": file.created,
        "name": file.name,
        "title": file.title,
        "mimetype": file.mimetype if ready else "",
        "filetype": file.filetype if ready else "",
        "pretty_type": file.filetype.title(),
        "user": file.user,
        "user_team": workspace.team_id,
        "editable": file.mode == "snippet",
        "size": file.length if ready else 0,
        "mode": file.mode,
        "is_external": False,
        "external_type": "",
        "is_public": any(workspace.directory.channel(one.channel).kind == "channel" for one in file.shares),
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "permalink": f"{workspace.origin}/files/{file.user}/{file.id}/{file.name}",
        "file_access": "visible",
        "has_rich_preview": False,
    }
    if ready:
        shape["url_private"] = f"{workspace.origin}/files-pri/{place}/{file.name}"
        shape["url_private_download"] = f"{workspace.origin}/files-pri/{place}/download/{file.name}"
    return shape


def shares_json(workspace: Workspace, file: File) -> Json:
    """Where a file was posted, the part of files.info that messages leave out."""
    shares: dict[str, dict[str, list[Json]]] = {}
    where: dict[str, list[str]] = {"channels": [], "groups": [], "ims": []}
    for share in file.shares:
        kind = workspace.directory.channel(share.channel).kind
        where[{"channel": "channels", "im": "ims"}.get(kind, "groups")].append(share.channel)
        entry: Json = {"ts": share.ts, "reply_count": 0, "team_id": workspace.team_id}
        if share.thread_ts:
            entry["thread_ts"] = share.thread_ts
        side = "public" if kind == "channel" else "private"
        shares.setdefault(side, {}).setdefault(share.channel, []).append(entry)
    return {**where, "shares": shares}


def message_json(workspace: Workspace, message: Message, *, metadata: bool = False, threads: bool = True) -> Json:
    """A message; with `threads` the root carries its reply counts, with `metadata` the app's own note."""
    shape: Json = {"type": "message", "ts": message.ts, "text": message.text, "team": workspace.team_id}
    for name in ("user", "bot_id", "app_id", "username", "subtype", "thread_ts", "client_msg_id"):
        value = getattr(message, name)
        if value is not None:
            shape[name] = value
    for name in ("blocks", "attachments"):
        if getattr(message, name):
            shape[name] = list(getattr(message, name))
    if message.app_id and message.bot_id:
        shape["bot_profile"] = bot_json(workspace, workspace.directory.bot(message.bot_id))
    if message.files:
        shape["files"] = [file_json(workspace, one) for one in workspace.files_of(message)]
        shape["upload"] = False
    if message.edited:
        shape["edited"] = {"user": message.edited.user, "ts": message.edited.ts}
    if message.reactions:
        shape["reactions"] = [
            {"name": one.name, "users": list(one.users), "count": len(one.users)} for one in message.reactions
        ]
    if message.is_reply:
        parents = [one for one in workspace.log.visible(message.channel) if one.ts == message.thread_ts]
        shape["parent_user_id"] = parents[0].user if parents else "USLACKBOT"
    elif threads:
        shape |= _thread_json(workspace, message)
    if metadata and message.metadata is not None:
        shape["metadata"] = message.metadata
    return shape


def _thread_json(workspace: Workspace, message: Message) -> Json:
    replies = workspace.log.replies(message)
    if not replies:
        return {}
    users = list(dict.fromkeys(one.user for one in replies if one.user))
    return {
        "thread_ts": message.ts,
        "reply_count": len(replies),
        "reply_users_count": len(users),
        "reply_users": users,
        "latest_reply": replies[-1].ts,
        "is_locked": False,
        "subscribed": workspace.bot.user_id in users,
    }


def bot_json(workspace: Workspace, user: User) -> Json:
    """A bot_profile, as in messages and from bots.info."""
    return {
        "id": user.bot_id,
        "deleted": False,
        "name": user.real_name,
        "updated": workspace.created,
        "app_id": workspace.bot.app_id,
        "user_id": user.id,
        "icons": {},
        "team_id": workspace.team_id,
    }


def view_json(workspace: Workspace, view: View) -> Json:
    """docs.slack.dev/reference/objects/view-object, with the state of its inputs."""
    bot = workspace.bot
    return {
        "id": view.id,
        "team_id": workspace.team_id,
        "app_id": bot.app_id,
        "app_installed_team_id": workspace.team_id,
        "bot_id": bot.bot_id,
        **view.body,
        "state": {"values": state_values(view.blocks, view.values)},
        "hash": view.hash,
        "root_view_id": view.root_id,
        "previous_view_id": view.previous_id,
    }


def permalink(workspace: Workspace, message: Message) -> str:
    """The address of a message on the workspace's page."""
    place = f"{workspace.origin}/archives/{message.channel}/p{message.ts.replace('.', '')}"
    return f"{place}?thread_ts={message.thread_ts}&cid={message.channel}" if message.is_reply else place


def who(workspace: Workspace, user_id: str) -> dict[str, Any]:
    """The user of an interaction payload."""
    user = workspace.directory.user(user_id)
    return {"id": user.id, "username": user.name, "name": user.name, "team_id": workspace.team_id}
