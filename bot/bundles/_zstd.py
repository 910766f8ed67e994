"""A zstd frame decoded block by block.

`zstandard` can neither bound what one call of its decompressor puts out nor tell that a frame was cut off. A block puts
out at most 128 KiB and says how long it is and whether it is the last one (RFC 8878, 3.1.1), so whole blocks are fed.
"""

from __future__ import annotations

import zstandard

from bot.bundles._limits import Unread

_MOST_OUT = 256 << 10  # of the blocks fed at once
_BLOCK_OUT = 128 << 10
_MOST_BLOCKS = 1024


def frame_window(head: bytes) -> int:
    """Memory in bytes that the frame with these first 18 bytes needs to be decoded. Raises Unread."""
    if _is_skippable(head):
        return 0
    try:
        return zstandard.get_frame_parameters(head).window_size
    except zstandard.ZstdError:
        raise Unread("corrupt" if len(head) == 18 else "truncated") from None


class FrameDecoder:
    """One frame, in the manner of bz2.BZ2Decompressor; a skippable frame puts nothing out."""

    def __init__(self, largest_window: int) -> None:
        self._decoder = zstandard.ZstdDecompressor(max_window_size=largest_window).decompressobj()
        self._pending = bytearray()
        self._ready = b""
        self._at = 0  # what is put out of `_ready`
        self._header = 0  # length of the header once it is known, then 0 again
        self._skip: int | None = None  # what is left of a skippable frame
        self._begun = False
        self._checksum = 0
        self._finished = False
        self.eof = False
        self.needs_input = True
        self.unused_data = b""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Take `data` in; up to `max_length` bytes out. Raises ZstdError."""
        self._pending += data
        if not self._begun:
            self._begin()
        if self._skip is not None:
            passed = min(self._skip, len(self._pending))
            del self._pending[:passed]
            self._skip -= passed
            self._finished = self._skip == 0
        elif self._begun and self._at == len(self._ready) and not self._finished:
            self._decode()
        out = self._ready[self._at : len(self._ready) if max_length < 0 else self._at + max_length]
        self._at += len(out)
        if self._at == len(self._ready):
            self.eof = self._finished
            self.needs_input = not self._finished and not (self._begun and self._whole()[0])
            if self.eof:
                self.unused_data = bytes(self._pending)
        else:
            self.needs_input = False
        return out

    def _begin(self) -> None:
        if len(self._pending) < 8:
            return
        head = bytes(self._pending[:18])
        if _is_skippable(head):
            self._skip = int.from_bytes(head[4:8], "little")
            del self._pending[:8]
            self._begun = True
            return
        header = zstandard.frame_header_size(head)
        if len(head) < header:
            return
        self._header = header
        self._checksum = 4 if zstandard.get_frame_parameters(head).has_checksum else 0
        self._begun = True

    def _decode(self) -> None:
        end, last = self._whole()
        if end:
            whole = bytes(self._pending[:end])
            del self._pending[:end]
            self._header = 0
            self._ready, self._at = self._decoder.decompress(whole), 0
            self._finished = last

    def _whole(self) -> tuple[int, bool]:
        """Bytes of header, whole blocks and checksum that can be fed now, and whether the frame ends with them."""
        pending = self._pending
        end = at = self._header
        out = 0
        for _ in range(_MOST_BLOCKS):
            header = int.from_bytes(pending[at : at + 3], "little")
            last, kind, size = header & 1, header >> 1 & 3, header >> 3
            out += _BLOCK_OUT if kind > 1 else size
            at += 3 + (1 if kind == 1 else size) + (self._checksum if last else 0)
            if at > len(pending) or (out > _MOST_OUT and end > self._header):
                break
            end = at
            if last:
                return end, True
        return (end if end > self._header else 0), False


def _is_skippable(head: bytes) -> bool:
    return len(head) >= 4 and head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50
