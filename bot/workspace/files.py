"""Files: announced, uploaded, then shared in a channel."""

from __future__ import annotations

import mimetypes
from dataclasses import replace
from pathlib import PurePosixPath

from bot.workspace import limits
from bot.workspace.clock import Clock
from bot.workspace.errors import SlackError
from bot.workspace.ids import Ids
from bot.workspace.model import File, Share

# file name suffix -> Slack's filetype, where they differ (docs.slack.dev/reference/objects/file-object)
_FILETYPES = {"txt": "text", "log": "text", "md": "markdown", "py": "python", "yml": "yaml", "gz": "gzip"}
_MIMETYPES = {"log": "text/plain", "gz": "application/gzip", "zst": "application/zstd", "yaml": "text/plain"}


class Files:
    """Files by id, and the upload URLs given out for them."""

    def __init__(self, clock: Clock, ids: Ids) -> None:
        self._clock, self._ids = clock, ids
        self._files: dict[str, File] = {}
        self._uploads: dict[str, str] = {}
        self._given: set[str] = set()

    def announce(self, user: str, name: str, length: int, *, snippet_type: str | None = None) -> tuple[File, str]:
        """(file without content, key of its upload URL). Raises SlackError."""
        if length <= 0:
            raise SlackError("invalid_arguments", ["must be greater than 0 [json-pointer:/length]"])
        if snippet_type is not None and length > limits.SNIPPET_BYTES:
            raise SlackError("snippet_too_large")
        if length > limits.FILE_BYTES:
            raise SlackError("file_upload_size_restricted")
        suffix = PurePosixPath(name).suffix.removeprefix(".").lower()
        file = File(
            id=self._ids.next("F"),
            name=name,
            title=name,
            user=user,
            created=int(self._clock.now()),
            mimetype=_MIMETYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream",
            filetype=snippet_type or _FILETYPES.get(suffix) or suffix or "binary",
            length=length,
            mode="snippet" if snippet_type else "hosted",
        )
        self._files[file.id] = file
        key = self._ids.uuid("upload").replace("-", "")
        self._uploads[key] = file.id
        return file, key

    def receive(self, key: str, content: bytes) -> File:
        """Take the bytes sent to an upload URL. Raises SlackError when it is unknown, or the length another."""
        file = self._files.get(self._uploads.get(key, ""))
        if file is None or file.content is not None:
            raise SlackError("file_not_found")
        if len(content) != file.length:
            raise SlackError("upload_failed", [f"announced {file.length} bytes, got {len(content)}"])
        del self._uploads[key]
        return self._put(replace(file, content=content))

    def complete(self, file_id: str, title: str | None) -> File:
        """Give an uploaded file its title. Raises SlackError file_not_found."""
        file = self.get(file_id)
        if file.content is None:
            raise SlackError("file_not_found")
        return self._put(replace(file, title=title or file.title))

    def share(self, file_id: str, share: Share) -> File:
        """Note where it was posted."""
        file = self.get(file_id)
        return self._put(replace(file, shares=(*file.shares, share)))

    def add(self, user: str, name: str, content: bytes, *, snippet_type: str | None = None) -> File:
        """A person's upload in one step."""
        _, key = self.announce(user, name, len(content), snippet_type=snippet_type)
        return self.receive(key, content)

    def give(self, file_id: str) -> None:
        """Let the app see a file that was put into one of its forms."""
        self._given.add(self.get(file_id).id)

    def is_given(self, file_id: str) -> bool:
        """Whether the app got it in a form."""
        return file_id in self._given

    def get(self, file_id: str) -> File:
        """Raises SlackError file_not_found."""
        try:
            return self._files[file_id]
        except KeyError:
            raise SlackError("file_not_found") from None

    def remove(self, file_id: str) -> None:
        """Delete a file. Raises SlackError file_not_found."""
        self.get(file_id)
        del self._files[file_id]

    def all(self) -> list[File]:
        """Every complete file, oldest first."""
        return [file for file in self._files.values() if file.content is not None]

    def _put(self, file: File) -> File:
        self._files[file.id] = file
        return file
