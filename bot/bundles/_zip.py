"""Zip: its directory read entry by entry, and its members by their place; without the directory, by their own headers.

`zipfile` reads the whole directory into memory, cuts a member at the size its header claims, and opens nothing that was
cut off.
Layout and numbers are those of PKWARE's APPNOTE 6.3.10.
"""

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from bot.bundles._codecs import codec_of_method, decompressed
from bot.bundles._limits import Limits, Memory, Unread
from bot.bundles._names import decode_name
from bot.bundles._streams import UNIT, Seekable, Stream, part_of

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END64_AT = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCAL_MAGIC, _CENTRAL_MAGIC, _END_MAGIC = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_LONGEST_NAME = 1024
_HEADERS_PER_MEMBER = 10  # looked at where there is no directory: most of them in the middle of something
_NONE32 = 0xFFFFFFFF
_UNIX = 3


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """A member as a header describes it. `packed` is None where its compressed length is not known beforehand."""

    name: str
    raw_name: bytes
    kind: Literal["file", "nothing", "link", "special"]
    flags: int
    method: int
    crc: int | None
    packed: int | None
    size: int
    offset: int
    """Of its local header."""


class Placed(NamedTuple):
    """An entry; where its data begin, None if its local header says something else; where the next thing begins."""

    entry: ZipEntry
    start: int | None
    end: int


class Directory(NamedTuple):
    """The entries in the order of their places, and how many more there are. `damaged`: it ended in nonsense."""

    entries: list[Placed]
    more: int
    damaged: bool


