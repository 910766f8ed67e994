"""Databases to test on: SQLite always, PostgreSQL where it is installed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.store import Database
from tests.databases import new_database, postgres_url

__all__ = ["postgres_url"]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'db.sqlite'}"
    return new_database(request.getfixturevalue("postgres_url"))


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """An open database."""
    opened = Database(url)
    yield opened
    opened.close()
