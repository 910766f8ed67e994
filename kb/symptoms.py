"""Questions in words, in any of the languages, against titles and symptoms.

An entry fits by how much of what the question says its phrases say, and by its best phrase. Rare words count more, and
words that no entry knows count against all of them. What is found this way is a guess by words: the caller never calls
it more than possible.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from kb.entry import LANGUAGES, Entry
from kb.language import detect_language
from kb.words import Tokenizer, Vocabulary, plain_words, vocabulary

_LONGEST_QUESTION = 4000
_MOST_WORDS = 120
_MOST_MATCHES = 60
_KINDS = (*LANGUAGES, "id", "log", "command")
"""What a phrase is: a title or symptom in a language, the words of the id, fixed text of a pattern, or a command."""
_AS_PHRASE = {"id": 0.8, "log": 0.8}
"""What a word in a phrase of this kind counts against the same in a phrase of the question's language."""
_IN_ENTRY = {"id": 0.8, "log": 0.6}
"""The same for all phrases of an entry together."""
_LIGHTEST_PHRASE = 8.0
"""A phrase of one or two common words counts as if it were of this weight."""
_VAGUE = 4.0
"""Weight of words at which a question tells so little that half its fit is lost."""
_LONG = 25.0
"""Weight of words from which on a message counts as long."""
_ORDINARY = 0.25
"""Part of its strangeness that a word keeps which stands in other texts of the entries."""
_ALIKE = 87
"""How alike (rapidfuzz ratio) a word must be to stand for a word with a slip of the keyboard."""
_MOST_SLIPS = 8
_SUBSTRING = 0.2
"""How well a phrase fits that holds all parts of a short question letter by letter: found, but no answer."""
_MOST_PARTS = 6


@dataclass(frozen=True, slots=True)
class WordMatch:
    """An entry whose symptoms read like the question, with how well: 0 to 1."""

    entry: str
    score: float
    phrase: str


def create_search_index(database: sqlite3.Connection, entries: Iterable[Entry]) -> None:
    """Add to the index database the phrases with their full-text index, and each word with its phrases."""
    from sqlite_utils import Database  # noqa: PLC0415 - slow to import and needed only to build

    meanings = vocabulary()
    cut = Tokenizer(meanings).tokens
    ids: list[str] = []
    rows: list[tuple[int, str, str, str]] = []
    owners, kinds = array("I"), bytearray()
    places: dict[str, array[int]] = defaultdict(lambda: array("I"))
    told: list[str] = []
    for entry in entries:
        for kind, phrase in _phrases(entry):
            if kind != "command":
                for word in dict.fromkeys(cut(phrase)):
                    places[word].append(len(rows))
            owners.append(len(ids))
            kinds.append(_KINDS.index(kind))
            rows.append((len(rows), entry.id, kind, phrase))
        ids.append(entry.id)
        told.extend(_other_texts(entry))
    rarity = {word: math.log(1 + len(ids) / len({owners[at] for at in found})) for word, found in places.items()}
    weights = array("f", bytes(4 * len(rows)))
    for word, found in places.items():
        for at in found:
            weights[at] += rarity[word]
    db = Database(database)
    db.table("phrases").create({"id": int, "entry": str, "kind": str, "phrase": str}, pk="id")
    database.executemany("insert into phrases values (?, ?, ?, ?)", rows)
    db.table("phrases").enable_fts(["phrase"], tokenize="trigram")
    db.table("words").create({"word": str, "rarity": float, "phrases": bytes}, pk="word")
    database.executemany(
        "insert into words values (?, ?, ?)", [(word, rarity[word], found.tobytes()) for word, found in places.items()]
    )
    ordinary = (word for word in plain_words("\n".join(told)) if word not in places)
    database.executemany("insert into words values (?, 0, x'')", [(word,) for word in ordinary])
    db.table("search").create({"name": str, "data": bytes}, pk="name")
    stored = {
        "vocabulary": json.dumps(meanings, ensure_ascii=False).encode(),
        "entries": json.dumps(ids).encode(),
        "owners": owners.tobytes(),
        "kinds": bytes(kinds),
        "weights": weights.tobytes(),
    }
    db.table("search").insert_all({"name": name, "data": data} for name, data in stored.items())


