"""What the messages of an incident gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one message gave. `files` are Slack's file objects, reduced to what fetching needs."""

    message_ts: str
    author: str
    log: str
    prose: str
    files: tuple[dict[str, Any], ...]
