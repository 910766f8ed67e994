"""Texts of the built-in entries, layers and catalogues: one word for one thing, and prohibitions that read as such."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest

from kb.library import Library
from kb.yamlfile import load_yaml

PROHIBITION = {
    "en": re.compile(r"Do not "),
    "ko": re.compile(r"않습니다|마십시오|마세요|안 됩니다|지 말고"),
    "zh": re.compile("不要|别|不能|不可|勿"),
    "ru": re.compile(r"(?:Не|Никогда не) "),
}
OTHER_WORDS = re.compile(
    r"(?<![`\w./{-])(?:worker|rank)s?(?![\w`}-])|[Жж]урнал|[Тт]аймаут"
    r"|[Яя]др\w+ (?:движка|GPU|CUDA|KDA|Triton)|первого дня"
)
"""The settled words are воркер, ранг, лог, тайм-аут, EngineCore, кернел and day-0; ядро is that of Linux or a CPU."""


def layers() -> dict[str, Any]:
    data: dict[str, Any] = load_yaml(resources.files("kb").joinpath("layers.yaml").read_text(encoding="utf-8"))
    return data


def entries() -> dict[str, dict[str, Any]]:
    library = Library.open()
    return {
        rule.id: library.entry(rule.id).model_dump(exclude={"signature", "symptoms", "sources"})
        for rule in library.rules
    }


ALL = {**entries(), **layers()}


def russian(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "ru" in value:
            yield from [value["ru"]] if isinstance(value["ru"], str) else value["ru"]
        else:
            for item in value.values():
                yield from russian(item)
    elif isinstance(value, list):
        for item in value:
            yield from russian(item)


def sentences(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key != "command":
                yield from sentences(item)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("language", sorted(PROHIBITION))
def test_what_not_to_do_reads_as_a_prohibition(language: str) -> None:
    found = [
        (name, text)
        for name, one in ALL.items()
        for text in (one["avoid"] or {}).get(language, [])
        if not (PROHIBITION[language].match if language in ("en", "ru") else PROHIBITION[language].search)(text)
    ]
    assert found == []


def test_russian_has_one_word_for_one_thing() -> None:
    texts = [(name, text) for name, one in ALL.items() for text in russian(one)]
    for package in ("bot", "kb"):
        catalogue = load_yaml(resources.files(package).joinpath("messages/ru.yaml").read_text(encoding="utf-8"))
        texts += [(f"{package}/messages/ru.yaml", text) for text in sentences(catalogue)]
    bare = [(name, re.sub(r"`[^`]*`", "", text)) for name, text in texts]
    assert [(name, text) for name, text in bare if OTHER_WORDS.search(text)] == []
