"""Structured logs: one JSON object a line, with the incident's id and never a text of the evidence.

Messages of exceptions may quote what was being read, so only their type and the places in the code are written.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from types import TracebackType

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_OURS = ("bot", "handlers", "kb")


class _Formatter(logging.Formatter):
    def _places(self, record: logging.LogRecord) -> tuple[str | None, list[str]]:
        if not record.exc_info or record.exc_info[0] is None:
            return None, []
        return record.exc_info[0].__name__, places(record.exc_info[2])


def places(trace: TracebackType | None) -> list[str]:
    """Where an exception went through, as file:line function."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)[-12:]]


class JsonFormatter(_Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        data: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage() if record.name.split(".")[0] in _OURS else _foreign(record),
        }
        data |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        kind, where = self._places(record)
        if kind is not None:
            data |= {"exception": kind, "at": where}
        return json.dumps(data, ensure_ascii=False, default=str)


class TextFormatter(_Formatter):
    """A line for a person at a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        extra = {key: value for key, value in vars(record).items() if key not in _STANDARD}
        message = record.getMessage() if record.name.split(".")[0] in _OURS else _foreign(record)
        shown = " ".join(f"{key}={value}" for key, value in extra.items())
        kind, where = self._places(record)
        tail = f" {kind} at {where[-1] if where else '?'}" if kind else ""
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        return f"{clock} {record.levelname:<7} {message}{' ' + shown if shown else ''}{tail}"


def _foreign(record: logging.LogRecord) -> str:
    """Other libraries put bodies of requests into their messages: only the first words of the template are kept."""
    template = str(record.msg).split("\n", 1)[0]
    return template[:60] if record.args else template.split(":", 1)[0].split("(", 1)[0][:60]


def configure(level: str = "INFO", style: str = "json") -> None:
    """Log to stderr. Other libraries are heard from WARNING."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in _OURS:
        logging.getLogger(name).setLevel(level.upper())
