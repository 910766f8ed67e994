"""Where what is made once is kept: the index of the knowledge base and compiled patterns."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """`K3TRIAGE_CACHE`, else the platform's place for caches of the user."""
    import platformdirs  # noqa: PLC0415 - costs start-up time

    return Path(os.environ.get("K3TRIAGE_CACHE") or platformdirs.user_cache_dir("k3triage"))
