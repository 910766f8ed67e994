"""Questions in words: how right the answers are, how words are compared, and that no input is too odd or too long."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from kb.engine import diagnose
from kb.evidence import Source
from kb.library import Library
from kb.report import Report
from kb.subject import Subject, asks_for_help, subject
from kb.symptoms import WordMatch, rank
from kb.words import Tokenizer, vocabulary
from tests.growth import assert_bounded

QUESTIONS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parent.parent / "questions.yaml").read_text(encoding="utf-8")
)
LANGUAGES = ("en", "ko", "zh", "ru")
COLD_LOG = """\
(EngineCore pid=812) INFO 11-20 09:14:02 [core.py:139] Initializing a V1 LLM engine (v{version}) with config: \
model='moonshotai/Kimi-K3', tensor_parallel_size=8, enable_prefix_caching=True, kv_cache_dtype=auto
(EngineCore pid=812) INFO 11-20 09:24:41 [kv_cache_planning.py:1290] GPU KV cache size: 1,204,224 tokens, \
Maximum concurrency for 262,144 tokens per request: 4.59x
INFO:     Application startup complete.
(APIServer pid=640) INFO 11-20 09:31:12 [loggers.py:283] Engine 000: Avg prompt throughput: 8123.4 tokens/s, \
Avg generation throughput: 210.5 tokens/s, Running: 4 reqs, Waiting: 0 reqs, GPU KV cache usage: 12.4%, \
Prefix cache hit rate: {hits}%
(APIServer pid=640) INFO 11-20 09:31:22 [loggers.py:283] Engine 000: Avg prompt throughput: 7954.0 tokens/s, \
Avg generation throughput: 222.1 tokens/s, Running: 5 reqs, Waiting: 0 reqs, GPU KV cache usage: 14.0%, \
Prefix cache hit rate: {hits}%
"""
LOGS = {
    "cold": COLD_LOG.format(version="0.32.0", hits="0.0"),
    "warm": COLD_LOG.format(version="0.32.0", hits="71.3"),
    "old": COLD_LOG.format(version="0.27.1", hits="71.3"),
}


@pytest.fixture(scope="module")
def library() -> Library:
    return Library.open()


def ask(library: Library, question: dict[str, Any]) -> Report:
    text = question["text"]
    if "log" in question:
        text += f"\n```\n{LOGS[question['log']]}```"
    return diagnose([Source("message", [text.encode()], paste=True)], library)


def named(report: Report) -> list[str]:
    """The entries that the report names, best first; none where it claims nothing."""
    return [item.entry for item in report.diagnoses[:3]] if report.outcome == "matched" else []


def guessed(library: Library, text: str) -> list[str]:
    """The three causes that the words fit best, whatever the score."""
    return [match.entry for match in rank(library.database, text) if library.by_id[match.entry].kind == "cause"][:3]


class Score:
    """How many answers name an accepted layer or entry first, or among three."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.misses: list[str] = []

    def add(self, library: Library, question: dict[str, Any], entries: list[str]) -> None:
        accepted = set(question.get("entries", ()))
        layers = {library.by_id[entry].layer for entry in accepted} | set(question.get("layers", ()))
        right = [library.by_id[entry].layer in layers for entry in entries]
        self.counts["questions"] += 1
        self.counts["layer at 1"] += right[:1] == [True]
        self.counts["layer at 3"] += any(right)
        if accepted:
            self.counts["with entries"] += 1
            self.counts["entry at 1"] += bool(accepted & set(entries[:1]))
            self.counts["entry at 3"] += bool(accepted & set(entries))
        if not any(right):
            self.misses.append(f"{question['text']!r}: {entries}")

    def share(self, what: str) -> float:
        return self.counts[what] / self.counts["with entries" if what.startswith("entry") else "questions"]


# ------------------------------------------------------------------------------------------------------ the questions


def test_questions_are_many_in_each_language_and_none_is_asked_twice() -> None:
    known = Counter(question["lang"] for question in QUESTIONS["known"])
    assert min(known[language] for language in LANGUAGES) >= 80
    assert len(QUESTIONS["unrelated"]) >= 140
    assert len(QUESTIONS["unknown"]) >= 16
    assert len(QUESTIONS["with_log"]) == 24
    texts = [question["text"] for group in QUESTIONS.values() for question in group]
    assert len(texts) == len(set(texts))


def test_questions_accept_only_entries_and_layers_that_exist(library: Library) -> None:
    layers = {rule.layer for rule in library.rules}
    for group in QUESTIONS.values():
        for question in group:
            assert set(question.get("entries", ())) <= set(library.by_id), question["text"]
            assert set(question.get("layers", ())) <= layers, question["text"]


