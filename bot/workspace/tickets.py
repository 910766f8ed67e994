"""Short-lived permissions: a trigger_id opens one view, a response_url answers a few times."""

from __future__ import annotations

from dataclasses import dataclass

from bot.workspace import limits
from bot.workspace.clock import Clock
from bot.workspace.errors import SlackError
from bot.workspace.ids import Ids


@dataclass(slots=True)
class _Trigger:
    user: str
    issued: float
    used: bool = False


@dataclass(slots=True)
class ResponseUrl:
    """Where an app answers to an interaction. `ts` is the message it came from, if any."""

    channel: str
    user: str
    issued: float
    ts: str | None = None
    uses: int = 0


class Tickets:
    """Issues and redeems trigger ids and response URLs."""

    def __init__(self, clock: Clock, ids: Ids, team: str) -> None:
        self._clock, self._ids, self._team = clock, ids, team
        self._triggers: dict[str, _Trigger] = {}
        self._responses: dict[str, ResponseUrl] = {}

    def trigger(self, user: str) -> str:
        """A new trigger_id for something `user` just did."""
        trigger_id = f"{self._ids.next('')}.{self._team}.{self._ids.uuid('trigger').replace('-', '')}"
        self._triggers[trigger_id] = _Trigger(user, self._clock.now())
        return trigger_id

    def redeem(self, trigger_id: str) -> str:
        """The user it was for. Raises SlackError when unknown, older than 3 s, or used before."""
        trigger = self._triggers.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        if self._clock.now() - trigger.issued > limits.TRIGGER_LIFE:
            raise SlackError("expired_trigger_id")
        trigger.used = True
        return trigger.user

    def response(self, channel: str, user: str, ts: str | None = None) -> str:
        """The path below /response/ of a new response URL."""
        key = f"{self._team}/{self._ids.next('')}/{self._ids.uuid('response').replace('-', '')[:24]}"
        self._responses[key] = ResponseUrl(channel, user, self._clock.now(), ts)
        return key

    def respond(self, key: str) -> ResponseUrl:
        """Count one use of a response URL. Raises SlackError after 30 min or 5 uses."""
        response = self._responses.get(key)
        if response is None or self._clock.now() - response.issued > limits.RESPONSE_URL_LIFE:
            raise SlackError("expired_url")
        if response.uses >= limits.RESPONSE_URL_USES:
            raise SlackError("used_url")
        response.uses += 1
        return response
