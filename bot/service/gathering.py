"""Evidence that stands around the message in which the bot was called: above it in the thread, or just before it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.redaction import Redactor
from bot.service.parts import Part, is_evidence, part_of
from bot.store import Evidence, Incident

log = logging.getLogger(__name__)

_THREAD = 100
"""Messages of a thread, besides its root, that are looked at: those next to the call."""
_PAGE, _PAGES = 200, 25
_MOST = 100
_AROUND = 60.0
_LONG = 2_500


class Gatherer:
    """Asks Slack for the messages around a call, where the call itself may not be all there is."""

    def __init__(self, client: WebClient, bot_user: str, *, join_seconds: float = 5.0) -> None:
        self._client = client
        self._bot_user = bot_user
        self._join_seconds = join_seconds

    def around(
        self, incident: Incident, payload: Mapping[str, Any], redactor: Redactor, *, must: bool
    ) -> list[Evidence]:
        """What the messages around give.

        Where Slack does not let us look, the call itself counts; with `must` a time-out or a rate limit is raised, so
        that the work is tried again.
        """
        part = Part("", "", payload["log"], payload["prose"], payload["files"])
        try:
            if payload.get("reply"):
                return self._thread(incident, payload["ts"], redactor)
            found: list[Evidence] = []
            if payload.get("late"):
                found += self._thread(incident, payload["ts"], redactor, below=True)
            if not is_evidence(part) or len(part.log) + len(part.prose) >= _LONG:
                found += self._paste(incident, payload["ts"], payload["author"], redactor)
            return found
        except (SlackClientError, OSError) as error:
            code = error.response.get("error") if isinstance(error, SlackApiError) and error.response else None
            if must and code in (None, "ratelimited", "internal_error", "service_unavailable", "fatal_error"):
                raise
            log.warning("cannot look around", extra={"incident": incident.id, "error": code or type(error).__name__})
        return []

    def _thread(self, incident: Incident, ts: str, redactor: Redactor, *, below: bool = False) -> list[Evidence]:
        """What stands above a message in its thread, or below it."""
        messages: list[dict[str, Any]] = []
        cursor = ""
        for _ in range(_PAGES):  # Slack gives a thread from its beginning only
            answer = self._client.conversations_replies(
                channel=incident.channel,
                ts=incident.thread_ts,
                limit=_PAGE,
                latest=None if below else ts,
                inclusive=True,
                cursor=cursor or None,
            )
            page: list[dict[str, Any]] = answer.get("messages") or []
            messages = [*messages[:1], *messages[1:][-_THREAD:], *page]
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
        messages = [*messages[:1], *messages[1:][-_THREAD:]]
        found = []
        for message in messages:
            if message.get("user") == self._bot_user or message.get("ts") == ts:
                continue
            part = part_of(message, redactor, self._bot_user)
            if is_evidence(part) or message.get("ts") == incident.thread_ts:
                found.append(_evidence(part))
        return found

    def _paste(self, incident: Incident, ts: str, author: str, redactor: Redactor) -> list[Evidence]:
        """What the same author posted just before and just after: events of one paste may overtake each other."""
        answer = self._client.conversations_history(
            channel=incident.channel,
            oldest=f"{float(ts) - _AROUND:.6f}",
            latest=f"{float(ts) + _AROUND:.6f}",
            limit=_MOST,
            inclusive=True,
        )
        messages: list[dict[str, Any]] = [
            message
            for message in answer.get("messages") or []
            if message.get("user") == author
            and not message.get("bot_id")
            and message.get("thread_ts") in (None, message["ts"])
        ]
        earlier = sorted((one for one in messages if float(one["ts"]) < float(ts)), key=_ts, reverse=True)
        later = sorted((one for one in messages if float(one["ts"]) > float(ts)), key=_ts)
        found: list[Evidence] = []
        for direction in (earlier, later):
            at = float(ts)
            for message in direction:
                if abs(at - _ts(message)) > self._join_seconds:
                    break
                at = _ts(message)
                found.append(_evidence(part_of(message, redactor, self._bot_user)))
        return found


def _ts(message: Mapping[str, Any]) -> float:
    return float(message["ts"])


def _evidence(part: Part) -> Evidence:
    return Evidence(part.ts, part.author, part.log, part.prose, tuple(part.files))
