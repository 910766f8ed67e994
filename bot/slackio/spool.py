"""Bytes put aside so that they can be read at any place: a zip has its directory at its end."""

from __future__ import annotations

import os
import tempfile
from types import TracebackType

from bot.bundles import UNIT, Stream, Unread


class Spool:
    """A temporary file without a name, which nobody else can open and which is gone with the process. A `Seekable`."""

    def __init__(self, source: Stream) -> None:
        """Read the source to its end. What broke it off, if anything did, is in `fault`. Raises Unread."""
        self._file = tempfile.TemporaryFile(prefix="k3triage-", buffering=0)  # noqa: SIM115 - closed by __exit__
        self.size = 0
        self.fault: Unread | None = None
        try:
            self._fill(source)
        except OSError:
            self._file.close()
            raise Unread("files.no_space") from None
        except BaseException:
            self._file.close()
            raise

    def _fill(self, source: Stream) -> None:
        try:
            while data := source.read(UNIT):
                view = memoryview(data)
                while view:
                    written = self._file.write(view)
                    view = view[written:]
                self.size += len(data)
        except Unread as fault:
            self.fault = fault

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def at(self, offset: int, size: int) -> bytes:
        """See Seekable."""
        parts = []
        try:
            while size > 0 and (data := os.pread(self._file.fileno(), size, offset)):
                parts.append(data)
                offset += len(data)
                size -= len(data)
        except OSError as error:
            raise Unread("unreadable", error.strerror or type(error).__name__) from None
        return b"".join(parts)
