"""The first failure as the log has it."""

from __future__ import annotations

import re

from kb.report import Cited, RootException

_LEVEL = re.compile(r"[A-Z]+|message")
_NATIVE = re.compile(r".*[ :-].*|OOMKilled")
_PLACE = re.compile(r"in (?:\S{1,300} \([^()]{1,300}\)|\S{1,300}\.py)")
"""Where an exception without a message was raised, in the place of its message."""


def quoted(root: RootException) -> str:
    """The line of the first failure literally: an exception with its type, anything else as it was printed."""
    if _LEVEL.fullmatch(root.type) or (_NATIVE.fullmatch(root.type) and root.type in root.text):
        return root.text
    if root.text == root.type or _PLACE.fullmatch(root.text):
        return root.type
    return f"{root.type}: {root.text}"


def cited_root(root: RootException) -> Cited:
    """The first failure as a cited line. Where an exception has no message, its place stands beside the process."""
    place = root.text if _PLACE.fullmatch(root.text) else None
    process = ", ".join(part for part in (root.process, place) if part) or None
    return Cited(file=root.file, line=root.line, text=quoted(root), process=process, host=root.host)
