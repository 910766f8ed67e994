"""A small knowledge base of a test's own, beside the built-in one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from kb.engine import diagnose
from kb.evidence import Source
from kb.library import Library
from kb.report import Report

LANGUAGES = ("en", "ko", "zh", "ru")

Entries = Callable[..., Library]
Ask = Callable[..., Report]


def entry_data(entry_id: str, layer: str = "config", **fields: Any) -> dict[str, Any]:
    """A complete entry; `fields` replace parts of it."""
    text = {language: f"text of {entry_id} in {language}" for language in LANGUAGES}
    texts = {language: [f"words about {entry_id} in {language}"] for language in LANGUAGES}
    symptoms = {
        language: [f"{words} about {entry_id} in {language}" for words in ("words", "other words", "more words")]
        for language in LANGUAGES
    }
    data: dict[str, Any] = {
        "id": entry_id,
        "layer": layer,
        "signature": {"unique": True, "all": [{"pattern": f"proof of {entry_id}"}]},
        "title": text,
        "cause": text,
        "symptoms": symptoms,
        "checklist": [{"id": "check", "text": text, "command": "true", "expect": text}],
        "recovery": [{"text": text, "command": "true", "risk": "safe"}],
        "avoid": texts,
        "sources": [{"title": "a source", "as_of": "2026-11-29"}],
        "confidence": "high",
    }
    data.update(fields)
    return data


@pytest.fixture(scope="session")
def builtin() -> Library:
    """The built-in knowledge base."""
    return Library.open()


@pytest.fixture
def write_entry(tmp_path: Path) -> Callable[..., Path]:
    """Write an entry with one log it matches and one it does not; returns its folder."""

    def write(data: dict[str, Any], match: str | None = None, near_miss: str = "all is well\n") -> Path:
        folder = tmp_path / "kb" / data["layer"] / data["id"]
        for kind in ("match", "near_miss"):
            (folder / kind).mkdir(parents=True, exist_ok=True)
        (folder / "entry.yaml").write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
        proof = match if match is not None else error(f"proof of {data['id']}")
        (folder / "match" / "one.log").write_text(proof, encoding="utf-8")
        (folder / "near_miss" / "one.log").write_text(near_miss, encoding="utf-8")
        return folder

    return write


@pytest.fixture
def entries(tmp_path: Path, write_entry: Callable[..., Path]) -> Entries:
    """A library of the given entries alone."""

    def make(*data: dict[str, Any]) -> Library:
        for item in data:
            write_entry(item)
        return Library.open([tmp_path / "kb"], builtin=False)

    return make


def error(text: str, process: str = "EngineCore_DP0 pid=7", clock: str = "12:00:00") -> str:
    """An error record of vLLM 0.30."""
    return f"({process}) ERROR 11-29 {clock} [core.py:708] RuntimeError: {text}\n"


BANNER = "(APIServer pid=1) INFO 11-29 11:59:00 [api_server.py:1] vLLM API server version {version}\n"


def ask(library: Library, *texts: str) -> Report:
    """The report on files with the given texts, pasted."""
    sources = [Source(f"{number}.log", [text.encode()], paste=True) for number, text in enumerate(texts, 1)]
    return diagnose(sources, library)
