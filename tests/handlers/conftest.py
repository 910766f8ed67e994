"""A bot that listens over HTTP."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app import open_library
from bot.config import Settings
from tests.e2e.world import World, world


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    directory: Path = tmp_path_factory.mktemp("http")
    library = open_library(Settings(_env_file=None))
    with world(directory, library, slack_mode="http", http_port=port, join_seconds=0) as running:
        yield running
