"""What failed, in order: exceptions, error records and native messages, without the echoes and the harmless ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from kb.evidence import Evidence
from kb.lines import Line
from kb.markers import is_fatal
from kb.tracebacks import Raised


@dataclass(frozen=True, slots=True)
class Failure:
    """A sign that something failed. `index` is the place of its line among the kept lines."""

    index: int
    line: Line
    raised: Raised | None
    echo: bool
    """Only repeats that something else failed, or is the usual echo of a peer that died."""
    wrapper: bool
    """A knowledge entry of kind consequence names the line."""


_ECHO_TEXT = re.compile(
    r"openai\.(?:API(?:Connection|Timeout)|InternalServer)Error|httpx\.(?:Connect|Read"
    r"|RemoteProtocol)\w*|Connection error\."
    r"|remote process exited or there was a network error|Connection closed by (?:remote )?peer"
    r"|Connection reset by peer"
    r"|Watchdog caught collective operation timeout|Broken pipe|connect to .{1,80} returned Connection refused"
    r"|destroy_process_group|Received signal 15|SIGTERM|CancelledError|KeyboardInterrupt|leaked (?:semaphore"
    r"|shared_memory)|resource_tracker"
    r"|[Ss]hutting down|shutdown"
)
_ERROR_LEVELS = frozenset({"ERROR", "CRITICAL"})
_QUIET_LEVELS = frozenset({"DEBUG", "INFO", "WARNING"})


def find_failures(
    evidence: Evidence, exceptions: list[Raised], wrappers: set[int], harmless: set[int]
) -> list[Failure]:
    """All failures in the order of the kept lines.

    `wrappers` and `harmless` are the indices of lines that consequence entries, and note entries, match.
    """
    inside = _headings(evidence, exceptions)
    failures: list[Failure] = []
    for raised in exceptions:
        first = evidence.lines[raised.start]
        for index in range(raised.start, raised.index + 1):
            if evidence.lines[index].stream == first.stream:
                inside.add(index)
        if raised.index in harmless or raised.logged_quietly:
            continue
        line = raised.line
        wrapper = any(index in wrappers for index in message_lines(evidence, raised))
        echo = wrapper or bool(_ECHO_TEXT.search(f"{raised.type}: {raised.message[:400]}"))
        failures.append(Failure(raised.index, line, raised, echo, wrapper))
    for index, line in enumerate(evidence.lines):
        if index in inside or index in harmless:
            continue
        body = line.body
        if not body or (line.level in _QUIET_LEVELS and not _SERVER_ERROR.search(body)):
            continue
        if _DUMP.search(body[:200]):
            continue
        if _SERVER_ERROR.search(body):
            if line.level or line.process:  # the server's own access log, not that of a proxy
                failures.append(Failure(index, line, None, echo=True, wrapper=True))
            continue
        if line.level in _ERROR_LEVELS or is_fatal(body):
            if (
                not body.strip()
                or (body[:1] == " " and not _STATUS.search(body))
                or body.startswith("Traceback (most recent call last)")
            ):
                continue
            wrapper = index in wrappers or bool(_ENDED.search(body[:600]))
            failures.append(Failure(index, line, None, wrapper or bool(_ECHO_TEXT.search(body[:600])), wrapper))
    failures.sort(key=lambda failure: failure.index)
    return _without_ordered_stops(evidence, failures)


_DUMP = re.compile(r"Dumping (?:input data|scheduler output|scheduler stats)")
"""What the engine core prints of its state when it dies: errors by level, not by content (vllm v1/engine/core.py)."""
_STATUS = re.compile(
    r"CrashLoopBackOff|OOMKilled|Back-off restarting|ImagePullBackOff|ErrImagePull|Active: failed|Warning +[A-Z]\w+ "
    r"|probe, will be restarted|hostPath type check failed"
)
"""Status listings are indented; an indented line else is source code in a traceback."""

_ENDED = re.compile(
    r"Main process exited, code=|Failed with result '|CrashLoopBackOff|Back-off restarting failed container"
)
"""What a supervisor says of a process that ended, whatever ended it."""

_SUPERVISOR = re.compile(
    r"OOMKilled|oom-kill|Killed process \d|(?:[Ll]iveness|[Ss]tartup|[Rr]eadiness) probe|Killing container|Last State: "
)


def is_of_supervisor(line: Line) -> bool:
    """Whether the kernel, the container runtime or the orchestrator says it of a process, from outside."""
    return line.process == "kernel" or bool(_SUPERVISOR.search(line.body[:600]) or _ENDED.search(line.body[:600]))


_ORDERED_STOP = re.compile(
    r"\[shutdown\] API server: shutdown triggered|trigger received signal=SIG(?:TERM|INT)"
    r"|[Rr]eceived (?:signal )?(?:SIGTERM|SIGINT|15\b|2\b)|Shutting down FastAPI HTTP server|^INFO: +Shutting down"
)
_START = re.compile(r"non-default args: |Initializing a V1 LLM engine")


def ordered_stops(evidence: Evidence) -> list[int]:
    """Indices of the lines that tell that a server was told to end."""
    return [
        index
        for index, line in enumerate(evidence.lines)
        if index not in evidence.quoted and _ORDERED_STOP.search(line.body[:200])
    ]


def _without_ordered_stops(evidence: Evidence, failures: list[Failure]) -> list[Failure]:
    """Drop the echoes of a stop that somebody ordered: a server that is told to end while nothing has failed yet."""
    stops = ordered_stops(evidence)
    if not stops:
        return failures
    starts = [index for index, line in enumerate(evidence.lines) if _START.search(line.body[:200])]
    dropped: set[int] = set()
    for stop in stops:
        file = evidence.lines[stop].file
        begin = max((at for at in starts if at < stop and evidence.lines[at].file == file), default=-1)
        end = min((at for at in starts if at > stop and evidence.lines[at].file == file), default=len(evidence.lines))
        of_run = [f for f in failures if begin < f.index < end and f.line.file == file and f.index not in dropped]
        if any(failure.index < stop for failure in of_run):
            continue
        dropped |= {failure.index for failure in of_run if failure.echo}
    return [failure for failure in failures if failure.index not in dropped]


def message_lines(evidence: Evidence, raised: Raised) -> list[int]:
    """Indices of the kept lines that hold the message of an exception, its own line first."""
    found = [raised.index]
    left = raised.message.count("\n")
    at = raised.index + 1
    stream = raised.line.stream
    while left > 0 and at < len(evidence.lines):
        if evidence.lines[at].stream == stream:
            found.append(at)
            left -= 1
        at += 1
    return found


def _headings(evidence: Evidence, exceptions: list[Raised]) -> set[int]:
    """Records that only announce the traceback that follows them in the same process, at the same moment and level."""
    starts = {raised.start for raised in exceptions if raised.frames}
    last: dict[tuple[str, str | None, str | int | None], int] = {}
    found = set()
    for index, line in enumerate(evidence.lines):
        before = last.get(line.stream)
        if index in starts and before is not None and line.level in _ERROR_LEVELS:
            heading = evidence.lines[before]
            if heading.level == line.level and heading.origin == line.origin and heading.time == line.time:
                found.add(before)
        last[line.stream] = index
    return found


_SERVER_ERROR = re.compile(r'HTTP/[\d.]+" 5\d\d\b')
"""An access-log line of a request that the server failed; refused requests (4xx) are part of a healthy log."""


def chronological(failures: list[Failure], times: list[float | None]) -> list[Failure]:
    """Failures by the moment they were logged, where all of several files tell it; else in the order given.

    Within one file the order of the lines is surer than the clocks of the processes that wrote them, but for a paste
    in which the log of one machine follows that of another.
    """
    moments = [times[failure.index] for failure in failures]
    if any(moment is None for moment in moments):
        return failures
    if len({failure.line.file for failure in failures}) < 2 and not any(
        comes_later(one.line, times[one.index], other.line, times[other.index]) for one, other in pairwise(failures)
    ):
        return failures
    order = sorted(range(len(failures)), key=lambda at: (moments[at] or 0.0, at))
    return [failures[at] for at in order]


def root_failure(failures: list[Failure], times: list[float | None]) -> Failure | None:
    """The failure that the others follow from: the first that is no wrapper and no echo of one just after it."""
    ordered = chronological(failures, times)
    first = next((failure for failure in ordered if not failure.wrapper), None)
    if first is None:
        return ordered[0] if ordered else None
    if not first.echo:
        return first
    for failure in ordered[ordered.index(first) + 1 :]:
        if failure.echo:
            continue
        before, after = times[first.index], times[failure.index]
        if before is None or after is None or after - before <= _ECHO_SECONDS:
            return failure
        break
    return first


def comes_later(one: Line, before: float | None, other: Line, after: float | None) -> bool:
    """Whether of two lines in this order in one file the first was written later: a paste of several logs in a row.

    Only the kernel's lines and those of different hosts are told apart so. Less than the first bound is the jitter of
    clocks, more than the second another time zone.
    """
    apart = "kernel" in (one.process, other.process) or (one.host and other.host and one.host != other.host)
    return bool(apart) and before is not None and after is not None and _JITTER < before - after < _ZONE


_JITTER = 3.0
_ZONE = 29 * 60.0
_ECHO_SECONDS = 3.0