def test_known_questions_in_words_alone_are_answered_with_the_right_layer_and_entry(library: Library) -> None:
    every, by_language = Score(), {language: Score() for language in LANGUAGES}
    for question in QUESTIONS["known"]:
        report = ask(library, question)
        assert all(item.confidence == "possible" for item in report.diagnoses), question["text"]
        for score in (every, by_language[question["lang"]]):
            score.add(library, question, named(report))
    misses = "\n".join(every.misses)
    assert every.share("layer at 1") >= 0.91, misses
    assert every.share("layer at 3") >= 0.92, misses
    assert every.share("entry at 1") >= 0.85, misses
    assert every.share("entry at 3") >= 0.89, misses
    for language, score in by_language.items():
        assert score.share("layer at 1") >= 0.83, (language, score.misses)


def test_rank_has_the_right_cause_among_the_best_three(library: Library) -> None:
    score = Score()
    for question in QUESTIONS["known"]:
        score.add(library, question, guessed(library, question["text"]))
    assert score.share("layer at 1") >= 0.96, score.misses
    assert score.share("layer at 3") >= 0.98, score.misses
    assert score.share("entry at 3") >= 0.93, score.misses


def test_unrelated_messages_are_left_alone(library: Library) -> None:
    claimed = [question["text"] for question in QUESTIONS["unrelated"] if ask(library, question).outcome != "unrelated"]
    assert len(claimed) <= 0.02 * len(QUESTIONS["unrelated"]), claimed


def test_unknown_trouble_is_called_unknown(library: Library) -> None:
    reports = [(question["text"], ask(library, question)) for question in QUESTIONS["unknown"]]
    wrong = [text for text, report in reports if report.outcome != "unknown" or report.diagnoses]
    assert len(wrong) <= 0.15 * len(reports), wrong


def test_complaints_beside_a_healthy_log_find_their_entry(library: Library) -> None:
    score = Score()
    for question in QUESTIONS["with_log"]:
        score.add(library, question, named(ask(library, question)))
    assert score.share("layer at 1") >= 0.95, score.misses
    assert score.share("entry at 3") >= 0.95, score.misses


def test_a_complaint_that_the_log_contradicts_is_not_taken_up(library: Library) -> None:
    question = {"text": "prefix cache hit rate is zero all the time, why?", "log": "warm"}
    assert "prefix-hits-stay-zero" not in named(ask(library, question))


def test_a_fact_in_the_words_rules_an_entry_out(library: Library) -> None:
    text = "B300, --kv-cache-dtype fp8, worker asserts about an fp8 prefill query"
    assert "fp8-kv-impossible-on-hopper" not in named(ask(library, {"text": text}))


# ------------------------------------------------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("crashed while loading the weights on 8xB300", ["~crash", "~load", "~weights", "b300"]),
        ("0.27.1 refuses --kv-cache-dtype", ["0.27.1", "0.27", "kv-cache-dtype", "~refuse", "kv", "~cache", "dtyp"]),
        ("the drafts were rejected", ["~speculative", "~refuse"]),
        ("TP16 and ep=24", ["~tensor", "16", "~ep", "24"]),
        ("드라이버가 낮아서 안 떠요", ["~driver", "~old", "~not_start", "~start", "~cannot"]),
        ("프리픽스가 달라서 적중이 없습니다", ["~prefix", "~mismatch", "~hit", "~missing"]),
        ("显存不足，起不来", ["~memory", "~short", "~not_start", "~start", "~cannot", "~oom"]),
        ("命中率一直是0", ["~hit", "~zero"]),
        ("драйвер старый, воркеры зависают", ["~driver", "~old", "~worker", "~hang"]),
        ("не хватает памяти под кэш", ["~short", "~memory", "~cache", "~oom"]),
        ("!!!!!!!!", ["~exclamation"]),
        ("🔥 ?! ...", []),
    ],
)  # fmt: skip
def test_tokens_of_each_language_meet_in_concepts(text: str, expected: list[str]) -> None:
    assert Tokenizer(vocabulary()).tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Workers crashed, retries stopped", ["worker", "crash", "retry", "stop"]),
        ("mlx5dv_reg_dmabuf_mr", ["mlx5dv_reg_dmabuf_mr", "mlx5dv", "reg", "dmabuf", "mr"]),
        ("воркеры зависают", ["воркер", "завис"]),
        ("드라이버에서", ["드라", "라이", "이버"]),
        ("适配器不对", ["适配", "配器", "器不", "不对"]),
    ],
)
def test_tokens_without_concepts_are_stems_bigrams_and_technical_words(text: str, expected: list[str]) -> None:
    assert Tokenizer().tokens(text) == expected


