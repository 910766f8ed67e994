"""The knowledge base: entries out of directories, laid over one another, and their index.

The index is one SQLite file: the rules for matching, the compiled patterns, the texts and a full-text index of
symptoms. It is made anew whenever an entry changed, and opens in any SQLite browser.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import sqlite3
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kb.errors import EntryError, Mistake, UnknownEntryError
from kb.evidence import Watch
from kb.facts import ANCHORS
from kb.markers import MARKERS
from kb.rules import PatternTable, Rule, rule_from_json, rule_of, rule_to_json
from kb.scanner import PatternError, Scanner, compile_hyperscan, compile_re2, platform_mark
from kb.yamlfile import UnusableValueError, load_yaml

if TYPE_CHECKING:
    from kb.entry import Entry, LayerGuide

_INDEX_VERSION = 7
_CONTEXT_AFTER = 60
_CONTEXT_BEFORE = 30
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
        for item in _look_into(base):
            if isinstance(item, EntryError):
                if faults is not None:
                    faults.append(item)
            else:
                path = Path(item.path)
                found[path.parent.name] = Found(path, base)
    return found


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    changed: int
    size: int


def _look_into(base: Path) -> Iterator[_File | EntryError]:
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
    if not _is_text(str(base)):
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
                good = _is_text(item.name)
                found.append(item.path if good else _fault(item.path, "its name is not UTF-8; give it another one"))
    except OSError as error:
        fault = _fault(directory, f"cannot be looked into: {error.strerror}")
        if must:
            raise fault from None
        return [fault]
    return found


def _entry_file(path: str) -> Iterator[_File | EntryError]:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        yield _fault(path, f"cannot be read: {error.strerror}")
    else:
        yield _File(path, status.st_mtime_ns, status.st_size)


def _is_text(name: str) -> bool:
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


def fingerprint(directories: Sequence[Path]) -> str:
    """Changes with the entries, the code's patterns, the index format, Hyperscan and the kind of processor.

    Raises EntryError for a directory that cannot be used.
    """
    digest = hashlib.sha256(f"{_INDEX_VERSION}|{MARKERS!r}|{ANCHORS!r}".encode())
    digest.update(platform_mark())
    digest.update(resources.files("kb").joinpath("synonyms.yaml").read_bytes())
    digest.update(resources.files("kb").joinpath("layers.yaml").read_bytes())
    for base in directories:
        digest.update(f"\n{base.resolve()}".encode())
        for item in _look_into(base):
            said = str(item) if isinstance(item, EntryError) else f"{item.path} {item.changed} {item.size}"
            digest.update(f"\n{said}".encode())
    return digest.hexdigest()[:24]


def meant_by(name: str, names: Iterable[str]) -> str:
    """Which of the names may have been meant, as the start of a sentence; empty where none comes close."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    every = sorted(names, key=lambda other: (not other.startswith(name), other))
    close = get_close_matches(name, every, 3) or [other for other in every if name in other][:3]
    return f"close to it: {', '.join(close)}; " if close else ""


