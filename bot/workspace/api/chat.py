"""chat.*: posting, updating, deleting, ephemeral messages, permalinks."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from bot.workspace import composer, limits, posting
from bot.workspace.api.call import Call, Method
from bot.workspace.errors import SlackError
from bot.workspace.model import Channel, Edit, Json, Message
from bot.workspace.normalize import normalize_blocks, normalize_text
from bot.workspace.rates import POSTING, SPECIAL, TIER_3, TIER_4
from bot.workspace.shapes import message_json, permalink
from bot.workspace.validation import check_content, check_metadata

_TS = re.compile(r"\d{10}\.\d{6}")


def _destination(call: Call) -> Channel:
    """A channel, or a user id for the direct message with that person."""
    workspace, bot = call.workspace, call.workspace.bot.user_id
    target = call.text("channel", "")
    if not target:
        raise SlackError("channel_not_found")
    if target.startswith(("U", "W")):
        return workspace.directory.direct(call.user_of(target).id, bot)
    channel = call.channel(by_name=True)
    if channel.archived:
        raise SlackError("is_archived")
    if bot not in channel.members and "chat:write.public" not in workspace.scopes:
        raise SlackError("not_in_channel")
    return channel


def _draft(call: Call, channel: Channel) -> Message:
    workspace, bot = call.workspace, call.workspace.bot
    text, blocks, attachments = _content(call)
    check_content(text, blocks, attachments)
    thread_ts = call.optional("thread_ts")
    if thread_ts is not None and not _TS.fullmatch(thread_ts):
        raise SlackError("invalid_thread_ts")
    metadata = call.json("metadata", "invalid_metadata_format")
    return Message(
        channel.id,
        "",
        normalize_text(text),
        user=bot.user_id,
        bot_id=bot.bot_id,
        app_id=bot.app_id,
        thread_ts=thread_ts,
        blocks=tuple(normalize_blocks(workspace.ids, blocks or [])),
        attachments=tuple(attachments or ()),
        metadata=check_metadata(metadata) if metadata is not None else None,
    )


def _content(call: Call) -> tuple[str, Any, Any]:
    text = call.text("text", "")
    blocks = call.json("blocks", "invalid_blocks_format")
    if call.optional("markdown_text") is not None:
        if text or blocks:
            raise SlackError("markdown_text_conflict")
        text, blocks = "", [{"type": "markdown", "text": call.text("markdown_text")}]
    return text, blocks, call.json("attachments")


def _post_message(call: Call) -> Json:
    channel = _destination(call)
    draft = _draft(call, channel)
    parts = [draft.text] if draft.blocks or draft.attachments else composer.split(draft.text) or [draft.text]
    posted = [
        posting.post(call.workspace, replace(draft, text=part), broadcast=call.flag("reply_broadcast"))
        for part in parts  # a text over 4,000 characters becomes several messages
    ]
    shape = message_json(call.workspace, posted[0], metadata=True)
    return {"channel": channel.id, "ts": posted[0].ts, "message": shape}


def _post_ephemeral(call: Call) -> Json:
    channel = _destination(call)
    try:
        user = call.user()
    except SlackError:
        raise SlackError("user_not_in_channel") from None
    if user.id not in channel.members:
        raise SlackError("user_not_in_channel")
    posted = posting.post(call.workspace, replace(_draft(call, channel), visible_to=user.id))
    return {"message_ts": posted.ts}


def _own(call: Call, refusal: str) -> Message:
    channel = call.channel()
    message = call.workspace.log.get(channel.id, call.text("ts", ""))
    if message.visible_to is not None:
        raise SlackError("message_not_found")
    if channel.archived:
        raise SlackError("is_archived")
    if message.app_id != call.workspace.bot.app_id:
        raise SlackError(refusal)
    return message


def _update(call: Call) -> Json:
    """Fields that are not given stay, except that a new text alone removes the blocks."""
    message = _own(call, "cant_update_message")
    text, blocks, attachments = _content(call)
    metadata = call.json("metadata", "invalid_metadata_format")
    if "text" in call.arguments or blocks is not None or attachments is not None:
        check_content(text, blocks, attachments, text_max=limits.UPDATE_TEXT_MAX)
    elif metadata is None:
        raise SlackError("no_text")
    else:
        text, blocks, attachments = message.text, list(message.blocks), list(message.attachments)
    changed = replace(
        message,
        text=normalize_text(text),
        blocks=tuple(normalize_blocks(call.workspace.ids, blocks or [])),
        attachments=tuple(attachments) if attachments is not None else message.attachments,
        metadata=check_metadata(metadata) if metadata is not None else message.metadata,
        edited=Edit(call.workspace.bot.user_id, call.workspace.ids.ts(call.workspace.clock.now())),
    )
    posting.edit(call.workspace, changed)
    shape = message_json(call.workspace, changed, metadata=True)
    return {"channel": changed.channel, "ts": changed.ts, "text": changed.text, "message": shape}


def _delete(call: Call) -> Json:
    message = _own(call, "cant_delete_message")
    posting.delete(call.workspace, message)
    return {"channel": message.channel, "ts": message.ts}


def _get_permalink(call: Call) -> Json:
    channel = call.channel()
    message = call.workspace.log.get(channel.id, call.text("message_ts"))
    return {"channel": channel.id, "permalink": permalink(call.workspace, message)}


METHODS = (
    Method("chat.postMessage", _post_message, POSTING, ("chat:write",)),
    Method("chat.postEphemeral", _post_ephemeral, TIER_4, ("chat:write",)),
    Method("chat.update", _update, TIER_3, ("chat:write",)),
    Method("chat.delete", _delete, TIER_3, ("chat:write",)),
    Method("chat.getPermalink", _get_permalink, SPECIAL),
)
