"""views.*: modals and the Home tab."""

from __future__ import annotations

from bot.workspace.api.call import Call, Method
from bot.workspace.errors import SlackError
from bot.workspace.model import Json, View
from bot.workspace.rates import TIER_4
from bot.workspace.shapes import view_json
from bot.workspace.validation import check_view


def _answer(call: Call, view: View) -> Json:
    return {"view": view_json(call.workspace, view)}


def _user(call: Call, body: Json) -> str:
    """Who gets the modal. A view Slack refuses does not use the trigger up."""
    check_view(body, "modal")
    return call.workspace.tickets.redeem(call.text("trigger_id", "") or call.text("interactivity_pointer"))


def _open(call: Call) -> Json:
    body = call.json("view")
    with call.workspace.changing():
        return _answer(call, call.workspace.views.open(_user(call, body), body))


def _push(call: Call) -> Json:
    body = call.json("view")
    with call.workspace.changing():
        return _answer(call, call.workspace.views.push(_user(call, body), body))


def _update(call: Call) -> Json:
    view_id, external_id = call.optional("view_id"), call.optional("external_id")
    if view_id is None and external_id is None:
        raise SlackError("invalid_arguments", ["missing required field: view_id or external_id"])
    with call.workspace.changing():
        view = call.workspace.views.update(
            call.json("view"), view_id=view_id, external_id=external_id, hash_=call.optional("hash")
        )
        return _answer(call, view)


def _publish(call: Call) -> Json:
    if not call.workspace.manifest.home_tab:
        raise SlackError("not_enabled")
    user = call.user("user_id")
    with call.workspace.changing():
        return _answer(call, call.workspace.views.publish(user.id, call.json("view"), call.optional("hash")))


METHODS = (
    Method("views.open", _open, TIER_4),
    Method("views.push", _push, TIER_4),
    Method("views.update", _update, TIER_4),
    Method("views.publish", _publish, TIER_4),
)
