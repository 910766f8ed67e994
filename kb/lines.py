"""A line of evidence with its origin."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One line of evidence.

    `number` is the raw line number (from 1) in the file as it was given; a line that was put together from a
    hard-wrapped paste carries the number of its first part. `text` is the line without colours and line end, `body`
    the message without the framing in front of it (time stamps, process names, Docker, Kubernetes, syslog).
    `time` is seconds since 1970 as read from the line, without regard to the time zone; it orders lines of one host.
    """

    file: str
    number: int
    text: str
    body: str
    process: str | None = None
    """Name of the process as the log gives it, for instance `Worker_TP3`, `EngineCore_DP0`, `APIServer`."""
    pid: int | None = None
    rank: int | None = None
    host: str | None = None
    """Host, pod or Ray node the line comes from, where the framing tells it."""
    unit: str | None = None
    """Container, pod or node whose output the line is part of, where several are mixed in one file."""
    time: float | None = None
    level: str | None = None
    """DEBUG, INFO, WARNING, ERROR or CRITICAL."""
    origin: str | None = None
    """Source file that logged the line, for instance `core.py:708`."""

    @property
    def stream(self) -> tuple[str, str | None, str | int | None]:
        """Key of the process that wrote the line: lines of one stream belong together however they are interleaved."""
        return (self.file, self.unit, self.pid if self.pid is not None else self.process)
