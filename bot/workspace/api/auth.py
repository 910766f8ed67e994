"""api.test, auth.*, apps.connections.open, team.info, bots.info."""

from __future__ import annotations

from bot.workspace.api.call import Call, Method
from bot.workspace.errors import SlackError
from bot.workspace.model import Json
from bot.workspace.rates import SPECIAL, TIER_1, TIER_3
from bot.workspace.shapes import bot_json


def _api_test(call: Call) -> Json:
    if call.optional("error"):
        raise SlackError(call.text("error"), args=dict(call.arguments))
    return {"args": dict(call.arguments)}


def _auth_test(call: Call) -> Json:
    workspace, bot = call.workspace, call.workspace.bot
    return {
        "url": f"{workspace.origin}/",
        "team": "K3 local workspace",
        "user": workspace.directory.user(bot.user_id).name,
        "team_id": workspace.team_id,
        "user_id": bot.user_id,
        "bot_id": bot.bot_id,
        "is_enterprise_install": False,
    }


def _auth_revoke(call: Call) -> Json:
    if not call.flag("test"):
        call.workspace.revoke_token()
    return {"revoked": not call.flag("test")}


def _connections_open(call: Call) -> Json:
    host = call.workspace.origin.removeprefix("http://")
    ticket = call.workspace.ids.uuid("ticket")
    return {"url": f"ws://{host}/link/?ticket={ticket}&app_id={call.workspace.bot.app_id}"}


def _team_info(call: Call) -> Json:
    workspace = call.workspace
    team = {
        "id": workspace.team_id,
        "name": "K3 local workspace",
        "url": f"{workspace.origin}/",
        "domain": workspace.team_domain,
        "email_domain": "",
        "icon": {},
    }
    return {"team": team}


def _bots_info(call: Call) -> Json:
    return {"bot": bot_json(call.workspace, call.workspace.directory.bot(call.text("bot")))}


METHODS = (
    Method("api.test", _api_test, SPECIAL, caller="anyone"),
    Method("auth.test", _auth_test, SPECIAL),
    Method("auth.revoke", _auth_revoke, TIER_3),
    Method("apps.connections.open", _connections_open, TIER_1, caller="app"),
    Method("team.info", _team_info, TIER_3, ("team:read",)),
    Method("bots.info", _bots_info, TIER_3, ("users:read",)),
)
