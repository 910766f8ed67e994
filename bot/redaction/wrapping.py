"""The rest of a secret that a terminal has broken over several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.redaction.rule import Found

_NARROWEST, _WIDEST = 60, 400
"""Columns of the terminals that people copy from."""
_MOST_LINES = 20
_KEY = re.compile(rb"[A-Za-z0-9_+/=.~-]{8,}")
_REST = re.compile(rb"[A-Za-z0-9_+/=.~-]{2,400}(?=[\s\"',;)\]}\\\\]|\Z)")
_DIGIT, _LETTER = re.compile(rb"[0-9]"), re.compile(rb"[A-Za-z]")


_DIGITS = re.compile(rb"[0-9]+")


def wrapped_parts(data: bytes, first: int, last: int) -> Iterator[Found]:
    """The parts of a secret in the lines below the one that it ends, where that line is as long as a terminal is wide.

    A line that begins as the one above did is another line of the log, behind the same framing.
    """
    if data[last : last + 1] not in (b"\n", b"\r") or _KEY.fullmatch(data, first, last) is None:
        return
    start = data.rfind(b"\n", max(last - _WIDEST - 1, 0), last) + 1
    width = last - start
    if not _NARROWEST <= width <= _WIDEST:
        return
    end = last
    for _ in range(_MOST_LINES):
        below = end + (2 if data[end : end + 2] == b"\r\n" else 1)
        rest = _REST.match(data, below)
        if rest is None or len(rest.group()) > width or _same_frame(data, start, rest.group()):
            return
        full = len(rest.group()) == width
        if not full and (_DIGIT.search(rest.group()) is None or _LETTER.search(rest.group()) is None):
            return
        yield rest.span()
        end = rest.end()
        if not full:
            return


def _same_frame(data: bytes, start: int, word: bytes) -> bool:
    """Whether the line at `start` begins as the word does, whatever the numbers: `vllm-0 | …`, `vllm-1 | …`."""
    above = data[start : start + len(word)]
    return _DIGITS.sub(b"0", above) == _DIGITS.sub(b"0", word)
