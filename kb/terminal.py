"""What a terminal makes of the bytes it is sent: colours, cursor movements, and lines that are written over."""

from __future__ import annotations

import re

_ANSI = re.compile(
    rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)|[@-Z\\^_]|[()][0-9A-B])"
)
# Slack, browsers and `cat -v` take the escape character away, or spell it, and leave the rest of the colour.
# Without either sign or number `[m` is text where a word goes on, as in `[multiproc_executor.py`.
_SPELT_ANSI = re.compile(
    rb"(?:\^\[|\\x1[bB]|\\u001[bB]|\\033|\\e|\xe2\x90\x9b|#x1[bB];|&#27;)\[(?:[0-9]{1,3}(?:;[0-9]{1,3}){0,4})?m"
    rb"|\[[0-9]{1,3}(?:;[0-9]{1,3}){0,4}m|\[m(?![\w.\]-])"
)
_SPELT_SIGN = re.compile(rb"\[(?:[01];)?(?:3[0-7]|9[0-7])m[^\n]{0,200}?\[(?:0;)?0?m")
_CHANGING = re.compile(rb"[\d\s.,:;/|%#=<>?()\[\]-]+|\xe2[\x94-\x96][\x80-\xbf]|[a-z]?(?:it|s|B|MB|GB|KB)/s")
_STEM = 12
_MOST_KEPT = 64


def without_colours(data: bytes) -> bytes:
    """Without escape sequences, and without what is left of broken ones that could still reach a terminal."""
    return _ANSI.sub(b"", data).replace(b"\x1b", b"") if b"\x1b" in data else data


def spells_colours(head: bytes) -> bool:
    """Whether colours are in the text whose escape characters were lost or spelt out."""
    return _SPELT_SIGN.search(head) is not None


def without_spelt_colours(data: bytes) -> bytes:
    """Without colours whose escape characters were lost or spelt out."""
    return _SPELT_ANSI.sub(b"", data)


def overwritten(line: bytes) -> list[bytes]:
    """What stays of a line with carriage returns: of a run of states of one progress bar the last, and all else."""
    kept: list[bytes] = []
    last = None
    for part in line.split(b"\r"):
        if not part.strip():
            continue
        stem = _CHANGING.sub(b"", part[:200])[:_STEM]
        if kept and stem == last:
            kept[-1] = part
        else:
            kept.append(part)
        last = stem
    if len(kept) > _MOST_KEPT:
        kept = kept[: _MOST_KEPT // 2] + kept[-_MOST_KEPT // 2 :]
    return kept or [b""]
