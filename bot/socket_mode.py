"""Socket Mode that measures its acknowledgements and notices at once when its connection is gone.

The SDK's own look at the socket misses a connection that was cut: it logs "Broken pipe", and reconnects only after four
ping intervals. By then Slack's first redelivery has failed too, and the next one comes a minute later.
"""

from __future__ import annotations

import logging
import select
import threading
import time
from collections.abc import Callable

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

log = logging.getLogger(__name__)

_PING = 5.0
_LOOK = 0.3
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL | getattr(select, "POLLRDHUP", 0)


class Socket(SocketModeHandler):
    """A connection to Slack that is kept."""

    def __init__(self, app: App, app_token: str, acked: Callable[[float], object]) -> None:
        super().__init__(app, app_token, ping_interval=_PING)
        self._acked = acked
        self._closing = threading.Event()
        self._watch = threading.Thread(target=self._look, name="k3-socket-watch", daemon=True)

    def connect(self) -> None:
        """Connect, and stay connected."""
        super().connect()  # type: ignore[no-untyped-call]
        self._watch.start()

    def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]
        """One delivery; returns once it is acknowledged."""
        began = time.perf_counter()
        super().handle(client, req)
        self._acked(time.perf_counter() - began)

    @property
    def is_connected(self) -> bool:
        """Whether deliveries can arrive."""
        return bool(self.client.is_connected()) and not self._is_gone()

    def shut(self) -> None:
        """Take no more deliveries."""
        self._closing.set()
        self.client.auto_reconnect_enabled = False
        # The SDK waits for its reading thread, up to three seconds in which nothing is read any more.
        closing = threading.Thread(target=self.close, name="k3-socket-close", daemon=True)
        closing.start()
        closing.join(0.5)

    def _is_gone(self) -> bool:
        sock = getattr(self.client.current_session, "sock", None)
        if sock is None:
            return True
        try:
            poller = select.poll()
            poller.register(sock, _GONE)
            return bool(poller.poll(0))
        except (OSError, ValueError):  # closed meanwhile
            return True

    def _look(self) -> None:
        delay = _LOOK
        while not self._closing.wait(delay):
            delay = _LOOK
            if not self._is_gone() or self.client.closed:
                continue
            log.info("the socket is gone; reconnecting")
            try:
                self.client.connect_to_new_endpoint(force=True)
            except Exception:
                log.warning("cannot reconnect yet", exc_info=True)
                delay = 2.0
