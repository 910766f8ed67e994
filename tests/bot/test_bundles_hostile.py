"""Archives made to harm: each is refused with its reason, with little work, and what is beside it is read."""

from __future__ import annotations

import io
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.bundles import Limits, open_paths
from tests.bot.hostile import (
    COMPRESS,
    Entry,
    bomb_of_zips,
    deflated_zeros,
    gzip_zeros,
    listed,
    nested,
    pax,
    seal,
    tar,
    tar_header,
    tar_member,
    tar_number,
    tar_of,
    unpack,
    zip_by_hand,
    zip_of,
    zip_quoted_overlap,
    zst,
)
from tests.growth import assert_bounded, assert_linear, seconds

LOG = b"INFO 08-21 10:11:12 [core.py:123] hello\n" * 100
AFTER = ("stdin/after.log", LOG)
MIB = 1 << 20


@pytest.fixture(autouse=True)
def _little_work() -> Iterator[None]:
    begin = time.thread_time()
    yield
    took = time.thread_time() - begin
    assert took < 1 or took < 70 * seconds(sum, range(5_000_000))


def in_tar(*members: bytes) -> list[tuple[Any, ...]]:
    """What becomes of hostile members before an honest one."""
    return unpack(tar(*members, tar_member("after.log", LOG)))


def in_zip(*entries: Entry) -> list[tuple[Any, ...]]:
    return unpack(zip_by_hand([*entries, Entry(b"after.log", LOG)]))


# Names and kinds of members


@pytest.mark.parametrize("name", ["/etc/passwd", "../../x", "a/../../x", "..\\x", "\\\\host\\x", "C:\\x", "c:/x", ".."])
def test_member_when_its_name_leads_outside_then_not_read(name: str) -> None:
    shown = "stdin/" + "/".join(part for part in name.replace("\\", "/").split("/") if part)
    assert in_tar(tar_member(name, b"x")) == [(shown, "unsafe_name", ""), AFTER]
    assert in_zip(Entry(name.encode(), b"x")) == [(shown, "unsafe_name", ""), AFTER]


def test_member_when_its_name_only_looks_dangerous_then_read() -> None:
    assert in_tar(tar_member("a..b/...log", b"x")) == [("stdin/a..b/...log", b"x"), AFTER]


def test_member_when_its_name_holds_control_characters_then_shown_without() -> None:
    assert in_zip(Entry("a\x1b]0;x\x07\u202egol\u2066\r\n.log".encode(), b"x")) == [("stdin/a]0;xgol.log", b"x"), AFTER]


@pytest.mark.parametrize("kind", [b"1", b"2"])
def test_tar_member_when_a_link_then_not_followed(kind: bytes) -> None:
    assert in_tar(tar_header("link", 0, kind, "/etc/passwd")) == [("stdin/link", "link", ""), AFTER]


@pytest.mark.parametrize("kind", [b"3", b"4", b"6"])
def test_tar_member_when_a_device_or_fifo_then_not_read(kind: bytes) -> None:
    assert in_tar(tar_header("zero", 0, kind)) == [("stdin/zero", "special", ""), AFTER]


def test_zip_member_when_a_link_or_device_then_not_read() -> None:
    entries = Entry(b"link", b"/etc/passwd", mode=0o120777), Entry(b"zero", b"", mode=0o020666)
    assert in_zip(*entries) == [("stdin/link", "link", ""), ("stdin/zero", "special", ""), AFTER]


@pytest.mark.parametrize(("flags", "method"), [(1, 0), (0x41, 8), (0x2000, 0), (0, 99)])
def test_zip_member_when_encrypted_then_told(flags: int, method: int) -> None:
    assert in_zip(Entry(b"a.log", b"secret", method, flags=flags)) == [("stdin/a.log", "encrypted", ""), AFTER]


@pytest.mark.parametrize(
    ("method", "name"), [(1, "Shrink"), (6, "Implode"), (9, "Deflate64"), (98, "PPMd"), (77, "77")]
)
def test_zip_member_when_of_an_unknown_method_then_named(method: int, name: str) -> None:
    assert in_zip(Entry(b"a.log", b"?", method)) == [("stdin/a.log", "method", name), AFTER]


# Bombs