def read_directory(source: Seekable, most: int) -> Directory | None:
    """At most `most` entries of the directory; None where the archive has none, as when it was cut off."""
    found = _find_end(source)
    if found is None:
        return None
    claimed, size, offset = found
    stream = part_of(source, offset, offset + size)
    entries: list[ZipEntry] = []
    damaged = False
    while len(entries) < most:
        header = stream.exactly(_CENTRAL.size)
        if not header:
            break
        entry = _central_entry(header, stream)
        if entry is None:
            damaged = True
            break
        entries.append(entry)
    # What the archive claims to hold besides is bounded by the room in its directory.
    more = min(max(claimed - len(entries), 0), (size - stream.consumed) // _CENTRAL.size)
    if size and not entries:
        return None
    return Directory(_placed(source, entries, offset), more, damaged)


def open_entry(source: Seekable, placed: Placed, limits: Limits, memory: Memory) -> Stream | Unread:
    """The bytes of a member that the directory names, or why not: as when its data reach into the next member."""
    entry, start, end = placed
    if start is None:
        return Unread("headers_disagree")
    if entry.packed is None or start + entry.packed > end:
        return Unread("overlap")
    return _opened(part_of(source, start, start + entry.packed), entry, limits, memory)


def walk_local(source: Seekable, limits: Limits, memory: Memory) -> Iterator[tuple[ZipEntry, Stream | Unread]]:
    """The members of an archive without a directory, by the headers in front of them; with their bytes, or why not."""
    position = _next_local(source, 0)
    for _ in range(limits.members * _HEADERS_PER_MEMBER):
        if position is None:
            return
        entry = _local_entry(source, position)
        if entry is None:
            position = _next_local(source, position + 4)
            continue
        start = position + _LOCAL.size + _lengths(source, position)
        if entry.packed is not None:
            packed = part_of(source, start, start + entry.packed)
        else:
            packed = part_of(source, start, source.size)
        if entry.packed is None and entry.method == 0:
            yield entry, Unread("truncated")  # its length is behind it: only the lost directory tells where that is
        else:
            yield entry, _opened(packed, entry, limits, memory)
        position = _next_local(source, start + (packed.consumed if entry.packed is None else entry.packed))


def _opened(packed: Stream, entry: ZipEntry, limits: Limits, memory: Memory) -> Stream | Unread:
    if entry.flags & 0x2041 or entry.method == 99:  # encrypted, strongly encrypted, directory encrypted; AES
        return Unread("encrypted")
    try:
        codec = codec_of_method(entry.method, packed, entry.size, entry.flags)
    except Unread as unread:
        return unread
    plain = packed if codec is None else decompressed(packed, codec, limits, memory, many=False)
    cut = entry.packed if codec is None else None
    return _checked(plain, entry.crc, cut)


def _checked(source: Stream, crc: int | None, length: int | None) -> Stream:
    """The source, with its checksum and, where known, its length compared at the end."""
    so_far = 0

    def pull(size: int) -> bytes:
        nonlocal so_far
        data = source.read(size)
        if data:
            so_far = zlib.crc32(data, so_far)
        elif length is not None and source.consumed < length:
            raise Unread("truncated")
        elif crc is not None and crc != so_far:
            raise Unread("checksum")
        return data

    return Stream(pull)


def _find_end(source: Seekable) -> tuple[int, int, int] | None:
    """How many entries the directory claims, its length and its offset."""
    begin = max(source.size - _END.size - 0xFFFF, 0)
    tail = source.at(begin, source.size - begin)
    at = tail.rfind(_END_MAGIC)
    while at >= 0:
        if at + _END.size <= len(tail):
            _, _, _, _, entries, size, offset, _ = _END.unpack_from(tail, at)
            end = begin + at
            wide = _wide_end(source, end) if entries == 0xFFFF or _NONE32 in (size, offset) else None
            entries, size, offset = wide or (entries, size, offset)
            if offset + size <= end:
                return entries, size, offset
        at = tail.rfind(_END_MAGIC, 0, at)
    return None


def _wide_end(source: Seekable, end: int) -> tuple[int, int, int] | None:
    locator = source.at(end - _END64_AT.size, _END64_AT.size) if end >= _END64_AT.size else b""
    if not locator.startswith(b"PK\x06\x07"):
        return None
    record = source.at(_END64_AT.unpack(locator)[2], _END64.size)
    if len(record) < _END64.size or not record.startswith(b"PK\x06\x06"):
        return None
    entries, size, offset = _END64.unpack(record)[7:]
    return entries, size, offset


def _central_entry(header: bytes, stream: Stream) -> ZipEntry | None:
    if len(header) < _CENTRAL.size or not header.startswith(_CENTRAL_MAGIC):
        return None
    fields = _CENTRAL.unpack(header)
    made_by, flags, method, crc, packed, size = fields[1], fields[3], fields[4], *fields[7:10]
    name_length, extra_length, comment_length = fields[10:13]
    attributes, offset = fields[15:17]
    name = stream.exactly(name_length)
    extra = stream.exactly(extra_length)
    stream.skip(comment_length)
    size, packed, offset = _wide(extra, [size, packed, offset])
    return ZipEntry(
        name=_short(name),
        raw_name=name[:_LONGEST_NAME],
        kind=_kind(name, made_by, attributes),
        flags=flags,
        method=method,
        crc=crc,
        packed=packed,
        size=size,
        offset=offset,
    )


def _local_entry(source: Seekable, offset: int) -> ZipEntry | None:
    header = source.at(offset, _LOCAL.size)
    if len(header) < _LOCAL.size:
        return None
    _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _LOCAL.unpack(header)
    if not name_length:
        return None
    name = source.at(offset + _LOCAL.size, name_length)
    extra = source.at(offset + _LOCAL.size + name_length, extra_length)
    if len(extra) < extra_length:
        return None
    size, packed, _ = _wide(extra, [size, packed, 0])
    behind = bool(flags & 8)  # lengths and checksum come behind the data
    return ZipEntry(
        name=_short(name),
        raw_name=name[:_LONGEST_NAME],
        kind=_kind(name, 0, 0),
        flags=flags,
        method=method,
        crc=None if behind else crc,
        packed=None if behind else packed,
        size=size,
        offset=offset,
    )


def _placed(source: Seekable, entries: list[ZipEntry], end: int) -> list[Placed]:
    """The entries in the order of their places, before `end`. One without a local header bounds no other."""
    found = []
    for entry in sorted(entries, key=lambda entry: entry.offset, reverse=True):
        start = _data_start(source, entry)
        found.append(Placed(entry, start, end))
        end = end if start is None else entry.offset
    return found[::-1]


def _data_start(source: Seekable, entry: ZipEntry) -> int | None:
    header = source.at(entry.offset, _LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(_LOCAL_MAGIC):
        return None
    _, _, flags, method, _, _, _, _, _, name_length, extra_length = _LOCAL.unpack(header)
    name = source.at(entry.offset + _LOCAL.size, min(name_length, _LONGEST_NAME))
    if name != entry.raw_name or method != entry.method or (flags ^ entry.flags) & 1:
        return None
    return int(entry.offset + _LOCAL.size + name_length + extra_length)


def _lengths(source: Seekable, offset: int) -> int:
    """Bytes of name and extra field behind a local header."""
    lengths = source.at(offset + 26, 4)
    return int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")


def _next_local(source: Seekable, position: int) -> int | None:
    window = 64  # the next header is close as a rule
    while position < source.size:
        area = source.at(position, window)
        at = area.find(_LOCAL_MAGIC)
        if at >= 0:
            return position + at
        if len(area) < window:
            return None
        position += len(area) - len(_LOCAL_MAGIC) + 1
        window = min(window * 4, UNIT)
    return None


def _wide(extra: bytes, values: list[int]) -> list[int]:
    """The values with those that did not fit 32 bits taken from the extra field of zip64."""
    at = 0
    while at + 4 <= len(extra):
        tag, length = struct.unpack_from("<2H", extra, at)
        if tag == 1:
            wide = extra[at + 4 : at + 4 + length]
            for index, value in enumerate(values):
                if value == _NONE32 and len(wide) >= 8:
                    values[index] = int.from_bytes(wide[:8], "little")
                    wide = wide[8:]
            break
        at += 4 + length
    return values


def _kind(name: bytes, made_by: int, attributes: int) -> Literal["file", "nothing", "link", "special"]:
    if name.endswith((b"/", b"\\")):
        return "nothing"
    mode = attributes >> 16 if made_by >> 8 == _UNIX else 0
    kind = stat.S_IFMT(mode)
    if kind == stat.S_IFLNK:
        return "link"
    if kind == stat.S_IFDIR:
        return "nothing"
    # What was piped into Info-ZIP says that it is a pipe.
    return "file" if kind in (0, stat.S_IFREG, stat.S_IFIFO) else "special"


def _short(name: bytes) -> str:
    half = _LONGEST_NAME // 2
    return decode_name(name if len(name) <= _LONGEST_NAME else name[:half] + name[-half:])
