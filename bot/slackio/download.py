"""The bytes of one file of Slack's, as a stream that goes on where the connection broke."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

import httpx
from slack_sdk import WebClient

from bot.bundles import Unread, size_text
from bot.slackio.errors import SlackRetryLater, retry_after_of
from bot.slackio.web import web

_HOSTS = ("slack.com", "slack-files.com")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_REDIRECTS = 3
_ATTEMPTS = 4
_PATIENCE = 5.0
_LOGIN = re.compile(rb"<title>[^<]{0,200}\bSlack\b|signin_form|data-cvd|/ssb/signin", re.IGNORECASE)


class NotReady(Exception):
    """Slack does not have the bytes yet."""


class Broken(Exception):
    """The download does not go on for now, after `read` bytes; `retry_after` seconds where Slack names them."""

    def __init__(self, read: int, retry_after: float | None = None) -> None:
        self.read = read
        self.retry_after = retry_after
        super().__init__()


class Hosts:
    """Where the token may be sent: Slack's own hosts by https, a base URL on loopback, and what is allowed besides."""

    def __init__(self, base_url: str, more: Collection[str] = ()) -> None:
        self._more = frozenset(host.lower() for host in more)
        base = httpx.URL(base_url)
        self._base = (base.scheme, base.host, base.port) if base.host in _LOOPBACK else None

    def allow(self, url: httpx.URL) -> bool:
        """Whether the token may go there."""
        if url.userinfo:
            return False
        if self._base is not None and (url.scheme, url.host, url.port) == self._base:
            return True
        host = url.host.lower()
        known = host in self._more or any(host == one or host.endswith(f".{one}") for one in _HOSTS)
        return url.scheme == "https" and url.port in (None, 443) and known


class Download:
    """One file, read from its beginning. `pull` is what a `Stream` takes."""

    def __init__(
        self,
        client: WebClient,
        token: str,
        file: dict[str, Any],
        *,
        hosts: Hosts,
        max_bytes: int,
        sleep: Callable[[float], None],
    ) -> None:
        self._http = web(client)
        self._token = token
        self._url = str(file.get("url_private_download") or file.get("url_private"))
        self._is_html = "html" in f"{file.get('mimetype')} {file.get('filetype')}".lower()
        self._size = file.get("size") if isinstance(file.get("size"), int) else None
        self._hosts = hosts
        self._max_bytes = max_bytes
        self._sleep = sleep
        self._response: httpx.Response | None = None
        self._chunks: Iterator[bytes] = iter(())
        self._buffer = b""
        self._read = 0
        self._skip = 0

    def __enter__(self) -> Download:
        return self

    def __exit__(self, *_: object) -> None:
        self._hang_up()
        self._http.close()

    def pull(self, size: int) -> bytes:
        """Up to `size` bytes; b"" at the end. Raises Unread, NotReady, Broken."""
        while not self._buffer:
            self._buffer = self._more()
            if not self._buffer:
                return b""
        if self._read >= self._max_bytes:
            raise Unread("files.too_large", size_text(self._max_bytes))
        data = self._buffer[: min(size, self._max_bytes - self._read)]
        self._buffer = self._buffer[len(data) :]
        self._read += len(data)
        return data

    def _more(self) -> bytes:
        retry_after: float | None = None
        for attempt in range(_ATTEMPTS):
            try:
                if self._response is None:
                    self._open()
                return self._next()
            except _Busy as busy:
                retry_after = busy.retry_after
            except httpx.TransportError:
                retry_after = None
            self._hang_up()
            wait = 0.5 * 2.0**attempt if retry_after is None else retry_after
            if wait > _PATIENCE:
                break
            if attempt + 1 < _ATTEMPTS:
                self._sleep(wait)
        raise Broken(self._read, retry_after)

    def _next(self) -> bytes:
        for chunk in self._chunks:
            if self._skip >= len(chunk):
                self._skip -= len(chunk)
                continue
            data, self._skip = chunk[self._skip :], 0
            return data
        framed = self._response is not None and (
            "content-length" in self._response.headers or "transfer-encoding" in self._response.headers
        )
        if not framed and self._size and self._read < self._size:
            raise httpx.ReadError("cut off")  # nothing but the size of the file tells
        return b""

    def _open(self) -> None:
        url = self._checked(self._url)
        for _ in range(_REDIRECTS + 1):
            headers = {"Authorization": f"Bearer {self._token}"}
            if self._read:
                headers["Range"] = f"bytes={self._read}-"
            response = self._http.send(self._http.build_request("GET", url, headers=headers), stream=True)
            self._response = response
            location = response.headers.get("location")
            if not (response.is_redirect and location):
                break
            response.close()
            url = self._checked(location, url)
        else:
            raise Unread("files.redirected", url.host)
        self._judge(response)

    def _judge(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == 429:
            raise _Busy(retry_after_of(response.headers))
        if status >= 500 or (status == 404 and self._read):
            raise _Busy(None)
        if status == 404:
            raise NotReady
        if status in (401, 403):
            raise Unread("files.no_access")
        if status == 416 and self._read:
            self._chunks = iter(())
            return
        if status not in (200, 206):
            raise Unread("files.refused", str(status))
        self._chunks = response.iter_raw()  # as it comes: what is held back is lost where it breaks off
        self._skip = self._read if status == 200 else 0
        if status == 206 and not response.headers.get("content-range", "").startswith(f"bytes {self._read}-"):
            raise Unread("files.cut", size_text(self._read))
        if "text/html" in response.headers.get("content-type", ""):
            self._look_for_login(response)

    def _look_for_login(self, response: httpx.Response) -> None:
        """Without files:read Slack answers with its login page, and 200."""
        if self._is_html and response.headers.get("content-length") == str(self._size):
            return
        head = next(self._chunks, b"")
        if not self._is_html or _LOGIN.search(head[:8192]):
            raise Unread("files.no_scope")
        rest = self._chunks

        def again() -> Iterator[bytes]:
            yield head
            yield from rest

        self._chunks = again()

    def _checked(self, url: str, base: httpx.URL | None = None) -> httpx.URL:
        try:
            parsed = base.join(url) if base is not None else httpx.URL(url)
        except (httpx.InvalidURL, ValueError):
            raise Unread("files.refused", "URL") from None
        if not self._hosts.allow(parsed):
            raise Unread("files.redirected" if base is not None else "files.other_host", parsed.host)
        return parsed

    def _hang_up(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None
        self._chunks = iter(())


class _Busy(Exception):
    def __init__(self, retry_after: float | None) -> None:
        self.retry_after = retry_after
        super().__init__()


def later(broken: Broken) -> SlackRetryLater:
    """The error by which the work on a broken download is put off."""
    return SlackRetryLater("download", broken.retry_after)
