"""Loading, overlaying and indexing entries."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.entry import LANGUAGES, LAYERS
from kb.errors import EntryError, UnknownEntryError
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
            assert len(entry.symptoms.get(language)) >= 2, (rule.id, language)


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
    assert len(library.problems) == 1
    assert "layer" in library.problems[0]


def test_directory_when_missing_then_error_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(EntryError, match="--kb and K3TRIAGE_KB take directories"):
        Library.open([tmp_path / "nowhere"])


def test_entry_when_unknown_then_error_says_how_to_list(builtin: Library) -> None:
    with pytest.raises(UnknownEntryError, match="kb list"):
        builtin.entry("no-such-entry")


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


def test_index_when_opened_in_sqlite_then_tables_are_readable(tmp_path: Path, write_entry: Callable[..., Path]) -> None:
    write_entry(entry_data("alpha"))
    Library.open([tmp_path / "kb"], tmp_path / "cache", builtin=False)
    (index,) = (tmp_path / "cache").glob("kb-*.sqlite")
    rows = sqlite3.connect(index).execute("select id, layer from entries").fetchall()
    assert rows == [("alpha", "config")]
