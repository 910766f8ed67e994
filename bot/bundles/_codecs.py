"""Compressed streams: gzip, bzip2, xz, zstd and the methods of zip, decompressed piece by piece with bounded memory."""

from __future__ import annotations

import bz2
import lzma
import struct
from typing import Any, Protocol

from bot.bundles._limits import Limits, Memory, Unread, size_text
from bot.bundles._streams import Stream

_FIRST_STEP = 4 << 10  # small, so that streams of many tiny members do not copy a large rest again and again
_LAST_STEP = 64 << 10
_OUT = 64 << 10  # what one call yields is lost where that call meets damage
_GZIP_FIELD = 64 << 10


class Decoder(Protocol):
    """One member of a compressed stream, in the manner of bz2.BZ2Decompressor."""

    @property
    def eof(self) -> bool:
        """Whether the end of the member was met."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out before more goes in."""

    @property
    def unused_data(self) -> bytes:
        """Bytes behind the end of the member."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Take `data` in; up to `max_length` bytes out. Raises one of `errors()`."""


class Codec:
    """One compressed format: how its members begin, are decoded and end."""

    magic: tuple[bytes, ...] = ()

    def open(self, source: Stream, memory: Memory) -> Decoder:
        """Read the header of a member and return its decoder. Raises Unread."""
        raise NotImplementedError

    def close(self, source: Stream, decoder: Decoder, memory: Memory) -> None:
        """Read what follows the data of a member. Raises Unread."""


class Gzip(Codec):
    """Gzip by ISA-L, several times as fast as zlib.

    The header is read here: isal 1.9.1 loses its place in one with more than a name where two reads meet in it.
    """

    magic = (b"\x1f\x8b\x08",)

    def open(self, source: Stream, memory: Memory) -> Decoder:
        """See Codec."""
        from isal import igzip_lib  # noqa: PLC0415

        header = source.exactly(10)
        flags = header[3] if len(header) == 10 else 0
        if flags & 0xE0:
            raise Unread("corrupt")
        if flags & 4:
            length = source.exactly(2)
            source.skip(int.from_bytes(length, "little"))
        for _ in range((flags >> 3 & 1) + (flags >> 4 & 1)):
            field = source.peek(_GZIP_FIELD)
            end = field.find(b"\0")
            if end < 0:
                raise Unread("truncated" if len(field) < _GZIP_FIELD else "corrupt")
            source.skip(end + 1)
        if flags & 2:
            source.skip(2)
        decoder: Decoder = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP_NO_HDR)
        return decoder

    def close(self, source: Stream, decoder: Decoder, memory: Memory) -> None:
        """Check the checksum. The length is that of the data modulo 2³², which the checksum covers."""
        trailer = source.exactly(8)
        if len(trailer) < 8:
            raise Unread("truncated")
        if int.from_bytes(trailer[:4], "little") != decoder.crc:  # type: ignore[attr-defined]
            raise Unread("checksum")


class Deflate(Codec):
    """A raw deflate stream, as in zip."""

    def open(self, source: Stream, memory: Memory) -> Decoder:
        """See Codec."""
        from isal import igzip_lib  # noqa: PLC0415

        decoder: Decoder = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_DEFLATE)
        return decoder


class Bzip2(Codec):
    """Bzip2: a block needs under 4 MiB."""

    magic = tuple(b"BZh%d" % level + block for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90"))

    def open(self, source: Stream, memory: Memory) -> Decoder:
        """See Codec."""
        return bz2.BZ2Decompressor()


class Xz(Codec):
    """Xz and the older lzma, whose dictionary the header sets; memory is claimed as far as it is needed."""

    magic = (b"\xfd7zXZ\x00",)
    _STEPS = (20 << 20, 72 << 20)  # xz -7 and xz -9

    def __init__(self, prefix: bytes = b"") -> None:
        self._prefix = prefix
        self._held = 0

    def open(self, source: Stream, memory: Memory) -> Decoder:
        """See Codec. The memory that the first kilobytes ask for is tried out."""
        head = self._prefix + source.peek(_FIRST_STEP)
        for limit in self._STEPS:
            self._held = memory.swap(self._held, limit)
            try:
                self._decoder(limit).decompress(head, 1)
            except lzma.LZMAError as error:
                if "emory" in str(error):
                    continue
            decoder = self._decoder(limit)
            if self._prefix:
                decoder.decompress(self._prefix, 0)
            return decoder
        raise Unread("memory", size_text(memory.left + self._held))

    def close(self, source: Stream, decoder: Decoder, memory: Memory) -> None:
        """See Codec."""
        self._held = memory.swap(self._held, 0)

    def _decoder(self, limit: int) -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_ALONE if self._prefix else lzma.FORMAT_XZ, memlimit=limit)


