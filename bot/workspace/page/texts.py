"""Texts of the page per language, from `messages/<language>.yaml`."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from kb.yamlfile import load_yaml

LANGUAGES = ("en", "ko", "zh", "ru")
LOCALES = {"en-US": "English", "ko-KR": "한국어", "zh-CN": "中文", "ru-RU": "Русский"}


@lru_cache(maxsize=len(LANGUAGES))
def texts(language: str) -> dict[str, str]:
    """The texts of a language by key; of English for a language there is none of."""
    known = language if language in LANGUAGES else "en"
    source = resources.files("bot.workspace.page").joinpath(f"messages/{known}.yaml")
    data: dict[str, str] = load_yaml(source.read_text(encoding="utf-8"))
    return data
