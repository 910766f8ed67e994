"""What stands in front of a log message: who wrote it, when, and how loud.

Understood without configuration: vLLM's `(EngineCore_DP0 pid=7) ERROR 08-11 12:00:00 [core.py:708]` in all its forms,
Ray's `(RayWorkerProc pid=7, ip=10.0.0.1)`, torchrun's `[rank3]:`, NCCL's `host:pid:tid [gpu]`, UCX, glog (PyTorch C++,
NIXL, klog), Docker, `kubectl logs --prefix --timestamps`, CRI, mpirun, syslog, journald, dmesg, plain Python logging
and, told by `kb.columns`, what stern, Docker Compose, srun and pdsh put in front of every line. They may be stacked, as
in a pod's log of a Ray worker.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb import forms
from kb.columns import Column
from kb.lines import Line
from kb.moments import month_day, seconds

_REACH = 300
"""How far into a line a record is looked for behind text that is no framing."""


@dataclass(slots=True)
class _Frame:
    """What has been read of the framing so far."""

    at: int = 0
    process: str | None = None
    pid: int | None = None
    rank: int | None = None
    host: str | None = None
    unit: str | None = None
    time: float | None = None
    level: str | None = None
    origin: str | None = None


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _paren(text: str, frame: _Frame) -> bool:
    if match := forms.PROCESS.match(text, frame.at):
        # A Ray actor prints vLLM's own prefix inside its own: the inner one names the process better.
        frame.process, pid, address = match.groups()
        frame.pid = int(pid)
        frame.rank = _rank(frame.process, frame.rank)
    elif match := forms.RAY_SYSTEM.match(text, frame.at):
        name, pid, address = match.groups()
        frame.process, frame.pid = name or frame.process, _number(pid)
    else:
        return False
    if address:
        frame.host = frame.unit = address
    frame.at = match.end()
    return True


def _rank(process: str, known: int | None) -> int | None:
    """The rank that a worker's name tells: of its only group, or among the experts; of a grid no single number."""
    groups = forms.GROUP_RANK.findall(process) if "_" in process else []
    if not groups:
        old = forms.OLD_RANK.match(process)
        return int(old.group(1)) if old else known
    if not process.startswith("Worker"):
        return known
    experts = [rank for name, rank in groups if name == "EP"]
    if experts:
        return int(experts[0])
    return int(groups[0][1]) if len(groups) == 1 else known


def _bracket(text: str, frame: _Frame) -> bool:
    at = frame.at
    if match := forms.RANK.match(text, at) or forms.MPI.match(text, at):
        frame.rank = int(match.group(1))
        frame.process = frame.process or f"rank{match.group(1)}"
    elif match := forms.GLOG.match(text, at):
        _take_glog(match, frame)
    elif match := forms.KUBECTL.match(text, at):
        frame.host = frame.unit = match.group(1)
    elif match := forms.BRACKETED_LEVEL.match(text, at):
        frame.level = forms.LEVELS[match.group(1)]
    elif match := forms.UCX.match(text, at):
        frame.time, frame.host, frame.pid = float(match.group(1)), match.group(2), int(match.group(3))
    elif match := forms.NCCL.match(text, at):
        _take_nccl(match, frame)
    elif match := _syslog(text, frame):
        pass
    elif match := forms.DMESG.match(text, at):
        frame.process = frame.process or "kernel"
        if match.group(1):  # else seconds since boot: they order nothing but the kernel's own lines
            frame.time = month_day(match.group(1), match.group(2), match.group(3), match.group(4))
    elif match := forms.RAY_CORE.match(text, at):
        frame.time, frame.level, frame.pid = seconds(match.group(1)), forms.LEVELS[match.group(2)], int(match.group(3))
    elif match := forms.BRACKETED_TIME.match(text, at):
        stamp, month, day, year, clock = match.groups()
        frame.time = seconds(stamp) if stamp else month_day(month, day, clock, year)
    else:
        return False
    frame.at = match.end()
    return True


def _take_glog(match: re.Match[str], frame: _Frame) -> None:
    level, day, clock, thread, origin = match.groups()
    frame.level = forms.LEVELS[level]
    if frame.time is None:
        frame.time = month_day(day[-4:-2], day[-2:], clock, day[:-4] if len(day) == 8 else None)
    frame.pid = frame.pid if frame.pid is not None else _number(thread)
    frame.origin = origin


def _take_nccl(match: re.Match[str], frame: _Frame) -> None:
    stamp, host, pid = match.groups()
    frame.time = seconds(stamp) if stamp else frame.time
    frame.host = frame.host or host
    frame.pid = int(pid)


def _syslog(text: str, frame: _Frame) -> re.Match[str] | None:
    """A line of syslog or of the journal. With a time of Docker's form, `word word: ` may be the message itself."""
    match = forms.SYSLOG.match(text, frame.at)
    if match is None:
        return None
    month, day, clock, stamp, epoch, host, unit, pid = match.groups()
    if not (month or pid or unit in forms.SYSTEM_UNITS or unit.endswith((".service", ".scope"))):
        return None
    frame.time = float(epoch) if epoch else seconds(stamp) if stamp else month_day(month, day, clock) if month else None
    frame.host = host
    if unit == "kernel":
        frame.process = "kernel"
    else:
        frame.unit = unit
        frame.pid = _number(pid)
    return match