class Zstd(Codec):
    """Zstandard, one frame at a time; skippable frames hold nothing to read."""

    magic = (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + number]) + b"\x2a\x4d\x18" for number in range(16)))
    _LARGEST_WINDOW = 64 << 20

    def __init__(self) -> None:
        self._held = 0

    def open(self, source: Stream, memory: Memory) -> Decoder:
        """See Codec."""
        from bot.bundles._zstd import FrameDecoder, frame_window  # noqa: PLC0415

        window = frame_window(source.peek(18))
        if window > self._LARGEST_WINDOW:
            raise Unread("memory", size_text(self._LARGEST_WINDOW))
        self._held = memory.swap(self._held, window)
        return FrameDecoder(self._LARGEST_WINDOW)

    def close(self, source: Stream, decoder: Decoder, memory: Memory) -> None:
        """See Codec."""
        self._held = memory.swap(self._held, 0)


def codec_of_method(method: int, source: Stream, size: int, flags: int) -> Codec | None:
    """The codec of a method of zip (APPNOTE 4.4.5), None where it is stored. Raises Unread for one that cannot be read.

    Of the old lzma method the header is read, which holds no length; `size` and `flags` tell where its data end.
    """
    if method == 0:
        return None
    if method == 14:
        header = source.exactly(9)
        if len(header) < 9:
            raise Unread("truncated")
        if header[2:4] != b"\x05\x00":
            raise Unread("corrupt")
        return Xz(header[4:] + struct.pack("<Q", (1 << 64) - 1 if flags & 2 else size))
    codecs: dict[int, type[Codec]] = {8: Deflate, 12: Bzip2, 20: Zstd, 93: Zstd, 95: Xz}
    names = {1: "Shrink", 6: "Implode", 9: "Deflate64", 97: "WavPack", 98: "PPMd"}
    if method not in codecs:
        raise Unread("method", names.get(method, str(method)))
    return codecs[method]()


def decompressed(source: Stream, codec: Codec, limits: Limits, memory: Memory, *, many: bool) -> Stream:
    """What comes out of a compressed stream; `many`: members may follow one another.

    The stream ends in Unread where it is damaged or cut off, unpacks beyond the ratio, or is followed by other bytes.
    """
    return Stream(_Decompression(source, codec, limits, memory, many=many).pull)


class _Decompression:
    def __init__(self, source: Stream, codec: Codec, limits: Limits, memory: Memory, *, many: bool) -> None:
        self._source = source
        self._codec = codec
        self._limits = limits
        self._memory = memory
        self._many = many
        self._errors = _errors()
        self._decoder: Decoder | None = None
        self._step = _FIRST_STEP
        self._begin = source.consumed
        self._made = 0
        self._members_left = limits.members * 100

    def pull(self, size: int) -> bytes:
        """See Stream."""
        size = min(size, _OUT)
        while True:
            if self._decoder is None:
                self._decoder = self._codec.open(self._source, self._memory)
                self._step = _FIRST_STEP
            data = b""
            if self._decoder.needs_input and not self._decoder.eof:
                data = self._source.read(self._step)
                if not data:
                    raise Unread("truncated")
                self._step = min(self._step * 2, _LAST_STEP)
            out = self._decode(self._decoder, data, size)
            if out:
                self._made += len(out)
                self._judge_ratio()
                return out
            if self._decoder.eof:
                self._source.unread(self._decoder.unused_data)
                self._codec.close(self._source, self._decoder, self._memory)
                self._decoder = None
                if not self._many or not self._next_member():
                    return b""
            elif not data and not self._decoder.needs_input:
                raise Unread("corrupt")

    def _decode(self, decoder: Decoder, data: bytes, size: int) -> bytes:
        if decoder.eof:
            return b""
        try:
            return decoder.decompress(data, size)
        except MemoryError:
            raise Unread("memory", size_text(self._memory.limit)) from None
        except self._errors as error:
            memory = isinstance(error, lzma.LZMAError) and "emory" in str(error)
            raise (Unread("memory", size_text(self._memory.limit)) if memory else Unread("corrupt")) from None

    def _judge_ratio(self) -> None:
        taken = self._source.consumed - self._begin
        if self._made > self._limits.ratio_from and self._made > self._limits.ratio * taken:
            raise Unread("ratio", str(self._limits.ratio))

    def _next_member(self) -> bool:
        """Whether another member follows; zero bytes between and behind members are padding."""
        while (head := self._source.peek(16)).startswith(b"\0"):
            self._source.skip(len(head) - len(head.lstrip(b"\0")))
        if head and not head.startswith(self._codec.magic):
            raise Unread("trailing")
        self._members_left -= 1
        if head and self._members_left <= 0:
            raise Unread("too_many_members", str(self._limits.members * 100))
        return bool(head)


def _errors() -> tuple[type[Exception], ...]:
    from isal import igzip_lib  # noqa: PLC0415
    from zstandard import ZstdError  # noqa: PLC0415

    # bz2 raises OSError for damage; what the source itself meets is an Unread already.
    isal_error: Any = igzip_lib.IsalError  # declared as an instance in isal's stubs
    return (isal_error, OSError, lzma.LZMAError, ZstdError, EOFError, ValueError)
