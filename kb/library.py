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
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kb.errors import EntryError, UnknownEntryError
from kb.evidence import Watch
from kb.facts import ANCHORS
from kb.folders import (
    Found,
    builtin_directory,
    find_entries,
    is_text,
    look_into,
    meant_by,
    read_entry,
    require_directory,
)
from kb.markers import MARKERS
from kb.rules import PatternTable, Rule, rule_from_json, rule_of, rule_to_json
from kb.scanner import PatternError, Scanner, compile_hyperscan, compile_re2, platform_mark
from kb.yamlfile import load_yaml

if TYPE_CHECKING:
    from kb.entry import Entry, LayerGuide

_INDEX_VERSION = 8
_CONTEXT_AFTER = 60
_CONTEXT_BEFORE = 30


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
        for item in look_into(base):
            said = str(item) if isinstance(item, EntryError) else f"{item.path} {item.changed} {item.size}"
            digest.update(f"\n{said}".encode())
    return digest.hexdigest()[:24]


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

    def find(self, entry_id: str) -> Entry | None:
        """The whole entry; None where the knowledge base has none, or no longer."""
        from kb.entry import Entry  # noqa: PLC0415 - pydantic models are built only where texts are needed

        body = self._column("body", entry_id)
        return None if body is None else Entry.model_validate_json(body)

    def entry(self, entry_id: str) -> Entry:
        """The whole entry. Raises UnknownEntryError."""
        found = self.find(entry_id)
        if found is None:
            raise self._unknown(entry_id)
        return found

    def base_of(self, entry_id: str) -> Path:
        """The folder the entry was read from. Raises UnknownEntryError."""
        folder = self._column("folder", entry_id)
        if folder is None:
            raise self._unknown(entry_id)
        return Path(folder)

    def _column(self, name: Literal["body", "folder"], entry_id: str) -> str | None:
        query = f"select {name} from entries where id = ?"  # noqa: S608 - one of two names
        row = self._database.execute(query, [entry_id]).fetchone() if is_text(entry_id) else None
        return None if row is None else str(row[0])

    def _unknown(self, entry_id: str) -> UnknownEntryError:
        meant = meant_by(entry_id, self.by_id)  # takes milliseconds
        return UnknownEntryError(f"there is no entry {entry_id!r}; {meant}`k3triage kb list` shows all")

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
