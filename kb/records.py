"""Log lines that are JSON objects around a message, and long lines that a container runtime cut in parts.

Docker's json-file, Kubernetes CRI, Python's JSON formatters (vLLM's `--logging-config.formatter json` among them), Rust
tracing, journald's export and log shippers. A record is written anew as text whose framing `kb.framing` reads; its
message may be several lines, each of which gets that frame. JSON that is no log record (a response body, a dump of a
configuration) stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from kb.terminal import overwritten

_MAX_RECORD = 1 << 20
_MAX_PENDING = 64
_SAMPLE = 1 << 12
_SEARCH_WHOLE = 1 << 19
_DOCKER_PART = 8000
"""Characters, at least, of a part of a line: Docker cuts at 16 KiB. A shorter line without line end is whole."""

_CRI = re.compile(
    rb"((?:\[[^\]\n]{1,200}\] )?\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:?\d\d) (?:stdout|stderr)) ([PF])(?: |$)",
    re.MULTILINE,
)
_PLAIN_DOCKER = re.compile(  # by far the most frequent record, with nothing to unescape
    rb'\{"log":"([^"\\{][^"\\]*|)\\n","stream":"(?:stdout|stderr)","time":"(\d{4}-\d\d-\d\dT\d\d:\d\d:[^"\\]{2,30})"\}'
)
_KEY = re.compile(rb'[{,]\s?"(?:log|message|msg|MESSAGE|textPayload|line|body|event)"\s?:')
_MESSAGE_KEYS = ("log", "message", "msg", "MESSAGE", "textPayload", "line", "body", "event")
_NESTED_KEYS = ("fields", "jsonPayload", "record", "content", "attributes")
_TIME_KEYS = ("time", "timestamp", "asctime", "@timestamp", "ts", "date", "__REALTIME_TIMESTAMP")
_LEVEL_KEYS = ("levelname", "level", "severity", "log_level", "loglevel")
_MORE_KEYS = ("exc_info", "exception", "exc_text", "stack_info", "stack_trace", "traceback")
_LEVELS = frozenset({"DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL", "TRACE", "NOTICE"})
_MONTH_DAY = re.compile(r"\d\d-\d\d \d\d:\d\d:\d\d")
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_STAMP = re.compile(rb"\d{4}-\S+")
_PAD = 10
_ODD = re.compile(r"[^A-Za-z0-9_./@:-]")
_PID = re.compile(r"[0-9]{1,10}")
_EPOCH = re.compile(r"[0-9]{10,19}")


def may_hold_records(data: bytes) -> bool:
    """Whether it is worth looking for records: a quick look at the start of a large block, at all of a small one."""
    head = data[:_SAMPLE]
    sample = data if len(data) <= _SEARCH_WHOLE else head
    if _opens(sample) and _KEY.search(sample) is not None:
        return True
    return (b" stderr " in head or b" stdout " in head) and _CRI.search(head) is not None


def _opens(data: bytes) -> bool:
    return b'{"' in data or b'{ "' in data


class Records:
    """Unwraps the lines of one stream; parts of a line whose end is still to come are held."""

    def __init__(self) -> None:
        self._pending: dict[tuple[bytes, object], tuple[int, bytes, bytes]] = {}  # raw number, frame, text

    def unwrap(self, numbered: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Lines of messages as (raw number, text), for lines given in the same form."""
        for number, raw in numbered:
            plain = _PLAIN_DOCKER.fullmatch(raw) if not self._pending else None
            if plain is not None:
                yield number, plain[2] + b" " + plain[1]
                continue
            cut = _CRI.match(raw)
            if cut is not None:
                key = (_STAMP.sub(b"", cut[1]), None)
                yield from self._part(key, number, cut[1] + b" F ", raw[cut.end() :], cut[2] == b"F")
                continue
            found = _record(raw)
            if found is None:
                yield number, raw
            else:
                yield from self._part(found.stream, number, found.frame, found.text, found.complete)

    def finish(self) -> Iterator[tuple[int, bytes]]:
        """The lines whose end never came."""
        for number, frame, text in self._pending.values():
            yield from _lines(number, frame, text)
        self._pending = {}

    def _part(
        self, key: tuple[bytes, object], number: int, frame: bytes, text: bytes, complete: bool
    ) -> Iterator[tuple[int, bytes]]:
        before = self._pending.pop(key, None)
        if before is not None:
            number, frame, text = before[0], before[1], before[2] + text
        if complete or len(text) >= _MAX_RECORD:
            yield from _lines(number, frame, text)
            return
        if len(self._pending) >= _MAX_PENDING:
            yield from _lines(*self._pending.pop(next(iter(self._pending))))
        self._pending[key] = (number, frame, text)


class _Record(NamedTuple):
    """One record: what names its stream, the frame to put in front, the message, and whether it has its end."""

    stream: tuple[bytes, object]
    frame: bytes
    text: bytes
    complete: bool