def _phrases(entry: Entry) -> Iterator[tuple[str, str]]:
    """(kind, phrase): all texts by which an entry is found."""
    for language in LANGUAGES:
        yield language, entry.title.get(language)
        for phrase in entry.symptoms.get(language):
            yield language, phrase
    yield "id", entry.id.replace("-", " ")
    signature = entry.signature
    telling = [condition.pattern for condition in signature.all if condition.pattern is not None]
    if not telling:  # else those of `any` only go with it, and may be lines that many failures have
        telling = [condition.pattern for condition in signature.any if condition.pattern is not None]
    for pattern in telling:
        for phrase in _fixed_texts(pattern):
            yield "log", phrase
    for command in [check.command for check in entry.checklist] + [step.command for step in entry.recovery]:
        if command is not None:
            yield "command", command


def _other_texts(entry: Entry) -> Iterator[str]:
    """Texts whose words are ordinary in the field though nobody describes a symptom with them."""
    for language in LANGUAGES:
        yield entry.cause.get(language)
        yield from (check.text.get(language) for check in entry.checklist)
        yield from (step.text.get(language) for step in entry.recovery)
        yield from entry.avoid.get(language)


def _fixed_texts(pattern: str) -> Iterator[str]:
    """The words of a pattern, one text for each alternative."""
    plain = re.sub(r"\(\?P<\w+>|\(\?[a-z:]+\)?|\\[a-zA-Z]|\[[^\]]*\]|\{[\d,]*\}|\.[*+?]|[\\()?*+^$]", " ", pattern)
    for piece in plain.split("|"):
        text = " ".join(piece.split())
        if len(text) > 5:
            yield text


def rank(database: sqlite3.Connection, question: str) -> list[WordMatch]:
    """Entries whose phrases fit the question, best first."""
    question = question[:_LONGEST_QUESTION]
    index = _Index(database)
    fits = index.fits(question)
    for at, score in index.substring_fits(question).items():
        number = index.owners[at]
        if number not in fits or fits[number][0] < score:
            fits[number] = (score, at)
    best = sorted(fits.items(), key=lambda item: (-item[1][0], item[0]))[:_MOST_MATCHES]
    texts = index.texts([at for _, (_, at) in best])
    return [WordMatch(index.entries[number], round(score, 4), texts[at]) for number, (score, at) in best]


