from __future__ import annotations

from pathlib import Path

import pytest

from bot.redaction import Redactor


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return Redactor("incident 1")


@pytest.fixture(scope="session")
def cases() -> list[Path]:
    found = sorted((Path(__file__).parents[1] / "cases").glob("*.log"))
    assert found
    return found