def _lines(number: int, frame: bytes, text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of one message. The message of a container's line may be a record itself."""
    inner = _record(text) if text.startswith(b"{") else None
    if inner is not None:
        frame, text = frame + inner.frame, inner.text
    for line in text.split(b"\n"):
        for part in overwritten(line) if b"\r" in line else (line,):
            yield number, frame + part


def _record(raw: bytes) -> _Record | None:
    """The record that a line holds, perhaps behind other framing; None where it is none."""
    start = raw.find(b"{", 0, 256)
    if start < 0 or len(raw) > _MAX_RECORD or raw[-1:] not in b"} \t\r" or not _KEY.search(raw, start):
        return None
    before = raw[:start]
    if before and not before.endswith((b" ", b"\t")):
        return None
    try:
        record = json.loads(raw[start:])
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    read = _docker(record) or _structured(record)
    if read is None:
        return None
    stream, frame, message, complete = read
    text = message.removesuffix("\n").encode("utf-8", "replace")
    return _Record((before, stream), before + frame.encode("utf-8", "replace"), text, complete)


def _docker(record: dict[str, Any]) -> tuple[object, str, str, bool] | None:
    """A line of Docker's json-file, or of a shipper that passes it on."""
    message = record.get("log")
    if not isinstance(message, str) or not ({"stream", "time", "kubernetes", "@timestamp", "date"} & record.keys()):
        return None
    stream = record.get("stream")
    pod = record.get("kubernetes")
    complete = message.endswith("\n") or len(message) < _DOCKER_PART
    return (stream if isinstance(stream, str) else None, _pod(pod) + _when(record)[0], message, complete)


def _structured(record: dict[str, Any]) -> tuple[object, str, str, bool] | None:
    """A record of a JSON formatter: a message beside a time or a level."""
    outer = record
    message = _text(record)
    if message is None:
        inner = next((record[key] for key in _NESTED_KEYS if isinstance(record.get(key), dict)), None)
        if inner is None or (message := _text(inner)) is None:
            return None
        outer = {**inner, **record}
    level = next((outer[key] for key in _LEVEL_KEYS if isinstance(outer.get(key), str)), "")
    iso, short = _when(outer)
    if not (iso or short or level.upper() in _LEVELS) or "choices" in record or "object" in record:
        return None
    more = [outer[key].strip("\n") for key in _MORE_KEYS if isinstance(outer.get(key), str) and outer[key].strip()]
    frame = _pod(outer.get("kubernetes")) + (_host(outer) or iso) + _process(outer)
    return None, frame + _level(level.upper(), short, outer), "\n".join([message, *more]), True


def _text(record: dict[str, Any]) -> str | None:
    for key in _MESSAGE_KEYS:
        value = record.get(key)
        if isinstance(value, str):
            return value
        if key == "MESSAGE" and isinstance(value, list) and all(isinstance(b, int) and 0 <= b < 256 for b in value):
            return bytes(value).decode("utf-8", "replace")  # journald writes messages with colours as numbers
    return None


def _when(record: dict[str, Any]) -> tuple[str, str]:
    """The time as text with a space behind it: with a year, else in vLLM's own form without one."""
    for key in _TIME_KEYS:
        value = record.get(key)
        if isinstance(value, str) and _EPOCH.fullmatch(value):
            value = int(value)
        if isinstance(value, str) and len(value) < 64 and _ISO.match(value):
            return value.replace("\n", "") + " ", ""
        if isinstance(value, str) and _MONTH_DAY.match(value):
            return "", value[:14]
        if isinstance(value, int | float) and not isinstance(value, bool) and 1e9 < value < 4e18:
            while value > 1e11:
                value /= 1000
            return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M:%SZ "), ""
    return "", ""


def _pod(kubernetes: object) -> str:
    if not isinstance(kubernetes, dict):
        return ""
    pod, container = kubernetes.get("pod_name"), kubernetes.get("container_name")
    if not isinstance(pod, str) or not re.fullmatch(r"[\w.-]{1,253}", pod, re.ASCII):
        return ""
    named = isinstance(container, str) and re.fullmatch(r"[\w.-]{1,253}", container, re.ASCII)
    return f"[pod/{pod}/{container if named else '-'}] "


def _host(record: dict[str, Any]) -> str:
    """journald's host and unit, in the form of a syslog line."""
    host = record.get("_HOSTNAME")
    unit = record.get("SYSLOG_IDENTIFIER") or record.get("_COMM")
    stamp = record.get("__REALTIME_TIMESTAMP")
    if not (isinstance(host, str) and isinstance(unit, str) and stamp) or not re.fullmatch(r"[\w.-]{1,253}", host):
        return ""
    iso = _when(record)[0].strip()
    pid = str(record.get("_PID", ""))
    return f"{iso} {host} {_ODD.sub('_', unit)[:60]}[{pid if _PID.fullmatch(pid) else 0}]: " if iso else ""


def _process(record: dict[str, Any]) -> str:
    name = record.get("processName") or record.get("process_name")
    pid = str(record.get("process") or record.get("pid"))
    return f"({_ODD.sub('_', name)[:60]} pid={pid}) " if isinstance(name, str) and _PID.fullmatch(pid) else ""


def _level(level: str, short: str, record: dict[str, Any]) -> str:
    """Level, time and place as vLLM writes them, else the level as uvicorn pads it."""
    level = {"WARN": "WARNING", "FATAL": "CRITICAL", "TRACE": "DEBUG", "NOTICE": "INFO"}.get(level, level)
    if level not in _LEVELS:
        return ""
    if not short:
        return f"{level}:".ljust(_PAD)
    place = str(record.get("filename") or record.get("name") or record.get("logger") or "log")
    line = str(record.get("lineno") or 0)
    return f"{level} {short} [{_ODD.sub('_', place)[:100]}:{line if _PID.fullmatch(line) else 0}] "
