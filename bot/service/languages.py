"""The language of a person: what they chose, else their Slack locale, else the default of the workspace."""

from __future__ import annotations

from typing import get_args

from bot.slackio.client import SlackError, SlackGateway
from bot.store import Database
from kb.entry import Language
from kb.language import language_of_locale


class Languages:
    """Languages by user."""

    def __init__(self, database: Database, gateway: SlackGateway, default: Language) -> None:
        self._database = database
        self._gateway = gateway
        self.default = default

    def chosen(self, user: str) -> Language | None:
        """What the person chose on the Home tab."""
        value = self._database.setting(f"language:{user}")
        return value if value in get_args(Language) else None  # type: ignore[return-value]

    def choose(self, user: str, language: str) -> bool:
        """Remember a choice; False for what is no language of ours."""
        if language not in get_args(Language):
            return False
        self._database.put_setting(f"language:{user}", language)
        return True

    def of(self, user: str) -> Language:
        """The language to speak to a person in. Never raises for Slack's sake."""
        chosen = self.chosen(user)
        if chosen is not None:
            return chosen
        try:
            locale = self._gateway.user_locale(user)
        except SlackError:
            locale = None
        return (language_of_locale(locale) if locale else None) or self.default
