"""Private keys in PEM: over many lines, behind the framing of a log, or in one line with `\\n`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.redaction.rule import Found, Rule

MOST_LINES = 400
"""Lines of one key; 16384 bits of RSA take 200."""
_BEGIN = re.compile(rb"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_END = re.compile(rb"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY")
_REST = re.compile(rb"[^\"'\r\n]{1,16384}")
_BODY = re.compile(rb"(?P<key>[A-Za-z0-9+/=]+)(?:\\[nr\\]|[\"',\s\\])*\Z")
_BETWEEN = re.compile(rb"(?:.*\b)?(?:Proc-Type|DEK-Info|Version|Comment|Hash|Subject|Content-Domain)\s?:|\s*\Z")
_LINE = 2048
_ITEM = re.compile(rb"\\{0,3}[\"'],[ \t]{0,8}\\{0,3}[\"'](?P<key>[A-Za-z0-9+/=]{1,256})(?=\\{0,3}[\"'])")
"""The next line in a list on one line."""
_RUN = re.compile(rb"[A-Za-z0-9+/]{1,256}={0,2}")
_FIELD_END = re.compile(rb"[\\\"']")
_LONG_RUN = re.compile(rb"(?<![A-Za-z0-9+/=_.-])[A-Za-z0-9+/]{40,80}={0,2}(?![A-Za-z0-9+/=_.-])")
_SORTS = tuple(map(re.compile, (rb"[A-Z]", rb"[a-z]", rb"[0-9]")))
_DIGIT = re.compile(rb"[0-9]")
_MOST_FOREIGN = 40 << 10
"""Bytes of another process in a row; fewer than what a stream looks at twice."""
_LINE_OF_END = 256


def _find(data: bytes, start: int, _end: int) -> Iterator[Found]:
    begin = _BEGIN.match(data, start)
    if begin is None:
        return
    rest = _REST.match(data, begin.end())
    if rest is not None and rest.group().strip(b"\\nr \t"):
        end = _END.search(data, begin.end(), rest.end())
        yield begin.end(), end.start() if end is not None else rest.end()
        return
    item = _ITEM.match(data, begin.end())
    if item is not None:
        for _ in range(MOST_LINES):
            if item is None:
                return
            yield item.span("key")
            item = _ITEM.match(data, item.end())
        return
    yield from _lines(data, start, begin.end())


def _lines(data: bytes, start: int, at: int) -> Iterator[Found]:
    line_start = data.rfind(b"\n", max(start - _LINE, 0), start) + 1
    frame = data[max(line_start, start - _LINE) : start]
    at = data.find(b"\n", at, at + _LINE) + 1
    width = foreign = 0  # of the lines of the key; bytes of another process since the last of them
    for _ in range(MOST_LINES):
        if not 0 < at < len(data):
            return
        end = data.find(b"\n", at, at + _MOST_FOREIGN)
        line = data[at : min(end if end >= 0 else len(data), at + _LINE)]
        if _END.search(line) or _BEGIN.search(line):
            return
        ends = foreign > 0 and end >= 0 and _END.search(data, end, end + _LINE_OF_END) is not None
        found = _body(line, frame, width, apart=foreign > 0 and not ends)
        if found is not None:
            yield at + found[0], at + found[1]
            width = max(width, found[1] - found[0])
            foreign = 0
        elif not _BETWEEN.match(line[len(frame) :]):
            foreign += end - at + 1
        if end < 0 or foreign > _MOST_FOREIGN:
            return
        at = end + 1


def _body(line: bytes, frame: bytes, width: int, *, apart: bool) -> Found | None:
    """Where the line holds a part of the key: at its end, behind the framing of the first line, or among other fields.

    `width`: of the lines of the key so far. `apart`: lines of another process stand between them and this one.
    """
    tail = max(len(line) - 256, 0)
    body = _BODY.search(line, tail)
    if body is not None:
        key, length = body.start("key"), len(body.group("key"))
        alone = not line[:key].strip(b" \t\"'|>+") or key == len(frame)
        if (alone or body.group("key").endswith(b"=")) and not apart:
            return body.span("key")
        if length >= 40 and (not apart or _is_key(body.group("key"), width)):
            return body.span("key")
    framed = _RUN.match(line, len(frame)) if frame and _same_frame(line, frame) else None
    if framed is not None and _FIELD_END.match(line, framed.end()) and (not apart or len(framed.group()) == width):
        return framed.span()
    for run in _LONG_RUN.finditer(line):
        if _is_key(run.group(), width):
            return run.span()
    return None


def _same_frame(line: bytes, frame: bytes) -> bool:
    """Whether a line begins as the first one, whatever the numbers: the time goes on."""
    return _DIGIT.sub(b"0", line[: len(frame)]) == _DIGIT.sub(b"0", frame)


def _is_key(run: bytes, width: int) -> bool:
    """Whether a run of base64 in any place may be a line of the key: as wide as the others, with all sorts of signs."""
    return (len(run) == width or not width) and all(sort.search(run) for sort in _SORTS)


PEM = (Rule(b"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY", _find),)
