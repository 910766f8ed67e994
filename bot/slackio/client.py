"""Messages out, each of them once: calls are tried again, and a post whose answer was lost is looked for first."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import httpx
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.rendering.message import OutgoingFile, OutgoingMessage
from bot.slackio.errors import (
    TROUBLE,
    SlackCannotPost,
    SlackError,
    SlackGone,
    SlackMessageGone,
    SlackRetryLater,
    code_of,
    judged,
    retry_after_of,
)
from bot.slackio.pace import Pace
from bot.slackio.web import web

__all__ = [
    "EVENT_TYPE",
    "SlackCannotPost",
    "SlackError",
    "SlackGateway",
    "SlackGone",
    "SlackMessageGone",
    "SlackRetryLater",
]

EVENT_TYPE = "k3triage_reply"
"""Type of the metadata by which a message of ours is found again."""

log = logging.getLogger(__name__)
T = TypeVar("T")

_ATTEMPTS = 4
_PATIENCE = 5.0
"""Seconds a worker waits; longer waits are the inbox's."""
_LAG = 1.5
"""Seconds by which Slack's reading may lag behind its writing."""
_PAGES = 10
"""Pages of a thread, oldest first, that are looked through; of a channel, newest first, `_CHANNEL_PAGES`."""
_CHANNEL_PAGES = 3
_LOCALE_KEPT = 3_600.0
_USERS_KEPT = 10_000