class Library:
    """The entries of one or more directories, ready for matching.

    Opened with `Library.open`. `problems` has a sentence for each entry that was left out because it is not valid.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.problems: list[str] = self._blob("problems")

    @classmethod
    def open(cls, directories: Sequence[Path] = (), cache: Path | None = None, *, builtin: bool = True) -> Library:
        """The built-in entries with `directories` laid over them, or those of `directories` alone.

        `cache` is a directory for the index; without one, or where it cannot be written, the index is made in memory.
        Raises EntryError for a directory that does not exist.
        """
        every = [builtin_directory(), *directories] if builtin else list(directories)
        for base in every:
            require_directory(base)
        if cache is None:
            return cls(_build(every))
        name = f"kb-{fingerprint(every)}"
        for path in _kept(cache, name):
            try:
                return cls(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False))
            except (sqlite3.Error, LookupError, ValueError):
                continue
        database = _build(every)
        _save(database, cache, name)
        return cls(database)

    def _blob(self, name: str) -> Any:
        row = self._database.execute("select data from blobs where name = ?", [name]).fetchone()
        if row is None:
            raise LookupError(name)
        return json.loads(row[0]) if name != "patterns_database" else row[0]

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, in the order of layers and ids."""
        return tuple(rule_from_json(data) for data in self._blob("rules"))

    @cached_property
    def by_id(self) -> dict[str, Rule]:
        """Rules by the id of their entry."""
        return {rule.id: rule for rule in self.rules}

    @cached_property
    def scanner(self) -> Scanner:
        """The patterns of markers, facts and entries, in this order."""
        return Scanner(self._blob("patterns"), self._blob("patterns_database"))

    @cached_property
    def watches(self) -> list[Watch]:
        """How lines that a pattern hits are kept, by the place of the pattern."""
        watches = [Watch(_CONTEXT_AFTER, _CONTEXT_BEFORE) for _ in MARKERS]
        watches += [Watch(anchor.after, 0, anchor.frequent) for anchor in ANCHORS]
        watches += [Watch(_CONTEXT_AFTER, _CONTEXT_BEFORE)] * (len(self.scanner.patterns) - len(watches))
        return watches

    def entry(self, entry_id: str) -> Entry:
        """The whole entry. Raises UnknownEntryError."""
        from kb.entry import Entry  # noqa: PLC0415 - pydantic models are built only where texts are needed

        return Entry.model_validate_json(self._column("body", entry_id))

    def base_of(self, entry_id: str) -> Path:
        """The folder the entry was read from. Raises UnknownEntryError."""
        return Path(self._column("folder", entry_id))

    def _column(self, name: Literal["body", "folder"], entry_id: str) -> str:
        query = f"select {name} from entries where id = ?"  # noqa: S608 - one of two names
        row = self._database.execute(query, [entry_id]).fetchone() if _is_text(entry_id) else None
        if row is not None:
            return str(row[0])
        meant = meant_by(entry_id, self.by_id)
        raise UnknownEntryError(f"there is no entry {entry_id!r}; {meant}`k3triage kb list` shows all")

    def guide(self, layer: str) -> LayerGuide:
        """What is common to the entries of a layer."""
        from kb.entry import LayerGuide  # noqa: PLC0415

        return LayerGuide.model_validate(self._blob("layers")[layer])

    @property
    def database(self) -> sqlite3.Connection:
        """The index, for the full-text search of symptoms."""
        return self._database


def load_guides(path: Path | None = None) -> dict[str, LayerGuide]:
    """The layer guides of `layers.yaml`. Raises EntryError."""
    from pydantic import ValidationError  # noqa: PLC0415

    from kb.entry import LAYERS, LayerGuide  # noqa: PLC0415

    path = path or Path(str(resources.files("kb").joinpath("layers.yaml")))
    data = load_yaml(path.read_text(encoding="utf-8"))
    if list(data) != list(LAYERS):
        raise EntryError(str(path), ["must hold exactly the layers of kb.entry.LAYERS, in their order"])
    try:
        return {name: LayerGuide.model_validate(guide) for name, guide in data.items()}
    except ValidationError as error:
        mistakes = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
        raise EntryError(str(path), mistakes) from error


