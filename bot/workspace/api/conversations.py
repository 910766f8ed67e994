"""conversations.*: looking into channels and their history."""

from __future__ import annotations

from bot.workspace import posting
from bot.workspace.api.call import HISTORY, READ, Call, Method
from bot.workspace.errors import SlackError
from bot.workspace.model import Channel, Json, Message
from bot.workspace.rates import TIER_2, TIER_3, TIER_4
from bot.workspace.shapes import channel_json, message_json

_TYPES = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}
_OPEN = {"im": "im:write", "mpim": "mpim:write"}


def _info(call: Call) -> Json:
    channel = call.channel(READ)
    shape = channel_json(call.workspace, channel)
    if not call.flag("include_num_members"):
        shape.pop("num_members", None)
    if call.flag("include_locale"):
        shape["locale"] = "en-US"
    return {"channel": shape}


def _list(call: Call) -> Json:
    """Public channels, and whatever else the bot is in, of the types asked for."""
    types = call.text("types", "public_channel").split(",")
    if not set(types) <= _TYPES.keys():
        raise SlackError("invalid_types")
    kinds = [_TYPES[one] for one in types]
    for kind in kinds:
        call.needs(READ[kind])
    bot = call.workspace.bot.user_id
    found = [
        channel_json(call.workspace, one)
        for one in call.workspace.directory.channels
        if one.kind in kinds and (one.kind == "channel" or bot in one.members)
        if not (one.archived and call.flag("exclude_archived"))
    ]
    page, cursor = call.page(found, 100, 1000)
    return {"channels": page, "response_metadata": {"next_cursor": cursor}}


def _members(call: Call) -> Json:
    channel = call.channel(READ)
    page, cursor = call.page(sorted(channel.members), 100, 1000)
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


def _in_range(call: Call, messages: list[Message]) -> list[Message]:
    oldest, latest = call.text("oldest", "0"), call.text("latest", "")
    try:
        low, high = float(oldest), float(latest or "inf")
    except ValueError:
        raise SlackError("invalid_ts_oldest" if latest else "invalid_ts_latest") from None
    inclusive = call.flag("inclusive")
    return [one for one in messages if low < float(one.ts) < high or (inclusive and float(one.ts) in (low, high))]


def _shapes(call: Call, messages: list[Message]) -> list[Json]:
    metadata = call.flag("include_all_metadata")
    return [message_json(call.workspace, one, metadata=metadata) for one in messages]


def _history(call: Call) -> Json:
    """Newest first, without replies."""
    channel = call.member_channel(HISTORY)
    found = _in_range(call, call.workspace.log.timeline(channel.id))[::-1]
    page, cursor = call.page(found, 100, 999)
    answer: Json = {"messages": _shapes(call, page), "has_more": bool(cursor), "pin_count": 0}
    return answer | ({"response_metadata": {"next_cursor": cursor}} if cursor else {})


def _replies(call: Call) -> Json:
    """The root, then its replies, oldest first; of a reply's own ts only that reply."""
    channel = call.member_channel(HISTORY)
    root, *rest = call.workspace.log.thread(channel.id, call.text("ts"))
    page, cursor = call.page([root, *_in_range(call, rest)], 1000, 1000)
    answer: Json = {"messages": _shapes(call, page), "has_more": bool(cursor)}
    return answer | ({"response_metadata": {"next_cursor": cursor}} if cursor else {})


def _open(call: Call) -> Json:
    users = [one for one in call.text("users", "").split(",") if one]
    bot = call.workspace.bot.user_id
    if call.optional("channel") is not None:
        channel = call.channel()
        call.needs(_OPEN.get(channel.kind, "im:write"))
    elif not users:
        raise SlackError("users_list_not_supplied")
    else:
        call.needs("im:write" if len(users) == 1 else "mpim:write")
        members = {call.user_of(one).id for one in users} | {bot}
        with call.workspace.changing():
            channel = call.workspace.directory.direct(*members)
    shape = channel_json(call.workspace, channel) if call.flag("return_im") else {"id": channel.id}
    return {"no_op": False, "already_open": False, "channel": shape}


def _join(call: Call) -> Json:
    channel: Channel = call.channel()
    if channel.kind != "channel":
        raise SlackError("method_not_supported_for_channel_type")
    if channel.archived:
        raise SlackError("is_archived")
    already = call.workspace.bot.user_id in channel.members
    posting.join(call.workspace, channel.id, [call.workspace.bot.user_id])
    shape = channel_json(call.workspace, call.workspace.channel(channel.id))
    return {"channel": shape} | ({"warning": "already_in_channel"} if already else {})


METHODS = (
    Method("conversations.info", _info, TIER_3),
    Method("conversations.list", _list, TIER_2),
    Method("conversations.members", _members, TIER_4),
    Method("conversations.history", _history, TIER_3),
    Method("conversations.replies", _replies, TIER_3),
    Method("conversations.open", _open, TIER_3),
    Method("conversations.join", _join, TIER_3, ("channels:join",)),
)