class SlackGateway:
    """Calls of the Web API with the bot's rules about trying again. Thread-safe.

    `client` must not retry by itself (`retry_handlers=[]`): the SDK would post twice. A channel may be the id of a
    user, for the direct message with that person. All methods raise SlackGone, SlackCannotPost, SlackRetryLater or a
    plain SlackError.
    """

    def __init__(
        self,
        client: WebClient,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.client = client
        self._clock = clock
        self._sleep = sleep
        self._pace = Pace(clock, sleep)
        self._lock = threading.Lock()
        self._direct: dict[str, str] = {}
        self._locales: dict[str, tuple[float, str | None]] = {}

    def post(
        self,
        channel: str,
        thread_ts: str | None,
        message: OutgoingMessage,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Post a message and return its ts. `metadata` {"key": …} makes it findable."""
        payload = {**(metadata or {})}
        named = "key" in payload
        key = str(payload.setdefault("key", uuid.uuid4().hex))
        place = self._place(channel)

        def send() -> str:
            self._pace.wait(place)
            answer = self.client.chat_postMessage(
                channel=place,
                thread_ts=thread_ts,
                blocks=message.blocks,
                text=message.text,
                metadata={"event_type": EVENT_TYPE, "event_payload": payload},
                unfurl_links=False,
                unfurl_media=False,
            )
            self._learn(channel, answer.get("channel"))
            return str(answer["ts"])

        def look() -> str | None:
            # Where the direct message is not known yet one cannot look; `_only_one` makes up for it.
            found = self.find_reply(channel, thread_ts, key)
            if found is None and not _is_user(self._place(channel)):
                self._sleep(_LAG)
                found = self.find_reply(channel, thread_ts, key)
            return found

        repeated: list[bool] = []

        def again() -> str | None:
            repeated.append(True)
            return look()

        ts = self._try(send, found=again)
        return self._only_one(channel, thread_ts, key, ts) if _is_user(place) and (named or repeated) else ts

    def update(
        self, channel: str, ts: str, message: OutgoingMessage, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Replace a message of ours; its metadata stay where none are given."""
        more: dict[str, Any] = {}
        if metadata is not None:
            more["metadata"] = {"event_type": EVENT_TYPE, "event_payload": {**metadata}}
        place = self._place(channel)
        self._try(
            lambda: self.client.chat_update(channel=place, ts=ts, blocks=message.blocks, text=message.text, **more)
        )

    def post_ephemeral(self, channel: str, user: str, message: OutgoingMessage, thread_ts: str | None = None) -> None:
        """Show a message to one person only. It is not sent again where it may have arrived."""
        place = self._place(channel)
        self._try(
            lambda: self.client.chat_postEphemeral(
                channel=place, user=user, blocks=message.blocks, text=message.text, thread_ts=thread_ts
            ),
            repeat_unsure=False,
        )

    def open_view(self, trigger_id: str, view: dict[str, Any]) -> None:
        """Open a form; a trigger is good for three seconds and once, so there is no waiting."""
        self._try(
            lambda: self.client.views_open(trigger_id=trigger_id, view=view),
            attempts=2,
            patience=0.5,
            repeat_unsure=False,
        )

    def user_locale(self, user: str) -> str | None:
        """The locale of a person, as `ko-KR`; remembered for an hour."""
        now = self._clock()
        with self._lock:
            known = self._locales.get(user)
        if known is not None and now - known[0] < _LOCALE_KEPT:
            return known[1]
        answer = self._try(lambda: self.client.users_info(user=user, include_locale=True), attempts=2, patience=1.0)
        locale = (answer.get("user") or {}).get("locale")
        with self._lock:
            if len(self._locales) >= _USERS_KEPT:
                self._locales.clear()
            self._locales[user] = (now, locale)
        return locale if isinstance(locale, str) else None

    def find_reply(self, channel: str, thread_ts: str | None, key: str) -> str | None:
        """The ts of the first message of ours with this key in the thread, or in the channel itself; None if none."""
        place = self._place(channel)
        if _is_user(place):
            return None  # a direct message that we never wrote into in this process; Slack has no way to name it
        return min(self._found(place, thread_ts, key), key=float, default=None)

    def direct_channel(self, user: str) -> str | None:
        """The direct message with a person, once something was posted into it by this process."""
        with self._lock:
            return self._direct.get(user)

    def upload(self, file: OutgoingFile) -> str:
        """Hand a file to Slack and return its id; nobody sees it until it is shared."""
        return self._try(lambda: self._send_bytes(file))

    def share(self, channel: str, thread_ts: str | None, file_id: str, title: str, *, again: bool = False) -> None:
        """Show an uploaded file in a thread. `again`: it may have been shared before, so that is looked for first."""
        place = self._place(channel)

        def send() -> str:
            self._pace.wait(place)
            self.client.files_completeUploadExternal(
                files=[{"id": file_id, "title": title}], channel_id=place, thread_ts=thread_ts
            )
            return file_id

        if not (again and self._is_shared(file_id, place)):
            self._try(send, found=lambda: file_id if self._is_shared(file_id, place) else None)

    def _send_bytes(self, file: OutgoingFile) -> str:
        length = len(file.content)
        announced = self.client.files_getUploadURLExternal(filename=file.name, length=length)
        try:
            with web(self.client) as http:
                answer = http.post(str(announced["upload_url"]), content=file.content)
        except httpx.TransportError:
            raise ConnectionResetError("upload") from None  # an upload that is not completed is never seen
        if answer.status_code == 429:
            raise _Waiting(retry_after_of(answer.headers))
        if answer.status_code >= 500:
            raise _Waiting(None)
        if answer.status_code != 200:
            raise SlackError(f"upload_http_{answer.status_code}")
        return str(announced["file_id"])

    def _is_shared(self, file_id: str, channel: str) -> bool:
        self._sleep(_LAG)
        try:
            shares = (self._try(lambda: self.client.files_info(file=file_id))["file"] or {}).get("shares") or {}
        except SlackError as error:
            if str(error) != "file_not_found":
                raise
            return False  # handed over, never shared
        return any(channel in places for places in shares.values() if isinstance(places, Mapping))

    def _try(
        self,
        call: Callable[[], T],
        *,
        attempts: int = _ATTEMPTS,
        patience: float = _PATIENCE,
        repeat_unsure: bool = True,
        found: Callable[[], T | None] = lambda: None,
    ) -> T:
        """The result of the call, tried again where that makes sense.

        Where it may have been carried out, what `found` returns counts instead, unless that is None.
        """
        for attempt in range(1, attempts + 1):
            try:
                return call()
            except SlackRetryLater:
                raise  # of the pace: so many wait that more waiting here is in vain
            except _Waiting as busy:
                trouble: SlackError = SlackRetryLater("busy", busy.retry_after)
            except TROUBLE as error:
                trouble = judged(error)
            if not isinstance(trouble, SlackRetryLater):
                raise trouble
            wait = trouble.retry_after if trouble.retry_after is not None else min(0.5 * 2.0 ** (attempt - 1), 4.0)
            lost = trouble.unsure and not repeat_unsure
            if wait > patience or lost or attempt == attempts:
                raise trouble
            log.info("Slack is to be asked again", extra={"error": str(trouble)})
            self._sleep(wait)
            result = found() if trouble.unsure else None
            if result is not None:
                return result
        raise SlackRetryLater("busy")

    def messages(
        self, channel: str, thread_ts: str | None = None, *, oldest: str = "0", pages: int = _PAGES
    ) -> Iterator[dict[str, Any]]:
        """Messages of a channel, newest first, or of a thread, its root and then oldest first, as Slack tells them.

        Only what is newer than `oldest`, a ts (the root of a thread comes whatever its age); up to 200 a page.
        """
        cursor = ""
        for _ in range(pages):
            answer = self._try(lambda cursor=cursor: self._page(channel, thread_ts, oldest, cursor))  # type: ignore[misc]
            yield from answer.get("messages") or []
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return

    def _found(self, channel: str, thread_ts: str | None, key: str) -> Iterator[str]:
        try:
            for message in self.messages(channel, thread_ts, pages=_PAGES if thread_ts else _CHANNEL_PAGES):
                metadata = message.get("metadata") or {}
                payload = metadata.get("event_payload") or {}
                if metadata.get("event_type") == EVENT_TYPE and payload.get("key") == key:
                    yield str(message["ts"])
        except SlackCannotPost as error:
            if str(error) != "thread_not_found":
                raise

    def _page(self, channel: str, thread_ts: str | None, oldest: str, cursor: str) -> Any:
        more: dict[str, Any] = {"oldest": oldest, "include_all_metadata": True, "limit": 200}
        if cursor:
            more["cursor"] = cursor
        if thread_ts is None:
            return self.client.conversations_history(channel=channel, **more)
        return self.client.conversations_replies(channel=channel, ts=thread_ts, **more)

    def _only_one(self, user: str, thread_ts: str | None, key: str, ts: str) -> str:
        """The ts that stays, where one could not look before posting whether it had been posted already."""
        try:
            first = self.find_reply(user, thread_ts, key) or ts
            if float(first) < float(ts):
                self.client.chat_delete(channel=self._place(user), ts=ts)
                return first
        except (SlackError, *TROUBLE) as error:
            code = code_of(error) if isinstance(error, SlackApiError) else type(error).__name__
            log.warning("cannot look for a message posted before", extra={"error": code})
        return ts

    def _place(self, channel: str) -> str:
        """The channel; for a user the direct message, where it is known."""
        with self._lock:
            return self._direct.get(channel, channel)

    def _learn(self, channel: str, place: object) -> None:
        if _is_user(channel) and isinstance(place, str) and place:
            with self._lock:
                if len(self._direct) >= _USERS_KEPT:
                    self._direct.clear()
                self._direct[channel] = place


class _Waiting(Exception):
    def __init__(self, retry_after: float | None) -> None:
        self.retry_after = retry_after
        super().__init__()


def _is_user(channel: str) -> bool:
    return channel.startswith(("U", "W"))
