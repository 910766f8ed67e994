"""Exceptions out of lines: Python tracebacks put together per process, chains kept, bare exception lines included.

Python's forms: chains (`__cause__` and `__context__`), exception groups, SyntaxError, notes; Ray's RayTaskError, whose
traceback goes on with that of the remote task. Torn by other processes, without indentation, or cut at the start they
are read as far as they are there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from kb.lines import Line

_HEADER = "Traceback (most recent call last):"
_CAUSE = "The above exception was the direct cause of the following exception"
_CONTEXT = "During handling of the above exception, another exception occurred"
_FRAME = re.compile(r'\s*File "([^"]{1,1000})", line \d+(?:, in (.{1,300}))?\s*$')
_NAME = r"(?:[A-Za-z_]\w{0,200}\.(?:<locals>\.)?){0,20}[A-Za-z_]\w{0,200}"
_EXCEPTION = re.compile(rf"({_NAME}(?:\([A-Z]\w{{1,200}}\))?)(?::(?:\s(.*))?)?$")
_BARE = re.compile(
    r"(?:^|(?<=\s))((?:[A-Za-z_]\w{0,200}\.){0,20}[A-Z]\w{0,200}?(?:Error|Exception|SystemExit|KeyboardInterrupt)"
    r"|(?:[A-Za-z_]\w{0,200}\.){1,20}\w{1,200}?(?:Error|Exception|Timeout|Interrupt|NotFound|Unavailable|Group)"
    r"|(?:System|Generator)Exit|KeyboardInterrupt)"
    r"(?:\([\w.]{1,200}\))?:\s(.*)$"
)
_SUFFIXES = (
    "Error", "Exception", "Exit", "Interrupt", "Timeout", "Failure", "Fault", "NotFound", "Unavailable", "Group",
    "StopIteration", "StopAsyncIteration", "Warning",
)  # fmt: skip
_HUMPS = re.compile(r"[A-Z][a-z0-9]+[A-Z]\w*[a-z]")
_GROUP = re.compile(r"\s+[|+](?:[-+]{2,}(?: \d{1,6} )?[-+]*$| ?)")
_RAY_TASK = re.compile(r"\s*(?:[\w.]{1,200}RayTaskError\(\w{1,200}\): )?ray::\S.{0,400}\(pid=\d")
_GOES_ON = re.compile(
    r"(?:Search for `|CUDA kernel errors might|For debugging consider|Compile with `|Device-side assert|Last error:"
    r"|nccl\w+Error:|from user code:|Set TORCH)"
)
_VALIDATION = re.compile(r"\d{1,4} validation errors? for ")
_FIELD = re.compile(r"[\w.\[\]<>-]{1,200}$")
_LOOKUP = frozenset(
    {"KeyError", "AttributeError", "ImportError", "ModuleNotFoundError", "LookupError", "StopIteration"}
)
_QUIET = frozenset({"DEBUG", "INFO", "WARNING"})
_MAX_MESSAGE_LINES = 40
_MAX_STRANGERS = 30
"""Lines of other things within a traceback after which it is given up."""
_MAX_GAP = 400
_MAX_LINE = 1 << 14
_REACH = 400
_STAMP = re.compile(r"[A-Z] \d\d-\d\d \d\d:\d\d:\d\d \[")


@dataclass(slots=True)
class Raised:
    """An exception in the evidence.

    `index` is the position of its line among the kept lines; `start` that of the first line of its traceback; `cause`
    the exception that was raised before it in the same chain, or the first one in it, where it is a group. Each further
    line of `message` is one more line of the same stream.
    """

    type: str
    message: str
    index: int
    start: int
    line: Line
    frames: list[tuple[str, str]] = field(default_factory=list)
    """(file, function) from the outermost call to the place of the raise."""
    cause: Raised | None = None
    direct: bool = False
    logged_quietly: bool = False
    """Printed with a level below ERROR: somebody caught it and went on."""

    @property
    def root(self) -> Raised:
        """The exception of the chain that says most about the cause.

        The first one, but a failed look-up that was answered by a telling exception is only how the program got there.
        """
        chain = [self]
        while chain[-1].cause is not None and len(chain) < 50:
            chain.append(chain[-1].cause)
        first = chain[-1]
        if len(chain) > 1 and not chain[-2].direct and first.type.rpartition(".")[2] in _LOOKUP:
            return chain[-2]
        return first


@dataclass(slots=True)
class _Open:
    """A traceback that is being read in one process."""

    start: int
    frames: list[tuple[str, str]] = field(default_factory=list)
    done: Raised | None = None
    message_lines: int = 0
    blank: int = 0
    last: int = 0
    """Index of the last line of it."""
    chained: bool = False
    indent: int = 0
    strangers: int = 0


def find_exceptions(lines: list[Line]) -> list[Raised]:
    """All exceptions in the order of their lines. A traceback torn apart by other processes is read whole."""
    streams: dict[tuple[str, str | None, str | int | None], list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        streams[line.stream].append(index)
    found: list[Raised] = []
    for indices in streams.values():
        reader = _Reader()
        for index in indices:
            reader.read(index, lines[index])
        found.extend(reader.found)
    found.sort(key=lambda raised: raised.index)
    return found


class _Reader:
    """Reads the lines of one stream."""

    def __init__(self) -> None:
        self.found: list[Raised] = []
        self._current: _Open | None = None
        self._previous: Raised | None = None
        self._link: bool | None = None  # the next one follows from `_previous`: True directly, False while handling it
        self._group: Raised | None = None
        self._last_number = 0

    def read(self, index: int, line: Line) -> None:
        """Take the next line of the stream."""
        if self._last_number and line.number - self._last_number > _MAX_GAP:
            self._current = self._link = self._group = None
        self._last_number = line.number
        body = line.body[:_MAX_LINE]
        in_group = _GROUP.match(body)
        if in_group is not None:
            body = body[in_group.end() :]
            if not body:
                self._current = None
                return
        stripped = body.strip()
        if _HEADER in body or (_RAY_TASK.match(body) and not self._opens_ray(stripped)):
            before = body.partition(_HEADER)[0]
            self._current = _Open(index, chained=self._link is not None, indent=len(before) - len(before.lstrip()))
            if self._link is None:
                self._previous = None
        elif _CAUSE in body or _CONTEXT in body:
            self._link = _CAUSE in body
            self._current = None
        elif frame := _FRAME.match(body):
            self._frame(index, body, frame)
        elif self._current is not None and self._current.done is None:
            self._within(index, line, body, stripped, in_group is not None)
        else:
            self._after(index, line, body, stripped)

    def _opens_ray(self, stripped: str) -> bool:
        """Whether the line is the exception that ends an open traceback, `RayTaskError(...): ray::...`."""
        current = self._current
        return current is not None and current.done is None and not stripped.startswith("ray::")

    def _frame(self, index: int, body: str, frame: re.Match[str]) -> None:
        current = self._current
        if current is not None and current.done is not None and "RayTaskError" in current.done.type:
            # The traceback of the remote task follows, and ends with the exception that was raised there.
            self.found.remove(current.done)
            self._previous = current.done.cause
            current.done = None
            current.chained = self._previous is not None
        elif current is None or current.done is not None:
            indent = max(len(body) - len(body.lstrip()) - 2, 0)
            self._current = current = _Open(index, chained=self._link is not None, indent=indent)
        current.frames.append((frame.group(1), frame.group(2) or ""))
        current.strangers = 0

    def _within(self, index: int, line: Line, body: str, stripped: str, in_group: bool) -> None:
        current = self._current
        if current is None or not stripped or body[: current.indent + 1].isspace():
            return  # source line, marker, or an empty line between
        match = _EXCEPTION.match(stripped)
        name = match.group(1) if match else ""
        if match is None or not _is_exception(name) or not (current.frames or ":" in stripped):
            current.strangers += 1
            if current.strangers > _MAX_STRANGERS:
                self._current = None
            return
        raised = Raised(
            name,
            (match.group(2) or "").strip(),
            index,
            current.start,
            line,
            current.frames,
            self._previous if current.chained else None,
            bool(self._link),
            line.level in _QUIET,
        )
        self._done(raised)
        if not in_group:
            self._group = None
        elif name.endswith("Group"):
            self._group = raised
        elif self._group is not None and self._group.cause is None:
            self._group.cause, self._group.direct = raised, True

    def _done(self, raised: Raised) -> None:
        self.found.append(raised)
        self._current = _Open(raised.start, raised.frames, raised, last=raised.index)
        self._current.chained = raised.cause is not None
        self._previous, self._link = raised, None

    def _after(self, index: int, line: Line, body: str, stripped: str) -> None:
        current = self._current
        bare = _bare(line, index, body)
        if current is not None and current.done is not None:
            if not stripped and current.blank < 2:
                current.blank += 1
                current.last = index
                return
            if bare is None and _continues(index, line, current, body):
                current.done.message += "\n" * (current.blank + 1) + stripped
                current.message_lines += current.blank + 1
                current.blank = 0
                current.last = index
                return
            self._current = None
        if bare is not None:
            self._done(bare)


def _is_exception(name: str) -> bool:
    """Whether a word that stands where an exception's name would is one: by its ending, its module, or its humps."""
    bare = name.partition("(")[0]
    module, _, last = bare.rpartition(".")
    in_module = module != "" and (last[:1].isupper() or last.lower().endswith(("error", "timeout")))
    return in_module or bare.endswith(_SUFFIXES) or _HUMPS.match(bare) is not None


