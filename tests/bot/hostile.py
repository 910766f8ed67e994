"""Builders of archives, honest and hostile ones, and what `bot.bundles` makes of them. Nothing is kept on disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import zstandard

from bot.bundles import Limits, open_paths
from kb.evidence import NotRead, Source


def zst(data: bytes, *, window_log: int | None = None) -> bytes:
    """A zstd frame of a stream, without its length and with its checksum."""
    parameters = zstandard.ZstdCompressionParameters.from_level(3, write_checksum=1)
    if window_log:
        parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=window_log)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return stream.compress(data) + stream.flush()


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 6, mtime=0),
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=1),
    "zst": zst,
}
MAGICS = {
    "gz": b"\x1f\x8b\x08",
    "bz2": b"BZh91AY&SY",
    "xz": b"\xfd7zXZ\x00",
    "zst": b"\x28\xb5\x2f\xfd",
    "zst_skippable": b"\x50\x2a\x4d\x18",
    "zip": b"PK\x03\x04",
    "zip_empty": b"PK\x05\x06",
    "7z": b"7z\xbc\xaf\x27\x1c",
    "rar": b"Rar!\x1a\x07\x01\x00",
    "lz4": b"\x04\x22\x4d\x18",
}


def tar_header(name: str, size: int | bytes, kind: bytes = b"0", link: str = "") -> bytes:
    """One ustar header block. A `size` in bytes goes in as it is."""
    block = bytearray(512)
    raw = name.encode("utf-8", "surrogateescape")
    block[: len(raw)] = raw
    block[100:124] = b"0000644\0" + b"0000000\0" * 2
    block[124:136] = size if isinstance(size, bytes) else tar_number(size)
    block[136:148] = b"00000000000\0"
    block[156:157] = kind
    block[157 : 157 + len(link)] = link.encode()
    block[257:265] = b"ustar\x0000"
    return seal(block)


def tar_number(value: int) -> bytes:
    """A number as tar has it: octal, or base 256 where it is too large or negative."""
    if 0 <= value < 8**11:
        return b"%011o\0" % value
    return (b"\x80" if value >= 0 else b"\xff") + (value & (1 << 88) - 1).to_bytes(11, "big")


def seal(block: bytearray) -> bytes:
    """Put in the checksum of a header block."""
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(data: bytes) -> bytes:
    """Data of a tar member, in whole blocks."""
    return data + bytes(-len(data) % 512)


def tar_member(name: str, data: bytes, kind: bytes = b"0") -> bytes:
    """A header and its data."""
    return tar_header(name, len(data), kind) + padded(data)


def tar(*members: bytes) -> bytes:
    """Members and the end of a tar."""
    return b"".join(members) + bytes(1024)


def tar_of(members: dict[str, bytes], layout: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar as Python writes it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=layout) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def pax(records: dict[str, str], kind: bytes = b"x") -> bytes:
    """An extended header."""
    data = b""
    for key, value in records.items():
        body = f" {key}={value}\n".encode()
        length = len(body) + 1
        while len(str(length)) + len(body) != length:
            length = len(str(length)) + len(body)
        data += str(length).encode() + body
    return tar_member("pax", data, kind)


def sparse_old(name: str, real_size: int, data: bytes, *, more_maps: int = 0) -> bytes:
    """A sparse file in GNU's old format: one stretch of data at the start of `real_size` bytes."""
    block = bytearray(tar_header(name, len(data), b"S"))
    block[257:265] = b"ustar  \0"
    block[345:500] = bytes(155)
    block[386:410] = tar_number(0) + tar_number(len(data))
    block[482] = more_maps > 0
    block[483:495] = tar_number(real_size)
    maps = b"".join(bytes(504) + bytes([number + 1 < more_maps]) + bytes(7) for number in range(more_maps))
    return seal(block) + maps + padded(data)


def sparse_new(name: str, real_size: int, data: bytes) -> bytes:
    """A sparse file in GNU's format 1.0."""
    stored = padded(f"1\n{real_size - len(data)}\n{len(data)}\n".encode()) + data
    records = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": name}
    return pax({**records, "GNU.sparse.realsize": str(real_size)}) + tar_member(f"GNUSparseFile.0/{name}", stored)


