"""reactions.*"""

from __future__ import annotations

import re

from bot.workspace import posting
from bot.workspace.api.call import Call, Method
from bot.workspace.errors import SlackError
from bot.workspace.model import Json, Message
from bot.workspace.rates import TIER_2, TIER_3
from bot.workspace.shapes import message_json

_NAME = re.compile(r"[a-z0-9_+'-]{1,100}(?:::skin-tone-[2-6])?")


def _message(call: Call) -> Message:
    channel = call.member_channel()
    message = call.workspace.log.get(channel.id, call.text("timestamp", ""))
    if message.visible_to is not None:
        raise SlackError("message_not_found")
    if channel.archived:
        raise SlackError("is_archived")
    return message


def _name(call: Call) -> str:
    name = call.text("name", "")
    if not _NAME.fullmatch(name):
        raise SlackError("invalid_name")
    return name


def _add(call: Call) -> Json:
    posting.react(call.workspace, _message(call), call.workspace.bot.user_id, _name(call))
    return {}


def _remove(call: Call) -> Json:
    posting.unreact(call.workspace, _message(call), call.workspace.bot.user_id, _name(call))
    return {}


def _get(call: Call) -> Json:
    message = _message(call)
    return {"type": "message", "channel": message.channel, "message": message_json(call.workspace, message)}


METHODS = (
    Method("reactions.add", _add, TIER_3, ("reactions:write",)),
    Method("reactions.remove", _remove, TIER_2, ("reactions:write",)),
    Method("reactions.get", _get, TIER_3, ("reactions:read",)),
)
