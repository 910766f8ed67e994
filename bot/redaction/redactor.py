"""Texts and streams without their secrets."""

from __future__ import annotations

import codecs
import hashlib
import secrets
from collections.abc import Iterable, Iterator
from itertools import chain

from bot.redaction.labels import LABELS
from bot.redaction.native import NATIVE
from bot.redaction.network import NETWORK
from bot.redaction.pem import PEM
from bot.redaction.prefilter import Prefilter
from bot.redaction.shapes import SHAPES
from bot.redaction.values import MARK
from bot.redaction.wrapping import wrapped_parts
from kb.encodings import sniff

_RULES = (*PEM, *SHAPES, *NETWORK, *LABELS, *NATIVE)
_PREFILTER = Prefilter(_RULES)
_BLOCK = 1 << 20
_HELD = 64 << 10
"""Bytes at the end of a block that are looked at again with the next one: a key, or a name and its value, may go on."""
_SNIFFED = 64 << 10
_OF_THIS_PROCESS = secrets.token_hex(16)


class Redactor:
    """Takes secrets out; the same secret gets the same stand-in wherever the salt is the same, and only there.

    `salt`: at least one of the incident. Without one the stand-ins are those of this process. They cannot be traced
    back without the salt, even for a secret that is easy to guess. Lines stay lines: their numbers do not change.
    Threads may share one.
    """

    def __init__(self, salt: str = "") -> None:
        self._key = hashlib.blake2b((salt or _OF_THIS_PROCESS).encode("utf-8", "surrogatepass")).digest()

    def redact(self, text: str) -> str:
        """The text without its secrets; the very same text where it has none."""
        data = text.encode("utf-8", "surrogatepass")
        clean = b"".join(self._blocks([data])) if len(data) > _BLOCK else self._block(data, final=True)[0]
        return text if clean == data else clean.decode("utf-8", "surrogatepass")

    def stream(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The bytes without their secrets, in pieces that end at a line end.

        The last piece, and those of a line longer than 1 MiB, may end elsewhere. Bytes that are no text survive. UTF-16
        and UTF-32 come out as UTF-8; everything else keeps its encoding.
        """
        head, rest = _head(iter(chunks))
        found = sniff(head)
        if found is not None and found[0] != "utf-8":
            rest = _transcoded(rest, *found)
        yield from self._blocks(rest)

    def stand_in(self, secret: str) -> str:
        """What a secret is replaced by."""
        return self._stand_in(secret.encode("utf-8", "surrogatepass")).decode()

    def _stand_in(self, secret: bytes) -> bytes:
        digest = hashlib.blake2b(secret.strip(), key=self._key, digest_size=4).hexdigest()
        return b"%b:%b]" % (MARK, digest[:6].encode())

    def _blocks(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        held: list[bytes] = []
        size = 0
        for chunk in chunks:
            for at in range(0, len(chunk), _BLOCK):
                held.append(chunk[at : at + _BLOCK])
                size += len(held[-1])
                if size < _BLOCK + _HELD:
                    continue
                clean, used = self._block(data := b"".join(held), final=False)
                if clean:
                    yield clean
                held, size = [data[used:]], len(data) - used
        clean, _ = self._block(b"".join(held), final=True)
        if clean:
            yield clean

    def _block(self, data: bytes, *, final: bool) -> tuple[bytes, int]:
        """The beginning of `data` without secrets, and how much of it that is; all of a `final` block."""
        found = _spans(data)
        cut = len(data) if final else _cut(data, found)
        parts = []
        at = 0
        for _, start, end in found:
            if end > cut:
                break
            parts.append(data[at:start])
            parts.append(self._stand_in(data[start:end]))
            at = end
        parts.append(data[at:cut])
        return b"".join(parts), cut


def _spans(data: bytes) -> list[tuple[int, int, int]]:
    """(start of the anchor, start and end of the secret), in order and without overlaps."""
    found: list[tuple[int, int, int]] = []
    gone = (0, 0)  # the secret that reaches farthest; nothing that begins within it is left
    for start, end, number in _PREFILTER.hits(data):
        if gone[0] <= start < gone[1]:
            continue
        for span in _RULES[number].find(data, start, end):
            first, last = _whole_characters(data, *span)
            if MARK in data[first:last]:
                continue  # redacted before
            found.append((start, first, last))
            found.extend((start, *part) for part in wrapped_parts(data, first, last))
            if last > gone[1]:
                gone = (first, last)
    if len(found) < 2:
        return found
    found.sort(key=lambda span: span[1:])
    merged = [found[0]]
    for anchor, first, last in found[1:]:
        before = merged[-1]
        if first < before[2]:
            merged[-1] = (min(anchor, before[0]), before[1], max(last, before[2]))
        else:
            merged.append((anchor, first, last))
    return merged


def _whole_characters(data: bytes, first: int, last: int) -> tuple[int, int]:
    """The span widened to whole characters of UTF-8; a bound on what is looked at may have ended within one."""
    for _ in range(3):
        first -= 0 < first < len(data) and 0x80 <= data[first] < 0xC0
        last += last < len(data) and 0x80 <= data[last] < 0xC0
    return first, last


def _cut(data: bytes, found: list[tuple[int, int, int]]) -> int:
    """Where the block may be cut: at a line end (at a space in a line longer than a block), never in a finding."""
    most = len(data) - _HELD
    cut = data.rfind(b"\n", 0, most) + 1
    for anchor, _, end in reversed(found):
        if anchor < cut < end:
            cut = data.rfind(b"\n", 0, anchor) + 1
    if cut:
        return cut
    cut = data.rfind(b" ", most - 4096, most) + 1 or most
    for anchor, _, end in found:
        if anchor < cut < end:
            cut = end
    return cut


def _head(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    taken = []
    size = 0
    for chunk in chunks:
        taken.append(chunk)
        size += len(chunk)
        if size >= _SNIFFED:
            break
    return b"".join(taken)[:_SNIFFED], chain(taken, chunks)


def _transcoded(chunks: Iterable[bytes], encoding: str, mark: int) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for chunk in chunks:
        text = decoder.decode(chunk[mark:] if mark and len(chunk) >= mark else chunk)
        mark = 0
        yield text.encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
