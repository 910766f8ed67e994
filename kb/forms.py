"""The forms that the framing of a log line comes in, as patterns. `kb.framing` says what each of them tells.

All of them look at ASCII alone and are bounded, so that no line can be slow to read. Formats: vllm 0.33.0 logger.py and
utils/system_utils.py, NCCL 2.30 src/debug.cc, UCX src/ucs/debug/log.c, systemd logs-show.c, RFC 5424.
"""

from __future__ import annotations

import re

LEVELS = {
    "DEBUG": "DEBUG", "INFO": "INFO", "WARNING": "WARNING", "WARN": "WARNING", "ERROR": "ERROR", "CRITICAL": "CRITICAL",
    "FATAL": "CRITICAL", "E": "ERROR", "W": "WARNING", "I": "INFO", "F": "CRITICAL", "C": "CRITICAL", "D": "DEBUG",
    "debug": "DEBUG", "info": "INFO", "notice": "INFO", "warn": "WARNING", "warning": "WARNING", "err": "ERROR",
    "error": "ERROR", "crit": "CRITICAL", "alert": "CRITICAL", "emerg": "CRITICAL", "fatal": "CRITICAL",
    "panic": "CRITICAL",
}  # fmt: skip
_PYTHON_LEVEL = "DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL"
_LOCAL_MONTH = (
    r"(?:[Яя]нв|[Фф]ев|[Мм]ар|[Аа]пр|[Мм]а[йя]|[Ии]ю[нл]|[Аа]вг|[Сс]ент?|[Оо]кт|[Нн]ояб?|[Дд]ек)[а-я]{0,5}\.?"
    r"| ?\d{1,2}[월月]"
)
"""As `LANG=ru_RU`, `ko_KR`, `zh_CN` write it."""
_MONTH = rf"[A-Z][a-z]{{2}}|{_LOCAL_MONTH}"
_WEEKDAY = r"[A-Z][a-z]{2}|[А-Я][а-я]|[월화수목금토일]|(?:周|星期)?[一二三四五六日]"
_DATE = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