def _build(directories: Sequence[Path]) -> sqlite3.Connection:
    """Make the index, in memory."""
    from kb.symptoms import create_search_index  # noqa: PLC0415 - a service of this module needed only here

    entries: list[tuple[Entry, Found]] = []
    problems: list[str] = []
    faults: list[EntryError] = []
    for found in find_entries(directories, faults).values():
        try:
            entry = read_entry(found.path)
        except EntryError:
            problems.append(_left_out(found))
            continue
        if _patterns_compile(entry, found, problems, compile_re2):
            entries.append((entry, found))
    problems += map(str, faults)
    table, rules = _compile_rules(entries)
    try:
        patterns_database = Scanner(table.patterns).database
    except PatternError:
        entries = [item for item in entries if _patterns_compile(*item, problems, lambda one: compile_hyperscan([one]))]
        table, rules = _compile_rules(entries)
        patterns_database = Scanner(table.patterns).database
    rules.sort(key=lambda rule: (rule.layer_order, rule.id))
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("create table blobs (name text primary key, data)")
    database.execute("create table entries (id text primary key, layer text, folder text, body text)")
    blobs = {
        "rules": [rule_to_json(rule) for rule in rules],
        "patterns": table.patterns,
        "layers": {name: guide.model_dump() for name, guide in load_guides().items()},
        "problems": problems,
    }
    rows: list[tuple[str, str | bytes]] = [(name, json.dumps(data, ensure_ascii=False)) for name, data in blobs.items()]
    rows.append(("patterns_database", patterns_database))
    database.executemany("insert into blobs values (?, ?)", rows)
    database.executemany(
        "insert into entries values (?, ?, ?, ?)",
        [
            (entry.id, entry.layer, str(found.path.parent), entry.model_dump_json(exclude_none=True))
            for entry, found in entries
        ],
    )
    create_search_index(database, [entry for entry, _ in entries])
    database.commit()
    return database


def _compile_rules(entries: list[tuple[Entry, Found]]) -> tuple[PatternTable, list[Rule]]:
    table = PatternTable([marker.pattern for marker in MARKERS])
    table.patterns += [anchor.pattern for anchor in ANCHORS]
    return table, [rule_of(entry, table) for entry, _ in entries]


def _left_out(found: Found) -> str:
    """That an entry is not used, and what to type to see why."""
    layer, entry_id = found.path.parent.parent.name, found.path.parent.name
    kb = "" if found.base == builtin_directory() else f"--kb {shlex.quote(str(found.base.resolve()))} "
    return f"{layer}/{entry_id} is left out; `k3triage kb lint {kb}--only {entry_id}` shows why"


def _patterns_compile(entry: Entry, found: Found, problems: list[str], compiled: Callable[[str], object]) -> bool:
    """Whether an engine takes the patterns of an entry; where not, `problems` is told."""
    signature = entry.signature
    for condition in (*signature.all, *signature.any, *signature.none):
        if condition.pattern is None:
            continue
        try:
            compiled(condition.pattern)
        except PatternError:
            problems.append(_left_out(found))
            return False
    return True


def _kept(cache: Path, name: str) -> Iterator[Path]:
    """The whole and unchanged indexes of this name; others are removed, as far as that is possible."""
    try:
        paths = [Path(item.path) for item in os.scandir(cache) if item.name.startswith(f"{name}-")]
    except OSError:
        return
    for path in paths:
        try:
            good = path.name == _file_name(name, path.read_bytes())
        except OSError:
            continue
        if good:
            yield path
        elif path.suffix == ".sqlite":
            with contextlib.suppress(OSError):
                path.unlink()


def _file_name(name: str, data: bytes) -> str:
    """The name of an index file: the sum over its bytes tells whether it is still what was written."""
    return f"{name}-{zlib.crc32(data):08x}.sqlite"


def _save(database: sqlite3.Connection, cache: Path, name: str) -> None:
    """Keep the index for next time. A cache that cannot be written costs time only."""
    temporary = cache / f"{name}.{os.getpid()}.tmp"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        copy = sqlite3.connect(temporary)
        with contextlib.closing(copy), copy:
            database.backup(copy)
        path = cache / _file_name(name, temporary.read_bytes())
        os.replace(temporary, path)
        _forget_old(path)
    except (OSError, sqlite3.Error, UnicodeEncodeError):
        with contextlib.suppress(OSError):
            temporary.unlink()


def _forget_old(path: Path, keep: int = 4) -> None:
    others = sorted(path.parent.glob("kb-*.sqlite"), key=lambda item: item.stat().st_mtime, reverse=True)
    for old in others[keep:]:
        old.unlink(missing_ok=True)
