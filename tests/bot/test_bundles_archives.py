"""Honest archives: every format, nesting, names, and archives that were cut off or damaged on their way."""

from __future__ import annotations

import io
import lzma
import random
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.bundles import Limits, open_paths
from tests.bot.hostile import (
    COMPRESS,
    Entry,
    deflated,
    gzip_zeros,
    listed,
    nested,
    pax,
    reasons,
    sparse_new,
    sparse_old,
    tar,
    tar_header,
    tar_member,
    tar_of,
    unpack,
    zip_by_hand,
    zip_of,
    zst,
)

LOG = b"".join(b"INFO 08-21 10:11:12 [core.py:%d] step %d\n" % (number % 97, number**3) for number in range(12_000))
SHORT = LOG[:1000]
TWO = {"a.log": LOG, "logs/b.log": SHORT}
TAR_FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)


@pytest.mark.parametrize("kind", COMPRESS)
def test_compressed_when_single_then_one_source_of_its_own_name(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(COMPRESS[kind](LOG))
    assert listed(open_paths([path], Limits())) == [(str(path), LOG)]


@pytest.mark.parametrize("kind", COMPRESS)
def test_compressed_when_of_several_members_then_all_are_read(kind: str) -> None:
    members = [COMPRESS[kind](part) for part in (LOG, b"", SHORT, b"x")]
    assert unpack(b"".join(members)) == [("stdin", LOG + SHORT + b"x")]


@pytest.mark.parametrize("kind", ["gz", "xz"])
def test_compressed_when_padded_with_zeros_then_nothing_is_missing(kind: str) -> None:
    data = COMPRESS[kind](SHORT)
    assert unpack(data + bytes(700_000) + data + bytes(512)) == [("stdin", SHORT + SHORT)]


@pytest.mark.parametrize("kind", COMPRESS)
def test_compressed_when_garbage_follows_then_read_and_told(kind: str) -> None:
    assert unpack(COMPRESS[kind](LOG) + b"garbage") == [("stdin", LOG), ("stdin", "trailing", "")]


@pytest.mark.parametrize("kind", COMPRESS)
def test_compressed_when_cut_off_then_what_came_before_counts(kind: str) -> None:
    whole = COMPRESS[kind](LOG * 3)
    (name, data), fault = unpack(whole[: len(whole) * 3 // 4])
    assert fault == ("stdin", "truncated", "")
    assert name == "stdin"
    assert len(data) > len(LOG) // 2
    assert (LOG * 3).startswith(data)


@pytest.mark.parametrize("kind", COMPRESS)
@pytest.mark.parametrize("missing", [1, 4, 8])
def test_compressed_when_the_last_bytes_are_missing_then_told(kind: str, missing: int) -> None:
    assert unpack(COMPRESS[kind](LOG)[:-missing])[-1] == ("stdin", "truncated", "")


@pytest.mark.parametrize("kind", COMPRESS)
def test_compressed_when_only_the_magic_is_there_then_told(kind: str) -> None:
    assert unpack(COMPRESS[kind](LOG)[:10]) == [("stdin", "truncated", "")]


def test_compressed_when_damaged_then_what_came_before_counts() -> None:
    packed = bytearray(COMPRESS["gz"](LOG * 5))
    middle = len(packed) // 2
    packed[middle : middle + 5000] = random.Random(1).randbytes(5000)
    (_, data), fault = unpack(bytes(packed))
    assert fault == ("stdin", "corrupt", "")
    assert data[: 2 * len(LOG)] == LOG * 2


def test_gzip_when_its_checksum_is_wrong_then_all_is_read_and_told() -> None:
    packed = COMPRESS["gz"](LOG)
    assert unpack(packed[:-8] + bytes(4) + packed[-4:]) == [("stdin", LOG), ("stdin", "checksum", "")]


def test_gzip_when_its_header_has_every_field_then_read_however_it_is_cut() -> None:
    # isal 1.9.1 cannot take up such a header where a read ended in it.
    extra, name, comment = b"BC\2\0\x11\x22" * 900, b"n" * 900 + b"\0", b"c" * 5000 + b"\0"
    header = b"\x1f\x8b\x08\x1f" + bytes(6) + len(extra).to_bytes(2, "little") + extra + name + comment
    header += (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
    tail = zlib.crc32(SHORT).to_bytes(4, "little") + len(SHORT).to_bytes(4, "little")
    assert unpack(header + deflated(SHORT) + tail) == [("stdin", SHORT)]


def test_zstd_when_skippable_frames_surround_it_then_read() -> None:
    skippable = b"\x5a\x2a\x4d\x18" + (70_000).to_bytes(4, "little") + bytes(70_000)
    assert unpack(skippable + zst(LOG) + skippable + zst(SHORT) + skippable) == [("stdin", LOG + SHORT)]


def test_zstd_when_its_window_is_large_then_refused_with_a_size() -> None:
    assert unpack(zst(LOG, window_log=27)) == [("stdin", "memory", "64 MiB")]
    assert unpack(zst(LOG, window_log=26)) == [("stdin", LOG)]


@pytest.mark.parametrize("preset", [0, 6, 7, 8, 9, 9 | lzma.PRESET_EXTREME])
def test_xz_when_of_any_preset_then_read(preset: int) -> None:
    assert unpack(lzma.compress(LOG, preset=preset)) == [("stdin", LOG)]


def test_xz_when_its_dictionary_is_huge_then_refused_with_a_size() -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 512 << 20}]
    assert unpack(lzma.compress(SHORT, filters=filters)) == [("stdin", "memory", "96 MiB")]


@pytest.mark.parametrize("layout", TAR_FORMATS)
@pytest.mark.parametrize("kind", ["", *COMPRESS])
def test_tar_when_compressed_or_not_then_members_are_named_below_it(layout: int, kind: str, tmp_path: Path) -> None:
    data = tar_of(TWO, layout)
    path = tmp_path / "bundle"
    path.write_bytes(COMPRESS[kind](data) if kind else data)
    assert listed(open_paths([path], Limits())) == [(f"{path}/a.log", LOG), (f"{path}/logs/b.log", SHORT)]


def test_tar_when_old_then_known_without_a_magic() -> None:
    block = bytearray(tar_header("a.log", len(SHORT)))
    block[257:265] = bytes(8)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    assert unpack(bytes(block) + SHORT + bytes(-len(SHORT) % 512)) == [("stdin/a.log", SHORT)]


@pytest.mark.parametrize("layout", TAR_FORMATS[1:])
def test_tar_when_names_are_long_or_foreign_then_read(layout: int) -> None:
    name = "/".join(["узел-1", "노드", "节点"] * 8) + "/server.log"
    ((shown, data),) = unpack(tar_of({name: SHORT}, layout))
    assert data == SHORT
    assert shown == f"stdin/{name}"


@pytest.mark.parametrize("read", [True, False])
def test_tar_when_a_member_is_not_read_then_the_next_one_is_found(read: bool) -> None:
    assert [item[0] for item in unpack(COMPRESS["gz"](tar_of(TWO)), read=read)] == ["stdin/a.log", "stdin/logs/b.log"]


def test_tar_when_padding_and_end_are_missing_then_complete() -> None:
    assert unpack(tar_header("a.log", 1000) + SHORT) == [("stdin/a.log", SHORT)]


def test_tar_when_cut_off_in_a_member_then_both_are_told() -> None:
    data = tar_of({"a.log": SHORT, "b.log": LOG, "c.log": SHORT})
    first, second, *faults = unpack(data[:300_000])
    assert first == ("stdin/a.log", SHORT)
    assert second[0] == "stdin/b.log"
    assert LOG.startswith(second[1])
    assert faults == [("stdin/b.log", "truncated", ""), ("stdin", "truncated", "")]


def test_tar_when_a_header_is_damaged_then_the_rest_is_read() -> None:
    data = bytearray(tar_of({"a.log": SHORT, "b.log": LOG, "c.log": SHORT}, tarfile.USTAR_FORMAT))
    data[512 + 1024 + 3] ^= 0xFF
    assert unpack(bytes(data)) == [("stdin/a.log", SHORT), ("stdin", "corrupt", ""), ("stdin/c.log", SHORT)]


def test_tar_when_it_holds_sparse_files_then_read_without_holes() -> None:
    data = tar(
        sparse_old("old.log", 8 << 40, SHORT),
        sparse_old("mapped.log", 8 << 40, SHORT, more_maps=5),
        sparse_new("new.log", 8 << 40, SHORT),
        tar_member("after.log", SHORT),
    )
    names = ("old.log", "mapped.log", "new.log", "after.log")
    assert unpack(data) == [(f"stdin/{name}", SHORT) for name in names]


def test_tar_when_empty_or_of_directories_then_told() -> None:
    assert reasons(tar(tar_header("d/", 0, b"5"))) == [("stdin", "empty", "")]
    assert reasons(COMPRESS["gz"](tar(tar_header("d/", 0, b"5")))) == [("stdin", "empty", "")]


METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("stream", [True, False])
def test_zip_when_of_any_method_then_members_are_named_below_it(method: int, stream: bool, tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(zip_of(TWO, method, stream=stream))
    assert listed(open_paths([path], Limits())) == [(f"{path}/a.log", LOG), (f"{path}/logs/b.log", SHORT)]
    assert unpack(path.read_bytes()) == [("stdin/a.log", LOG), ("stdin/logs/b.log", SHORT)]


@pytest.mark.parametrize(("method", "pack"), [(93, zst), (20, zst), (95, COMPRESS["xz"])])
def test_zip_when_zstd_or_xz_then_read(method: int, pack: Callable[[bytes], bytes]) -> None:
    assert unpack(zip_by_hand([Entry(b"a.log", LOG, method, pack(LOG))])) == [("stdin/a.log", LOG)]


def test_zip_when_large_then_its_zip64_fields_are_read() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in TWO.items():
            with archive.open(name, "w", force_zip64=True) as member:
                member.write(data)
    assert unpack(buffer.getvalue()) == [("stdin/a.log", LOG), ("stdin/logs/b.log", SHORT)]


def test_zip_when_its_end_is_that_of_zip64_then_read() -> None:
    data = zip_by_hand([Entry(b"a.log", SHORT)], wide=True)
    assert data.endswith(b"\xff" * 12 + b"\0\0")
    assert unpack(data) == [("stdin/a.log", SHORT)]


def test_zip_when_empty_then_told() -> None:
    assert reasons(zip_of({})) == [("stdin", "empty", "")]


def test_zip_when_a_comment_follows_then_its_directory_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.log", SHORT)
        archive.comment = b"PK\x05\x06" * 9000
    assert unpack(path.read_bytes()) == [("stdin/a.log", SHORT)]


@pytest.mark.parametrize("stream", [True, False])
def test_zip_when_cut_off_then_what_is_there_is_read(stream: bool) -> None:
    data = zip_of({"a.log": SHORT, "b.log": LOG, "c.log": LOG}, stream=stream)
    cut = data[: data.index(b"c.log") + 5000]
    first, second, third, *faults = unpack(cut)
    assert first == ("stdin/a.log", SHORT)
    assert second == ("stdin/b.log", LOG)
    assert third[0] == "stdin/c.log"
    assert LOG.startswith(third[1])
    assert faults == [("stdin/c.log", "truncated", ""), ("stdin", "no_directory", "")]


def test_zip_when_a_member_is_damaged_then_the_rest_is_read() -> None:
    data = bytearray(zip_of(TWO))
    at = data.index(b"a.log") + 2000
    data[at : at + 500] = b"\xff" * 500
    first, *rest = unpack(bytes(data))
    assert first == ("stdin/a.log", "corrupt", "") or first[0] == "stdin/a.log"
    assert rest[-1] == ("stdin/logs/b.log", SHORT)
    assert ("stdin/a.log", "corrupt", "") in (first, *rest)


def test_zip_when_a_checksum_is_wrong_then_read_and_told() -> None:
    data = zip_by_hand([Entry(b"a.log", SHORT, crc=1), Entry(b"b.log", LOG, 8, deflated(LOG), crc=2)])
    assert unpack(data) == [
        ("stdin/a.log", SHORT),
        ("stdin/a.log", "checksum", ""),
        ("stdin/b.log", LOG),
        ("stdin/b.log", "checksum", ""),
    ]


def test_zip_when_made_on_windows_then_backslashes_are_separators() -> None:
    data = zip_by_hand([Entry(b"logs\\", b""), Entry(b"logs\\a.log", SHORT)])
    assert unpack(data) == [("stdin/logs/a.log", SHORT)]


def test_zip_when_a_name_is_in_a_legacy_encoding_then_escaped() -> None:
    data = zip_by_hand([Entry("журнал.txt".encode("cp1251"), SHORT), Entry("노드.log".encode(), SHORT, flags=0x800)])
    assert unpack(data) == [("stdin/\\xe6\\xf3\\xf0\\xed\\xe0\\xeb.txt", SHORT), ("stdin/노드.log", SHORT)]


def test_zip_when_piped_into_info_zip_then_read_though_it_claims_to_be_a_pipe() -> None:
    assert unpack(zip_by_hand([Entry(b"-", SHORT, mode=0o010644)])) == [("stdin/-", SHORT)]


def test_nested_when_three_deep_then_read_and_named_by_its_way() -> None:
    inner = COMPRESS["gz"](SHORT)
    data = COMPRESS["gz"](tar_of({"node/logs.zip": zip_of({"a.log.gz": inner, "b.log": SHORT}), "c.log": SHORT}))
    assert unpack(data) == [
        ("stdin/node/logs.zip/a.log.gz", SHORT),
        ("stdin/node/logs.zip/b.log", SHORT),
        ("stdin/c.log", SHORT),
    ]


@pytest.mark.parametrize("layers", [["zip"] * 4, ["tar"] * 4, ["gz"] * 4, ["xz", "zip", "gz", "tar", "bz2"]])
def test_nested_when_four_deep_then_told(layers: list[str]) -> None:
    (only,) = unpack(nested(SHORT, layers))
    assert only[1:] == ("too_deep", "3")
    assert unpack(nested(SHORT, layers[:3]))[0][1] == SHORT


def test_nested_when_one_is_damaged_then_the_rest_is_read() -> None:
    damaged = COMPRESS["xz"](LOG)[:-50]
    data = tar_of({"a.tar.xz": damaged[:3000], "b.zip": zip_of({"x": SHORT})[:-10], "c.log": SHORT})
    assert reasons(data) == [("stdin/a.tar.xz", "truncated", ""), ("stdin/b.zip", "no_directory", "")]
    assert unpack(data)[-1] == ("stdin/c.log", SHORT)


@pytest.mark.parametrize(
    ("magic", "name"),
    [
        (b"7z\xbc\xaf\x27\x1c\0\4", "7z"),
        (b"Rar!\x1a\x07\x01\0", "rar"),
        (b"\x04\x22\x4d\x18\x64\x40", "lz4"),
        (b"LZIP\x01\x0c", "lzip"),
        (b"\x1f\x9d\x90", "compress (.Z)"),
        (b"MSCF\0\0\0\0", "cab"),
        (b"!<arch>\ndebian-binary", "ar"),
    ],
)
def test_archive_when_of_an_unknown_kind_then_named(magic: bytes, name: str) -> None:
    assert unpack(magic + bytes(1000)) == [("stdin", "unknown_archive", name)]
    assert reasons(zip_of({"x": magic + bytes(1000)})) == [("stdin/x", "unknown_archive", name)]


@pytest.mark.parametrize("text", [b"", b"PK", b"BZh9 is no magic yet\n", b"ustar\n" * 200, b"\x1f", b"LZIP file\n"])
def test_text_when_it_only_looks_like_an_archive_then_text(text: bytes) -> None:
    assert unpack(text) == [("stdin", text)]


def test_names_when_the_same_twice_then_both_are_read() -> None:
    entries = [Entry(b"a.log", SHORT), Entry(b"a.log", b"new\n"), Entry(b"a\xe2\x80\xae.log", b"bidi\n")]
    assert unpack(zip_by_hand(entries)) == [
        ("stdin/a.log", SHORT),
        ("stdin/a.log (2)", b"new\n"),
        ("stdin/a.log (3)", b"bidi\n"),
    ]
    twice = tar(tar_member("a.log", SHORT), tar_member("./a.log", b"new\n"))
    assert unpack(twice) == [("stdin/a.log", SHORT), ("stdin/a.log (2)", b"new\n")]


def test_pax_when_it_names_and_sizes_a_member_then_believed() -> None:
    data = tar(
        pax({"comment": "x", "path": "real/name.log", "size": "1000"}) + tar_header("short", 0) + SHORT + bytes(24)
    )
    assert unpack(data) == [("stdin/real/name.log", SHORT)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_when_archives_ask_for_much_then_below_100_mb() -> None:
    run = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    grown = dict(line.split() for line in run.stdout.splitlines())
    assert {name: int(size) for name, size in grown.items() if int(size) > 100 << 20} == {}
    assert len(grown) == 8


MEMORY = """
import io, lzma, os, random
from bot.bundles import Limits, open_paths
from kb.evidence import Source
from tests.bot import hostile

noise = random.Random(0).randbytes(1 << 20)

class Repeated(io.RawIOBase):
    def __init__(self, *parts):
        self.parts = list(parts)
        self.left = b""
    def read(self, size):
        while not self.left and self.parts:
            part, count = self.parts.pop(0)
            if count:
                self.parts.insert(0, (part, count - 1))
                self.left = part
        data, self.left = self.left[:size], self.left[size:]
        return data

def grown(name, stdin, limits=Limits()):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = used()
    for item in open_paths(["-"], limits, stdin):
        if isinstance(item, Source):
            for chunk in item.chunks:
                pass
    print(name, used() - before)

def used():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) << 10

header = hostile.Entry(b"a", noise, packed_size=60 << 20).local()[:31]
grown("imports", io.BytesIO(hostile.zip_of({"a": hostile.COMPRESS["gz"](b"x")})))
lots = Limits(ratio=1 << 40)
grown("gzip_bomb", io.BytesIO(hostile.gzip_zeros(1024)), lots)
grown("pax", Repeated((hostile.tar_header("x", 1 << 40, b"x"), 1), (noise, 512)))
grown("exabytes", Repeated((hostile.tar_header("x", 10 << 60), 1), (noise, 512)))
grown("held_zip", Repeated((header, 1), (noise, 63)))
grown("zip_too_large", Repeated((header, 1), (noise, 512)))
xz = lzma.compress(bytes(80 << 20), filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 64 << 20}])
grown("xz", io.BytesIO(xz), lots)
zstd = hostile.zst(bytes(80 << 20), window_log=26)
grown("zstd", io.BytesIO(zstd), lots)
"""


def test_gzip_bomb_when_the_ratio_is_exceeded_then_only_its_beginning() -> None:
    (name, data), fault = unpack(gzip_zeros(1024))
    assert (name, fault) == ("stdin", ("stdin", "ratio", "200"))
    assert (9 << 20) < len(data) <= (10 << 20)