@pytest.mark.parametrize("pack", ["gz", "bz2", "xz", "zst"])
def test_bomb_when_a_single_file_then_only_its_beginning_is_read(pack: str) -> None:
    data = COMPRESS[pack](bytes(64 * MIB))
    (_, content), fault = unpack(data)
    assert fault == ("stdin", "ratio", "200")
    assert len(content) <= 11 * MIB
    assert unpack(data, Limits(ratio=1_000_000)) == [("stdin", bytes(64 * MIB))]


def test_bomb_when_a_gibibyte_then_linear_even_without_the_ratio() -> None:
    limits = Limits(ratio=1_000_000)

    def zeros(mebibytes: int) -> bytes:
        return zip_by_hand([Entry(b"zeros", b"", 8, deflated_zeros(mebibytes), size=mebibytes * MIB)])

    def read(data: bytes) -> int:
        items = open_paths(["-"], limits, io.BytesIO(data))
        return sum(len(chunk) for item in items for chunk in getattr(item, "chunks", ()))

    assert listed(open_paths(["-"], limits, io.BytesIO(zeros(1024))), read=False) == [("stdin/zeros", b"")]
    assert read(zeros(1024)) == 1 << 30
    assert_linear(read, zeros, 256)


def test_bomb_when_a_member_of_a_tar_is_not_read_then_the_ratio_still_ends_it() -> None:
    data = COMPRESS["gz"](tar(tar_member("zeros", bytes(64 * MIB)), tar_member("after.log", LOG)))
    assert unpack(data, read=False) == [("stdin/zeros", b""), ("stdin", "ratio", "200")]
    (name, content), *faults = unpack(data)
    assert (name, len(content) <= 11 * MIB) == ("stdin/zeros", True)
    assert faults == [("stdin/zeros", "ratio", "200"), ("stdin", "ratio", "200")]


def test_bomb_when_in_a_zip_then_the_other_members_are_read() -> None:
    _, fault, after = in_zip(Entry(b"zeros", b"", 8, deflated_zeros(64)))
    assert fault == ("stdin/zeros", "ratio", "200")
    assert after == AFTER


def test_ratio_when_a_small_file_exceeds_it_then_read() -> None:
    assert unpack(COMPRESS["zst"](bytes(9 * MIB))) == [("stdin", bytes(9 * MIB))]


def test_bomb_when_zips_of_zips_then_refused_at_the_depth() -> None:
    found = unpack(bomb_of_zips(5, 4, LOG))
    assert len(found) == 64
    assert {item[1:] for item in found} == {("too_deep", "3")}


def test_bomb_when_zips_of_zips_are_wide_then_ended_by_the_number_of_members() -> None:
    # 100 zips of 150 files each: the outer archive and all in it share one allowance.
    found = unpack(bomb_of_zips(2, 150, LOG)[:-1])
    assert found[-1][1:] == ("too_many_members", "10000")
    assert len(found) < 10_001


@pytest.mark.parametrize("layer", ["gz", "bz2", "zst", "zip", "tar"])
def test_quine_when_archives_never_end_then_refused_at_the_depth(layer: str) -> None:
    (only,) = unpack(nested(LOG, [layer] * 40))
    assert only[1:] == ("too_deep", "3")


def test_zip_when_members_overlap_then_each_byte_is_read_once() -> None:
    kernel = bytes(MIB)
    *refused, last = unpack(zip_quoted_overlap(250, kernel))
    assert refused == [(f"stdin/f{number}", "overlap", "") for number in range(249, 0, -1)]
    assert last == ("stdin/f0", kernel)


def test_zip_when_all_entries_share_one_member_then_read_once() -> None:
    entries = [Entry(b"a", LOG), *(Entry(b"a", LOG, offset=0) for _ in range(99))]
    directory = b"".join(entry.central(0) for entry in entries)
    found = unpack(zip_by_hand([entries[0]], claimed=100, directory=directory))
    assert found == [("stdin/a", "overlap", "")] * 99 + [("stdin/a", LOG)]


