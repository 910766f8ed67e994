"""The paths a person gave, opened one after another."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal

from bot.bundles._archives import Unpacker
from bot.bundles._files import OpenFile, files_below, is_pipe
from bot.bundles._limits import Limits, Unread
from bot.bundles._names import display_name
from bot.bundles._streams import Stream
from bot.errors import BundleError
from kb.evidence import NotRead, Source


def open_paths(
    paths: Sequence[Path | Literal["-"]],
    limits: Limits,
    stdin: BinaryIO | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Source | NotRead]:
    """Everything in the paths that may be text, and everything that was not read, in their order.

    "-" is `stdin`. A source has to be read before the next item is asked for; what is not read then is skipped.
    `progress` is called with numbers of input bytes, compressed as they are, which add up to `input_size(paths)`.
    Raises BundleError, before anything is read, for a path that does not exist; nothing else, and nothing later.
    """
    for path in paths:
        if path != "-":
            _require(path)
    return _open(paths, limits, stdin, progress or (lambda _: None))


def _require(path: Path) -> None:
    try:
        os.stat(path)
    except PermissionError:
        return  # told as not read
    except (OSError, ValueError):
        shown = display_name(str(path))
        raise BundleError(
            f"there is no file or directory {shown!r}; check the path, or give - to read standard input"
        ) from None


def _open(
    paths: Sequence[Path | Literal["-"]], limits: Limits, stdin: BinaryIO | None, progress: Callable[[int], None]
) -> Iterator[Source | NotRead]:
    unpacker = Unpacker(limits)
    for path in paths:
        if path == "-":
            yield from unpacker.open(Stream(_Pipe(stdin or sys.stdin.buffer, progress).pull), "stdin")
            continue
        pipe = is_pipe(path)
        for file, fault in files_below(str(path)):
            if fault is not None:
                yield NotRead(display_name(file), fault.reason, fault.detail)
                continue
            yield from _open_file(unpacker, file, progress, given=file == str(path), pipe=pipe)
    yield from unpacker.finish()


def _open_file(
    unpacker: Unpacker, path: str, progress: Callable[[int], None], *, given: bool, pipe: bool
) -> Iterator[Source | NotRead]:
    try:
        file = OpenFile(path, progress, given=given, pipe=pipe)
    except Unread as unread:
        yield NotRead(display_name(path), unread.reason, unread.detail)
        return
    try:
        if file.seekable:
            yield from unpacker.open(Stream(file.pull, file.skip), path, file)
        else:
            yield from unpacker.open(Stream(file.pull), path)
    finally:
        file.close()


class _Pipe:
    def __init__(self, stream: BinaryIO, progress: Callable[[int], None]) -> None:
        self._stream = stream
        self._progress = progress

    def pull(self, size: int) -> bytes:
        """See Stream."""
        try:
            data = self._stream.read(size) or b""
        except (OSError, ValueError) as error:  # ValueError: it was closed
            raise Unread("unreadable", getattr(error, "strerror", None) or str(error)) from None
        if data:
            self._progress(len(data))
        return data