def _continues(index: int, line: Line, current: _Open, body: str) -> bool:
    """Whether the line goes on with the message of the exception before it."""
    done = current.done
    if done is None or current.message_lines >= _MAX_MESSAGE_LINES or line.level != done.line.level:
        return False
    if line.origin is not None:  # a record repeats its framing on each line
        same = line.origin == done.line.origin and _stamp(line) == _stamp(done.line)
        return same and (bool(done.frames) or body[:1] in " \t")
    if index > current.last + 1 and line.process is None:
        return False
    if _VALIDATION.match(done.message) and _FIELD.match(body):
        return True
    first = done.message == "" and current.message_lines == 0 and bool(done.frames)
    return body[:1] in " \t" or first or done.message.endswith("Last error:") or _GOES_ON.match(body) is not None


def _stamp(line: Line) -> str | float | None:
    """The time of the record itself: a container's clock in front of it may tick between two of its lines."""
    found = _STAMP.search(line.text[:_REACH])
    return found.group() if found else line.time


def _bare(line: Line, index: int, body: str) -> Raised | None:
    """An exception line without a traceback above it."""
    if len(body) >= _MAX_LINE:
        return None
    match = _BARE.match(body) or (_BARE.search(body) if line.level in ("ERROR", "CRITICAL") else None)
    if match is None:
        return None
    return Raised(match.group(1), match.group(2).strip(), index, index, line, logged_quietly=line.level in _QUIET)
