"""files.*: the upload in three steps, and looking at files."""

from __future__ import annotations

from typing import Any

from bot.workspace import posting
from bot.workspace.api.call import Call, Method
from bot.workspace.errors import SlackError
from bot.workspace.model import File, Json, Message
from bot.workspace.normalize import normalize_blocks, normalize_text
from bot.workspace.rates import TIER_2, TIER_3, TIER_4
from bot.workspace.shapes import file_json, shares_json
from bot.workspace.validation import check_blocks
from bot.workspace.workspace import Workspace


def can_see(workspace: Workspace, file: File) -> bool:
    """Whether the bot may look at a file: its own, one posted where the bot is, or put into a form of the app."""
    bot = workspace.bot.user_id
    return (
        file.user == bot
        or workspace.files.is_given(file.id)
        or any(bot in workspace.channel(share.channel).members for share in file.shares)
    )


def _get_upload_url(call: Call) -> Json:
    try:
        length = int(call.text("length"))
    except ValueError:
        raise SlackError("invalid_arguments", ["must provide an integer [json-pointer:/length]"]) from None
    file, key = call.workspace.files.announce(
        call.workspace.bot.user_id, call.text("filename"), length, snippet_type=call.optional("snippet_type")
    )
    return {"upload_url": f"{call.workspace.origin}/upload/v1/{key}", "file_id": file.id}


def _complete_upload(call: Call) -> Json:
    """Give the uploaded files their titles and, when a channel is named, post them in one message."""
    wanted = call.json("files")
    if not isinstance(wanted, list) or not wanted or not all(isinstance(one, dict) and "id" in one for one in wanted):
        raise SlackError("invalid_arguments", ["missing required field: files"])
    workspace = call.workspace
    files = [workspace.files.complete(str(one["id"]), one.get("title")) for one in wanted]
    for channel_id in _channels(call):
        _share(call, channel_id, [file.id for file in files])
    return {"files": [_file(workspace, workspace.files.get(file.id)) for file in files]}


def _channels(call: Call) -> list[str]:
    named = call.text("channel_id", "") or call.text("channels", "")
    return [one for one in named.split(",") if one]


def _share(call: Call, channel_id: str, files: list[str]) -> None:
    workspace, bot = call.workspace, call.workspace.bot
    channel = workspace.channel(channel_id)
    if channel.id != channel_id:
        raise SlackError("channel_not_found")
    if bot.user_id not in channel.members:
        raise SlackError("not_in_channel" if channel.kind == "channel" else "channel_not_found")
    if channel.archived:
        raise SlackError("is_archived")
    blocks: Any = call.json("blocks", "invalid_blocks_format") or []
    problems = check_blocks(blocks)
    if problems:
        raise SlackError("invalid_blocks", problems)
    message = Message(
        channel.id,
        "",
        normalize_text(call.text("initial_comment", "")),
        user=bot.user_id,
        bot_id=bot.bot_id,
        app_id=bot.app_id,
        subtype="file_share",
        thread_ts=call.optional("thread_ts"),
        blocks=tuple(normalize_blocks(workspace.ids, blocks)),
        files=tuple(files),
    )
    posting.post(workspace, message)


def _file(workspace: Workspace, file: File, *, ready: bool = True) -> Json:
    return file_json(workspace, file, ready=ready) | shares_json(workspace, file)


def _info(call: Call) -> Json:
    workspace = call.workspace
    file = workspace.files.get(call.text("file"))
    if file.content is None or not can_see(workspace, file):
        raise SlackError("file_not_found")
    ready = workspace.faults.take("files.info", "file_not_ready") is None
    paging = {"count": 100, "total": 0, "page": 1, "pages": 0}
    return {"file": _file(workspace, file, ready=ready), "comments": [], "paging": paging}


def _list(call: Call) -> Json:
    workspace, channel = call.workspace, call.optional("channel")
    count, page = call.number("count", 100, 1, 1000), call.number("page", 1, 1, 100)
    found = [
        file
        for file in reversed(workspace.files.all())
        if can_see(workspace, file) and (channel is None or channel in [share.channel for share in file.shares])
    ]
    shown = found[(page - 1) * count : page * count]
    paging = {"count": count, "total": len(found), "page": page, "pages": -(-len(found) // count)}
    return {"files": [_file(workspace, file) for file in shown], "paging": paging}


def _delete(call: Call) -> Json:
    file = call.workspace.files.get(call.text("file"))
    if file.user != call.workspace.bot.user_id:
        raise SlackError("cant_delete_file")
    with call.workspace.changing():
        call.workspace.files.remove(file.id)
    return {}


def _upload(call: Call) -> Json:
    raise SlackError("method_deprecated")  # ended 2025-11-12


METHODS = (
    Method("files.getUploadURLExternal", _get_upload_url, TIER_4, ("files:write",)),
    Method("files.completeUploadExternal", _complete_upload, TIER_4, ("files:write",)),
    Method("files.info", _info, TIER_4, ("files:read",)),
    Method("files.list", _list, TIER_3, ("files:read",)),
    Method("files.delete", _delete, TIER_3, ("files:write",)),
    Method("files.upload", _upload, TIER_2, ("files:write",)),
)
