"""How much of what people drop is read, and by whom."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from bot.lease import Lease
from bot.redaction import Redactor
from bot.service import reading
from bot.service.reading import NotSmallError, Reader
from bot.slackio.files import FileFetcher
from bot.store import Evidence
from kb.evidence import Source
from kb.library import Library

LINE = b"(APIServer pid=1) INFO 08-11 12:00:00 [a.py:1] nothing\n"
CHUNK = LINE * ((1 << 20) // len(LINE))


class _Lease(Lease):
    def __init__(self) -> None:
        pass

    def check(self) -> None:
        pass


class _Files:
    """Files that hold more than their size tells."""

    def __init__(self, chunks: int) -> None:
        self.chunks = chunks
        self.read = 0

    def sources(self, file: dict[str, Any]) -> Iterator[Source]:
        yield Source(str(file["name"]), self._chunks())

    def _chunks(self) -> Iterator[bytes]:
        for _ in range(self.chunks):
            self.read += 1
            yield CHUNK


def _item(*names: str) -> list[Evidence]:
    return [Evidence("1.0", "U", "", "why?", tuple({"id": name, "name": name, "size": 900} for name in names))]


def _reader(library: Library, files: _Files) -> Reader:
    return Reader(library, cast(FileFetcher, files))


def test_small_file_when_it_unfolds_to_more_then_refused_after_eight_mebibytes(library: Library) -> None:
    files = _Files(1_000)
    with pytest.raises(NotSmallError):
        _reader(library, files).conclude_small(_item("a.gz"), Redactor("s"), _Lease())
    assert files.read <= 9


def test_small_file_when_it_unfolds_to_more_then_read_whole_all_the_same(library: Library) -> None:
    found = _reader(library, _Files(12)).conclude(_item("a.gz"), Redactor("s"), _Lease())
    assert found.reports["en"].coverage.bytes_read >= 12 * len(CHUNK)


def test_reading_when_it_takes_too_long_then_the_report_says_what_was_left(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_TIME", 0.0)
    files = _Files(1_000)
    found = _reader(library, files).conclude_any(_item("a.log", "b.log"), Redactor("s"), _Lease())
    assert files.read <= 1
    assert [one.reason for one in found.reports["en"].coverage.not_read if "no more than" in one.reason]
