"""What stands in front of a log message: who wrote it, when, and how loud.

Understood without configuration: vLLM's `(EngineCore_DP0 pid=7) ERROR 08-11 12:00:00 [core.py:708]` in all its forms,
Ray's `(RayWorkerProc pid=7, ip=10.0.0.1)`, torchrun's `[rank3]:`, NCCL's `host:pid:tid [gpu]`, UCX, glog (PyTorch C++,
NIXL, klog), Docker, `kubectl logs --prefix --timestamps`, CRI, mpirun, syslog, journald, dmesg, plain Python logging
and, told by `kb.columns`, what stern, Docker Compose, srun and pdsh put in front of every line. They may be stacked, as
in a pod's log of a Ray worker. Formats: vllm 0.33.0 logger.py and utils/system_utils.py, NCCL 2.30 src/debug.cc, UCX
src/ucs/debug/log.c, systemd logs-show.c, RFC 5424.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb.columns import Column
from kb.lines import Line
from kb.moments import month_day, seconds

_LEVELS = {
    "DEBUG": "DEBUG", "INFO": "INFO", "WARNING": "WARNING", "WARN": "WARNING", "ERROR": "ERROR", "CRITICAL": "CRITICAL",
    "FATAL": "CRITICAL", "E": "ERROR", "W": "WARNING", "I": "INFO", "F": "CRITICAL", "C": "CRITICAL", "D": "DEBUG",
    "debug": "DEBUG", "info": "INFO", "notice": "INFO", "warn": "WARNING", "warning": "WARNING", "err": "ERROR",
    "error": "ERROR", "crit": "CRITICAL", "alert": "CRITICAL", "emerg": "CRITICAL", "fatal": "CRITICAL",
    "panic": "CRITICAL",
}  # fmt: skip
_PYTHON_LEVEL = "DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL"
_DATE = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


_PROCESS = _compile(
    r"\(([A-Za-z_][\w.:<>-]{0,99}(?: (?:rank=)?\w{1,20})?) pid=(\d{1,10})(?!\d)(?:, ip=([\w.:-]{1,64}))?"
    r"[^)\n]{0,60}\)(?: |$)"
)
_RAY_SYSTEM = _compile(
    r"\((?:(raylet|gcs_server|autoscaler|dashboard|log_monitor)(?: \+\w{1,10})?|pid=(\d{1,10}))"
    r"(?:, ip=([\w.:-]{1,64}))?\)(?: |$)"
)
_VLLM_RECORD = _compile(
    r"(DEBUG|INFO|WARNING|ERROR|CRITICAL) (?:\d{4}-)?(\d\d-\d\d \d\d:\d\d:\d\d)(?:[.,]\d{1,9})?"
    r" \[?([^\][\s]{1,120}:\d{1,7})\](?: |$)"
)
_UVICORN = _compile(r"(DEBUG|INFO|WARNING|ERROR|CRITICAL):( +)(?=\S)")
_PYTHON_DEFAULT = _compile(r"(DEBUG|INFO|WARNING|ERROR|CRITICAL):([A-Za-z_][\w.-]{0,80}):(?=\S)")
_RANK = _compile(r"\[(?:rank|default)(\d{1,6})\]: ?")
_MPI = _compile(r"\[\d{1,6},(\d{1,6})\]<std(?:out|err)>: ?")
_GLOG = _compile(
    r"\[?([EWIF])(\d{8}|\d{3,4}) (\d\d:\d\d:\d\d)\.\d{1,9} +(?:(\d{1,10}) +)?([\w./<>+-]{1,200}:\d{1,7})\] ?"
)
_NCCL = _compile(
    rf"(?:\[({_DATE})\] )?([A-Za-z0-9][\w.-]{{0,120}}):(\d{{1,10}}):\d{{1,10}} \[-?\d{{1,4}}\] "
    r"(?=.{0,160}NCCL (?:INFO|WARN|TRACE|CALL|version) )"
)
_UCX = _compile(r"\[(\d{10}(?:\.\d{1,9})?)\] \[([\w.-]{1,120}):(\d{1,10}):[\w-]{1,20}\] +(?=\S{1,120} +UCX )")
_RAY_CORE = _compile(rf"\[({_DATE}),\d{{1,9}} ([EWICD]) (\d{{1,10}}) \d{{1,10}}\] (?:\([\w-]{{1,40}}\) )?")
_BRACKETED_TIME = _compile(
    rf"\[(?:({_DATE})|([A-Z][a-z]{{2}}) +(\d{{1,2}}) (\d{{4}}) (\d\d:\d\d:\d\d))(?:[.,]\d{{1,9}})?"
    r"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\](?: |$)"
)
_BRACKETED_LEVEL = _compile(rf"\[({_PYTHON_LEVEL})\](?: |$)")
_RFC3339 = _compile(rf"({_DATE})(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?(?:[ \t]|$)")
_CRI = _compile(r"(?:stdout|stderr) [FP](?: |$)")
_SERVICE = _compile(  # Docker Compose, honcho; a cell of a table is not followed by what opens a log line
    r"([a-z][\w.-]{0,100}) +\| (?=[(\[]|\d{4}-\d\d-|Traceback |  File \"|[\w.]{0,200}(?:Error|Exception): "
    r"|(?:DEBUG|INFO|WARNING|ERROR)\b)"
)
_KUBECTL = _compile(r"\[(?:pod|job|deployment|statefulset)/([\w.-]{1,253})/([\w.-]{1,253})\] ?")
_SYSLOG = _compile(
    r"(?:<\d{1,3}>)?(?:([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d)(?:\.\d{1,9})?"
    r"|(?:[A-Z][a-z]{2} )?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)\S{0,16}(?: [A-Z]{3,5})?"
    r"|(\d{10})\.\d{1,9}"
    r"|\[ *\d{1,10}\.\d{1,6}\])"
    r" (?:([\w.-]{1,253}) )?([\w./@:-]{1,200}?)(?:\[(\d{1,10})\])?: "
)
_SYSTEM_UNITS = frozenset(
    {"kernel", "systemd", "dockerd", "containerd", "kubelet", "sudo", "CRON", "nvidia-persistenced", "nv-fabricmanager"}
)
_RFC5424 = _compile(
    r"<\d{1,3}>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\S{0,16} ([\w.-]{1,253}) ([\w./@-]{1,48}) (\d{1,10}|-) \S{1,32}"
    r" (?:-|\[[^\]]{0,400}\]) ?"
)
_DMESG = _compile(
    r"(?:<\d{1,3}>)?\[(?: *\d{1,10}\.\d{1,6}|[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4}))\]"
    r"(?: |$)"
)
_DMESG_FACILITY = _compile(r"(?:kern|user|daemon|syslog) *:(debug|info|notice|warn|err|crit|alert|emerg) *: ")
_LOGFMT = _compile(rf'time="?({_DATE})[^\s"]{{0,16}}"? level=(\w{{3,8}}) ')
_AFTER_TIME = _compile(
    rf"[-|:\[ \t]{{0,3}}(?:[\w.]{{1,80}}(?:\[\d{{1,10}}\])? ?[-:|] ?)?({_PYTHON_LEVEL})(?!: {{2}})\]?(?:[-|: \t]+|$)"
)
_VLLM_ANYWHERE = _compile(
    r"\((?:APIServer|ApiServer|EngineCore|Worker|VllmWorker|DPCoordinator|DPSupervisor|RustFrontend|RayWorker)\w*"
    r"(?: \w+)? pid=\d"
)
_RECORD_ANYWHERE = _compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[")
_BAR = re.compile(r"\d%|\d/\d+ \[|it/s|s/it|\u2588")
_GROUP_RANK = _compile(r"_(DP|PP|PCP|TP|DCP|EP)(\d+)")
_OLD_RANK = _compile(r"VllmWorker\w* (?:TP|rank=)(\d+)")
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
    if match := _PROCESS.match(text, frame.at):
        # A Ray actor prints vLLM's own prefix inside its own: the inner one names the process better.
        frame.process, pid, address = match.groups()
        frame.pid = int(pid)
        frame.rank = _rank(frame.process, frame.rank)
    elif match := _RAY_SYSTEM.match(text, frame.at):
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
    groups = _GROUP_RANK.findall(process) if "_" in process else []
    if not groups:
        old = _OLD_RANK.match(process)
        return int(old.group(1)) if old else known
    if not process.startswith("Worker"):
        return known
    experts = [rank for name, rank in groups if name == "EP"]
    if experts:
        return int(experts[0])
    return int(groups[0][1]) if len(groups) == 1 else known


def _bracket(text: str, frame: _Frame) -> bool:
    at = frame.at
    if match := _RANK.match(text, at) or _MPI.match(text, at):
        frame.rank = int(match.group(1))
        frame.process = frame.process or f"rank{match.group(1)}"
    elif match := _GLOG.match(text, at):
        _take_glog(match, frame)
    elif match := _KUBECTL.match(text, at):
        frame.host = frame.unit = match.group(1)
    elif match := _BRACKETED_LEVEL.match(text, at):
        frame.level = _LEVELS[match.group(1)]
    elif match := _UCX.match(text, at):
        frame.time, frame.host, frame.pid = float(match.group(1)), match.group(2), int(match.group(3))
    elif match := _NCCL.match(text, at):
        _take_nccl(match, frame)
    elif match := _syslog(text, frame):
        pass
    elif match := _DMESG.match(text, at):
        frame.process = frame.process or "kernel"
        if match.group(1):  # else seconds since boot: they order nothing but the kernel's own lines
            frame.time = month_day(match.group(1), match.group(2), match.group(3), match.group(4))
    elif match := _RAY_CORE.match(text, at):
        frame.time, frame.level, frame.pid = seconds(match.group(1)), _LEVELS[match.group(2)], int(match.group(3))
    elif match := _BRACKETED_TIME.match(text, at):
        stamp, month, day, year, clock = match.groups()
        frame.time = seconds(stamp) if stamp else month_day(month, day, clock, year)
    else:
        return False
    frame.at = match.end()
    return True


def _take_glog(match: re.Match[str], frame: _Frame) -> None:
    level, day, clock, thread, origin = match.groups()
    frame.level = _LEVELS[level]
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
    match = _SYSLOG.match(text, frame.at)
    if match is None:
        return None
    month, day, clock, stamp, epoch, host, unit, pid = match.groups()
    if not (month or pid or unit in _SYSTEM_UNITS or unit.endswith((".service", ".scope"))):
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
    if match := _VLLM_RECORD.match(text, at):
        _take_record(match, frame)
    elif match := _UVICORN.match(text, at):
        frame.level = _LEVELS[match.group(1)]
        # It pads the level to ten columns; more than that is the message's own.
        padding = min(len(match.group(2)), max(9 - len(match.group(1)), 1))
        frame.at = match.start(2) + (padding if padding == 9 - len(match.group(1)) else 1)
        return True
    elif match := _PYTHON_DEFAULT.match(text, at):
        frame.level, frame.origin = _LEVELS[match.group(1)], match.group(2)
    elif match := _GLOG.match(text, at):
        _take_glog(match, frame)
    elif match := _syslog(text, frame) or _NCCL.match(text, at):
        if match.re is _NCCL:
            _take_nccl(match, frame)
    elif at and (match := _CRI.match(text, at)):
        pass
    elif at == 0 and (match := _SERVICE.match(text)):
        frame.unit = match.group(1)
    elif match := _DMESG_FACILITY.match(text, at) or _LOGFMT.match(text, at):
        frame.level = _LEVELS.get(match.group(match.re.groups))
        if match.re is _LOGFMT:
            frame.time = seconds(match.group(1))
    else:
        return False
    frame.at = match.end()
    return True


def _take_record(match: re.Match[str], frame: _Frame) -> None:
    level, stamp, origin = match.groups()
    frame.level = _LEVELS[level]
    if frame.time is None:  # a container's clock outside has a year, and is the same for all processes
        frame.time = month_day(stamp[:2], stamp[3:5], stamp[6:])
    frame.origin = origin


def _digit(text: str, frame: _Frame) -> bool:
    at = frame.at
    match = _syslog(text, frame) if at == 0 else None
    if match is None and (match := _RFC3339.match(text, at)):
        frame.time = seconds(match.group(1))
        frame.at = match.end()
        if level := _AFTER_TIME.match(text, frame.at):
            frame.level = _LEVELS[level.group(1)]
            frame.at = level.end()
        return True
    if match is None and (match := _NCCL.match(text, at)):
        _take_nccl(match, frame)
    if match is None:
        return False
    frame.at = match.end()
    return True


def _angle(text: str, frame: _Frame) -> bool:
    if match := _RFC5424.match(text, frame.at):
        frame.time = seconds(match.group(1))
        frame.host, frame.unit, pid = match.group(2), match.group(3), match.group(4)
        frame.pid = _number(pid.strip("-"))
    elif match := _syslog(text, frame):
        pass
    elif match := _DMESG.match(text, frame.at):
        return _bracket(text, frame)
    else:
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
        else:
            return
        if not more:
            return


def _look_further(text: str, frame: _Frame) -> None:
    """Read a record behind a progress bar, a VLLM_LOGGING_PREFIX, or a shipper's text that we do not know."""
    end = frame.at + _REACH
    found = None
    if frame.process is None and text.find(" pid=", frame.at, end) > 0:
        found = _VLLM_ANYWHERE.search(text, frame.at, end)
    if found is None and text.find(" [", frame.at, end) > 0:
        found = _RECORD_ANYWHERE.search(text, frame.at, end)
    if found is None or found.start() <= frame.at:
        return
    before = text[frame.at : found.start()]
    if not _BAR.search(before):
        words = before.split()
        plain = len(words) > 1 and all(word.isalpha() for word in words)
        if len(words) > 3 or len(before) > 80 or "'" in before or '"' in before:
            return
        if plain and not _RECORD_ANYWHERE.search(text, found.start(), found.start() + 120):
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
    line = parse_line("", 0, text)
    return len(line.body) != len(text)
