"""Loading, overlaying and indexing entries."""

from __future__ import annotations

import errno
import os
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kb.entry import LANGUAGES, LAYERS
from kb.errors import EntryError, UnknownEntryError
from kb.folders import read_entry
from kb.library import Library, fingerprint
from tests.kb.conftest import ask, entry_data, error


def test_builtin_when_opened_then_at_least_a_hundred_entries_over_all_layers(builtin: Library) -> None:
    assert len(builtin.rules) >= 100
    assert {rule.layer for rule in builtin.rules} == set(LAYERS)
    assert builtin.problems == []


def test_builtin_when_read_then_every_entry_is_complete_in_every_language(builtin: Library) -> None:
    for rule in builtin.rules:
        entry = builtin.entry(rule.id)
        for language in LANGUAGES:
            assert entry.title.get(language)
            assert len(set(entry.symptoms.get(language))) >= 3, (rule.id, language)


def test_guides_when_read_then_every_layer_has_checks_in_every_language(builtin: Library) -> None:
    for layer in LAYERS:
        guide = builtin.guide(layer)
        assert guide.checks
        for language in LANGUAGES:
            assert guide.name.get(language)
            assert guide.avoid.get(language)


def test_overlay_when_same_id_then_the_private_entry_replaces(
    builtin: Library, tmp_path: Path, write_entry: Callable[..., Path]
) -> None:
    data = entry_data("nixl-not-installed", "dependencies")
    write_entry(data)
    library = Library.open([tmp_path / "kb"])
    assert len(library.rules) == len(builtin.rules)
    assert library.entry("nixl-not-installed").title.en == "text of nixl-not-installed in en"


