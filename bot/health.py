"""Health and metrics over HTTP: `/healthz` (the process), `/readyz` (all it needs), `/metrics` (Prometheus)."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Sequence

import uvicorn
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from bot.errors import UsageError
from bot.inbox import Inbox

log = logging.getLogger(__name__)

Checks = Callable[[], dict[str, bool]]


class Metrics:
    """What is counted. One registry per bot, so that tests may run several in a process."""

    def __init__(self, inbox: Inbox, busy: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        self.ack = Histogram(
            "k3triage_ack_seconds",
            "From a delivery's arrival to its acknowledgement.",
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3),
            registry=self.registry,
        )
        self.answer = Histogram(
            "k3triage_answer_seconds",
            "From a delivery's arrival to the answer in the thread.",
            buckets=(0.5, 1, 2, 3, 5, 10, 30, 60, 300),
            registry=self.registry,
        )
        self.answers = Counter("k3triage_answers", "Answers posted or changed.", ["outcome"], registry=self.registry)
        self.refused = Counter("k3triage_refused", "Requests without a good signature.", registry=self.registry)
        gauges: Sequence[tuple[str, str, Callable[[], float]]] = (
            ("k3triage_inbox_open", "Deliveries not worked off.", lambda: inbox.stats().open),
            ("k3triage_inbox_failed", "Deliveries given up.", lambda: inbox.stats().failed),
            ("k3triage_inbox_oldest_seconds", "How long the oldest is due.", lambda: inbox.stats().oldest),
            ("k3triage_workers_busy", "Threads being worked on.", busy),
        )
        for name, text, value in gauges:
            Gauge(name, text, registry=self.registry).set_function(value)

    def answered(self, seconds: float, outcome: str) -> None:
        """Count an answer."""
        self.answer.observe(seconds)
        self.answers.labels(outcome).inc()


def create_app(checks: Checks, metrics: Metrics, routes: Sequence[BaseRoute] = ()) -> Starlette:
    """The application; `routes` are added, as for Slack's requests."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        found = await run_in_threadpool(checks)
        return JSONResponse(found, status_code=200 if all(found.values()) else 503)

    async def shown(_: Request) -> Response:
        data = await run_in_threadpool(generate_latest, metrics.registry)
        return Response(data, media_type="text/plain; version=0.0.4; charset=utf-8")

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", shown), *routes])


class HttpServer:
    """uvicorn in a thread."""

    def __init__(self, app: Starlette, host: str, port: int) -> None:
        """Bind. Raises UsageError where the port is taken."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
        except OSError as error:
            self._socket.close()
            raise UsageError(
                f"cannot listen on {host}:{port} ({error.strerror}); set K3TRIAGE_HTTP_PORT to a free one"
            ) from None
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=3, ws="none"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="k3-http", daemon=True
        )

    def start(self) -> None:
        """Serve; returns once requests are taken."""
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(0.01)

    def stop(self) -> None:
        """Stop serving."""
        self._server.should_exit = True
        self._thread.join(5)
        self._socket.close()
