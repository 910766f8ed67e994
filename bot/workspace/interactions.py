"""What people do with buttons, forms, shortcuts and commands: the payload the app gets, and what its answer changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.workspace import posting
from bot.workspace.deliveries import Delivery
from bot.workspace.errors import PersonError, SlackError
from bot.workspace.inputs import state_values
from bot.workspace.model import Channel, Json, Message, View
from bot.workspace.normalize import normalize_blocks, normalize_text
from bot.workspace.shapes import message_json, view_json, who
from bot.workspace.validation import check_content

if TYPE_CHECKING:
    from bot.workspace.workspace import Workspace

TROUBLE = "We had some trouble connecting. Try again?"
_CHANNEL_NAMES = {"im": "directmessage", "group": "privategroup", "mpim": "mpdm"}


def act(workspace: Workspace, user: str, surface: Message | View, block: Json, element: Json, did: Json) -> Delivery:
    """Press, tick or choose. `did` is what the action adds to the element's own fields."""
    action: Json = {"type": element["type"], "action_id": element["action_id"], "block_id": block["block_id"], **did}
    for name in ("text", "value", "style", "placeholder"):
        if name in element and name not in action:
            action[name] = element[name]
    action["action_ts"] = workspace.ids.ts(workspace.clock.now())
    payload = _interaction(workspace, "block_actions", user) | {"actions": [action]}
    if isinstance(surface, View):
        payload |= {
            "container": {"type": "view", "view_id": surface.id},
            "view": view_json(workspace, surface),
        }
    else:
        payload |= _on_message(workspace, user, surface)
    return workspace.dispatcher.submit("interactive", payload)


def submit(workspace: Workspace, view: View) -> Delivery:
    """Submit a modal; the ack may close it, keep it with errors, or show another."""
    payload = _interaction(workspace, "view_submission", view.user)
    payload |= {"view": view_json(workspace, view), "response_urls": []}
    workspace.views.errors.pop(view.id, None)
    return workspace.dispatcher.submit("interactive", payload, lambda delivery: _submitted(workspace, view, delivery))


def dismiss(workspace: Workspace, user: str, *, everything: bool = False) -> Delivery | None:
    """Close the top modal, or all; the app hears of it when the view asked to."""
    with workspace.changing():
        closed = workspace.views.close(user, everything=everything)
    told = [view for view in closed if view.body["notify_on_close"]]
    delivery = None
    for view in told:
        payload = _interaction(workspace, "view_closed", user)
        del payload["trigger_id"]
        payload |= {"view": view_json(workspace, view), "is_cleared": everything}
        delivery = workspace.dispatcher.submit("interactive", payload)
    return delivery


def shortcut(workspace: Workspace, user: str, callback_id: str, message: Message | None = None) -> Delivery:
    """A global shortcut, or one on `message`. Raises PersonError when the manifest has none of this name."""
    kind = "global" if message is None else "message"
    known = [one for one in workspace.manifest.shortcuts if callback_id in (one.callback_id, one.name)]
    if not any(one.kind == kind for one in known):
        raise PersonError(f"the app has no {kind} shortcut {callback_id!r}")
    payload = _interaction(workspace, "shortcut" if message is None else "message_action", user)
    payload |= {"callback_id": known[0].callback_id, "action_ts": workspace.ids.ts(workspace.clock.now())}
    if message is not None:
        payload |= {
            "channel": _channel(workspace, workspace.channel(message.channel)),
            "message": message_json(workspace, message),
            "message_ts": message.ts,
            "response_url": _response_url(workspace, message.channel, user),
        }
    return workspace.dispatcher.submit("interactive", payload)


def command(workspace: Workspace, user: str, channel: Channel, name: str, text: str) -> Delivery:
    """A slash command. Raises PersonError when the manifest does not have it."""
    if name not in [one.name for one in workspace.manifest.commands]:
        raise PersonError(f"{name} is not a valid command. In Slack, all messages that start with / are commands.")
    someone = workspace.directory.user(user)
    payload = {
        "token": workspace.bot.verification_token,
        "team_id": workspace.team_id,
        "team_domain": workspace.team_domain,
        "channel_id": channel.id,
        "channel_name": _CHANNEL_NAMES.get(channel.kind, channel.name),
        "user_id": user,
        "user_name": someone.name,
        "command": name,
        "text": text,
        "api_app_id": workspace.bot.app_id,
        "is_enterprise_install": "false",
        "response_url": _response_url(workspace, channel.id, user),
        "trigger_id": workspace.tickets.trigger(user),
    }
    return workspace.dispatcher.submit(
        "slash_commands", payload, lambda delivery: _commanded(workspace, user, channel, name, delivery)
    )


