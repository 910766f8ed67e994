"""Forms that must open within three seconds of a press, while Slack's trigger is good."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from slack_sdk.errors import SlackClientError

from bot.catalogue import say
from bot.rendering.modals import known_entries, notice_modal, text_modal, wrong_modal
from bot.service.languages import Languages
from bot.slackio.client import SlackError, SlackGateway
from bot.store import IncidentStore
from kb.library import Library

log = logging.getLogger(__name__)

_SUGGESTIONS = 8


class Forms:
    """Opens forms. Nothing is lost where one does not open: whoever pressed sees nothing, and presses again."""

    def __init__(self, gateway: SlackGateway, store: IncidentStore, library: Library, languages: Languages) -> None:
        self._gateway = gateway
        self._store = store
        self._library = library
        self._languages = languages

    def text(self, user: str, key: str, **values: object) -> str:
        """A text of the catalogue in the language of a user."""
        return say(self._languages.of(user), key, **values)

    def notice(self, user: str, key: str) -> dict[str, Any]:
        """A form that only tells a text of the catalogue, in the language of a user."""
        return notice_modal(self._languages.of(user), key)

    def open_text(self, body: Mapping[str, Any]) -> None:
        """The form to paste a log into."""
        language = self._languages.of(body["user"]["id"])
        self._open(body["trigger_id"], text_modal(language, json.dumps({"via": "form"})))

    def open_wrong(self, body: Mapping[str, Any], incident_id: str) -> None:
        """The form "what was it really?", or word that the incident is no longer kept."""
        incident = self._store.get(incident_id)
        if incident is None:
            self._open(body["trigger_id"], notice_modal(self._languages.of(body["user"]["id"]), "service.stale"))
            return
        language = incident.language or self._languages.of(body["user"]["id"])
        report = (self._store.reports(incident_id) or {}).get(language)
        suggestions = [(one.entry, one.title) for one in report.diagnoses[1:_SUGGESTIONS]] if report else []
        wrong = report.diagnoses[0].entry if report and report.diagnoses else None
        known = known_entries(self._library, language, wrong)
        self._open(body["trigger_id"], wrong_modal(language, incident_id, suggestions, known))

    def _open(self, trigger_id: str, view: dict[str, Any]) -> None:
        try:
            self._gateway.open_view(trigger_id, view)
        except (SlackError, SlackClientError) as error:
            log.warning("a form did not open", extra={"error": type(error).__name__})
