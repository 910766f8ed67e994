"""The pair of bot and workspace."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app import open_library
from bot.config import Settings
from kb.library import Library
from tests.databases import postgres_url, redis_url
from tests.e2e.world import World, world

__all__ = ["postgres_url", "redis_url"]


@pytest.fixture(scope="session")
def library() -> Library:
    return open_library(Settings(_env_file=None))


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory, library: Library) -> Iterator[World]:
    """One pair for all tests that break nothing; messages of different tests must not look like one paste."""
    with world(tmp_path_factory.mktemp("pair"), library, join_seconds=0.25) as running:
        yield running


@pytest.fixture
def own(tmp_path: Path, library: Library) -> Iterator[World]:
    """A pair of one's own, to break."""
    with world(tmp_path, library, join_seconds=0.25) as running:
        yield running
