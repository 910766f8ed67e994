"""From Slack's payloads to rows of the inbox: what is for us, redacted, committed. Called before Slack is acknowledged.

Nothing here talks to Slack, and nothing takes longer than one short transaction.
"""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from bot.inbox import Inbox
from bot.service.access import Access
from bot.service.overtaken import Overtaken
from bot.service.parts import Json, Part, Redactors, is_evidence, part_of, redacted
from bot.store import ChannelStore, Database, IncidentStore
from bot.store.incidents import lane_of

log = logging.getLogger(__name__)

_MAY_GO_ON = 2_500
"""Characters from which a message may be the first part of a paste that Slack has split (at about 4,000)."""


_LATE = 5.0
"""Seconds after which a call may have been overtaken by replies that were taken for somebody else's talk."""
_SETTLING = ("evidence", "edited", "deleted")
"""Kinds of rows that wait for further parts of a paste: what changes a part is worked on with it."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The thread that evidence belongs to. `settle`: further parts of it may be on their way."""

    team: str
    channel: str
    root: str
    settle: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """The one way in. Every method commits what it is given, and returns False for what was there already."""

    database: Database
    inbox: Inbox
    incidents: IncidentStore
    heard: ChannelStore
    access: Access
    redactors: Redactors
    bot_user: str
    overtaken: Overtaken = field(default_factory=Overtaken)
    wake: Callable[[str], None] = lambda lane: None
    clock: Callable[[], float] = time.time
    settle_seconds: float = 2.0
    join_seconds: float = 5.0

    def event(self, body: Json) -> bool:
        """An event callback: `app_mention`, `message` of any subtype, `app_home_opened`, `tokens_revoked`, …"""
        event: Json = body.get("event") or {}
        team = str(body.get("team_id") or event.get("team") or "")
        kind = event.get("type")
        if not self.access.team(team):
            return False
        if kind in ("app_mention", "message"):
            self.heard.hear(str(event.get("channel", "")))
            event_id = str(body.get("event_id"))
            accepted = self._message(team, event_id, event)
            if accepted is None:
                self.overtaken.keep(event_id, body)
            return bool(accepted)
        if kind == "app_home_opened":
            payload = {"team": team, "user": event.get("user")}
            return self._accept(f"event:{body.get('event_id')}", "home", payload, f"home:{event.get('user')}")
        if kind in ("tokens_revoked", "app_uninstalled"):
            return self._accept(f"event:{body.get('event_id')}", "gone", {"why": kind}, "installation")
        return False

    def _message(self, team: str, event_id: str, event: Json) -> bool | None:
        """None for what belongs to a thread or a message that nobody knows, or not yet."""
        subtype = event.get("subtype")
        channel = str(event.get("channel", ""))
        if subtype == "message_changed":
            message: Json = event.get("message") or {}
            if message.get("subtype") == "tombstone":  # the root of a thread was deleted; its replies stay
                return self._deleted(event_id, channel, str(message.get("ts", "")))
            return self._edited(event_id, channel, event)
        if subtype == "message_deleted":
            return self._deleted(event_id, channel, str(event.get("deleted_ts", "")))
        if subtype not in (None, "file_share", "thread_broadcast"):
            return False
        if event.get("bot_id") or event.get("app_id") or not event.get("user") or event["user"] == self.bot_user:
            return False
        spoken = event.get("channel_type") == "im" or event.get("type") == "app_mention" or self._mentioned(event)
        return self._posted(team, channel, event, spoken=spoken)

    def _deleted(self, event_id: str, channel: str, ts: str) -> bool | None:
        return self._of_evidence(f"event:{event_id}", "deleted", channel, ts, lambda: {"ts": ts})

    def _mentioned(self, message: Json) -> bool:
        return re.search(rf"<@{re.escape(self.bot_user)}(?:\|[^>]*)?>", str(message.get("text", ""))) is not None

    def _posted(self, team: str, channel: str, message: Json, *, spoken: bool) -> bool | None:
        ts, author = str(message["ts"]), str(message["user"])
        thread = message.get("thread_ts")
        if not self.access.channel(channel):
            if spoken:
                payload = {"channel": channel, "user": author, "thread_ts": thread, "text": "service.not_here"}
                return self._accept(f"msg:{channel}:{ts}", "tell", payload, f"tell:{channel}")
            return False
        key = f"msg:{channel}:{ts}"  # a mention arrives as app_mention and as message: one key for both
        if not spoken and not self._may_concern(channel, author, message):
            return None if thread else False
        if self.inbox.known(key):
            return False
        part = part_of(message, self.redactors.of(channel), self.bot_user)
        with self.database.write(urgent=True) as connection:
            root = str(thread) if thread else self._root(connection, channel, author, ts)
            known = self.incidents.id_in(connection, channel, root)
            if not spoken and known is None:
                return None if thread else False
            if not spoken and thread and not is_evidence(part):
                return False
            payload = self._evidence(part, spoken=spoken, via="dm" if channel.startswith("D") else "mention")
            payload["reply"] = bool(thread and thread != ts)
            payload["late"] = not message.get("history") and self.clock() - float(ts) > _LATE
            if not thread:
                self.incidents.note_paste(connection, channel, author, root, float(ts))
            accepted = self._accept_evidence(connection, key, payload, _Place(team, channel, root, settle=True))
        return accepted

    def _may_concern(self, channel: str, author: str, message: Json) -> bool:
        """A quick look, without a write lock, at a message that does not mention us."""
        thread = message.get("thread_ts")
        with self.database.read() as connection:
            if thread:
                return self.incidents.id_in(connection, channel, str(thread)) is not None
            ts = float(message["ts"])
            return self.incidents.paste_root(connection, channel, author, ts, self.join_seconds) is not None

    def _root(self, connection: Connection, channel: str, author: str, ts: str) -> str:
        return self.incidents.paste_root(connection, channel, author, float(ts), self.join_seconds) or ts

    def _edited(self, event_id: str, channel: str, event: Json) -> bool | None:
        message: Json = event.get("message") or {}
        previous: Json = event.get("previous_message") or {}
        editor = (message.get("edited") or {}).get("user")
        same = all(message.get(key) == previous.get(key) for key in ("text", "blocks", "files"))
        if same or message.get("bot_id") or not editor or editor != message.get("user"):
            return False

        def payload() -> dict[str, Any]:
            part = part_of(message, self.redactors.of(channel), self.bot_user)
            return self._evidence(part, spoken=False, via="edit")

        return self._of_evidence(f"event:{event_id}", "edited", channel, str(message.get("ts", "")), payload)

    def _of_evidence(
        self, key: str, kind: str, channel: str, ts: str, payload: Callable[[], dict[str, Any]]
    ) -> bool | None:
        """About a message that gave evidence, or whose evidence is still in the inbox."""
        lane = self.inbox.lane_of(f"msg:{channel}:{ts}")
        owner = self.incidents.evidence_owner(channel, ts)
        if owner is None and lane is None:
            return None
        incident = self.incidents.get(owner[0]) if owner else None
        lane = incident.lane if incident else lane or lane_of(channel, ts)
        return self._accept(key, kind, {**payload(), "channel": channel}, lane, wait=True)

    def shortcut(self, body: Json) -> bool:
        """The message shortcut "Diagnose this message"."""
        message: Json = body.get("message") or {}
        channel, user = _id(body, "channel"), _id(body, "user")
        team = _id(body, "team")
        if not self.access.team(team) or message.get("user") == self.bot_user:
            return False
        key = identity(body)
        if not self.access.channel(channel):
            payload = {"channel": channel, "user": user, "text": "service.not_here"}
            return self._accept(key, "tell", payload, f"tell:{channel}")
        part = part_of({**message, "ts": body.get("message_ts") or message.get("ts")}, self.redactors.of(channel), "")
        payload = self._evidence(part, spoken=True, via="shortcut", asked_by=user)
        root = str(message.get("thread_ts") or part.ts)
        with self.database.write(urgent=True) as connection:
            accepted = self._accept_evidence(connection, key, payload, _Place(team, channel, root))
        if accepted:
            self.wake(lane_of(channel, root))
        return accepted

    def typed(self, body: Json, *, via: str, user: str, channel: str, text: str) -> bool:
        """Text of `/k3 diagnose …` or of the modal, which is no message anywhere: a thread is opened for it."""
        team = str(body.get("team_id") or _id(body, "team"))
        if not self.access.team(team):
            return False
        key = identity(body)
        if not self.access.channel(channel):
            payload = {"channel": channel, "user": user, "text": "service.not_here"}
            return self._accept(key, "tell", payload, f"tell:{channel}")
        root = f"{via}-{hashlib.sha256(key.encode()).hexdigest()[:24]}"
        part = Part(root, user, "", self.redactors.of(channel).redact(text), [])
        payload = self._evidence(part, spoken=True, via=via)
        payload["response_url"] = str(body.get("response_url") or "")
        with self.database.write(urgent=True) as connection:
            accepted = self._accept_evidence(connection, key, payload, _Place(team, channel, root))
        if accepted:
            self.wake(lane_of(channel, root))
        return accepted

    def action(self, body: Json, *, name: str, incident: str, values: dict[str, Any] | None = None) -> bool:
        """A button, a select or checkboxes of an answer; or a submitted form about one."""
        user, channel = _id(body, "user"), _id(body, "channel")
        if not self.access.team(_id(body, "team")):
            return False
        known = self.incidents.get(incident)
        payload = {"incident": incident, "name": name, "user": user, "values": values or {}, "channel": channel}
        if known is not None:
            payload["values"] = redacted(payload["values"], self.redactors.of(known.channel))
        lane = known.lane if known else f"stale:{channel or user}"
        return self._accept(identity(body), "action", payload, lane)

    def prefer(self, body: Json, language: str) -> bool:
        """The language that a person chose on the Home tab."""
        user, team = _id(body, "user"), _id(body, "team")
        return self._accept(
            identity(body), "prefer", {"user": user, "team": team, "language": language}, f"home:{user}"
        )

    def seen(self, body: Json) -> bool:
        """Note an interaction that is answered at once, as by opening a form; False where it was seen before."""
        key = identity(body)
        return self._accept(key, "seen", {}, "seen")

    def _evidence(self, part: Part, *, spoken: bool, via: str, asked_by: str | None = None) -> dict[str, Any]:
        return {
            "ts": part.ts,
            "author": part.author,
            "log": part.log,
            "prose": part.prose,
            "files": part.files,
            "spoken": spoken,
            "via": via,
            "asked_by": asked_by or part.author,
        }

    def _accept_evidence(self, connection: Connection, key: str, payload: dict[str, Any], place: _Place) -> bool:
        incident = self.incidents.open_in(
            connection,
            team=place.team,
            channel=place.channel,
            thread_ts=place.root,
            author=payload["asked_by"],
            via=payload["via"],
            now=self.clock(),
        )
        lane = lane_of(place.channel, place.root)
        payload = {**payload, "incident": incident, "channel": place.channel, "thread_ts": place.root}
        if not place.settle:
            kind = "typed" if payload["via"] in ("command", "form") else "evidence"
            return self.inbox.accept_in(connection, key, kind, payload, lane=lane)
        more = place.root != payload["ts"] or len(payload["log"]) + len(payload["prose"]) >= _MAY_GO_ON
        delay = self.settle_seconds if more else min(self.settle_seconds, 0.2)
        return self.inbox.accept_in(connection, key, "evidence", payload, lane=lane, delay=delay, settle=_SETTLING)

    def _accept(self, key: str, kind: str, payload: dict[str, Any], lane: str, *, wait: bool = False) -> bool:
        accepted = self.inbox.accept(key, kind, payload, lane=lane, wait=wait)
        if accepted:
            self.wake(lane)
        return accepted


def identity(body: Json) -> str:
    """What makes an interaction or a command the same one: its trigger, else a digest of what it says."""
    kind = str(body.get("type") or body.get("command") or "payload")
    if kind == "block_actions":
        actions = body.get("actions") or [{}]
        of = "|".join(str(actions[0].get(key)) for key in ("action_ts", "action_id", "block_id"))
        said = f"{_id(body, 'user')}|{(body.get('container') or {}).get('message_ts')}|{of}"
    elif kind in ("view_submission", "view_closed"):
        view: Json = body.get("view") or {}
        said = f"{_id(body, 'user')}|{view.get('id')}|{view.get('hash')}"
    else:
        said = str(body.get("trigger_id") or sorted((str(k), str(v)) for k, v in body.items() if k != "token"))
    return f"{kind}:{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:40]}"


def _id(body: Json, what: str) -> str:
    value = body.get(what)
    if isinstance(value, Mapping):
        return str(value.get("id") or "")
    return str(body.get(f"{what}_id") or value or "")
