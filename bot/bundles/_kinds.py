"""What a stream is, by its first bytes; a name proves nothing."""

from __future__ import annotations

from bot.bundles._codecs import Bzip2, Codec, Gzip, Xz, Zstd
from bot.bundles._tar import is_tar

SNIFF = 512
"""Bytes that tell the kind."""

_CODECS: tuple[type[Codec], ...] = (Gzip, Bzip2, Xz, Zstd)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08PK\x03\x04")
_UNKNOWN = (
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"LZIP\x01", "lzip"),
    (b"\x89LZO\x00\r\n\x1a\n", "lzop"),
    (b"\x1f\x9d", "compress (.Z)"),
    (b"MSCF\x00\x00\x00\x00", "cab"),
    (b"!<arch>\n", "ar"),
    (b"xar!\x00\x1c", "xar"),
    (b"hsqs", "squashfs"),
)


def codec_of(head: bytes) -> Codec | None:
    """The codec of a compressed stream, None if it is not one."""
    return next((codec() for codec in _CODECS if head.startswith(codec.magic)), None)


def is_zip(head: bytes) -> bool:
    """Whether a zip begins so."""
    return head.startswith(_ZIP)


def unknown_archive(head: bytes) -> str | None:
    """The name of a kind of archive that cannot be read here."""
    return next((name for magic, name in _UNKNOWN if head.startswith(magic)), None)


__all__ = ["SNIFF", "codec_of", "is_tar", "is_zip", "unknown_archive"]
