"""What messages give as evidence, redacted: the form in which it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from bot.redaction import Redactor
from bot.service.logs import looks_like_log
from bot.slackio.text import evidence_of, without_mention

Json = Mapping[str, Any]
_FILE_KEYS = (
    "id", "name", "title", "mimetype", "filetype", "mode", "size", "is_external", "external_type", "file_access",
    "url_private", "url_private_download", "user_team", "source_team",
)  # fmt: skip
_URLS = ("url_private", "url_private_download")


@dataclass(frozen=True, slots=True)
class Part:
    """What one message gives: its log, its prose and its files, redacted."""

    ts: str
    author: str
    log: str
    prose: str
    files: list[dict[str, Any]]


class Redactors:
    """Redactors by channel: the same secret gets the same stand-in wherever an incident's thread may stand."""

    def __init__(self, salt: str) -> None:
        self._salt = salt

    def of(self, channel: str) -> Redactor:
        """The redactor of a channel."""
        return Redactor(salt=f"{self._salt}:{channel}")


def part_of(message: Json, redactor: Redactor, bot_user: str) -> Part:
    """What a Slack message gives as evidence."""
    texts = evidence_of(dict(message))
    return Part(
        ts=str(message.get("ts", "")),
        author=str(message.get("user") or message.get("bot_id") or ""),
        log=redactor.redact(texts.log),
        prose=redactor.redact(without_mention(texts.prose, bot_user)),
        files=[_file(file, redactor) for file in message.get("files") or []],
    )


def is_evidence(part: Part) -> bool:
    """Whether people who post this in an incident's thread, without a mention, give evidence and do not just talk."""
    return bool(part.log.strip() or part.files or looks_like_log(part.prose))


def _file(file: Json, redactor: Redactor) -> dict[str, Any]:
    kept = {key: file[key] for key in _FILE_KEYS if file.get(key) is not None}
    said = {key: str(kept[key]) for key in ("name", "title", *_URLS) if key in kept}
    if any(redactor.redact(text) != text or redactor.redact(unquote(text)) != unquote(text) for text in said.values()):
        for key in _URLS:  # they hold the name, spelled in Slack's way; files.info gives them again by the id
            kept.pop(key, None)
    for key in ("name", "title"):
        if key in kept:
            kept[key] = redactor.redact(said[key])
    return kept


def redacted(value: Any, redactor: Redactor) -> Any:
    """The value with every text in it redacted."""
    if isinstance(value, str):
        return redactor.redact(value)
    if isinstance(value, Mapping):
        return {key: redacted(item, redactor) for key, item in value.items()}
    return [redacted(item, redactor) for item in value] if isinstance(value, list) else value