def test_gzip_when_of_endless_empty_members_then_ended() -> None:
    empty = COMPRESS["gz"](b"")
    limits = Limits(members=30)
    assert unpack(empty * 2_999 + COMPRESS["gz"](LOG), limits) == [("stdin", LOG)]
    assert unpack(empty * 5_000, limits) == [("stdin", "too_many_members", "3000")]
    assert_bounded(lambda data: unpack(data, limits), lambda count: empty * count, 80_000)


def test_zstd_when_of_tiny_blocks_then_linear() -> None:
    def frame(count: int) -> bytes:
        return b"\x28\xb5\x2f\xfd\x00\x58" + b"\x08\0\0a" * count + b"\x01\0\0"  # raw, one byte each

    assert unpack(frame(200_000)) == [("stdin", b"a" * 200_000)]
    assert_linear(unpack, frame, 500_000)


# Limits


def test_file_limit_when_reached_then_exactly_that_much_and_the_rest_is_read() -> None:
    limits = Limits(file_bytes=1000)
    expected = [("stdin/a.log", LOG[:1000]), ("stdin/a.log", "file_limit", "1000 B"), ("stdin/b.log", b"x")]
    assert unpack(tar_of({"a.log": LOG, "b.log": b"x"}), limits) == expected
    assert unpack(zip_of({"a.log": LOG, "b.log": b"x"}), limits) == expected
    assert unpack(COMPRESS["gz"](LOG), limits) == [("stdin", LOG[:1000]), ("stdin", "file_limit", "1000 B")]


def test_file_limit_when_met_exactly_then_nothing_is_missing() -> None:
    assert unpack(COMPRESS["gz"](LOG), Limits(file_bytes=len(LOG), total_bytes=len(LOG))) == [("stdin", LOG)]


