"""The knowledge base: entries out of directories, laid over one another, and their index.

The index is one SQLite file: the rules for matching, the compiled patterns, the texts and a full-text index of
symptoms. It is made anew whenever an entry changed, and opens in any SQLite browser.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.errors import EntryError, UnknownEntryError
from kb.evidence import Watch
from kb.facts import ANCHORS
from kb.markers import MARKERS
from kb.rules import PatternTable, Rule, rule_from_json, rule_of, rule_to_json
from kb.scanner import PatternError, Scanner, compile_hyperscan, compile_re2
from kb.yamlfile import load_yaml

if TYPE_CHECKING:
    from kb.entry import Entry, LayerGuide

_INDEX_VERSION = 5
_CONTEXT_AFTER = 60
_CONTEXT_BEFORE = 30


@dataclass(frozen=True, slots=True)
class Found:
    """An entry file as it was found: where, and in which directory of the overlay."""

    path: Path
    base: Path


def builtin_directory() -> Path:
    """The directory of the entries that come with the package."""
    return Path(str(resources.files("kb").joinpath("entries")))


def find_entries(directories: Sequence[Path]) -> dict[str, Found]:
    """Entry files by id. A later directory wins over an earlier one. Raises EntryError for a missing directory."""
    found: dict[str, Found] = {}
    for base in directories:
        if not base.is_dir():
            raise EntryError(
                str(base), ["there is no such directory; --kb and K3TRIAGE_KB take directories of entries"]
            )
        for path in sorted(base.glob("*/*/entry.yaml")):
            found[path.parent.name] = Found(path, base)
    return found


def read_entry(path: Path) -> Entry:
    """One entry file. Raises EntryError with everything that is wrong with it."""
    import yaml  # noqa: PLC0415 - only needed to build the index
    from pydantic import ValidationError  # noqa: PLC0415

    from kb.entry import Entry  # noqa: PLC0415

    try:
        data = load_yaml(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise EntryError(str(path), [f"cannot be read as YAML: {error}"]) from error
    try:
        entry = Entry.model_validate(data)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, item['loc'])) or 'entry'}: {item['msg']}" for item in error.errors()]
        raise EntryError(str(path), problems) from error
    if entry.id != path.parent.name:
        raise EntryError(str(path), [f"id is {entry.id!r} and the folder {path.parent.name!r}; they must be the same"])
    if entry.layer != path.parent.parent.name:
        raise EntryError(
            str(path), [f"layer is {entry.layer!r} and the folder {path.parent.parent.name!r}; they must be the same"]
        )
    return entry


def fingerprint(directories: Sequence[Path]) -> str:
    """Changes whenever an entry, the code's patterns or the index format change."""
    digest = hashlib.sha256(f"{_INDEX_VERSION}|{MARKERS!r}|{ANCHORS!r}".encode())
    digest.update(resources.files("kb").joinpath("synonyms.yaml").read_bytes())
    digest.update(resources.files("kb").joinpath("layers.yaml").read_bytes())
    for base in directories:
        digest.update(f"\n{base.resolve()}".encode())
        with os.scandir(base) as layers:
            for layer in sorted((item for item in layers if item.is_dir()), key=lambda item: item.name):
                with os.scandir(layer.path) as entries:
                    for entry in sorted(entries, key=lambda item: item.name):
                        try:
                            stat = os.stat(os.path.join(entry.path, "entry.yaml"))
                        except OSError:
                            continue
                        digest.update(f"\n{layer.name}/{entry.name} {stat.st_mtime_ns} {stat.st_size}".encode())
    return digest.hexdigest()[:24]


class Library:
    """The entries of one or more directories, ready for matching.

    Opened with `Library.open`. `problems` lists the entries that were left out because they are not valid.
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
            if not base.is_dir():
                find_entries([base])
        if cache is None:
            return cls(_build(every, None))
        path = cache / f"kb-{fingerprint(every)}.sqlite"
        if path.exists():
            try:
                database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)
                return cls(database)
            except (sqlite3.Error, LookupError, ValueError):
                pass  # a damaged index is made anew
        return cls(_build(every, path))

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

        row = self._database.execute("select body from entries where id = ?", [entry_id]).fetchone()
        if row is None:
            raise UnknownEntryError(f"there is no entry {entry_id!r}; `k3triage kb list` shows all")
        return Entry.model_validate_json(row[0])

    def base_of(self, entry_id: str) -> Path:
        """The folder the entry was read from. Raises UnknownEntryError."""
        row = self._database.execute("select folder from entries where id = ?", [entry_id]).fetchone()
        if row is None:
            raise UnknownEntryError(f"there is no entry {entry_id!r}; `k3triage kb list` shows all")
        return Path(row[0])

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
        problems = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
        raise EntryError(str(path), problems) from error


def _build(directories: Sequence[Path], path: Path | None) -> sqlite3.Connection:
    """Make the index, in memory and, where `path` can be written, as a file for next time."""
    from kb.symptoms import create_search_index  # noqa: PLC0415 - a service of this module needed only here

    entries: list[tuple[Entry, Found]] = []
    problems: list[str] = []
    for found in find_entries(directories).values():
        try:
            entries.append((read_entry(found.path), found))
        except EntryError as error:
            problems.append(str(error))
    table, rules = _compile_rules(entries)
    try:
        patterns_database = Scanner(table.patterns).database
    except PatternError:
        entries = [item for item in entries if _patterns_compile(item[0], problems)]
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
    if path is not None:
        _save(database, path)
    return database


def _compile_rules(entries: list[tuple[Entry, Found]]) -> tuple[PatternTable, list[Rule]]:
    table = PatternTable([marker.pattern for marker in MARKERS])
    table.patterns += [anchor.pattern for anchor in ANCHORS]
    return table, [rule_of(entry, table) for entry, _ in entries]


def _patterns_compile(entry: Entry, problems: list[str]) -> bool:
    """Whether both engines take the patterns of an entry; what they say otherwise goes to `problems`."""
    signature = entry.signature
    for condition in (*signature.all, *signature.any, *signature.none):
        if condition.pattern is None:
            continue
        try:
            compile_re2(condition.pattern)
            compile_hyperscan([condition.pattern])
        except PatternError as error:
            problems.append(f"{entry.layer}/{entry.id}: {error}")
            return False
    return True


def _save(database: sqlite3.Connection, path: Path) -> None:
    """Keep the index for next time. A cache that cannot be written costs time only."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        copy = sqlite3.connect(temporary)
        with copy:
            database.backup(copy)
        copy.close()
        os.replace(temporary, path)
        _forget_old(path)
    except (OSError, sqlite3.Error):
        with contextlib.suppress(OSError):
            temporary.unlink()


def _forget_old(path: Path, keep: int = 4) -> None:
    others = sorted(path.parent.glob("kb-*.sqlite"), key=lambda item: item.stat().st_mtime, reverse=True)
    for old in others[keep:]:
        old.unlink(missing_ok=True)
