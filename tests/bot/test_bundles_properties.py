"""Whatever the bytes: no error, no hang, nothing written; and the same comes out however they arrive."""

from __future__ import annotations

import io
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.bundles import Limits, open_paths
from kb.catalogue import message
from kb.evidence import NotRead, Source
from tests.bot.hostile import (
    COMPRESS,
    MAGICS,
    Entry,
    sparse_new,
    sparse_old,
    tar,
    tar_member,
    tar_of,
    zip_by_hand,
    zip_of,
)

LOG = b"".join(b"INFO [core.py:%d] step %d\n" % (number % 97, number**3) for number in range(300))
SMALL = Limits(total_bytes=4 << 20, file_bytes=1 << 20, members=50, nested_zip_bytes=1 << 20)
PLENTY = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])

SEEDS: dict[str, bytes] = {
    **{kind: pack(LOG) + pack(b"second") for kind, pack in COMPRESS.items()},
    **{f"tar.{kind}": pack(tar_of({"a.log": LOG, "d/b.txt": b"x"})) for kind, pack in COMPRESS.items()},
    "tar": tar_of({"a.log": LOG, "n" * 150 + "/b.log": LOG[:700]}),
    "gnu": tar_of({"a.log": LOG, "n" * 150 + "/b.log": LOG[:700]}, tarfile.GNU_FORMAT),
    "sparse": tar(
        sparse_old("a.log", 1 << 40, LOG, more_maps=2), sparse_new("b.log", 1 << 40, LOG), tar_member("c", LOG)
    ),
    "zip": zip_of({"a.log": LOG, "d/b.txt": b"x", "inner.zip": zip_of({"c.log": LOG})}),
    "zip_stored": zip_of({"a.log": LOG, "b.tar": tar_of({"c.log": LOG})}, zipfile.ZIP_STORED),
    "zip_lzma": zip_of({"a.log": LOG}, zipfile.ZIP_LZMA),
    "zip_streamed": zip_of({"a.log": LOG, "b.log": LOG}, stream=True)[:-60],
    "zip_by_hand": zip_by_hand([Entry(b"a.log", LOG, 93, COMPRESS["zst"](LOG)), Entry(b"b", LOG, 1)]),
}


@pytest.fixture(autouse=True)
def _nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    temporary, here = tmp_path / "tmp", tmp_path / "here"
    temporary.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    yield
    assert list(temporary.iterdir()) == list(here.iterdir()) == []


