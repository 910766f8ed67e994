"""Reading in processes of their own: acknowledgements do not wait for the interpreter, and a crash costs one attempt.

One process is kept for what is small, so that nobody waits behind a large bundle. A process that dies is replaced.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from slack_sdk import WebClient

from bot.errors import AnalysisDied, BotError, WorkReturned
from bot.evidence import Evidence
from bot.lease import Lease
from bot.redaction import Redactor
from bot.service.reading import Conclusion, NotSmallError, Progress, Reader, is_small
from bot.slackio.files import FileFetcher
from kb.library import Library

log = logging.getLogger(__name__)

_CONTEXT = get_context("spawn")  # a fork would take the locks of our threads with it
_LOOK = 0.2
_STOPPING = 10.0
_STARTING = 120.0
_NICE = 2


@dataclass(frozen=True, slots=True)
class ReaderSpec:
    """How a process makes its reader; it holds the bot token."""

    kb: tuple[Path, ...]
    cache: Path | None
    api_url: str
    token: str
    max_bytes: int
    progress_bytes: int

    def __call__(self) -> Reader:
        """The reader."""
        client = WebClient(token=self.token, base_url=self.api_url, timeout=30, retry_handlers=[])
        files = FileFetcher(client, self.token, self.max_bytes)
        return Reader(Library.open(list(self.kb), self.cache), files, progress_bytes=self.progress_bytes)

    def __repr__(self) -> str:
        return "ReaderSpec(…)"


class ReaderPool:
    """Readers in processes. Thread-safe; stands in for a Reader."""

    def __init__(self, spec: Callable[[], Reader], *, large: int = 1) -> None:
        """`spec` is called in each process, and has to be picklable. `large`: processes for what is not small."""
        self._spec = spec
        self._all = [_Process(spec, "small"), *(_Process(spec, f"large-{n}") for n in range(1, large + 1))]
        self._small = [self._all[0]]
        self._large = self._all[1:]
        self._free = threading.Condition()
        self._taken: set[_Process] = set()

    def prepare(self) -> None:
        """Begin to start the process for what is small; others start when they are needed."""
        self._all[0].prepare()

    def start(self) -> None:
        """Return once the process for what is small is ready. Raises AnalysisDied."""
        self._all[0].start()

    def close(self) -> None:
        """End all processes."""
        for process in self._all:
            process.end()

    def conclude(
        self, items: Sequence[Evidence], redactor: Redactor, lease: Lease, progress: Progress | None = None
    ) -> Conclusion:
        """As `Reader.conclude`. Raises AnalysisDied besides, where the process is gone."""
        if is_small(items):
            with contextlib.suppress(NotSmallError), self._one_of(self._small, lease) as process:
                return process.conclude(items, redactor, lease, progress, small=True)
        with self._one_of(self._large, lease) as process:
            return process.conclude(items, redactor, lease, progress, small=False)

    @contextlib.contextmanager
    def _one_of(self, processes: list[_Process], lease: Lease) -> Iterator[_Process]:
        with self._free:
            while not (free := [one for one in processes if one not in self._taken]):
                self._free.wait(_LOOK)
                lease.check()
            self._taken.add(free[0])
        try:
            yield free[0]
        finally:
            with self._free:
                self._taken.discard(free[0])
                self._free.notify_all()


class _Process:
    """One process, used by one thread at a time."""

    def __init__(self, spec: Callable[[], Reader], name: str) -> None:
        self._spec = spec
        self._name = f"k3triage-reader-{name}"
        self._process: Any = None
        self._connection: Connection | None = None
        self._ready = False
        self._lock = threading.Lock()
        self._ended = False

    def prepare(self) -> Connection:
        """The connection to the process, which may not be ready; made anew where it is gone."""
        with self._lock:
            if self._ended:
                raise WorkReturned
            if self._connection is not None and self._process.is_alive():
                return self._connection
            self._drop()
            ours, theirs = _CONTEXT.Pipe()
            self._process = _CONTEXT.Process(target=serve, args=(theirs, self._spec), name=self._name, daemon=True)
            self._process.start()
            theirs.close()
            self._connection = ours
            self._ready = False
            return ours

    def start(self) -> Connection:
        """The connection to the process once it is ready. Raises AnalysisDied."""
        connection = self.prepare()
        if self._ready:
            return connection
        try:
            if connection.poll(_STARTING):
                connection.recv()
                self._ready = True
                return connection
        except (EOFError, OSError):
            pass
        self._kill()
        raise AnalysisDied("the process that reads logs does not start; see the lines of the log above")

    def conclude(
        self, items: Sequence[Evidence], redactor: Redactor, lease: Lease, progress: Progress | None, *, small: bool
    ) -> Conclusion:
        """See ReaderPool.conclude. Raises NotSmallError."""
        connection = self.start()
        try:
            connection.send((list(items), redactor, progress is not None, small))
            found = _answer(connection, lease, progress)
        except (EOFError, ConnectionError):
            if self._ended:
                raise WorkReturned from None
            raise AnalysisDied(f"the process that reads logs ended with {self._kill()}") from None
        except BaseException:
            self._stop(connection)
            raise
        if isinstance(found, Exception):
            raise found
        return found

    def end(self) -> None:
        """End it for good."""
        self._ended = True
        self._kill()

    def _stop(self, connection: Connection) -> None:
        """Make it stop what it does; kill it where it does not."""
        try:
            connection.send("stop")
            deadline = time.monotonic() + _STOPPING
            while connection.poll(max(0.0, deadline - time.monotonic())):
                if connection.recv()[0] != "progress":
                    return
        except (EOFError, OSError):
            pass
        self._kill()

    def _kill(self) -> int | None:
        with self._lock:
            return self._drop()

    def _drop(self) -> int | None:
        process, self._process = self._process, None
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if process is None:
            return None
        process.join(0.2)
        if process.is_alive():
            process.kill()
            process.join(5)
        code: int | None = process.exitcode
        return code


def _answer(connection: Connection, lease: Lease, progress: Progress | None) -> Conclusion | Exception:
    while True:
        while not connection.poll(_LOOK):
            lease.check()
        kind, value = connection.recv()
        if kind != "progress":
            return value  # type: ignore[no-any-return]
        lease.check()
        if progress is not None:
            progress(*value)


class _BotGone(Exception):
    """Nobody waits for an answer any more."""


class _Told(Lease):
    """The lease of a process: its end of the connection says when to stop."""

    def __init__(self, connection: Connection) -> None:
        super().__init__("", threading.Event())
        self._connection = connection

    def check(self) -> None:
        if self._connection.poll():
            try:
                self._connection.recv()
            except (EOFError, OSError):
                raise _BotGone from None
            raise WorkReturned


def serve(connection: Connection, spec: Callable[[], Reader]) -> None:
    """The life of a process: read what is asked for until the bot is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches us too, and the bot decides when we end
    os.nice(_NICE)
    reader = spec()

    def progress(read: int, total: int | None, file: str) -> None:
        try:
            connection.send(("progress", (read, total, file)))
        except OSError:
            raise _BotGone from None

    with contextlib.suppress(EOFError, OSError, _BotGone):
        connection.send("ready")
        while True:
            asked = connection.recv()
            if asked != "stop":  # which came after the end
                items, redactor, wanted, small = asked
                conclude = reader.conclude_small if small else reader.conclude_any
                connection.send(_tried(conclude, items, redactor, _Told(connection), progress if wanted else None))


def _tried(
    conclude: Callable[..., Conclusion],
    items: Sequence[Evidence],
    redactor: Redactor,
    lease: Lease,
    progress: Progress | None,
) -> tuple[str, Conclusion | Exception]:
    try:
        return "done", conclude(items, redactor, lease, progress)
    except _BotGone:
        raise
    except BotError as error:
        return "failed", error
    except Exception as error:  # noqa: BLE001 - judged in the bot
        # Without its text, which may hold some of the log.
        return "failed", RuntimeError(f"{type(error).__name__} in the reader")
