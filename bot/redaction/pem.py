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


def _find(data: bytes, start: int, _end: int) -> Iterator[Found]:
    begin = _BEGIN.match(data, start)
    if begin is None:
        return
    rest = _REST.match(data, begin.end())
    if rest is not None and rest.group().strip(b"\\nr \t"):
        end = _END.search(data, begin.end(), rest.end())
        yield begin.end(), end.start() if end is not None else rest.end()
        return
    yield from _lines(data, start, begin.end())


def _lines(data: bytes, start: int, at: int) -> Iterator[Found]:
    line_start = data.rfind(b"\n", max(start - _LINE, 0), start) + 1
    frame = start - max(line_start, start - _LINE)
    at = data.find(b"\n", at, at + 64) + 1
    for _ in range(MOST_LINES):
        if not 0 < at < len(data):
            return
        end = data.find(b"\n", at, at + _LINE)
        line = data[at : end if end >= 0 else at + _LINE]
        if _END.search(line):
            return
        if _BETWEEN.match(line[frame:] if len(line) > frame else b""):
            at = end + 1
            if end < 0:
                return
            continue
        body = _BODY.search(line[-256:] if len(line) > 256 else line)
        if body is not None and body.group("key"):
            length = len(body.group("key"))
            key = at + len(line) - len(body.group(0)) if len(line) <= 256 else at + len(line) - 256 + body.start()
            alone = not line[: key - at].strip(b" \t\"'|>+") or key - at == frame or body.group("key").endswith(b"=")
            if length < 40 and not alone:
                return  # the last word of some other line
            yield key, key + length
        else:
            return
        if end < 0:
            return
        at = end + 1


PEM = (Rule(b"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY", _find),)
