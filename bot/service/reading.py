"""From the evidence of an incident to its reports: read once, put into words in every language."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bot.errors import BotError
from bot.evidence import Evidence
from bot.lease import Lease
from bot.redaction import Redactor, redact_report
from bot.slackio.files import FileFetcher
from bot.slackio.reasons import in_words
from kb.diagnosis import diagnose_evidence
from kb.entry import LANGUAGES, Language
from kb.evidence import Collector, NotRead, Source
from kb.language import detect_language
from kb.library import Library
from kb.report import Report, build_report

Progress = Callable[[int, int | None, str], None]
"""(bytes read, bytes in all where known, file): called now and then."""
_ONE_PASTE = 10.0
_SMALL = 1 << 20
_SMALL_FILES = 256 << 10
_SMALL_AT_ONCE = 1
_UNFOLDED = 8 << 20
"""Bytes up to which evidence counts as small while it is read: of a bundle its size tells nothing."""
_TIME = 15 * 60.0
"""Seconds of reading, after which the answer rests on what was read."""


class NotSmallError(BotError):
    """What looked small is not."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The reports by language, and the language of the people's words where there are enough of them."""

    reports: dict[Language, Report]
    spoken: Language | None


class Reader:
    """Reads evidence. Thread-safe: the library is only read."""

    def __init__(self, library: Library, files: FileFetcher, *, progress_bytes: int = 8 << 20) -> None:
        self._library = library
        self._files = files
        self._progress_bytes = progress_bytes
        # More at once would only take turns, and the acknowledgements with them; a large bundle holds nobody up.
        self._small = threading.BoundedSemaphore(_SMALL_AT_ONCE)

    def conclude(
        self, items: Sequence[Evidence], redactor: Redactor, lease: Lease, progress: Progress | None = None
    ) -> Conclusion:
        """Read everything and conclude. Raises the errors of fetching, and WorkReturned."""
        if is_small(items):
            with self._small, suppress(NotSmallError):
                return self.conclude_small(items, redactor, lease, progress)
        return self.conclude_any(items, redactor, lease, progress)

    def conclude_small(
        self, items: Sequence[Evidence], redactor: Redactor, lease: Lease, progress: Progress | None = None
    ) -> Conclusion:
        """As `conclude`. Raises NotSmallError where there is more than it looked."""
        return self._conclude(items, redactor, _Watch(lease, progress, self._progress_bytes, _size(items), _UNFOLDED))

    def conclude_any(
        self, items: Sequence[Evidence], redactor: Redactor, lease: Lease, progress: Progress | None = None
    ) -> Conclusion:
        """As `conclude`, however much it is."""
        return self._conclude(items, redactor, _Watch(lease, progress, self._progress_bytes, _size(items)))

    def _conclude(self, items: Sequence[Evidence], redactor: Redactor, watch: _Watch) -> Conclusion:
        collector = Collector(self._library.scanner, self._library.watches)
        for source in self._sources(items):
            watch.lease.check()
            if isinstance(source, NotRead):
                collector.skip(source.file, source.reason, source.detail)
            else:
                chunks = redactor.stream(watch.over(source.name, source.chunks))
                collector.add(Source(source.name, chunks, source.paste))
            if watch.late:
                name = source.file if isinstance(source, NotRead) else source.name
                collector.skip(name, "time_limit", f"{_TIME / 60:.0f} min")
                break
        evidence = collector.finish()
        diagnosis = diagnose_evidence(evidence, self._library)
        reports = {
            language: in_words(redact_report(build_report(diagnosis, self._library, language), redactor))
            for language in LANGUAGES
        }
        prose = evidence.prose or "\n".join(item.prose for item in items)
        return Conclusion(reports, detect_language(prose))

    def _sources(self, items: Sequence[Evidence]) -> Iterator[Source | NotRead]:
        texts = list(_texts(items))
        for number, (log, prose) in enumerate(texts, 1):
            name = "message" if len(texts) == 1 else f"message {number}"
            if log:
                yield Source(name, [log.encode("utf-8", "replace")], paste=True)
            if prose:
                words = name if not log else f"{name} (text)"
                yield Source(words, [prose.encode("utf-8", "replace")], paste=True)
        seen = set()
        for item in items:
            for file in item.files:
                if file.get("id") not in seen:
                    seen.add(file.get("id"))
                    yield from self._files.sources(dict(file))


def is_small(items: Sequence[Evidence]) -> bool:
    """Whether it is read in no time."""
    size = _size(items)
    return size is not None and size < _SMALL_FILES and sum(len(one.log) + len(one.prose) for one in items) < _SMALL


def _texts(items: Sequence[Evidence]) -> Iterator[tuple[str, str]]:
    """(log, prose) of the messages; what one author posted within seconds are the parts of one paste."""
    last: Evidence | None = None
    logs: list[str] = []
    prose: list[str] = []
    for item in [*items, None]:
        if last is not None and (item is None or not _goes_on(last, item)):
            if logs or prose:
                yield "\n".join(logs), "\n".join(prose)
            logs, prose = [], []
        if item is not None:
            logs += [item.log] if item.log.strip() else []
            prose += [item.prose] if item.prose.strip() else []
        last = item


def _goes_on(last: Evidence, item: Evidence) -> bool:
    try:
        gap = float(item.message_ts) - float(last.message_ts)
    except ValueError:
        return False
    return item.author == last.author and gap <= _ONE_PASTE


def _size(items: Iterable[Evidence]) -> int | None:
    sizes: list[Any] = [file.get("size") for item in items for file in item.files]
    return sum(sizes) if all(isinstance(size, int) for size in sizes) else None


class _Watch:
    """Counts bytes as they are read, reports progress, and stops work that is no longer ours."""

    _EVERY = 3.0

    def __init__(
        self, lease: Lease, progress: Progress | None, start: int, total: int | None, most: int | None = None
    ) -> None:
        self.lease, self._progress, self._start, self._total, self._most = lease, progress, start, total, most
        self._read = 0
        self._last = 0.0
        self._until = time.monotonic() + _TIME

    @property
    def late(self) -> bool:
        """Whether reading has taken as long as it may."""
        return time.monotonic() > self._until

    def over(self, name: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self.lease.check()
            if self.late:
                return
            if self._most is not None and self._read + len(chunk) > self._most:
                raise NotSmallError(name)
            yield chunk
            self._read += len(chunk)
            now = time.monotonic()
            if self._progress and self._read >= self._start and now - self._last >= self._EVERY:
                self._last = now
                self._progress(self._read, self._total, name)