class _Index:
    """The tables of `create_search_index`, read as far as one question needs them."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def _stored(self, name: str) -> bytes:
        data: bytes = self._database.execute("select data from search where name = ?", [name]).fetchone()[0]
        return data

    @cached_property
    def entries(self) -> list[str]:
        """Ids, by number."""
        found: list[str] = json.loads(self._stored("entries"))
        return found

    @cached_property
    def owners(self) -> array[int]:
        """Number of the entry, by phrase."""
        return array("I", self._stored("owners"))

    def texts(self, phrases: list[int]) -> dict[int, str]:
        """The texts of phrases."""
        marks = ",".join("?" * len(phrases))
        query = f"select id, phrase from phrases where id in ({marks})"  # noqa: S608 - marks only
        return dict(self._database.execute(query, phrases).fetchall())

    def fits(self, question: str) -> dict[int, tuple[float, int]]:
        """Entry number -> how well it fits, and its best phrase."""
        known, strange = self._words(question)
        if not known:
            return {}
        kinds, weights, owners = self._stored("kinds"), array("f", self._stored("weights")), self.owners
        language = detect_language(question) or "en"
        in_phrase = [_AS_PHRASE.get(kind, 1.0 if kind == language else 0.85) for kind in _KINDS]
        in_entry = [_IN_ENTRY.get(kind, 1.0 if kind == language else 0.35) for kind in _KINDS]
        shared: dict[int, float] = defaultdict(float)  # phrase -> weight of the words it shares with the question
        said: dict[int, float] = defaultdict(float)  # entry -> the same, a word counting more if several phrases say it
        for weight, places in known.values():
            often: dict[int, float] = defaultdict(float)
            for at in places:
                shared[at] += weight
                often[owners[at]] += in_entry[kinds[at]]
            for number, count in often.items():
                said[number] += weight * count / (count + 0.6)
        asked = _asked(sum(weight for weight, _ in known.values()) + strange)
        best: dict[int, tuple[float, int]] = {}
        for at, weight in shared.items():
            fit = in_phrase[kinds[at]] * weight / math.sqrt(max(weights[at], _LIGHTEST_PHRASE) * asked)
            if owners[at] not in best or fit > best[owners[at]][0]:
                best[owners[at]] = (fit, at)
        telling = asked / (asked + _VAGUE)
        return {number: (telling * (0.6 * said[number] / asked + 0.4 * fit), at) for number, (fit, at) in best.items()}

    def _words(self, question: str) -> tuple[dict[str, tuple[float, array[int]]], float]:
        """The known words of the question with their weights and phrases, and the weight of all other words."""
        meanings: Vocabulary = json.loads(self._stored("vocabulary"))
        wanted = list(dict.fromkeys(Tokenizer(meanings).tokens(question)))[:_MOST_WORDS]
        known = self._known(wanted)
        strangers = [word for word in wanted if word not in known]
        ordinary = [word for word, (_, places) in known.items() if not places]
        slips = [word for word in strangers if word.isalpha() and len(word) > 5][:_MOST_SLIPS]
        meant = self._known([token for word in slips for token in self._meant(word, meanings["forms"])])
        strange = sum(map(_strangeness, strangers)) + _ORDINARY * sum(map(_strangeness, ordinary))
        strange *= math.log(1 + len(self.entries))
        return meant | known, strange  # a word is still strange after a guess at what it means

    def _known(self, words: list[str]) -> dict[str, tuple[float, array[int]]]:
        marks = ",".join("?" * len(words))
        query = f"select word, rarity, phrases from words where word in ({marks})"  # noqa: S608 - marks only
        rows = self._database.execute(query, words)
        return {word: (rarity * _importance(word), array("I", phrases)) for word, rarity, phrases in rows}

    def _meant(self, word: str, forms: Mapping[str, list[str]]) -> list[str]:
        """What a word with a slip of the keyboard stands for: words alike with the same two first letters."""
        if word[0] >= "\u4e00":
            return []
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - needed only for words that no entry knows

        start = word[:2]
        between = [start, start + "\U0010ffff"]
        rows = self._database.execute("select word from words where word >= ? and word < ?", between)
        alike = [row[0] for row in rows] + [form for form in forms if form.startswith(start)]
        found = process.extractOne(word, alike, scorer=fuzz.ratio, score_cutoff=_ALIKE)
        if found is None:
            return []
        return ["~" + concept for concept in forms[found[0]]] if found[0] in forms else [found[0]]

    def substring_fits(self, question: str) -> dict[int, float]:
        """Phrase -> a fixed fit, for phrases that hold all parts of a short question letter by letter."""
        parts = question.split()
        if not 0 < len(parts) <= _MOST_PARTS or len(question) > 200:
            return {}
        short = [part for part in parts if len(part) <= 2]  # the index of trigrams does not know them
        long = [part.replace('"', '""').replace("\0", "") for part in parts if len(part) > 2]
        where = ["phrase like ? escape '\\'"] * len(short)
        values = ["%" + re.sub(r"([%_\\])", r"\\\1", part) + "%" for part in short]
        if long:
            where.append("id in (select rowid from phrases_fts where phrases_fts match ?)")
            values.append(" ".join(f'"{part}"' for part in long))
        query = f"select id from phrases where {' and '.join(where)} limit 400"  # noqa: S608 - marks only
        rows = self._database.execute(query, values)
        return {row[0]: _SUBSTRING for row in rows}


def _asked(weight: float) -> float:
    """The weight an answer is measured by: in a long message much is beside the point."""
    return min(weight, _LONG + 0.3 * max(weight - _LONG, 0.0))


def _importance(word: str) -> float:
    """Technical words tell more than their rarity says, pairs of syllables less."""
    if word[0] >= "\u4e00":
        return 0.4
    return 1.2 if word[0] != "~" and any(not "a" <= ch <= "я" for ch in word) else 1.0


def _strangeness(word: str) -> float:
    """How much a word that no entry knows counts against all of them."""
    if word[0] >= "\u4e00":
        return 0.45
    return 0.9 if word[0].isdigit() else 1.2 if word[0] >= "а" else 1.5
