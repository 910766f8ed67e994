from __future__ import annotations

import pytest

from kb.library import Library


@pytest.fixture(scope="session")
def library() -> Library:
    return Library.open()