def test_overlay_when_one_entry_is_broken_then_the_rest_still_works(
    tmp_path: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry(entry_data("good"))
    broken = write_entry(entry_data("bad"))
    (broken / "entry.yaml").write_text("id: bad\nlayer: nowhere\n", encoding="utf-8")
    library = Library.open([tmp_path / "kb"], builtin=False)
    assert [rule.id for rule in library.rules] == ["good"]
    command = f"k3triage kb lint --kb {tmp_path / 'kb'} --only bad"
    assert library.problems == [f"config/bad is left out; `{command}` shows why"]


def test_overlay_when_a_pattern_does_not_compile_then_its_entry_is_left_out(
    tmp_path: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry(entry_data("good"))
    write_entry(entry_data("bad", signature={"all": [{"pattern": "(?=ahead)proof"}]}))
    library = Library.open([tmp_path / "kb"], builtin=False)
    assert [rule.id for rule in library.rules] == ["good"]
    assert [problem.partition(";")[0] for problem in library.problems] == ["config/bad is left out"]


def test_directory_when_missing_then_error_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(EntryError, match="--kb and K3TRIAGE_KB take directories"):
        Library.open([tmp_path / "nowhere"])


def test_entry_when_unknown_then_error_says_how_to_list(builtin: Library) -> None:
    with pytest.raises(UnknownEntryError, match="kb list"):
        builtin.entry("no-such-entry")


def test_entry_when_nearly_right_then_error_names_what_is_close(builtin: Library) -> None:
    with pytest.raises(UnknownEntryError, match="nixl-not-installed"):
        builtin.entry("nixl-not-instaled")


def test_cache_when_opened_twice_then_the_index_is_reused_and_answers_alike(
    tmp_path: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry(entry_data("alpha"))
    cache = tmp_path / "cache"
    first = ask(Library.open([tmp_path / "kb"], cache, builtin=False), error("proof of alpha"))
    (index,) = cache.glob("kb-*.sqlite")
    made = index.stat().st_mtime_ns
    second = ask(Library.open([tmp_path / "kb"], cache, builtin=False), error("proof of alpha"))
    assert index.stat().st_mtime_ns == made
    assert first == second


def test_cache_when_an_entry_changes_then_a_new_index_is_made(tmp_path: Path, write_entry: Callable[..., Path]) -> None:
    folder = write_entry(entry_data("alpha"))
    before = fingerprint([tmp_path / "kb"])
    text = (folder / "entry.yaml").read_text(encoding="utf-8")
    (folder / "entry.yaml").write_text(text + "\n# changed\n", encoding="utf-8")
    assert fingerprint([tmp_path / "kb"]) != before


def test_cache_when_damaged_then_it_is_made_anew(tmp_path: Path, write_entry: Callable[..., Path]) -> None:
    write_entry(entry_data("alpha"))
    cache = tmp_path / "cache"
    Library.open([tmp_path / "kb"], cache, builtin=False)
    (index,) = cache.glob("kb-*.sqlite")
    index.write_bytes(b"not a database, but long enough to look like something" * 10)
    library = Library.open([tmp_path / "kb"], cache, builtin=False)
    assert [item.entry for item in ask(library, error("proof of alpha")).diagnoses] == ["alpha"]


def test_cache_when_it_cannot_be_written_then_works_from_memory(
    tmp_path: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry(entry_data("alpha"))
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    library = Library.open([tmp_path / "kb"], blocked / "cache", builtin=False)
    assert [rule.id for rule in library.rules] == ["alpha"]


def only_index(cache: Path) -> Path:
    (index,) = cache.glob("kb-*.sqlite")
    return index


def alter(index: Path, change: Callable[[bytearray], None]) -> None:
    """Change the kept pattern database of an index and keep it under the name that its bytes ask for."""
    with sqlite3.connect(index) as database:
        (data,) = database.execute("select data from blobs where name = 'patterns_database'").fetchone()
        changed = bytearray(data)
        change(changed)
        database.execute("update blobs set data = ? where name = 'patterns_database'", [bytes(changed)])
    database.close()
    index.rename(index.with_name(f"{index.stem.rpartition('-')[0]}-{zlib.crc32(index.read_bytes()):08x}.sqlite"))


@pytest.mark.parametrize("part", [0.2, 0.4, 0.6, 0.8, 0.999])
def test_cache_when_a_byte_flipped_then_a_new_one_takes_its_place(
    tmp_path: Path, write_entry: Callable[..., Path], part: float
) -> None:
    write_entry(entry_data("alpha"))
    cache = tmp_path / "cache"
    Library.open([tmp_path / "kb"], cache, builtin=False)
    index = only_index(cache)
    good = index.read_bytes()
    bad = bytearray(good)
    bad[int(len(bad) * part)] ^= 0xFF
    index.write_bytes(bad)
    library = Library.open([tmp_path / "kb"], cache, builtin=False)
    assert [item.entry for item in ask(library, error("proof of alpha")).diagnoses] == ["alpha"]
    assert only_index(cache).read_bytes() != bytes(bad)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.__setitem__(slice(None), b"junk"),
        lambda data: data.__setitem__(4, data[4] ^ 1),
        lambda data: data.__setitem__(12, data[12] ^ 1),
        lambda data: data.__setitem__(60, data[60] ^ 1),
    ],
    ids=["junk", "other version", "other processor", "flipped"],
)
def test_cache_when_its_patterns_do_not_load_then_they_are_compiled_anew(
    tmp_path: Path, write_entry: Callable[..., Path], change: Callable[[bytearray], None]
) -> None:
    write_entry(entry_data("alpha"))
    cache = tmp_path / "cache"
    Library.open([tmp_path / "kb"], cache, builtin=False)
    alter(only_index(cache), change)
    library = Library.open([tmp_path / "kb"], cache, builtin=False)
    assert [item.entry for item in ask(library, error("proof of alpha")).diagnoses] == ["alpha"]


def test_cache_when_the_processor_is_another_then_an_index_of_its_own(
    tmp_path: Path, write_entry: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entry(entry_data("alpha"))
    before = fingerprint([tmp_path / "kb"])
    monkeypatch.setattr("kb.library.platform_mark", lambda: b"another")
    assert fingerprint([tmp_path / "kb"]) != before


def test_cache_when_it_cannot_be_looked_into_then_works_from_memory(
    tmp_path: Path, write_entry: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entry(entry_data("alpha"))
    cache = tmp_path / "cache"
    cache.mkdir()
    refuse(monkeypatch, cache)
    library = Library.open([tmp_path / "kb"], cache, builtin=False)
    assert [rule.id for rule in library.rules] == ["alpha"]


def refuse(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    """Let nobody list the directory, not even root."""
    scandir = os.scandir

    def refusing(path: str | Path) -> Any:
        if str(path) == str(directory):
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)


def test_directory_when_one_below_is_unreadable_then_one_line_and_the_rest_works(
    tmp_path: Path, write_entry: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entry(entry_data("good"))
    lost = tmp_path / "kb" / "lost+found"
    lost.mkdir()
    refuse(monkeypatch, lost)
    library = Library.open([tmp_path / "kb"], tmp_path / "cache", builtin=False)
    assert [rule.id for rule in library.rules] == ["good"]
    assert library.problems == [f"{lost}: cannot be looked into: Permission denied"]


def test_directory_when_unreadable_itself_then_an_error(
    tmp_path: Path, write_entry: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entry(entry_data("good"))
    refuse(monkeypatch, tmp_path / "kb")
    with pytest.raises(EntryError, match="kb: cannot be looked into: Permission denied"):
        Library.open([tmp_path / "kb"], tmp_path / "cache", builtin=False)


def test_directory_when_links_go_round_then_one_line_each(tmp_path: Path, write_entry: Callable[..., Path]) -> None:
    write_entry(entry_data("good"))
    kb = tmp_path / "kb"
    (kb / "round").symlink_to("round")
    (kb / "config" / "up").symlink_to("..")
    (kb / "config" / "self").mkdir()
    (kb / "config" / "self" / "entry.yaml").symlink_to("entry.yaml")
    library = Library.open([kb], tmp_path / "cache", builtin=False)
    assert [rule.id for rule in library.rules] == ["good"]
    assert all("Too many levels of symbolic links" in problem for problem in library.problems)
    assert [problem.partition(": ")[0] for problem in library.problems] == [
        str(kb / "config" / "self" / "entry.yaml"),
        str(kb / "round"),
    ]


@pytest.mark.parametrize("kind", ["pipe", "device", "directory", "huge"])
def test_entry_when_it_is_no_file_then_left_out_without_waiting(
    tmp_path: Path, write_entry: Callable[..., Path], kind: str
) -> None:
    write_entry(entry_data("good"))
    path = tmp_path / "kb" / "config" / "odd" / "entry.yaml"
    path.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "directory":
        path.mkdir()
    else:
        path.write_bytes(b"#" * ((1 << 20) + 1))
    library = Library.open([tmp_path / "kb"], tmp_path / "cache", builtin=False)
    assert [rule.id for rule in library.rules] == ["good"]
    assert [problem.partition(";")[0] for problem in library.problems] == ["config/odd is left out"]
    with pytest.raises(EntryError, match=r"is no file|is longer than 1 MiB"):
        read_entry(path)


def test_name_when_not_utf8_then_one_line_and_the_rest_works(tmp_path: Path, write_entry: Callable[..., Path]) -> None:
    write_entry(entry_data("good"))
    odd = os.fsencode(tmp_path) + b"/kb/config/k\xff"
    try:
        os.mkdir(odd)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    library = Library.open([tmp_path / "kb"], tmp_path / "cache", builtin=False)
    assert [rule.id for rule in library.rules] == ["good"]
    assert library.problems == [f"{tmp_path}/kb/config/k\\udcff: its name is not UTF-8; give it another one"]
    with pytest.raises(EntryError, match="its name is not UTF-8"):
        Library.open([Path(os.fsdecode(odd))], tmp_path / "cache")


@pytest.mark.parametrize("pattern", ["a{1,32767}", "[^a]{0,5000}b.{0,5000}c"])
def test_pattern_when_only_hyperscan_takes_it_then_its_entry_is_left_out(
    tmp_path: Path, write_entry: Callable[..., Path], pattern: str
) -> None:
    write_entry(entry_data("good"))
    write_entry(entry_data("bad", signature={"all": [{"pattern": pattern}]}))
    library = Library.open([tmp_path / "kb"], builtin=False)
    assert [problem.partition(";")[0] for problem in library.problems] == ["config/bad is left out"]
    assert [item.entry for item in ask(library, error("proof of good" + " ab c" * 9)).diagnoses] == ["good"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("2024-99-99", "'2024-99-99' is not a day that the calendar has"),
        ("9" * 6000, f"'{'9' * 40}…' is not a number of a sensible length; put it in quotes if it is text"),
        ("!!bool maybe", "'maybe' is not a value of its kind; put it in quotes"),
        ("!!timestamp soon", "'soon' is not a day that the calendar has"),
    ],
)
def test_value_when_there_is_no_such_thing_then_its_line_is_named_and_the_rest_works(
    tmp_path: Path, write_entry: Callable[..., Path], value: str, words: str
) -> None:
    write_entry(entry_data("good"))
    path = write_entry(entry_data("bad")) / "entry.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("as_of: '2026-11-29'", f"as_of: {value}"), encoding="utf-8")
    line = next(number for number, row in enumerate(text.splitlines(), 1) if "as_of" in row)
    with pytest.raises(EntryError) as raised:
        read_entry(path)
    assert [str(mistake) for mistake in raised.value.mistakes] == [f"line {line}: {words}"]
    library = Library.open([tmp_path / "kb"], builtin=False)
    assert [rule.id for rule in library.rules] == ["good"]


@pytest.mark.parametrize("text", ["a: " + "[" * 5000 + "]" * 5000, "&a [*a]", "a: " + "[" * 400 + "]" * 400])
def test_entry_when_nested_without_end_then_an_error_and_nothing_else(tmp_path: Path, text: str) -> None:
    path = tmp_path / "entry.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EntryError):
        read_entry(path)


def test_index_when_opened_in_sqlite_then_tables_are_readable(tmp_path: Path, write_entry: Callable[..., Path]) -> None:
    write_entry(entry_data("alpha"))
    Library.open([tmp_path / "kb"], tmp_path / "cache", builtin=False)
    (index,) = (tmp_path / "cache").glob("kb-*.sqlite")
    rows = sqlite3.connect(index).execute("select id, layer from entries").fetchall()
    assert rows == [("alpha", "config")]