def _word(text: str, frame: _Frame) -> bool:
    at = frame.at
    if match := forms.VLLM_RECORD.match(text, at):
        _take_record(match, frame)
    elif match := forms.UVICORN.match(text, at):
        frame.level = forms.LEVELS[match.group(1)]
        # It pads the level to ten columns; more than that is the message's own.
        padding = min(len(match.group(2)), max(9 - len(match.group(1)), 1))
        frame.at = match.start(2) + (padding if padding == 9 - len(match.group(1)) else 1)
        return True
    elif match := forms.PYTHON_DEFAULT.match(text, at):
        frame.level, frame.origin = forms.LEVELS[match.group(1)], match.group(2)
    elif match := forms.GLOG.match(text, at):
        _take_glog(match, frame)
    elif match := _syslog(text, frame) or forms.NCCL.match(text, at):
        if match.re is forms.NCCL:
            _take_nccl(match, frame)
    elif at and (match := forms.CRI.match(text, at)):
        pass
    elif at == 0 and (match := forms.SERVICE.match(text)):
        frame.unit = match.group(1)
    elif match := forms.DMESG_FACILITY.match(text, at) or forms.LOGFMT.match(text, at):
        frame.level = forms.LEVELS.get(match.group(match.re.groups))
        if match.re is forms.LOGFMT:
            frame.time = seconds(match.group(1))
    else:
        return False
    frame.at = match.end()
    return True


def _take_record(match: re.Match[str], frame: _Frame) -> None:
    level, stamp, origin = match.groups()
    frame.level = forms.LEVELS[level]
    if frame.time is None:  # a container's clock outside has a year, and is the same for all processes
        frame.time = month_day(stamp[:2], stamp[3:5], stamp[6:])
    frame.origin = origin


def _digit(text: str, frame: _Frame) -> bool:
    at = frame.at
    match = _syslog(text, frame) if at == 0 else None
    if match is None and (match := forms.RFC3339.match(text, at)):
        frame.time = seconds(match.group(1))
        frame.at = match.end()
        if level := forms.AFTER_TIME.match(text, frame.at):
            frame.level = forms.LEVELS[level.group(1)]
            frame.at = level.end()
        return True
    if match is None and (match := forms.NCCL.match(text, at)):
        _take_nccl(match, frame)
    if match is None:
        return False
    frame.at = match.end()
    return True


def _angle(text: str, frame: _Frame) -> bool:
    if match := forms.RFC5424.match(text, frame.at):
        frame.time = seconds(match.group(1))
        frame.host, frame.unit, pid = match.group(2), match.group(3), match.group(4)
        frame.pid = _number(pid.strip("-"))
    elif match := _syslog(text, frame):
        pass
    elif match := forms.DMESG.match(text, frame.at):
        return _bracket(text, frame)
    else:
        return False
    frame.at = match.end()
    return True


def _local(text: str, frame: _Frame) -> bool:
    """A line of the system's log whose date is in another language; short months are padded with a blank."""
    match = _syslog(text, frame)
    if match is None:
        return False
    frame.at = match.end()
    return True


def _read(text: str, frame: _Frame) -> None:
    """Take one framing after another off the front."""
    length = len(text)
    for _ in range(8):
        if frame.at >= length:
            return
        first = text[frame.at]
        if first == "(":
            more = _paren(text, frame)
        elif first == "[":
            more = _bracket(text, frame)
        elif "0" <= first <= "9":
            more = _digit(text, frame)
        elif "A" <= first <= "z":
            more = _word(text, frame)
        elif first == "<":
            more = _angle(text, frame)
        elif frame.at == 0 and (first > "\x7f" or first == " "):
            more = _local(text, frame)
        else:
            return
        if not more:
            return


def _look_further(text: str, frame: _Frame) -> None:
    """Read a record behind a progress bar, a VLLM_LOGGING_PREFIX, or a shipper's text that we do not know."""
    end = frame.at + _REACH
    found = None
    if frame.process is None and text.find(" pid=", frame.at, end) > 0:
        found = forms.VLLM_ANYWHERE.search(text, frame.at, end)
    if found is None and text.find(" [", frame.at, end) > 0:
        found = forms.RECORD_ANYWHERE.search(text, frame.at, end)
    if found is None or found.start() <= frame.at:
        return
    before = text[frame.at : found.start()]
    if not forms.BAR.search(before):
        words = before.split()
        plain = len(words) > 1 and all(word.isalpha() for word in words)
        if len(words) > 3 or len(before) > 80 or "'" in before or '"' in before:
            return
        if plain and not forms.RECORD_ANYWHERE.search(text, found.start(), found.start() + 120):
            return
    inner = _Frame(found.start(), frame.process, frame.pid, frame.rank, frame.host, frame.unit, frame.time)
    _read(text, inner)
    if inner.at > found.start():
        for name in ("at", "process", "pid", "rank", "host", "unit", "time", "level", "origin"):
            setattr(frame, name, getattr(inner, name))


def parse_line(file: str, number: int, text: str, column: Column | None = None) -> Line:
    """Read the framing of one line. `text` is decoded, without colours and line end; `column` as `find_column` told."""
    frame = _Frame()
    if column is not None and (cell := column.take(text)) is not None:
        frame.at, frame.unit, frame.host = cell
        if column is Column.TASK:
            frame.rank = int(frame.unit or 0)
    _read(text, frame)
    if frame.level is None and frame.at < len(text):
        _look_further(text, frame)
    return Line(
        file, number, text, text[frame.at :], frame.process, frame.pid, frame.rank, frame.host, frame.unit, frame.time,
        frame.level, frame.origin,
    )  # fmt: skip


def is_framed(text: str) -> bool:
    """Whether some log framing stands in front of the line."""
    if text.startswith("(") and forms.PROCESS.match(text):
        return True
    line = parse_line("", 0, text)
    return len(line.body) != len(text)
