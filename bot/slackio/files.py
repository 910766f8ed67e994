"""Files that people posted, fetched with the bot's token and opened as streams."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.bundles import SNIFF, Limits, Stream, Unpacker, Unread, display_name, is_zip, part_of, size_text
from bot.slackio.download import Broken, Download, Hosts, NotReady, later
from bot.slackio.errors import TROUBLE, SlackError, SlackRetryLater, code_of, judged
from bot.slackio.reasons import coded
from bot.slackio.spool import Spool
from kb.evidence import NotRead, Source

Json = Mapping[str, Any]

GIB = 1 << 30
_GIVE_UP = 600.0
"""Seconds for which a file that cannot be had is tried again; then the answer comes without it."""
_POLLS = (0.5, 1.0, 2.0)
_READY_LATER = 5.0
_PATIENCE = 5.0
_KEPT = 1_000
_FAILURES = ("files.cut", "files.failed", "files.not_ready")


class FileFetcher:
    """Opens files of Slack's. Thread-safe.

    The token is sent to Slack's own hosts only, by https; to the host of the client's base URL where that is on
    loopback; and to the `allowed_hosts`.
    """

    def __init__(
        self,
        client: WebClient,
        token: str,
        max_bytes: int = GIB,
        allowed_hosts: Collection[str] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._token = token
        self._max_bytes = max_bytes
        self._hosts = Hosts(client.base_url, allowed_hosts)
        self._clock = clock
        self._sleep = sleep
        self._failing: dict[str, float] = {}
        self._lock = threading.Lock()

    def sources(self, file: dict[str, Any]) -> Iterator[Source | NotRead]:
        """All that may be text in a file object of Slack's, of which the id is enough; and what was not read.

        A source has to be read before the next item is asked for. Raises SlackRetryLater, also out of the chunks of a
        source, where the file may be had later; SlackGone.
        """
        name = str(file.get("name") or file.get("title") or file.get("id") or "file")
        failed = False
        for item in self._sources(file, name):
            if isinstance(item, NotRead):
                failed = failed or item.reason in _FAILURES
                yield coded(item)
            else:
                yield item
        if not failed:
            with self._lock:
                self._failing.pop(str(file.get("id")), None)

    def _sources(self, file: Json, name: str) -> Iterator[Source | NotRead]:
        known: Json | None = file
        for wait in (*_POLLS, None):
            try:
                info = known if known is not None and _is_complete(known) else self._info(file)
                _require(info)
                if not _url(info):
                    raise NotReady
                yield from self._open(info, name)
            except Unread as unread:
                yield NotRead(display_name(name), unread.reason, unread.detail)
            except NotReady:
                if wait is not None:
                    known = None
                    self._sleep(wait)
                    continue
                if not self._is_given_up(file):
                    raise SlackRetryLater("file_not_ready", _READY_LATER) from None
                yield NotRead(display_name(name), "files.not_ready")
            return

    def _open(self, info: Json, name: str) -> Iterator[Source | NotRead]:
        """Raises NotReady before the first byte only."""
        with Download(
            self._client,
            self._token,
            dict(info),
            hosts=self._hosts,
            max_bytes=self._max_bytes,
            sleep=self._sleep,
        ) as download:

            def pull(size: int) -> bytes:
                try:
                    return download.pull(size)
                except Broken as broken:
                    if not self._is_given_up(info):
                        raise later(broken) from None
                    if broken.read:
                        raise Unread("files.cut", size_text(broken.read)) from None
                    raise Unread("files.failed") from None

            unpacker = Unpacker(Limits())
            stream = Stream(pull)
            if is_zip(stream.peek(SNIFF)):
                yield from self._open_zip(unpacker, stream, info, name)
            else:
                yield from unpacker.open(stream, name)
            yield from unpacker.finish()

    def _open_zip(self, unpacker: Unpacker, stream: Stream, info: Json, name: str) -> Iterator[Source | NotRead]:
        size = info.get("size")
        if isinstance(size, int) and size > self._max_bytes:
            raise Unread("files.too_large", size_text(self._max_bytes))
        with Spool(stream) as spool:
            yield from unpacker.open(part_of(spool, 0, spool.size), name, spool)
            if spool.fault is not None:
                raise spool.fault

    def _info(self, file: Json) -> Json:
        """The file object as files.info gives it. Raises Unread, SlackRetryLater, SlackGone."""
        foreign = file.get("file_access") == "check_file_info"
        try:
            return self._ask(str(file.get("id")))
        except SlackError as error:
            code = str(error)
            if code in ("file_deleted", "file_not_found") and not foreign:
                raise Unread("files.deleted") from None
            if code == "missing_scope":
                raise Unread("files.no_scope") from None
            if isinstance(error, SlackRetryLater) and not self._is_given_up(file):
                raise
            if isinstance(error, SlackRetryLater):
                raise Unread("files.failed") from None
            if type(error) is SlackError:
                raise Unread("files.connect" if foreign else "files.refused", "" if foreign else code) from None
            raise

    def _ask(self, file_id: str) -> Json:
        for wait in (*_POLLS, None):
            try:
                info: Json = self._client.files_info(file=file_id)["file"]
            except TROUBLE as error:
                trouble = judged(error)
                code = code_of(error) if isinstance(error, SlackApiError) else ""
                pause = getattr(trouble, "retry_after", None) or wait
                if code in ("file_deleted", "file_not_found", "missing_scope"):
                    raise SlackError(code) from None
                if not isinstance(trouble, SlackRetryLater) or wait is None or pause is None or pause > _PATIENCE:
                    raise trouble from None
                self._sleep(pause)
            else:
                return info
        raise SlackRetryLater("files.info")

    def _is_given_up(self, file: Json) -> bool:
        """Whether the file has failed for so long that it is not waited for any more; the first failure is noted."""
        now = self._clock()
        with self._lock:
            if len(self._failing) >= _KEPT:
                self._failing.clear()
            return now - self._failing.setdefault(str(file.get("id")), now) > _GIVE_UP


def _url(info: Json) -> str | None:
    return info.get("url_private_download") or info.get("url_private")


def _is_complete(file: Json) -> bool:
    """Whether the message has said all there is to know, so that files.info need not be asked."""
    if file.get("file_access") == "check_file_info":
        return False
    return bool(_url(file)) or _is_elsewhere(file) or file.get("mode") in ("tombstone", "hidden_by_limit")


def _is_elsewhere(file: Json) -> bool:
    return bool(file.get("is_external")) or file.get("mode") == "external"


def _require(info: Json) -> None:
    """Raises Unread for what has no bytes that the bot could read."""
    mode, access = info.get("mode"), info.get("file_access")
    if mode == "tombstone" or access == "file_not_found":
        raise Unread("files.deleted")
    if mode == "hidden_by_limit":
        raise Unread("files.hidden")
    if access in ("access_denied", "check_file_info") and not _url(info):
        raise Unread("files.connect")
    if _is_elsewhere(info):
        raise Unread("files.external", str(info.get("external_type") or "?"))
    if mode in ("space", "canvas", "list") or info.get("filetype") in ("quip", "canvas", "list"):
        raise Unread("files.canvas")