class Dribble(io.BytesIO):
    """Bytes that arrive in pieces of the given sizes."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        super().__init__(data)
        self._sizes = sizes
        self._count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self._count += 1
        piece = self._sizes[self._count % len(self._sizes)]
        return super().read(piece if size is None or size < 0 else min(piece, size))


def check(data: bytes, *, read: bool = True) -> None:
    """Open the bytes within small limits and hold everything to the contract."""
    steps: list[int] = []
    total, names = 0, []
    for item in open_paths(["-"], SMALL, io.BytesIO(data), steps.append):
        if isinstance(item, NotRead):
            assert "{" not in message("en", f"not_read.{item.reason}", detail=item.detail)
            shown = item.file
        else:
            names.append(item.name)
            shown = item.name
            if read:
                total += sum(map(len, item.chunks))
        assert 0 < len(shown) <= 300
        assert shown.isprintable()
        shown.encode()
    assert sum(steps) <= len(data)
    assert len(set(names)) == len(names)
    assert len(names) <= SMALL.members
    assert total <= max(SMALL.total_bytes, len(data))


@PLENTY
@given(magic=st.sampled_from(sorted(MAGICS.values())), rest=st.binary(max_size=2000), read=st.booleans())
def test_bytes_when_behind_any_magic_then_no_error(magic: bytes, rest: bytes, read: bool) -> None:
    check(magic + rest, read=read)


@PLENTY
@given(
    seed=st.sampled_from(sorted(SEEDS)),
    changes=st.lists(st.tuples(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=12)), min_size=1, max_size=6),
    read=st.booleans(),
)
def test_archive_when_bytes_are_changed_then_no_error(seed: str, changes: list[tuple[int, bytes]], read: bool) -> None:
    data = bytearray(SEEDS[seed])
    for place, new in changes:
        at = place % len(data)
        data[at : at + len(new)] = new
    check(bytes(data), read=read)


@PLENTY
@given(
    seed=st.sampled_from(sorted(SEEDS)),
    begin=st.integers(0, 1 << 20),
    length=st.integers(0, 5000),
    insert=st.binary(max_size=600),
    cut=st.booleans(),
)
def test_archive_when_parts_are_lost_or_inserted_then_no_error(
    seed: str, begin: int, length: int, insert: bytes, cut: bool
) -> None:
    data = SEEDS[seed]
    begin %= len(data)
    check(data[:begin] + insert + (b"" if cut else data[begin + length :]))


@PLENTY
@given(seed=st.sampled_from(sorted(SEEDS)), cut=st.integers(0, 1 << 20))
def test_archive_when_cut_off_then_what_is_read_is_a_prefix(seed: str, cut: int) -> None:
    data = SEEDS[seed]
    whole = contents(open_paths(["-"], SMALL, io.BytesIO(data)))
    for name, content in contents(open_paths(["-"], SMALL, io.BytesIO(data[: 512 + cut % len(data)]))).items():
        # What is left of an archive in an archive may be too short to tell that it was one.
        assert whole.get(name, content).startswith(content)


@PLENTY
@given(seed=st.sampled_from(sorted(SEEDS)), sizes=st.lists(st.integers(1, 700), min_size=1, max_size=5))
def test_archive_when_it_dribbles_in_then_the_same_comes_out(seed: str, sizes: list[int]) -> None:
    data = SEEDS[seed]
    expected = contents(open_paths(["-"], SMALL, io.BytesIO(data)))
    assert contents(open_paths(["-"], SMALL, Dribble(data, sizes))) == expected
    assert any(content == LOG or content.startswith(LOG) for content in expected.values())


NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "Pd"]), min_size=1, max_size=40)
MEMBERS = st.dictionaries(NAMES, st.binary(max_size=3000).map(lambda data: b"log " + data), min_size=1, max_size=6)
BUNDLES: list[Callable[[dict[str, bytes]], bytes]] = [
    lambda members: tar_of(members, tarfile.GNU_FORMAT),
    lambda members: tar_of(members, tarfile.PAX_FORMAT),
    lambda members: COMPRESS["gz"](tar_of(members)),
    lambda members: COMPRESS["zst"](tar_of(members)),
    zip_of,
    lambda members: zip_of(members, zipfile.ZIP_STORED, stream=True),
    lambda members: zip_of(members, zipfile.ZIP_BZIP2),
]


@PLENTY
@given(members=MEMBERS, pack=st.sampled_from(BUNDLES))
def test_bundle_when_honest_then_every_member_comes_out_unchanged(
    members: dict[str, bytes], pack: Callable[[dict[str, bytes]], bytes]
) -> None:
    found = contents(open_paths(["-"], Limits(), io.BytesIO(pack(members))))
    assert list(found.items()) == [(f"stdin/{name}", data) for name, data in members.items()]


@PLENTY
@given(
    data=st.binary(max_size=300_000),
    pack=st.sampled_from(sorted(COMPRESS)),
    sizes=st.lists(st.integers(1, 5000), min_size=1),
)
def test_compressed_when_any_bytes_then_they_come_out_unchanged(data: bytes, pack: str, sizes: list[int]) -> None:
    data = b"log " + data
    assert contents(open_paths(["-"], Limits(), Dribble(COMPRESS[pack](data), sizes))) == {"stdin": data}


@settings(PLENTY, max_examples=300)
@given(name=st.text(max_size=400))
def test_name_when_any_text_then_shown_safely(name: str) -> None:
    check(zip_by_hand([Entry(name.encode("utf-8", "surrogatepass")[:60_000], LOG)]))


def contents(items: Iterator[Source | NotRead]) -> dict[str, bytes]:
    return {item.name: b"".join(item.chunks) for item in items if isinstance(item, Source)}
