"""Directories of entries, laid over one another, and the files in them, whatever else may lie there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import EntryError, Mistake
from kb.yamlfile import UnusableValueError, load_yaml

if TYPE_CHECKING:
    from kb.entry import Entry

_LONGEST_ENTRY = 1 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """An entry file as it was found: where, and in which directory of the overlay."""

    path: Path
    base: Path


def builtin_directory() -> Path:
    """The directory of the entries that come with the package."""
    return Path(str(resources.files("kb").joinpath("entries")))


def find_entries(directories: Sequence[Path], faults: list[EntryError] | None = None) -> dict[str, Found]:
    """Entry files by id. A later directory wins over an earlier one.

    `faults` is told what within the directories cannot be looked into. Raises EntryError for a directory that is
    missing or cannot be used itself.
    """
    found: dict[str, Found] = {}
    for base in directories:
        for item in look_into(base):
            if isinstance(item, EntryError):
                if faults is not None:
                    faults.append(item)
            else:
                path = Path(item.path)
                found[path.parent.name] = Found(path, base)
    return found


@dataclass(frozen=True, slots=True)
class EntryFile:
    """An entry file by what tells whether it was changed: time in nanoseconds, and size in bytes."""

    path: str
    changed: int
    size: int


def look_into(base: Path) -> Iterator[EntryFile | EntryError]:
    """The entry files of a directory, and errors for what cannot be looked into, by name. Raises EntryError."""
    require_directory(base)
    for layer in _listed(str(base), must=True):
        if isinstance(layer, EntryError):
            yield layer
            continue
        for folder in _listed(layer):
            yield from [folder] if isinstance(folder, EntryError) else _entry_file(os.path.join(folder, "entry.yaml"))


def require_directory(base: Path) -> None:
    """Raises EntryError for what is no directory of entries."""
    if not is_text(str(base)):
        raise _fault(str(base), "its name is not UTF-8; give it another one")
    try:
        good = stat.S_ISDIR(os.stat(base).st_mode)
    except PermissionError as error:
        raise _fault(str(base), f"cannot be read: {error.strerror}") from None
    except (OSError, ValueError):
        good = False
    if not good:
        raise _fault(str(base), "there is no such directory; --kb and K3TRIAGE_KB take directories of entries")


def _listed(directory: str, *, must: bool = False) -> list[str | EntryError]:
    """The directories in a directory, sorted, or errors in their place. Raises EntryError where it `must` be read."""
    found: list[str | EntryError] = []
    try:
        with os.scandir(directory) as items:
            for item in sorted(items, key=lambda item: item.name):
                try:
                    if not item.is_dir():
                        continue
                except OSError as error:
                    found.append(_fault(item.path, f"cannot be looked into: {error.strerror}"))
                    continue
                good = is_text(item.name)
                found.append(item.path if good else _fault(item.path, "its name is not UTF-8; give it another one"))
    except OSError as error:
        fault = _fault(directory, f"cannot be looked into: {error.strerror}")
        if must:
            raise fault from None
        return [fault]
    return found


def _entry_file(path: str) -> Iterator[EntryFile | EntryError]:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        yield _fault(path, f"cannot be read: {error.strerror}")
    else:
        yield EntryFile(path, status.st_mtime_ns, status.st_size)


def is_text(name: str) -> bool:
    """Whether a name can be written as UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _fault(path: str, text: str) -> EntryError:
    return EntryError(path.encode("utf-8", "backslashreplace").decode(), [text])


def entry_text(path: Path) -> str:
    """What is in an entry file. Raises EntryError where it is no file, or not one of text."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe would wait for a writer, a device need not end
            raise EntryError(str(path), ["is no file"])
        if status.st_size > _LONGEST_ENTRY:
            raise EntryError(str(path), ["is longer than 1 MiB, which no entry is"])
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise EntryError(str(path), ["is not UTF-8"]) from error
    except OSError as error:
        raise EntryError(str(path), [f"cannot be read: {error.strerror}"]) from error


def read_entry(path: Path) -> Entry:
    """One entry file. Raises EntryError with everything that is wrong with it."""
    import yaml  # noqa: PLC0415 - only needed to build the index
    from pydantic import ValidationError  # noqa: PLC0415

    from kb.entry import Entry  # noqa: PLC0415
    from kb.mistakes import Lines, mistakes_of, value_mistake, yaml_mistake  # noqa: PLC0415

    text = entry_text(path)
    try:
        data = load_yaml(text)
    except yaml.YAMLError as error:
        raise EntryError(str(path), [yaml_mistake(error)]) from error
    except UnusableValueError as error:
        raise EntryError(str(path), [value_mistake(text)]) from error
    try:
        entry = Entry.model_validate(data)
    except ValidationError as error:
        raise EntryError(str(path), mistakes_of(text, error)) from error
    for name, given, folder in (
        ("id", entry.id, path.parent.name),
        ("layer", entry.layer, path.parent.parent.name),
    ):
        if given != folder:
            line = Lines(text).of([name])
            raise EntryError(
                str(path), [Mistake(f"{name} is {given!r} and the folder {folder!r}; they must be the same", line)]
            )
    return entry


def meant_by(name: str, names: Iterable[str]) -> str:
    """Which of the names may have been meant, as the start of a sentence; empty where none comes close."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    every = sorted(names, key=lambda other: (not other.startswith(name), other))
    close = get_close_matches(name, every, 3) or [other for other in every if name in other][:3]
    return f"close to it: {', '.join(close)}; " if close else ""
