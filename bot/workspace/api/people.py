"""users.* and usergroups.*."""

from __future__ import annotations

from bot.workspace.api.call import Call, Method
from bot.workspace.errors import SlackError
from bot.workspace.model import Json, UserGroup
from bot.workspace.rates import TIER_2, TIER_4
from bot.workspace.shapes import user_json


def _info(call: Call) -> Json:
    user = call.user()
    return {"user": user_json(call.workspace, user, locale=call.flag("include_locale"))}


def _list(call: Call) -> Json:
    locale = call.flag("include_locale")
    users = [user_json(call.workspace, user, locale=locale) for user in call.workspace.directory.users]
    page, cursor = call.page(users, 200, 1000)
    return {"members": page, "cache_ts": int(call.workspace.clock.now()), "response_metadata": {"next_cursor": cursor}}


def _group_users(call: Call) -> Json:
    group = call.workspace.directory.group(call.text("usergroup"))
    if group.id != call.text("usergroup"):
        raise SlackError("no_such_subteam")
    return {"users": list(group.members)}


def _groups(call: Call) -> Json:
    groups = call.workspace.directory.groups
    return {"usergroups": [_group_json(call, group) for group in groups]}


def _group_json(call: Call, group: UserGroup) -> Json:
    shape: Json = {
        "id": group.id,
        "team_id": call.workspace.team_id,
        "is_usergroup": True,
        "name": group.name,
        "handle": group.handle,
        "description": "",
        "date_create": call.workspace.created,
        "date_delete": 0,
        "user_count": len(group.members),
    }
    return shape | ({"users": list(group.members)} if call.flag("include_users") else {})


METHODS = (
    Method("users.info", _info, TIER_4, ("users:read",)),
    Method("users.list", _list, TIER_2, ("users:read",)),
    Method("usergroups.list", _groups, TIER_2, ("usergroups:read",)),
    Method("usergroups.users.list", _group_users, TIER_2, ("usergroups:read",)),
)
