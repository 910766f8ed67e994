"""What any text has to be for both databases."""

from __future__ import annotations

import json
from typing import Any


def storable(text: str) -> str:
    """The text without NUL, which PostgreSQL refuses, and lone surrogates, which UTF-8 does."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\u2400")


def to_json(value: Any) -> str:
    """Compact JSON that both databases take."""
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).replace("\\u0000", "\u2400")
