"""Text of others shown literally: it can neither steer a terminal nor hide anything."""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except tab and line feed
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\ufeff"
    "\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f"  # format characters, which nobody sees
    "\u2028-\u202e\u2066-\u2069"  # separators and bidirectional controls
    "\u115f\u1160\u3164\uffa0"  # fillers
    "\ud800-\udfff\ufffe\uffff]"  # halves of characters, and what is none
)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def literal(text: str) -> str:
    """Control, bidirectional and invisible characters as visible escapes; everything else as it is."""
    text = text.replace("\t", "    ")
    return _UNSEEN.sub(lambda found: _escape(ord(found.group())), text)


def literal_line(text: str) -> str:
    """As `literal`, on one line."""
    return literal(text).replace("\n", " ")


def shorten(text: str, limit: int) -> tuple[str, int]:
    """At most `limit` characters of the text, and how many were left out."""
    return (text, 0) if len(text) <= limit else (text[:limit], len(text) - limit)
