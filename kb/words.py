"""Words of a question or a symptom as they are compared, in any of the languages.

Words of the field that mean one thing become one concept (`synonyms.yaml`), so that a question meets a symptom written
in other words or in another language. The rest is compared as English and Russian stems, pairs of Hangul or Han
syllables, and technical words whole and in parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from typing import TypedDict

from kb.entry import LANGUAGES
from kb.yamlfile import load_yaml

_TOKEN = re.compile(r"[a-z0-9][a-z0-9_.+/-]*|!!!|[\uac00-\ud7a3]+|[\u4e00-\u9fff]+|[а-я]+")
_SHOUT = re.compile(r"!{3,}")
_NOT_SPLIT = re.compile(r"(?<![\uac00-\ud7a3])([안못])\s+(?=[\uac00-\ud7a3])")
_COUNT = re.compile(r"(?<![a-z0-9])(\d{1,3})\s?[xх*×]\s?(?=[a-z]+\d)")
_PARALLEL = re.compile(r"(?:(?<![a-z0-9_-])|(?<=\d)[xх*×]?)(tp|pp|dp|ep|dcp|pcp)\s?=?\s?(\d{1,3})(?![a-wyz0-9])")
_DIGIT = re.compile(r"[0-9]")
_RELEASE = re.compile(r"\d+\.\d+\.\d+")
_JOINTS = re.compile(r"[_./+-]+")
_LONGEST_FORM = 8
"""Syllables of the longest Korean or Chinese form that is looked for."""
_PARTICLE = re.compile(
    r"(?:입니다|합니다|습니다|됩니다|인가요|건가요|던데요|는데요|은데요|인데요|네요|어요|아요|에요|예요|세요|나요|까요|데요"
    r"|대요|래요|돼요|죠|요|에서|으로|에게|한테|까지|부터|처럼|보다|이랑|하고|이나|라고|다고|는데|은데|인데|지만|면서|하면"
    r"|으면|니까|은|는|이|가|을|를|에|로|와|과|도|만|의|랑|나|면|고|서|지|다|음|함|임|됨)$"
)
_RUSSIAN_ENDING = re.compile(
    r"(?:иями|ями|ами|иях|ях|ах|ого|его|ому|ему|ыми|ими|ую|юю|ая|яя|ое|ее|ые|ие|ый|ий|ой|ей|ии|ия|ию|ом|ем|ам|ям|ов|ев"
    r"|ается|яется|ются|уются|ется|ится|ятся|аться|яться|иться|ешь|ишь|ает|яет|ают|яют|уют|ует|ить|ать|ять|еть|ил|ал|ял"
    r"|ила|ала|ило|ало|или|али|ет|ит|ут|ют|ат|ят|а|я|о|е|ы|и|у|ю|ь|й)$"
)


class Vocabulary(TypedDict):
    """`synonyms.yaml` as it is looked up."""

    forms: dict[str, list[str]]
    """Stems of a form, divided by spaces -> its concepts; none for a Korean or Chinese filler."""
    compounds: dict[str, list[str]]
    """Compound concept -> its parts."""
    fillers: list[str]
    """English and Russian words that say nothing."""


NO_VOCABULARY: Vocabulary = {"forms": {}, "compounds": {}, "fillers": []}


def vocabulary() -> Vocabulary:
    """Read `synonyms.yaml`."""
    data = load_yaml(resources.files("kb").joinpath("synonyms.yaml").read_text(encoding="utf-8"))
    fillers = data["fillers"]
    forms: dict[str, list[str]] = {piece: [] for piece in (fillers["ko"] + " " + fillers["zh"]).split()}
    for concept, by_language in {**data["concepts"], **data["compounds"]}.items():
        for language in LANGUAGES:
            for form in by_language[language].split(", ") if language in by_language else ():
                words = [part for word in _TOKEN.findall(_clean(form)) for part in _parts(word)]
                concepts = forms.setdefault(" ".join(_stem(word) for word in words), [])
                if concept not in concepts:
                    concepts.append(concept)
    return {
        "forms": forms,
        "compounds": {name: compound["parts"].split(", ") for name, compound in data["compounds"].items()},
        "fillers": (fillers["en"] + " " + fillers["ru"]).split(),
    }


class Tokenizer:
    """Cuts text into what is compared."""

    def __init__(self, vocabulary: Vocabulary = NO_VOCABULARY) -> None:
        self.forms = vocabulary["forms"]
        self._compounds = vocabulary["compounds"]
        self._fillers = frozenset(vocabulary["fillers"])
        self._longest: dict[str, int] = {}  # first word of forms of several words -> the most words
        for form in self.forms:
            first, *others = form.split(" ")
            if others:
                self._longest[first] = max(self._longest.get(first, 0), len(others) + 1)
        self._stems: dict[str, str] = {}
        self._known: dict[str, tuple[str, ...]] = {}
        self._runs: dict[str, tuple[str, ...]] = {}

    def tokens(self, text: str) -> list[str]:
        """Concepts (`~slow`), stems, bigrams and technical words, with repetitions."""
        out: list[str] = []
        row: list[str] = []  # consecutive words of an alphabet
        for word in _TOKEN.findall(_clean(text)):
            if word[0] >= "\u4e00":
                if row:
                    out.extend(self._words(row))
                    row = []
                if word not in self._runs:
                    self._runs[word] = tuple(self._syllables(word))
                out.extend(self._runs[word])
                continue
            parts = _parts(word)
            if len(parts) > 1:
                whole = word.strip("._-+/")
                out.append(whole)
                if _RELEASE.fullmatch(whole):
                    out.append(whole.rpartition(".")[0])
                if whole[0].isdigit():
                    continue
            row.extend(parts)
        out.extend(self._words(row))
        return out + self._compounded(set(out))

    def _compounded(self, found: set[str]) -> list[str]:
        more: list[str] = []
        for compound, parts in self._compounds.items():
            if "~" + compound in found:
                more.extend("~" + part for part in parts)
            elif all("~" + part in found for part in parts):
                more.append("~" + compound)
        return more

    def _words(self, row: list[str]) -> Iterator[str]:
        for word in row:
            if word not in self._stems:
                self._stems[word] = _stem(word)
        stems = [self._stems[word] for word in row]
        at = 0
        while at < len(row):
            for count in range(min(self._longest.get(stems[at], 1), len(row) - at), 1, -1):
                concepts = self._concepts(" ".join(stems[at : at + count]))
                if concepts:
                    yield from concepts
                    at += count
                    break
            else:
                word = row[at]
                if word not in self._known:
                    self._known[word] = self._single(word, stems[at])
                yield from self._known[word]
                at += 1

    def _single(self, word: str, stem: str) -> tuple[str, ...]:
        concepts = self._concepts(stem)
        if concepts:
            return concepts
        if word in self._fillers or stem in self._fillers or len(word) == 1:
            return ()
        return (_ending_off(word),)

    def _concepts(self, words: str) -> tuple[str, ...]:
        """The concepts of a form. Of a Russian form the last word may be only the first half or more of the word."""
        found = self.forms.get(words)
        if found is None and words[-1] >= "а":
            last = words.rfind(" ") + 1
            for end in range(len(words) - 1, last + max(3, (len(words) - last + 1) // 2) - 1, -1):
                found = self.forms.get(words[:end])
                if found is not None:
                    break
        return tuple(f"~{concept}" for concept in found or ())

    def _syllables(self, run: str) -> Iterator[str]:
        """Concepts in a run of Hangul or Han, and the bigrams of what is left."""
        hangul = run[0] >= "\uac00"
        at = start = 0
        while at < len(run):
            for size in range(min(_LONGEST_FORM, len(run) - at), 1 if hangul and at > 0 else 0, -1):
                concepts = self.forms.get(run[at : at + size])
                if concepts is not None:
                    yield from _bigrams(run[start:at])
                    yield from ("~" + concept for concept in concepts)
                    at += size
                    start = at
                    break
            else:
                at += 1
        yield from _bigrams(_PARTICLE.sub("", run[start:]) if hangul else run[start:])


def plain_words(text: str) -> set[str]:
    """All stems, bigrams and technical words of a long text, without concepts."""
    found: set[str] = set()
    for word in set(_TOKEN.findall(_clean(text))):
        if word[0] >= "\u4e00":
            found.update(_bigrams(word))
        else:
            found.update(_ending_off(part) for part in _parts(word))
            found.add(word.strip("._-+/"))
    return found


def _clean(text: str) -> str:
    text = text.lower().replace("ё", "е").replace("'", "").replace("\u2019", "")
    text = _SHOUT.sub("!!!", text)
    if not text.isascii():
        text = _NOT_SPLIT.sub(r"\1", text)
    return _PARALLEL.sub(r" \1 \2 ", _COUNT.sub(r"\1 ", text)) if _DIGIT.search(text) else text


def _parts(word: str) -> list[str]:
    if word.isalnum():
        return [word]
    return [part for part in _JOINTS.split(word) if part] or [word]


def _stem(word: str) -> str:
    """The English word without its ending; other words as they are."""
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    else:
        if word.endswith("ies") and len(word) > 5:
            word = word[:-3] + "y"
        elif word.endswith(("shes", "ches", "xes", "sses", "zes")):
            word = word[:-2]
        elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def _ending_off(word: str) -> str:
    return _RUSSIAN_ENDING.sub("", word) if word[0] >= "а" and len(word) > 4 else _stem(word)


def _bigrams(piece: str) -> Iterator[str]:
    for at in range(len(piece) - 1):
        yield piece[at : at + 2]