def respond(workspace: Workspace, key: str, body: Json) -> None:
    """An app posts to a response_url. Raises SlackError."""
    with workspace.changing():
        target = workspace.tickets.respond(key)
        origin = None
        if target.ts is not None and (body.get("delete_original") or body.get("replace_original")):
            origin = workspace.log.get(target.channel, target.ts)
        if origin is not None and body.get("delete_original"):
            posting.delete(workspace, origin)
            return
        answer(workspace, target.user, target.channel, body, origin)


def answer(workspace: Workspace, user: str, channel: str, body: Json, replacing: Message | None = None) -> Message:
    """Post what an app answers to an interaction or command: only to `user` unless it says "in_channel"."""
    text, blocks, attachments = str(body.get("text") or ""), body.get("blocks"), body.get("attachments")
    check_content(text, blocks, attachments)
    in_channel = body.get("response_type") == "in_channel"
    if replacing is not None:
        in_channel = replacing.visible_to is None
    message = Message(
        channel,
        replacing.ts if replacing else "",
        normalize_text(text),
        user=workspace.bot.user_id,
        bot_id=workspace.bot.bot_id,
        app_id=workspace.bot.app_id,
        thread_ts=replacing.thread_ts if replacing else body.get("thread_ts"),
        blocks=tuple(normalize_blocks(workspace.ids, blocks or [])),
        attachments=tuple(attachments or ()),
        metadata=body.get("metadata") or (replacing.metadata if replacing else None),
        visible_to=None if in_channel else user,
    )
    return posting.edit(workspace, message) if replacing else posting.post(workspace, message)


def _interaction(workspace: Workspace, kind: str, user: str) -> Json:
    return {
        "type": kind,
        "user": who(workspace, user),
        "api_app_id": workspace.bot.app_id,
        "token": workspace.bot.verification_token,
        "trigger_id": workspace.tickets.trigger(user),
        "team": {"id": workspace.team_id, "domain": workspace.team_domain},
        "enterprise": None,
        "is_enterprise_install": False,
    }


def _on_message(workspace: Workspace, user: str, message: Message) -> Json:
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel,
        "is_ephemeral": message.visible_to is not None,
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    fields: Json = {
        "container": container,
        "channel": _channel(workspace, workspace.channel(message.channel)),
        "state": {"values": state_values(message.blocks, workspace.log.values(message, user))},
        "response_url": _response_url(workspace, message.channel, user, message.ts),
    }
    if message.visible_to is None:
        fields["message"] = message_json(workspace, message)
    return fields


def _channel(workspace: Workspace, channel: Channel) -> Json:
    return {"id": channel.id, "name": _CHANNEL_NAMES.get(channel.kind, channel.name)}


def _response_url(workspace: Workspace, channel: str, user: str, ts: str | None = None) -> str:
    return f"{workspace.origin}/response/{workspace.tickets.response(channel, user, ts)}"


def _submitted(workspace: Workspace, view: View, delivery: Delivery) -> None:
    """Do what the ack of a view_submission asks for; what Slack cannot follow, the person sees as trouble."""
    views = workspace.views
    with workspace.changing():
        try:
            if not delivery.acked:
                views.errors[view.id] = {"": TROUBLE}
                return
            response: dict[str, Any] = delivery.response or {}
            action = response.get("response_action")
            if action is None:
                views.close(view.user)
            elif action == "clear":
                views.close(view.user, everything=True)
            elif action == "errors":
                errors = response.get("errors") or {}
                inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
                unknown = not errors or errors.keys() - inputs
                views.errors[view.id] = {"": TROUBLE} if unknown else dict(errors)
            elif action == "update":
                views.update(response["view"], view_id=view.id, external_id=None, hash_=None)
            elif action == "push":
                views.push(view.user, response["view"])
            else:
                views.errors[view.id] = {"": TROUBLE}
        except (SlackError, KeyError):
            views.errors[view.id] = {"": TROUBLE}


def _commanded(workspace: Workspace, user: str, channel: Channel, name: str, delivery: Delivery) -> None:
    reasons = {"timed_out": "operation_timeout", "not_connected": "dispatch_failed"}
    with workspace.changing():
        if not delivery.acked:
            reason = reasons.get(delivery.outcome, "dispatch_failed")
            text = f'{name} failed with the error "{reason}"'
            posting.post(workspace, Message(channel.id, "", text, user="USLACKBOT", visible_to=user))
        elif delivery.response:
            try:
                answer(workspace, user, channel.id, delivery.response)
            except SlackError as error:
                text = f'{name} failed with the error "{error.code}"'
                posting.post(workspace, Message(channel.id, "", text, user="USLACKBOT", visible_to=user))