PROCESS = _compile(
    r"\(([A-Za-z_][\w.:<>-]{0,99}(?: (?:rank=)?\w{1,20})?) pid=(\d{1,10})(?!\d)(?:, ip=([\w.:-]{1,64}))?"
    r"[^)\n]{0,60}\)(?: |$)"
)
RAY_SYSTEM = _compile(
    r"\((?:(raylet|gcs_server|autoscaler|dashboard|log_monitor)(?: \+\w{1,10})?|pid=(\d{1,10}))"
    r"(?:, ip=([\w.:-]{1,64}))?\)(?: |$)"
)
VLLM_RECORD = _compile(
    r"(DEBUG|INFO|WARNING|ERROR|CRITICAL) (?:\d{4}-)?(\d\d-\d\d \d\d:\d\d:\d\d)(?:[.,]\d{1,9})?"
    r" \[?([^\][\s]{1,120}:\d{1,7})\](?: |$)"
)
UVICORN = _compile(r"(DEBUG|INFO|WARNING|ERROR|CRITICAL):( +)(?=\S)")
PYTHON_DEFAULT = _compile(r"(DEBUG|INFO|WARNING|ERROR|CRITICAL):([A-Za-z_][\w.-]{0,80}):(?=\S)")
RANK = _compile(r"\[(?:rank|default)(\d{1,6})\]: ?")
MPI = _compile(r"\[\d{1,6},(\d{1,6})\]<std(?:out|err)>: ?")
GLOG = _compile(
    r"\[?([EWIF])(\d{8}|\d{3,4}) (\d\d:\d\d:\d\d)\.\d{1,9} +(?:(\d{1,10}) +)?([\w./<>+-]{1,200}:\d{1,7})\] ?"
)
NCCL = _compile(
    rf"(?:\[({_DATE})\] )?([A-Za-z0-9][\w.-]{{0,120}}):(\d{{1,10}}):\d{{1,10}} \[-?\d{{1,4}}\] "
    r"(?=.{0,160}NCCL (?:INFO|WARN|TRACE|CALL|version) )"
)
UCX = _compile(r"\[(\d{10}(?:\.\d{1,9})?)\] \[([\w.-]{1,120}):(\d{1,10}):[\w-]{1,20}\] +(?=\S{1,120} +UCX )")
RAY_CORE = _compile(rf"\[({_DATE}),\d{{1,9}} ([EWICD]) (\d{{1,10}}) \d{{1,10}}\] (?:\([\w-]{{1,40}}\) )?")
BRACKETED_TIME = _compile(
    rf"\[(?:({_DATE})|([A-Z][a-z]{{2}}) +(\d{{1,2}}) (\d{{4}}) (\d\d:\d\d:\d\d))(?:[.,]\d{{1,9}})?"
    r"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\](?: |$)"
)
BRACKETED_LEVEL = _compile(rf"\[({_PYTHON_LEVEL})\](?: |$)")
RFC3339 = _compile(rf"({_DATE})(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?(?:[ \t]|$)")
CRI = _compile(r"(?:stdout|stderr) [FP](?: |$)")
SERVICE = _compile(  # Docker Compose, honcho; a cell of a table is not followed by what opens a log line
    r"([a-z][\w.-]{0,100}) +\| (?=[(\[]|\d{4}-\d\d-|Traceback |  File \"|[\w.]{0,200}(?:Error|Exception): "
    r"|(?:DEBUG|INFO|WARNING|ERROR)\b)"
)
KUBECTL = _compile(r"\[(?:pod|job|deployment|statefulset)/([\w.-]{1,253})/([\w.-]{1,253})\] ?")
SYSLOG = _compile(
    rf"(?:<\d{{1,3}}>)?(?:({_MONTH}) +(\d{{1,2}})[일日]? (\d\d:\d\d:\d\d)(?:\.\d{{1,9}})?"
    rf"|(?:(?:{_WEEKDAY}) )?(\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)\S{{0,16}}(?: [A-Z]{{3,5}})?"
    r"|(\d{10})\.\d{1,9}"
    r"|\[ *\d{1,10}\.\d{1,6}\])"
    r" (?:([\w.-]{1,253}) )?([\w./@:-]{1,200}?)(?:\[(\d{1,10})\])?: "
)
SYSTEM_UNITS = frozenset(
    {"kernel", "systemd", "dockerd", "containerd", "kubelet", "sudo", "CRON", "nvidia-persistenced", "nv-fabricmanager"}
)
RFC5424 = _compile(
    r"<\d{1,3}>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\S{0,16} ([\w.-]{1,253}) ([\w./@-]{1,48}) (\d{1,10}|-) \S{1,32}"
    r" (?:-|\[[^\]]{0,400}\]) ?"
)
DMESG = _compile(
    rf"(?:<\d{{1,3}}>)?\[(?: *\d{{1,10}}\.\d{{1,6}}"
    rf"|(?:{_WEEKDAY}) +({_MONTH}) +(\d{{1,2}}) (\d\d:\d\d:\d\d) (\d{{4}}))\](?: |$)"
)
DMESG_FACILITY = _compile(r"(?:kern|user|daemon|syslog) *:(debug|info|notice|warn|err|crit|alert|emerg) *: ")
LOGFMT = _compile(rf'time="?({_DATE})[^\s"]{{0,16}}"? level=(\w{{3,8}}) ')
AFTER_TIME = _compile(
    rf"[-|:\[ \t]{{0,3}}(?:[\w.]{{1,80}}(?:\[\d{{1,10}}\])? ?[-:|] ?)?({_PYTHON_LEVEL})(?!: {{2}})\]?(?:[-|: \t]+|$)"
)
VLLM_ANYWHERE = _compile(
    r"\((?:APIServer|ApiServer|EngineCore|Worker|VllmWorker|DPCoordinator|DPSupervisor|RustFrontend|RayWorker)\w*"
    r"(?: \w+)? pid=\d"
)
RECORD_ANYWHERE = _compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[")
BAR = re.compile(r"\d%|\d/\d+ \[|it/s|s/it|\u2588")
GROUP_RANK = _compile(r"_(DP|PP|PCP|TP|DCP|EP)(\d+)")
OLD_RANK = _compile(r"VllmWorker\w* (?:TP|rank=)(\d+)")
