"""Texts of the application in each language, from `bot/messages/<language>.yaml`."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

from kb.entry import Language
from kb.yamlfile import load_yaml


@lru_cache(maxsize=4)
def _load(language: Language) -> dict[str, Any]:
    text = resources.files("bot").joinpath(f"messages/{language}.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = load_yaml(text)
    return data


def say(language: Language, key: str, **values: object) -> str:
    """The text of the dotted `key` with its placeholders filled. Raises KeyError for an unknown key."""
    found: Any = _load(language)
    for part in key.split("."):
        found = found[part]
    return str(found).format(**values) if values else str(found)
