"""The four catalogues say the same things, with the same placeholders."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

import pytest

from bot.catalogue import say
from bot.rendering.ids import SECTIONS
from kb.entry import LANGUAGES, Language
from kb.yamlfile import load_yaml

PACKAGES = ("bot", "kb")


def flat(package: str, language: str) -> dict[str, str]:
    """Dotted keys and texts of a catalogue."""
    text = resources.files(package).joinpath(f"messages/{language}.yaml").read_text(encoding="utf-8")
    found: dict[str, str] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                walk(item, f"{path}.{key}".lstrip("."))
        else:
            found[path] = value

    walk(load_yaml(text), "")
    return found


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_has_the_keys_of_english_in_the_same_order(package: str, language: Language) -> None:
    assert list(flat(package, language)) == list(flat(package, "en"))


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_has_the_placeholders_of_english(package: str, language: Language) -> None:
    english = flat(package, "en")
    placeholder = re.compile(r"(?<!\{)\{([a-z_]+)\}")
    for key, text in flat(package, language).items():
        assert sorted(set(placeholder.findall(text))) == sorted(set(placeholder.findall(english[key]))), key


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_a_text_without_blanks_at_its_ends(package: str, language: Language) -> None:
    for key, text in flat(package, language).items():
        assert isinstance(text, str), key
        assert text == text.strip() or key == "slack.aside", key


@pytest.mark.parametrize("language", ["ko", "zh", "ru"])
def test_a_sentence_of_the_answer_is_not_left_in_english(language: Language) -> None:
    letters = {"ko": r"[가-힣]", "zh": r"[\u4e00-\u9fff]", "ru": r"[а-яё]"}[language]
    for key, text in flat("bot", language).items():
        if key.startswith("slack.") and key != "slack.aside":
            assert re.search(letters, text.lower()), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_with_a_size_of_their_own_fit(language: Language) -> None:
    for form in ("text_modal", "wrong_modal", "language_modal"):
        for name in ("title", "submit", "close"):
            assert len(say(language, f"slack.{form}.{name}")) <= 24
    for name, size in {"title": 100, "text": 300, "confirm": 30, "deny": 30}.items():
        assert len(say(language, f"slack.delete.{name}")) <= size
    for name in ("resolved", "wrong", "know", "report", "show_more", "delete", "language"):
        assert len(say(language, f"slack.button.{name}")) <= 40
    assert len(say(language, "slack.home.title")) <= 150


def test_section_ids_are_unique() -> None:
    assert len(set(SECTIONS)) == len(SECTIONS)
