"""Files on disk: found, opened without following links or waking devices, and read with progress."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from bot.bundles._limits import Unread

_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Where a shell puts what it gives to a command, as in `k3triage diagnose <(docker logs vllm)`."""


def input_size(paths: Sequence[Path | Literal["-"]]) -> int | None:
    """Bytes on disk that reading the paths comes to, for a progress bar; None where a stream is among them."""
    total = 0
    for path in paths:
        if path == "-" or is_pipe(path):
            return None
        try:
            total += sum(os.stat(file).st_size for file, fault in files_below(str(path)) if fault is None)
        except OSError:
            continue  # told when it is read
    return total


def is_pipe(path: Path) -> bool:
    """Whether the path is a pipe that a shell has opened already, which cannot keep a reader waiting for a writer."""
    try:
        return str(path).startswith(_PIPES) and not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def files_below(path: str) -> Iterator[tuple[str, Unread | None]]:
    """The path itself, or all files below a directory in the order of their names; with why a thing cannot be read.

    Links in a directory are not followed. A link that is given itself is.
    """
    waiting: list[tuple[str, Unread | None]] = [(path, None)]
    first = True
    while waiting:
        current, fault = waiting.pop()
        if fault is None and (os.path.isdir(current) if first else _is_directory(current)):
            waiting.extend(reversed(_children(current)))
        else:
            yield current, fault
        first = False


def _children(directory: str) -> list[tuple[str, Unread | None]]:
    try:
        with os.scandir(directory) as entries:
            found = [(entry.path, Unread("link") if entry.is_symlink() else None) for entry in entries]
    except OSError as error:
        return [(directory, unread_of(error))]
    return sorted(found, key=lambda item: item[0])


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def unread_of(error: OSError) -> Unread:
    """Why a file cannot be read."""
    if isinstance(error, PermissionError):
        return Unread("permission")
    if isinstance(error, FileNotFoundError):
        return Unread("vanished")
    return Unread("unreadable", error.strerror or type(error).__name__)


class OpenFile:
    """A regular file, or a pipe of the shell, open for reading.

    `progress` is called with numbers of bytes that add up to the size of a regular file once it is closed.
    """

    def __init__(self, path: str, progress: Callable[[int], None], *, given: bool, pipe: bool = False) -> None:
        """`given`: named by the person, so links are followed. Raises Unread."""
        try:
            mode = os.stat(path, follow_symlinks=given).st_mode
            if not stat.S_ISREG(mode) and not pipe:
                raise Unread("special")
            flags = os.O_RDONLY | os.O_CLOEXEC | (0 if pipe else os.O_NONBLOCK) | (0 if given else os.O_NOFOLLOW)
            self._descriptor = os.open(path, flags)
        except OSError as error:
            raise unread_of(error) from None
        status = os.fstat(self._descriptor)
        self.seekable = stat.S_ISREG(status.st_mode)
        self.size = status.st_size if self.seekable else 0
        self._progress = progress
        self._position = 0
        self._reported = 0
        if not self.seekable and not pipe:
            os.close(self._descriptor)
            raise Unread("special")

    def close(self) -> None:
        """Close the file and report what was not read of it as passed."""
        os.close(self._descriptor)
        self._report(self.size)

    def pull(self, size: int) -> bytes:
        """See Stream."""
        try:
            data = os.read(self._descriptor, size)
        except OSError as error:
            raise unread_of(error) from None
        self._position += len(data)
        self._report(len(data))
        return data

    def skip(self, size: int) -> int:
        """See Stream; only for regular files."""
        passed = max(min(size, self.size - self._position), 0)
        self._position += passed
        os.lseek(self._descriptor, self._position, os.SEEK_SET)
        self._report(passed)
        return passed

    def at(self, offset: int, size: int) -> bytes:
        """See Seekable."""
        parts = []
        size = min(size, self.size - offset)
        try:
            while size > 0 and (data := os.pread(self._descriptor, size, offset)):
                parts.append(data)
                offset += len(data)
                size -= len(data)
        except OSError as error:
            raise unread_of(error) from None
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        self._report(len(data))
        return data

    def _report(self, size: int) -> None:
        size = min(size, self.size - self._reported) if self.seekable else size
        if size > 0:
            self._reported += size
            self._progress(size)