def test_limits_when_a_file_is_plain_then_not_applied(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    assert listed(open_paths([path], Limits(file_bytes=10, total_bytes=10))) == [(str(path), LOG)]


def test_total_limit_when_reached_in_a_zip_then_the_rest_is_counted() -> None:
    data = zip_of({"a.log": LOG, "d/": b"", "b.log": LOG, "c.log": LOG, "d.log": LOG})
    assert unpack(data, Limits(total_bytes=len(LOG) + 1000)) == [
        ("stdin/a.log", LOG),
        ("stdin/b.log", LOG[:1000]),
        ("stdin/b.log", "total_limit", "4.9 KiB"),
        ("stdin/c.log", "left_out_counted", "2"),
    ]


def test_total_limit_when_reached_between_members_then_the_rest_is_counted() -> None:
    data = zip_of({"a.log": LOG, "b.log": LOG, "c.log": LOG})
    found = unpack(data, Limits(total_bytes=len(LOG)))
    assert found == [("stdin/a.log", LOG), ("stdin/b.log", "left_out_counted", "2")]


def test_total_limit_when_reached_then_later_archives_are_left_out_and_plain_files_read(tmp_path: Path) -> None:
    for name, data in {
        "a.tar": tar_of({"a.log": LOG, "b.log": LOG}),
        "b.zip": zip_of({"c.log": LOG}),
        "c.log": LOG,
    }.items():
        (tmp_path / name).write_bytes(data)
    found = listed(open_paths([tmp_path], Limits(total_bytes=2000)))
    assert found == [
        (f"{tmp_path}/a.tar/a.log", LOG[: 2000 - 512]),
        (f"{tmp_path}/a.tar/a.log", "total_limit", "2 KiB"),
        (f"{tmp_path}/c.log", LOG),
        (f"{tmp_path}/a.tar", "left_out", "2 KiB"),
    ]


def test_total_limit_when_members_are_skipped_then_it_holds_too() -> None:
    data = COMPRESS["gz"](tar_of({f"{number}.log": LOG for number in range(100)}))
    found = unpack(data, Limits(total_bytes=600 << 10), read=False)
    assert len(found) == 100
    found = unpack(data, Limits(total_bytes=300 << 10), read=False)
    assert found[-1] == ("stdin", "total_limit", "300 KiB")
    assert 50 < len(found) < 70


@pytest.mark.parametrize("pack", [zip_of, tar_of])
def test_members_when_too_many_then_the_rest_is_named_once(pack: Callable[[dict[str, bytes]], bytes]) -> None:
    data = pack({f"{number}.log": b"x" for number in range(30)})
    *read, last = unpack(data, Limits(members=20))
    assert read == [(f"stdin/{number}.log", b"x") for number in range(20)]
    assert (
        last
        == {
            zip_of: ("stdin", "too_many_members_counted", "10"),
            tar_of: ("stdin/20.log", "too_many_members", "20"),
        }[pack]
    )


def test_members_when_as_many_as_allowed_then_nothing_is_left_out() -> None:
    members = {f"{number}.log": b"x" for number in range(20)}
    assert len(unpack(zip_of(members), Limits(members=20))) == 20
    assert len(unpack(tar_of(members), Limits(members=20))) == 20


def test_members_when_directories_then_they_count() -> None:
    data = tar(*(tar_header(f"{number}/", 0, b"5") for number in range(50)), tar_member("a.log", LOG))
    assert unpack(data, Limits(members=20)) == [("stdin/20", "too_many_members", "20")]


def test_depth_when_one_then_archives_in_archives_are_refused() -> None:
    found = unpack(tar_of({"a.log.gz": COMPRESS["gz"](LOG), "b.log": LOG}), Limits(depth=1))
    assert found == [("stdin/a.log.gz", "too_deep", "1"), ("stdin/b.log", LOG)]


def test_nested_zip_when_too_large_to_hold_then_told_and_the_rest_is_read(tmp_path: Path) -> None:
    zipped = zip_of({"a.log": LOG}, 0)
    limits = Limits(nested_zip_bytes=1000)
    assert unpack(zipped, limits) == [("stdin", "nested_zip", "1000 B")]
    assert unpack(tar_of({"a.zip": zipped, "after.log": LOG}), limits) == [
        ("stdin/a.zip", "nested_zip", "1000 B"),
        AFTER,
    ]
    (tmp_path / "a.zip").write_bytes(zipped)
    assert listed(open_paths([tmp_path / "a.zip"], limits)) == [(f"{tmp_path}/a.zip/a.log", LOG)]


def test_nested_zips_when_held_one_in_another_then_they_share_the_memory() -> None:
    inner = zip_of({"a.log": bytes(700_000)}, 0)
    data = zip_of({"inner.zip": inner, "after.log": LOG})
    assert unpack(data, Limits(nested_zip_bytes=1 << 20, depth=9)) == [("stdin/inner.zip/a.log", bytes(700_000)), AFTER]


# Tar headers


def test_tar_when_a_size_is_ten_exabytes_then_read_to_the_end() -> None:
    (name, content), *faults = unpack(tar_header("a.log", 10 * 10**18) + LOG)
    assert (name, content) == ("stdin/a.log", LOG)
    assert faults == [("stdin/a.log", "truncated", ""), ("stdin", "truncated", "")]


def test_tar_when_a_size_is_negative_then_the_next_header_is_found() -> None:
    bad = bytearray(tar_header("a.log", tar_number(-1024)))
    assert in_tar(tar_member("first", b"x"), seal(bad)) == [("stdin/first", b"x"), ("stdin", "corrupt", ""), AFTER]
    assert in_tar(pax({"size": "-1024"}), tar_member("a.log", b"")) == [("stdin/a.log", b""), AFTER]


def test_tar_when_a_pax_header_is_huge_then_only_its_member_is_lost() -> None:
    large = tar_member("pax", b"99999999 path=" + b"x" * (8 * MIB), b"x")
    assert in_tar(large, tar_member("a.log", LOG)) == [("stdin/a.log", "large_header", ""), AFTER]
    assert in_tar(tar_member("././@LongLink", b"x" * (2 * MIB), b"L"), tar_member("b.log", LOG)) == [
        ("stdin/b.log", "large_header", ""),
        AFTER,
    ]


def test_tar_when_a_pax_header_claims_exabytes_then_truncated() -> None:
    assert unpack(tar_header("pax", 10**18, b"x") + bytes(5 * MIB)) == [("stdin", "truncated", "")]


def test_tar_when_extended_headers_form_a_chain_then_ended() -> None:
    chain = pax({"comment": "x"}) * 3000
    assert in_tar(chain, tar_member("a.log", LOG)) == [("stdin/a.log", LOG), AFTER]
    limits = Limits(members=300)
    assert unpack(tar(chain), limits) == [("stdin", "too_many_members", "300")]
    header = pax({"comment": "x"})
    assert_bounded(lambda data: unpack(data, limits), lambda count: tar(header * count), 24_000)


@pytest.mark.parametrize(
    "records",
    [
        b"",
        b"x",
        b"0 a=b\n",
        b"5",
        b"-5 a=b\n",
        b"99999999999999999999 a=b\n",
        b"1" * 5000,
        b"6 path",
        b"9 size=x\n",
        b"\n" * 900,
    ],
)
def test_tar_when_pax_records_are_nonsense_then_ignored(records: bytes) -> None:
    assert in_tar(tar_member("pax", records, b"x"), tar_member("a.log", LOG)) == [("stdin/a.log", LOG), AFTER]


def test_tar_when_a_pax_size_has_thousands_of_digits_then_ignored() -> None:
    assert in_tar(pax({"size": "9" * 5000}), tar_member("a.log", LOG)) == [("stdin/a.log", LOG), AFTER]


def test_tar_when_a_sparse_map_is_endless_then_truncated() -> None:
    block = bytearray(tar_header("a.log", 0, b"S"))
    block[482] = 1
    endless = seal(block) + (bytes(504) + b"\1" + bytes(7)) * 20_000
    assert unpack(endless) == [("stdin", "truncated", "")]


def test_tar_when_a_sparse_map_claims_to_be_endless_then_nothing_is_left_of_its_member() -> None:
    headers = pax({"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "a.log"})
    assert in_tar(headers, tar_member("x", b"999999999\n" + LOG)) == [("stdin/a.log", b""), AFTER]


def test_tar_when_all_headers_but_one_are_damaged_then_found_among_gibberish() -> None:
    data = tar_member("first.log", LOG) + b"\xa5ustar" * 600_000
    data += bytes(-len(data) % 512) + tar(tar_member("after.log", LOG))
    assert unpack(data) == [("stdin/first.log", LOG), ("stdin", "corrupt", ""), AFTER]


# Zip headers


def test_zip_when_it_claims_more_entries_than_it_has_then_not_believed() -> None:
    assert unpack(zip_by_hand([Entry(b"a.log", LOG)], claimed=65_000)) == [("stdin/a.log", LOG)]


def test_zip_when_its_directory_has_millions_of_entries_then_the_rest_is_counted() -> None:
    entry = Entry(b"a.log", LOG)
    directory = entry.central(0) * 500_000
    *found, last = unpack(zip_by_hand([entry], claimed=0xFFFE, directory=directory))
    assert len(found) == 10_000
    assert last == ("stdin", "too_many_members_counted", str(0xFFFE - 10_000))


def test_zip_when_its_names_and_extra_fields_are_as_long_as_can_be_then_read() -> None:
    entries = [Entry(b"d/" * 30_000 + b"%d.log" % number, b"x") for number in range(50)]
    found = unpack(zip_by_hand(entries))
    assert len(found) == 50
    assert found[49][0].endswith("/49.log") or found[49][0].endswith(".log (50)")


def test_zip_when_sizes_are_lies_then_what_is_there_is_read() -> None:
    assert in_zip(Entry(b"a.log", LOG, size=10)) == [("stdin/a.log", LOG), AFTER]
    assert in_zip(Entry(b"a.log", LOG, size=1 << 31)) == [("stdin/a.log", LOG), AFTER]
    assert in_zip(Entry(b"a.log", LOG, packed_size=1 << 31)) == [("stdin/a.log", "overlap", ""), AFTER]
    assert in_zip(Entry(b"a.log", LOG, packed_size=10)) == [
        ("stdin/a.log", LOG[:10]),
        ("stdin/a.log", "checksum", ""),
        AFTER,
    ]


def test_zip_when_headers_disagree_then_told() -> None:
    assert in_zip(Entry(b"a.log", LOG, local_name=b"b.log")) == [("stdin/a.log", "headers_disagree", ""), AFTER]
    assert in_zip(Entry(b"a.log", LOG, offset=7)) == [("stdin/a.log", "headers_disagree", ""), AFTER]
    assert unpack(zip_by_hand([Entry(b"a.log", LOG), Entry(b"b.log", LOG, offset=0xFFFFFFF0)])) == [
        ("stdin/a.log", LOG),
        ("stdin/b.log", "headers_disagree", ""),
    ]


def test_zip_when_its_directory_breaks_off_then_told() -> None:
    entries = [Entry(b"a.log", LOG), Entry(b"b.log", LOG)]
    directory = entries[0].central(0) + b"nonsense" * 20
    assert unpack(zip_by_hand(entries, directory=directory)) == [("stdin/a.log", LOG), ("stdin", "corrupt", "")]


def test_zip_when_an_entry_is_nonsense_then_it_takes_nothing_from_the_others() -> None:
    entries = [Entry(b"a.log", LOG), Entry(b"b.log", LOG)]
    directory = entries[0].central(0) + Entry(b"?", b"", offset=40).central(40)
    assert unpack(zip_by_hand(entries, directory=directory)) == [
        ("stdin/a.log", LOG),
        ("stdin/?", "headers_disagree", ""),
    ]


def test_zip_when_its_directory_is_nonsense_then_members_are_found_by_their_headers() -> None:
    entries = [Entry(b"a.log", LOG), Entry(b"b.log", LOG)]
    assert unpack(zip_by_hand(entries, directory=b"nonsense" * 20)) == [
        ("stdin/a.log", LOG),
        ("stdin/b.log", LOG),
        ("stdin", "no_directory", ""),
    ]


def test_zip_when_zip64_offsets_are_absurd_then_no_error() -> None:
    wide = struct.pack("<2H3Q", 1, 24, 1 << 63, 1 << 63, (1 << 64) - 1)
    head = Entry(b"a.log", LOG, size=0xFFFFFFFF, packed_size=0xFFFFFFFF, offset=0xFFFFFFFF).central(0)
    directory = head[:30] + struct.pack("<H", len(wide)) + head[32:] + wide
    assert unpack(zip_by_hand([Entry(b"a.log", LOG)], directory=directory)) == [("stdin/a.log", "headers_disagree", "")]


@pytest.mark.parametrize("header", [b"PK\x03\x04", b"PK\x03\x04" + bytes(24) + b"\xff\xff"])
def test_zip_when_cut_off_and_full_of_false_headers_then_linear(header: bytes) -> None:
    limits = Limits(members=500)
    found = unpack(header * 500_000, limits)
    assert found[-1][1] in ("no_directory", "too_many_members")
    assert_linear(lambda data: unpack(data, limits), lambda count: header * count, 500_000)


# Damage


def test_compressed_when_it_is_only_noise_behind_the_magic_then_told() -> None:
    noise = bytes(range(7, 250)) * 50
    assert unpack(b"\xfd7zXZ\x00" + noise) == [("stdin", "corrupt", "")]
    assert unpack(b"BZh91AY&SY" + noise) == [("stdin", "corrupt", "")]
    assert unpack(b"\x1f\x8b\x08\xff" + noise) == [("stdin", "corrupt", "")]
    assert unpack(b"\x28\xb5\x2f\xfd\x08" + noise) == [("stdin", "corrupt", "")]


def test_gzip_when_its_name_never_ends_then_told() -> None:
    assert unpack(b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * (8 * MIB)) == [("stdin", "corrupt", "")]


def test_zstd_when_a_block_is_of_the_reserved_type_then_told() -> None:
    assert unpack(b"\x28\xb5\x2f\xfd\x00\x58" + b"\x07\0\0" + bytes(600)) == [("stdin", "corrupt", "")]


def test_zstd_when_its_checksum_is_wrong_then_told() -> None:
    assert unpack(zst(LOG)[:-4] + bytes(4))[-1] == ("stdin", "corrupt", "")


def test_gzip_when_it_is_a_bomb_in_a_bundle_of_many_then_the_others_are_read() -> None:
    data = tar_of({"a.log": LOG, "bomb.gz": gzip_zeros(1024), "b.zip": zip_of({"c.log": LOG}), "after.log": LOG})
    a, bomb, fault, c, after = unpack(data)
    assert (a, bomb[0], c, after) == (("stdin/a.log", LOG), "stdin/bomb.gz", ("stdin/b.zip/c.log", LOG), AFTER)
    assert fault == ("stdin/bomb.gz", "ratio", "200")
