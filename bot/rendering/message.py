"""What the bot says in Slack, ready to be sent: blocks, the text for notifications, and files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
Status = Literal["open", "resolved", "wrong"]


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A file to upload beside a message."""

    name: str
    title: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message. `text` is mrkdwn without anything alive in it: what notifications and screen readers give.

    `files` holds the whole report where not even "Show more" can show it; a file that was uploaded for this incident
    with the same content need not be uploaded again.
    """

    blocks: list[Json]
    text: str
    files: list[OutgoingFile] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AnswerState:
    """What people did with an answer.

    `ticked`: check id (`ids.check_key`, the value of its checkbox) -> (user id, ISO time). `expanded`: sections of
    `ids.SECTIONS`. `resolved_by`: who set the status, resolved or wrong. `changed`: keys of `slack.changed`.
    """

    incident_id: str
    ticked: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    expanded: frozenset[str] = frozenset()
    status: Status = "open"
    resolved_by: str | None = None
    changed: list[str] = field(default_factory=list)
    alternatives_shown: bool = False
