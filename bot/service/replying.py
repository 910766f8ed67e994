"""Posting once: a reply has a key, is noted before it is posted, found again after a crash, and edited ever after."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable

from bot.lease import Lease
from bot.rendering.message import OutgoingFile, OutgoingMessage
from bot.slackio.client import SlackError, SlackGateway, SlackMessageGone
from bot.store import Incident, ReplyStore

log = logging.getLogger(__name__)

_FILE = "file"
"""In place of a timestamp: Slack does not say which message an upload became."""


class Replies:
    """The bot's messages of incidents."""

    def __init__(self, gateway: SlackGateway, store: ReplyStore, *, clock: Callable[[], float] = time.time) -> None:
        self._gateway = gateway
        self._store = store
        self._clock = clock

    def show(
        self, incident: Incident, purpose: str, message: OutgoingMessage, lease: Lease, *, again: bool = False
    ) -> bool:
        """Post the message into the incident's thread, or edit the one that is there; False where it is there as is.

        Where someone has deleted it, it is posted anew; `again` looks for that even where nothing has changed. Raises
        the errors of the gateway; whatever happens, a second call goes on where the first one ended.
        """
        key = f"{incident.id}:{purpose}"
        return self.put(key, incident, incident.channel, incident.thread_ts, message, lease, again=again)

    def put(
        self,
        key: str,
        incident: Incident,
        channel: str,
        thread_ts: str | None,
        message: OutgoingMessage,
        lease: Lease,
        *,
        again: bool = False,
    ) -> bool:
        """As `show`, for any place."""
        digest = _digest(message)
        known = self._store.get(key)
        ts = known.ts if known else None
        if known is not None and ts is not None:
            channel = known.channel  # it stays where it is
            if known.digest == digest and not again:
                return False
        begun = known is not None and known.channel == channel
        if begun and ts is None:
            # Begun and never recorded: a crash, or an answer that was lost. Slack knows whether it was posted.
            ts = self._gateway.find_reply(channel, thread_ts, key)
            if ts is not None:
                log.info("reply found again", extra={"incident": incident.id})
                self._store.posted(key, ts, "", self._gateway.direct_channel(channel))
        lease.check()
        changed = True
        if ts is not None:
            changed = known is None or known.digest != digest
            try:
                self._gateway.update(channel, ts, message, metadata={"key": key})
            except SlackMessageGone:
                log.info("reply was deleted; posting it anew", extra={"incident": incident.id})
                ts, begun, changed = None, False, True
        if ts is None:
            if not begun:
                self._store.begin(key, incident.id, channel, thread_ts, self._clock())
            ts = self._gateway.post(channel, thread_ts, message, metadata={"key": key})
        self._store.posted(key, ts, digest, self._gateway.direct_channel(channel))
        return changed

    def attach(self, incident: Incident, file: OutgoingFile, lease: Lease) -> bool:
        """Upload a file into the incident's thread; False where the same one is there already."""
        key = f"{incident.id}:file:{hashlib.sha256(file.name.encode() + file.content).hexdigest()[:24]}"
        known = self._store.get(key)
        if known is not None and known.ts is not None:
            return False
        lease.check()
        file_id = known.digest if known is not None else None
        try:
            if file_id is None or known is None or known.channel != incident.channel:
                file_id = self._hand_over(key, incident, file)
                self._share(incident, file, file_id)
            else:  # a crash, before it was shared or after
                self._share(incident, file, file_id, again=True)
        except SlackError as error:
            if str(error) != "file_not_found":  # what is never shared does not wait at Slack for ever
                raise
            self._share(incident, file, self._hand_over(key, incident, file))
        self._store.posted(key, _FILE, "")
        return True

    def _hand_over(self, key: str, incident: Incident, file: OutgoingFile) -> str:
        file_id = self._gateway.upload(file)
        self._store.begin(key, incident.id, incident.channel, incident.thread_ts, self._clock(), digest=file_id)
        return file_id

    def _share(self, incident: Incident, file: OutgoingFile, file_id: str, *, again: bool = False) -> None:
        self._gateway.share(incident.channel, incident.thread_ts, file_id, file.title, again=again)

    def posted(self, incident: Incident, purpose: str) -> str | None:
        """The timestamp of a reply that was posted."""
        known = self._store.get(f"{incident.id}:{purpose}")
        return known.ts if known else None


def _digest(message: OutgoingMessage) -> str:
    data = json.dumps([message.blocks, message.text], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(data.encode()).hexdigest()
