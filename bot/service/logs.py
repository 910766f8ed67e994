"""Whether a message in a thread is more of the log, or people talking."""

from __future__ import annotations

import re

_SIGN = re.compile(
    r"^\s*(?:\S+ )?(?:\(?\w+ pid=\d+\)?|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b|Traceback \(most recent"
    r"|\s+File \"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[rank\d+\]|\[\s*\d+\.\d{6}\]|\d\d:\d\d:\d\d)"
    r"|NCCL (?:INFO|WARN)|NVRM: Xid|CUDA error|\b[A-Za-z_.]+(?:Error|Exception): ",
    re.MULTILINE,
)
_ALONE = re.compile(
    r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[|NVRM: Xid \(|NCCL WARN \S|CUDA error: \S+ \S"
    r"|\b[A-Za-z_.]+(?:Error|Exception): (?:\S+ +){3}",
)
"""What one line shows, however short it is."""


def looks_like_log(text: str) -> bool:
    """Whether unformatted text shows a log: a line of one among several, or an exception."""
    lines = text.count("\n") + 1
    return bool(_SIGN.search(text)) and (lines >= 2 or len(text) >= 60 or _ALONE.search(text) is not None)