def test_synonyms_can_all_be_looked_up() -> None:
    meanings = vocabulary()
    concepts = {concept for found in meanings["forms"].values() for concept in found}
    assert "" not in meanings["forms"]
    assert {part for parts in meanings["compounds"].values() for part in parts} <= concepts
    native = [form for form in meanings["forms"] if form >= "\u4e00"]
    assert [form for form in native if len(form) > 8 or " " in form] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vllm with sglang's kernels hangs", Subject.NAMED),
        ("kimi k3 on sglang hangs", Subject.ELSEWHERE),
        ("캐시 적중률이 0% 입니다 K3", Subject.NAMED),
        ("NCCL init hangs on two nodes", Subject.TERMS),
        ("显存不够", Subject.TERMS),
        ("cuda out of memory when fine-tuning llama", Subject.ELSEWHERE),
        ("nginx drops our tool calls", Subject.TERMS),
        ("nginx отдаёт 502", Subject.ELSEWHERE),
        ("порт занят", Subject.OPEN),
        ("", Subject.OPEN),
    ],
)
def test_subject_tells_serving_from_other_matters(text: str, expected: Subject) -> None:
    assert subject(text) is expected


def test_asks_for_help_needs_trouble_or_a_question_about_the_server() -> None:
    assert asks_for_help("is vllm supposed to do that?")
    assert asks_for_help("NCCL 초기화에서 멈췄어요")
    assert not asks_for_help("vllm 0.33 is out")
    assert not asks_for_help("which GPU has more memory?")


# ----------------------------------------------------------------------------------------------------------- search


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("--kv-cache-dtype", "fp8-kv-needs-fp8-prefill-query"),
        ("NCCL_DMABUF_ENABLE", "nccl-dmabuf-errno-524"),
        ("No available memory for the cache blocks", "no-memory-for-cache-blocks"),
        ("reg_dmabuf", "nccl-dmabuf-errno-524"),
        ("Xid 79", "gpu-off-the-bus-xid79"),
        ("tool_calls", "k3-empty-tool-calls-markup-in-reasoning"),
        ("eplb", "eplb-not-implemented-for-k3"),
        ("캐시 적중", "prefix-hits-stay-zero"),
        ("感叹号", "exclamation-marks-repeated"),
        ("восклицательные", "exclamation-marks-repeated"),
    ],
)
def test_search_finds_flags_log_texts_and_words_in_any_language(library: Library, words: str, entry: str) -> None:
    found = [match.entry for match in rank(library.database, words) if match.score >= 0.15]
    assert entry in found[:5]


def test_search_finds_a_part_of_a_word_but_never_takes_it_for_an_answer(library: Library) -> None:
    found = rank(library.database, "terministi")
    assert all(match.score <= 0.2 for match in found)


def test_a_slip_of_the_keyboard_is_forgiven(library: Library) -> None:
    right = rank(library.database, "preemption all the time")[0].entry
    assert rank(library.database, "preemtion all the time")[0].entry == right


def test_rank_gives_scores_from_high_to_low_within_bounds(library: Library) -> None:
    scores = [match.score for match in rank(library.database, "prefix cache hits are zero after the upgrade")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


# --------------------------------------------------------------------------------------------- odd and long input


@pytest.mark.parametrize(
    "text",
    [
        "prefix cache hits are zero " * 40_000,
        "캐시가 전혀 안맞아요 " * 60_000,
        "缓存不命中" * 100_000,
        "x" * 1_000_000,
        "?!.,;:()[]{}<>\"'%_*^~`|\\/" * 4_000,
        "🔥😭" * 50_000,
        " ".join(f"zzq{number}x" for number in range(5_000)),
    ],
    ids=["english", "korean", "chinese", "one word", "marks", "emoji", "strangers"],
)
def test_question_when_long_then_the_work_is_bounded(library: Library, text: str) -> None:
    assert_bounded(lambda given: judge(library, given), lambda size: text[:size], len(text))


@pytest.mark.parametrize("text", ["\x00\x01 \ud7ff \ufffd", "", " "], ids=["controls", "empty", "blank"])
def test_question_when_nothing_is_asked_then_no_entry_fits(library: Library, text: str) -> None:
    assert judge(library, text) == []


def judge(library: Library, text: str) -> list[WordMatch]:
    subject(text)
    asks_for_help(text)
    return rank(library.database, text)


@pytest.mark.parametrize(
    "text",
    [
        "'; drop table phrases; --",
        '" OR phrase MATCH "nccl" NEAR(a b, 2) * ^x',
        "% _ \\ %%",
        '"""',
        "nccl AND NOT error OR",
        "col:nccl {a b}: c",
        "\x00nccl\x00",
    ],
)
def test_rank_takes_query_syntax_for_words(library: Library, text: str) -> None:
    before = library.database.execute("select count(*) from phrases").fetchone()
    rank(library.database, text)
    assert library.database.execute("select count(*) from phrases").fetchone() == before