def zip_of(
    members: dict[str, bytes] | Iterable[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED, *, stream: bool = False
) -> bytes:
    """A zip as Python writes it; `stream`: with lengths behind the data, as if it were written to a pipe."""
    buffer = _Pipe() if stream else io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items() if isinstance(members, dict) else members:
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return buffer.getvalue()


class _Pipe(io.BytesIO):
    def seekable(self) -> bool:
        return False

    def seek(self, *_: object) -> int:
        raise OSError("a pipe")

    def tell(self) -> int:
        raise OSError("a pipe")


@dataclass
class Entry:
    """A member of a hand-made zip; what is None is right."""

    name: bytes
    data: bytes
    method: int = 0
    packed: bytes | None = None
    flags: int = 0
    crc: int | None = None
    size: int | None = None
    packed_size: int | None = None
    local_name: bytes | None = None
    mode: int = 0
    offset: int | None = None

    def local(self) -> bytes:
        """Header and data."""
        name = self.name if self.local_name is None else self.local_name
        return self._fields(b"PK\x03\x04", struct.pack("<H", 20), name) + struct.pack("<H", 0) + name + self._packed()

    def central(self, offset: int) -> bytes:
        """Its entry of the directory."""
        head = self._fields(b"PK\x01\x02", struct.pack("<2H", 3 << 8 | 20, 20), self.name)
        tail = struct.pack("<4H2L", 0, 0, 0, 0, self.mode << 16, offset if self.offset is None else self.offset)
        return head + tail + self.name

    def _packed(self) -> bytes:
        return self.data if self.packed is None else self.packed

    def _fields(self, magic: bytes, versions: bytes, name: bytes) -> bytes:
        crc = zlib.crc32(self.data) if self.crc is None else self.crc
        packed = len(self._packed()) if self.packed_size is None else self.packed_size
        size = len(self.data) if self.size is None else self.size
        return magic + versions + struct.pack("<4H3LH", self.flags, self.method, 0, 0, crc, packed, size, len(name))


def zip_by_hand(
    entries: Sequence[Entry], *, claimed: int | None = None, directory: bytes | None = None, wide: bool = False
) -> bytes:
    """A zip whose headers say what the entries say.

    `claimed`: the number of entries its end claims; `wide`: with the end of zip64.
    """
    body, offsets = b"", []
    for entry in entries:
        offsets.append(len(body))
        body += entry.local()
    if directory is None:
        directory = b"".join(entry.central(offset) for entry, offset in zip(entries, offsets, strict=True))
    return body + directory + _end(len(entries) if claimed is None else claimed, len(directory), len(body), wide=wide)


def _end(count: int, size: int, offset: int, *, wide: bool = False) -> bytes:
    if not wide:
        return struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, size, offset, 0)
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, offset)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, offset + size, 1)
    none = 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF
    return record + locator + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, *none, 0)


def deflated(data: bytes) -> bytes:
    """A raw deflate stream."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def deflated_zeros(mebibytes: int) -> bytes:
    """A raw deflate stream of zeros, made in no time: the same independent piece again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return first * mebibytes + packer.flush()


def gzip_zeros(mebibytes: int) -> bytes:
    """A gzip member of zeros; its checksum is not computed."""
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + deflated_zeros(mebibytes) + bytes(8)


def zip_quoted_overlap(count: int, kernel: bytes) -> bytes:
    """David Fifield's zip bomb: each member quotes the headers of the following ones and ends in the same data."""
    packed = deflated(kernel)
    body, crc_data = Entry(b"f0", kernel, 8, packed).local(), kernel
    headers = [Entry(b"f0", kernel, 8, packed)]
    offsets_from_end = [len(body)]
    for number in range(1, count):
        following = Entry(headers[-1].name, b"", 8, b"", crc=0)
        following.crc, following.size = zlib.crc32(headers[-1].data), len(headers[-1].data)
        following.packed_size = len(headers[-1].packed or b"")
        quoted = following.local()
        crc_data = quoted + headers[-1].data
        stored = b"\0" + struct.pack("<2H", len(quoted), len(quoted) ^ 0xFFFF)
        entry = Entry(b"f%d" % number, crc_data, 8, stored + quoted + (headers[-1].packed or b""))
        headers.append(entry)
        offsets_from_end.append(len(entry.local()))
    body = headers[-1].local()
    directory = b"".join(
        entry.central(len(body) - back)
        for entry, back in zip(reversed(headers), reversed(offsets_from_end), strict=True)
    )
    return body + directory + _end(count, len(directory), len(body))


def nested(data: bytes, layers: Sequence[str]) -> bytes:
    """Data in archives inside one another, the last layer outermost."""
    for layer in layers:
        if layer == "zip":
            data = zip_of({"inner": data})
        elif layer == "tar":
            data = tar_of({"inner": data})
        else:
            data = COMPRESS[layer](data)
    return data


def bomb_of_zips(levels: int, width: int, kernel: bytes) -> bytes:
    """Like 42.zip: zips of equal zips."""
    data = kernel
    for level in range(levels):
        data = zip_of([(f"{level}-{number}.zip", data) for number in range(width)])
    return data


def unpack(data: bytes, limits: Limits | None = None, *, read: bool = True) -> list[tuple[Any, ...]]:
    """What becomes of bytes on stdin: (name, content) of a source, (name, reason, detail) of what was not read."""
    return listed(open_paths(["-"], limits or Limits(), io.BytesIO(data)), read=read)


def listed(items: Iterable[Source | NotRead], *, read: bool = True) -> list[tuple[Any, ...]]:
    """See `unpack`. Without `read` nothing of the sources is read."""
    return [
        (item.file, item.reason, item.detail)
        if isinstance(item, NotRead)
        else (item.name, b"".join(item.chunks) if read else b"")
        for item in items
    ]


def reasons(data: bytes, limits: Limits | None = None) -> list[tuple[str, str, str]]:
    """What was not read."""
    return [item for item in unpack(data, limits) if len(item) == 3]
