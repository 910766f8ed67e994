"""Archives unpacked into sources, level by level, as streams."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from bot.bundles._codecs import decompressed
from bot.bundles._kinds import SNIFF, codec_of, is_tar, is_zip, unknown_archive
from bot.bundles._limits import Budget, LeftOut, Limits, Memory, Unread, size_text
from bot.bundles._names import UniqueNames, display_name, is_prose_name, leads_outside, member_name
from bot.bundles._streams import Held, Seekable, Stream, limited
from bot.bundles._tar import tar_members
from bot.bundles._zip import ZipEntry, open_entry, read_directory, walk_local
from kb.evidence import NotRead, Source

_CHUNK = 1 << 20


class Unpacker:
    """Turns streams into sources, within limits that hold for all of them together."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._memory = Memory(limits)
        self._names = UniqueNames()
        self._total = Budget(limits.total_bytes)
        self._total_left_out = LeftOut()
        self._members = Budget(limits.members)
        self._members_left_out = LeftOut()

    def open(self, stream: Stream, name: str, seekable: Seekable | None = None) -> Iterator[Source | NotRead]:
        """All that is in the stream: itself if it is plain, else what it holds.

        `seekable` are the same bytes, where they can be read at any place. A source has to be read, or left unread,
        before the next item is asked for.
        """
        self._members = Budget(self._limits.members)
        self._members_left_out = LeftOut()
        yield from self._open(stream, name, 0, paste=True, seekable=seekable)
        yield from _left_out(self._members_left_out, "too_many_members", str(self._limits.members))

    def finish(self) -> Iterator[NotRead]:
        """What the limit on all unpacked bytes left out."""
        yield from _left_out(self._total_left_out, "left_out", size_text(self._limits.total_bytes))

    def _open(
        self, stream: Stream, name: str, depth: int, *, paste: bool, seekable: Seekable | None = None
    ) -> Iterator[Source | NotRead]:
        """`depth`: archives around this stream."""
        held = self._memory.used
        try:
            head = stream.peek(SNIFF)
            unknown = unknown_archive(head)
            codec = codec_of(head)
            if unknown is not None:
                raise Unread("unknown_archive", unknown)
            if codec is None and not is_zip(head) and not is_tar(head):
                yield from self._source(stream, name, paste=paste, unpacked=depth > 0)
            elif depth >= self._limits.depth:
                raise Unread("too_deep", str(self._limits.depth))
            elif self._total.exceeded:
                self._total_left_out.add(display_name(name), None)
            elif codec is not None:
                plain = self._counted(decompressed(stream, codec, self._limits, self._memory, many=True))
                if is_tar(plain.peek(SNIFF)):
                    yield from self._tar(plain, name, depth + 1)
                else:
                    yield from self._open(plain, name, depth + 1, paste=paste)
            elif is_zip(head):
                source = seekable or Held(stream, self._limits.nested_zip_bytes, self._memory)
                yield from self._zip(source, name, depth + 1)
            else:
                yield from self._tar(self._counted(stream), name, depth + 1)
        except Unread as unread:
            yield NotRead(display_name(name), unread.reason, unread.detail)
        finally:
            self._memory.used = held

    def _counted(self, stream: Stream) -> Stream:
        return limited(stream, self._total, "total_limit")

    def _source(self, stream: Stream, name: str, *, paste: bool, unpacked: bool) -> Iterator[Source | NotRead]:
        if unpacked:
            stream = limited(stream, Budget(self._limits.file_bytes), "file_limit")
        shown = self._names.take(name)
        faults: list[Unread] = []
        chunks = _chunks(stream, faults)
        try:
            yield Source(shown, chunks, paste)
        finally:
            chunks.close()
        for fault in faults:
            yield NotRead(shown, fault.reason, fault.detail)

    def _tar(self, stream: Stream, archive: str, depth: int) -> Iterator[Source | NotRead]:
        found = False
        for member in tar_members(stream, self._limits.members):
            if member.kind == "damage":
                yield NotRead(display_name(archive), "corrupt")
                continue
            name = member_name(archive, member.name)
            if self._stops_at(name, None):
                return
            self._members.used += 1
            found = found or member.kind != "nothing"
            if member.kind in ("link", "special", "large_header"):
                yield NotRead(display_name(name), member.kind)
            elif member.kind == "file" and leads_outside(member.name):
                yield NotRead(display_name(name), "unsafe_name")
            elif member.kind == "file":
                yield from self._open(member.data, name, depth, paste=is_prose_name(name))
                if self._total.exceeded and self._stops_at(archive, None):
                    return
        if not found:
            yield NotRead(display_name(archive), "empty")

    def _zip(self, source: Seekable, archive: str, depth: int) -> Iterator[Source | NotRead]:
        directory = read_directory(source, max(self._members.left, 1))
        if directory is None:
            yield from self._zip_by_headers(source, archive, depth)
            return
        entries = directory.entries
        if not entries:
            yield NotRead(display_name(archive), "empty")
        rest = sum(placed.entry.kind != "nothing" for placed in entries) + directory.more
        for placed in entries:
            entry = placed.entry
            if self._stops_at(member_name(archive, entry.name), rest):
                return
            self._members.used += 1
            rest -= entry.kind != "nothing"
            data = open_entry(source, placed, self._limits, self._memory)
            yield from self._zip_member(data, entry, archive, depth)
        if directory.more:
            self._stops_at(archive, directory.more)
        if directory.damaged:
            yield NotRead(display_name(archive), "corrupt")

    def _zip_by_headers(self, source: Seekable, archive: str, depth: int) -> Iterator[Source | NotRead]:
        for entry, data in walk_local(source, self._limits, self._memory):
            if self._stops_at(member_name(archive, entry.name), None):
                return
            self._members.used += 1
            yield from self._zip_member(data, entry, archive, depth)
        yield NotRead(display_name(archive), "no_directory")

    def _zip_member(
        self, data: Stream | Unread, entry: ZipEntry, archive: str, depth: int
    ) -> Iterator[Source | NotRead]:
        name = member_name(archive, entry.name)
        if entry.kind == "nothing":
            return
        if entry.kind in ("link", "special"):
            yield NotRead(display_name(name), entry.kind)
        elif leads_outside(entry.name):
            yield NotRead(display_name(name), "unsafe_name")
        elif isinstance(data, Unread):
            yield NotRead(display_name(name), data.reason, data.detail)
        else:
            yield from self._open(self._counted(data), name, depth, paste=is_prose_name(name))

    def _stops_at(self, name: str, rest: int | None) -> bool:
        """Whether a limit ends an archive at `name`, with `rest` files from there on; it is noted then."""
        if self._total.exceeded or (rest and self._total.left <= 0):
            self._total.exceeded = True
            self._total_left_out.add(display_name(name), rest)
        elif self._members.left <= 0:
            self._members_left_out.add(display_name(name), rest)
        else:
            return False
        return True


def _chunks(stream: Stream, faults: list[Unread]) -> Generator[bytes, None, None]:
    try:
        while data := stream.read(_CHUNK):
            yield data
    except Unread as fault:
        faults.append(fault)


def _left_out(left_out: LeftOut, reason: str, limit: str) -> Iterator[NotRead]:
    if left_out.first is None:
        return
    if left_out.count is None:
        yield NotRead(left_out.first, reason, limit)
    else:
        yield NotRead(left_out.first, f"{reason}_counted", str(left_out.count))
