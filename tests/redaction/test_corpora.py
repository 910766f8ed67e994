"""What must vanish, and what must survive byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.redaction import Redactor
from tests.redaction.secret_lines import CASES, Secret

BENIGN = Path(__file__).with_name("benign.txt").read_text(encoding="utf-8").splitlines()
ENTRIES = Path(__file__).parents[2] / "kb" / "entries"


def test_corpora_are_large_enough() -> None:
    assert len(CASES) >= 120
    assert len({case.name for case in CASES}) == len(CASES)
    assert len(set(BENIGN)) == len(BENIGN) >= 150


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_secret_vanishes_and_lines_stay_lines(case: Secret, redactor: Redactor) -> None:
    clean = redactor.redact(case.text)
    for secret in case.secrets:
        assert secret in case.text
        parts = [secret[at : at + 6] for at in range(max(len(secret) - 5, 1))]
        assert not [part for part in parts if part in clean], clean
    assert clean.count("\n") == case.text.count("\n")
    assert redactor.redact(clean) == clean


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_secret_vanishes_within_a_log(case: Secret, redactor: Redactor) -> None:
    log = f"INFO 08-21 10:00:00 [core.py:1] before\n{case.text}\nINFO 08-21 10:00:01 [core.py:2] after\n"
    clean = redactor.redact(log)
    assert not any(secret in clean for secret in case.secrets)
    assert clean.startswith("INFO 08-21 10:00:00 [core.py:1] before\n")
    assert clean.endswith("\nINFO 08-21 10:00:01 [core.py:2] after\n")


@pytest.mark.parametrize("line", BENIGN)
def test_benign_line_survives(line: str, redactor: Redactor) -> None:
    assert redactor.redact(line) is line
    assert redactor.redact(f"(Worker_TP3 pid=12) {line}\r\n") == f"(Worker_TP3 pid=12) {line}\r\n"


def test_benign_lines_survive_together(redactor: Redactor) -> None:
    text = "\n".join(BENIGN)
    assert redactor.redact(text) == text


def test_real_logs_survive(redactor: Redactor, cases: list[Path]) -> None:
    for path in cases:
        data = path.read_bytes()
        assert b"".join(redactor.stream([data])) == data, path.name


def test_knowledge_survives(redactor: Redactor) -> None:
    """Answers are made of it: an entry must not look like a secret. Its commands show where a key would stand."""
    changed = [
        path.relative_to(ENTRIES)
        for path in sorted(ENTRIES.rglob("*"))
        if path.is_file() and b"".join(redactor.stream([data := path.read_bytes()])) != data
    ]
    assert not changed
