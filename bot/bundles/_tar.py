"""Tar read as a stream, member after member.

`tarfile.TarInfo` decodes the header blocks; the walk from block to block is done here. `TarFile` keeps extended headers
of any size in memory, recurses for each of a chain of them, stops at the first damage, and in Python releases that are
in use can be made to loop (CVE-2025-8194) or to take polynomial time (CVE-2024-6232).
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bot.bundles._limits import Unread
from bot.bundles._names import decode_name
from bot.bundles._streams import UNIT, Stream

_BLOCK = 512
_LARGEST_HEADER = 1 << 20
"""Bytes of one extended header; real ones hold a name and a few numbers."""
_HEADERS_PER_MEMBER = 4
_MAGIC = b"ustar"
_MAGIC_AT = 257

_LONG_NAME, _LONG_LINK = b"L", b"K"
_PAX, _PAX_GLOBAL, _PAX_SOLARIS = b"x", b"g", b"X"
_EXTENDED = (_LONG_NAME, _LONG_LINK, _PAX, _PAX_GLOBAL, _PAX_SOLARIS)
_LINKS = (tarfile.LNKTYPE, tarfile.SYMTYPE)
_SPECIAL = (tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)
_NOTHING = (tarfile.DIRTYPE, b"D", b"V")  # directories, GNU's lists of names, volume labels


@dataclass(frozen=True, slots=True)
class TarMember:
    """A member: its name, what it is, and its bytes, which have to be read before the next member is asked for.

    A `damage` has no name: it stands for a stretch of the archive that is no member.
    """

    name: str
    kind: Literal["file", "nothing", "link", "special", "large_header", "damage"]
    data: Stream


@dataclass(slots=True)
class _Extended:
    """What extended headers say about the next member."""

    name: str = ""
    real_name: str = ""  # of a sparse file, whose `name` is made up
    size: int | None = None
    has_map: bool = False  # a sparse file of GNU's format 1.0
    too_large: bool = False


def is_tar(head: bytes) -> bool:
    """Whether a tar begins so: its first header has the right checksum. Old tars have no magic."""
    return len(head) >= _BLOCK and head[0] != 0 and _header(head[:_BLOCK]) is not None


def tar_members(stream: Stream, most: int) -> Iterator[TarMember]:
    """The members in their order. What the caller does not read of one is skipped.

    Sparse files are read without their holes. Raises Unread where the stream ends too early, and after 4 * `most`
    headers.
    """
    extended = _Extended()
    for _ in range(most * _HEADERS_PER_MEMBER):
        block = stream.exactly(_BLOCK)
        if not block or not block.strip(b"\0"):
            return
        if len(block) < _BLOCK:
            raise Unread("truncated")
        header = _header(block)
        if header is None:
            yield TarMember("", "damage", Stream(lambda _: b""))
            if not _find_header(stream):
                return
            extended = _Extended()
            continue
        if header.type in _EXTENDED:
            _read_extended(stream, header, extended)
            continue
        size = header.size if extended.size is None else extended.size
        if header.type in (*_LINKS, *_SPECIAL, tarfile.DIRTYPE):
            size = 0  # whatever their header says, no data follow
        if header.type == tarfile.GNUTYPE_SPARSE:
            _skip_sparse_map(stream, block)
        member = _Body(stream, size)
        data = Stream(member.pull)
        if extended.has_map:
            _skip_pax_map(data)
        yield TarMember(extended.real_name or extended.name or header.name, _kind(header.type, extended), data)
        member.pass_over()
        extended = _Extended()
    raise Unread("too_many_members", str(most))


class _Body:
    """The bytes of one member, padded to whole blocks."""

    def __init__(self, stream: Stream, size: int) -> None:
        self._stream = stream
        self._left = size
        self._padding = -size % _BLOCK

    def pull(self, size: int) -> bytes:
        """See Stream."""
        if not self._left:
            return b""
        data = self._stream.read(min(size, self._left))
        if not data:
            raise Unread("truncated")
        self._left -= len(data)
        return data

    def pass_over(self) -> None:
        """Skip what was not read. Raises Unread where the stream ends before; only padding may be missing."""
        if self._stream.skip(self._left) < self._left:
            raise Unread("truncated")
        self._stream.skip(self._padding)


def _header(block: bytes) -> tarfile.TarInfo | None:
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError, OverflowError):
        return None
    return header if header.size >= 0 else None


def _kind(type_: bytes, extended: _Extended) -> Literal["file", "nothing", "link", "special", "large_header"]:
    if extended.too_large:
        return "large_header"
    if type_ in _LINKS:
        return "link"
    if type_ in _SPECIAL:
        return "special"
    return "nothing" if type_ in _NOTHING else "file"


def _read_extended(stream: Stream, header: tarfile.TarInfo, extended: _Extended) -> None:
    body = _Body(stream, header.size)
    if header.type in (_LONG_NAME, _PAX, _PAX_SOLARIS):
        if header.size > _LARGEST_HEADER:
            extended.too_large = True
        else:
            data = b""
            while part := body.pull(UNIT):
                data += part
            if header.type == _LONG_NAME:
                extended.name = decode_name(data.partition(b"\0")[0])
            else:
                _read_pax(data, extended)
    body.pass_over()


def _read_pax(data: bytes, extended: _Extended) -> None:
    """Records are `length key=value\\n`, `length` that of all of it; from a wrong one on nothing is believed."""
    at = 0
    try:
        while at < len(data):
            space = data.index(b" ", at, at + 20)
            end = at + int(data[at:space])
            key, equals, value = data[space + 1 : end - 1].partition(b"=")
            if not equals or end <= space or end > len(data):
                return
            if key == b"path":
                extended.name = decode_name(value)
            elif key == b"GNU.sparse.name":
                extended.real_name = decode_name(value)
            elif key == b"size":
                extended.size = max(int(value), 0)
            elif key == b"GNU.sparse.major":
                extended.has_map = value == b"1"
            at = end
    except ValueError:
        return


def _skip_sparse_map(stream: Stream, block: bytes) -> None:
    """Old GNU: the map goes on in blocks while byte 482 of the header, then byte 504 of each block, is set."""
    more = block[482]
    while more:
        block = stream.exactly(_BLOCK)
        if len(block) < _BLOCK:
            raise Unread("truncated")
        more = block[504]


def _skip_pax_map(data: Stream) -> None:
    """GNU 1.0: the data begin with a map in whole blocks, decimal numbers in lines: how many pairs, then these."""
    lines, wanted = 0, 1
    while lines < wanted:
        try:
            block = data.peek(_BLOCK)
        except Unread:
            return  # met again, and told, by the reader of the member
        data.skip(len(block))
        if len(block) < _BLOCK:
            return
        if not lines:
            count = block.partition(b"\n")[0]
            wanted = 1 + 2 * int(count) if count.isdigit() and len(count) < 10 else 1
        lines += block.count(b"\n")


def _find_header(stream: Stream) -> bool:
    """Move on to the next block that is a header with a magic; whether there is one. Raises Unread."""
    while len(area := stream.peek(UNIT)) >= _BLOCK:
        for start in range(0, len(area) - _BLOCK + 1, _BLOCK):
            if area.startswith(_MAGIC, start + _MAGIC_AT) and _header(area[start : start + _BLOCK]) is not None:
                stream.skip(start)
                return True
        stream.skip(len(area) // _BLOCK * _BLOCK)
    return False
