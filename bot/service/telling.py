"""Short notes to one person: only they see them, and nothing depends on their arrival."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx
from slack_sdk.models.blocks import MarkdownTextObject, SectionBlock

from bot.catalogue import say
from bot.rendering.message import OutgoingMessage
from bot.service.languages import Languages
from bot.slackio.client import SlackCannotPost, SlackError, SlackGateway
from bot.slackio.web import web
from bot.store import Incident, IncidentStore, ReplyStore
from kb.entry import Language

log = logging.getLogger(__name__)


def notice(text: str) -> OutgoingMessage:
    """A message of one text of the catalogue; nothing that came from people may be in it."""
    return OutgoingMessage(blocks=[SectionBlock(text=MarkdownTextObject(text=text)).to_dict()], text=text, files=[])


class Teller:
    """Tells people what they should know, in their language."""

    def __init__(
        self,
        gateway: SlackGateway,
        store: IncidentStore,
        replies: ReplyStore,
        languages: Languages,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._gateway = gateway
        self._store = store
        self._replies = replies
        self._languages = languages
        self._clock = clock

    def whisper(
        self,
        channel: str,
        user: str,
        key: str,
        *,
        thread: str | None = None,
        incident: Incident | None = None,
        **values: object,
    ) -> None:
        """A note in the channel that only `user` sees; as a direct message where that is not possible."""
        thread = incident.thread_ts if incident else thread
        message = notice(say(self._language(user, incident), key, **values))
        try:
            try:
                self._gateway.post_ephemeral(channel or user, user, message, thread_ts=thread)
            except SlackCannotPost:
                self._gateway.post(user, None, message)
        except SlackError as error:
            log.warning("cannot tell a person", extra={"key": key, "error": type(error).__name__})

    def answer_command(self, response_url: str, user: str, key: str, **values: object) -> None:
        """A note to whoever gave a command, where they gave it: `response_url` needs no membership."""
        text = say(self._language(user, None), key, **values)
        try:
            with web(self._gateway.client) as http:
                http.post(response_url, json={"response_type": "ephemeral", "text": text}).raise_for_status()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            log.warning("cannot tell a person", extra={"key": key, "error": type(error).__name__})

    def cannot_post(self, payload: Mapping[str, Any], reason: str) -> None:
        """Tell whoever asked that the answer cannot be posted there; once per incident."""
        self._once(payload, "cannot_post", "service.cannot_post", reason)

    def failed(self, payload: Mapping[str, Any]) -> None:
        """Tell whoever asked that the work was given up; once per incident."""
        self._once(payload, "failed", "service.failed", "")

    def _once(self, payload: Mapping[str, Any], purpose: str, key: str, detail: str) -> None:
        incident = self._store.get(str(payload.get("incident") or ""))
        user = payload.get("asked_by") or payload.get("user")
        if incident is None or not user:
            return
        mark = f"{incident.id}:{purpose}"
        if self._replies.get(mark) is not None:
            return
        self._replies.begin(mark, incident.id, str(user), None, self._clock())
        self._store.note(incident.id, purpose, str(user), self._clock(), detail)
        message = notice(say(self._language(str(user), incident), key, channel=incident.channel))
        try:
            self._gateway.post(str(user), None, message)
        except SlackError as error:
            log.warning("cannot tell a person", extra={"key": key, "error": type(error).__name__})

    def _language(self, user: str, incident: Incident | None) -> Language:
        if incident is not None and incident.language:
            return incident.language
        return self._languages.of(user)
