"""Posting, editing, deleting, reacting: the same for people, for the app and for other bots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.workspace import events
from bot.workspace.errors import SlackError
from bot.workspace.model import Message, Reaction, Share

if TYPE_CHECKING:
    from bot.workspace.workspace import Workspace


def post(workspace: Workspace, draft: Message, *, broadcast: bool = False) -> Message:
    """Post `draft`, whose ts is given here. An ephemeral one causes no event. Raises SlackError."""
    with workspace.changing():
        if draft.thread_ts is not None:
            draft = _in_thread(workspace, draft)
        subtype = "thread_broadcast" if broadcast and draft.thread_ts else draft.subtype
        message = replace(draft, ts=workspace.ids.ts(workspace.clock.now()), subtype=subtype)
        workspace.log.put(message)
        for file_id in message.files:
            workspace.files.share(file_id, Share(message.channel, message.ts, message.thread_ts))
        if message.visible_to is None:
            events.posted(workspace, message)
        return message


def edit(workspace: Workspace, message: Message) -> Message:
    """Store the changed `message` in place of the one with its ts. Raises SlackError message_not_found."""
    with workspace.changing():
        workspace.log.get(message.channel, message.ts)
        before = workspace.log.put(message)
        if before is not None and message.visible_to is None and before != message:
            events.changed(workspace, message, before)
        return message


def delete(workspace: Workspace, message: Message) -> None:
    """Remove a message; one with replies leaves a tombstone, as in Slack."""
    with workspace.changing():
        if workspace.log.replies(message):
            tombstone = Message(
                message.channel,
                message.ts,
                "This message was deleted.",
                user="USLACKBOT",
                subtype="tombstone",
                thread_ts=message.ts,
            )
            workspace.log.put(tombstone)
            events.changed(workspace, tombstone, message)
            return
        workspace.log.remove(message.channel, message.ts)
        if message.visible_to is None:
            events.deleted(workspace, message)


def react(workspace: Workspace, message: Message, user: str, name: str) -> Message:
    """Add an emoji. Raises SlackError already_reacted."""
    with workspace.changing():
        users = _reactions(message).get(name, ())
        if user in users:
            raise SlackError("already_reacted")
        changed = _with_reactions(workspace, message, {**_reactions(message), name: (*users, user)})
        events.reacted(workspace, message, user, name, removed=False)
        return changed


def unreact(workspace: Workspace, message: Message, user: str, name: str) -> Message:
    """Take an emoji back. Raises SlackError no_reaction."""
    with workspace.changing():
        users = _reactions(message).get(name, ())
        if user not in users:
            raise SlackError("no_reaction")
        left = {**_reactions(message), name: tuple(one for one in users if one != user)}
        changed = _with_reactions(workspace, message, left)
        events.reacted(workspace, message, user, name, removed=True)
        return changed


def join(workspace: Workspace, channel_id: str, users: Iterable[str]) -> None:
    """Add members to a channel; Slack says so in the channel."""
    with workspace.changing():
        for user in users:
            channel = workspace.directory.channel(channel_id)
            if user in channel.members:
                continue
            channel = replace(channel, members=channel.members | {user})
            workspace.directory.replace_channel(channel)
            text = f"<@{user}> has joined the channel"
            post(workspace, Message(channel.id, "", text, user=user, subtype="channel_join"))
            joined = {
                "type": "member_joined_channel",
                "user": user,
                "channel": channel.id,
                "channel_type": "C" if channel.kind == "channel" else "G",
                "team": workspace.team_id,
                "event_ts": workspace.ids.ts(workspace.clock.now()),
            }
            events.emit(workspace, "member_joined_channel", joined, channel)


def leave(workspace: Workspace, channel_id: str, user: str) -> None:
    """Take a member out of a channel."""
    with workspace.changing():
        channel = workspace.directory.channel(channel_id)
        workspace.directory.replace_channel(replace(channel, members=channel.members - {user}))


def archive(workspace: Workspace, channel_id: str) -> None:
    """Archive a channel: nothing can be posted there any more."""
    with workspace.changing():
        channel = workspace.directory.channel(channel_id)
        archived = {
            "type": "channel_archive",
            "channel": channel.id,
            "user": channel.creator,
            "event_ts": workspace.ids.ts(workspace.clock.now()),
        }
        events.emit(workspace, "channel_archive", archived, channel)
        workspace.directory.replace_channel(replace(channel, archived=True))


def _in_thread(workspace: Workspace, draft: Message) -> Message:
    """The name of the first error is a guess: Slack documents none for a thread that is not there [unverified]."""
    try:
        root = workspace.log.get(draft.channel, draft.thread_ts or "")
    except SlackError:
        raise SlackError("thread_not_found") from None
    if root.is_reply or (root.visible_to is not None and draft.visible_to is None):
        raise SlackError("cannot_reply_to_message")
    return draft


def _reactions(message: Message) -> dict[str, tuple[str, ...]]:
    return {one.name: one.users for one in message.reactions}


def _with_reactions(workspace: Workspace, message: Message, users: dict[str, tuple[str, ...]]) -> Message:
    reactions = tuple(Reaction(name, given) for name, given in users.items() if given)
    changed = replace(workspace.log.get(message.channel, message.ts), reactions=reactions)
    workspace.log.put(changed)
    return changed
