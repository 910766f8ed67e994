"""Reports of any size, in any language, with texts that try to do harm; and what people may have done with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any, TypeVar

from hypothesis import strategies as st

from bot.rendering import ids
from bot.rendering.message import AnswerState
from kb.entry import LANGUAGES, LAYERS
from kb.report import (
    Cited,
    Coverage,
    MissingEvidence,
    Report,
    ReportCheck,
    ReportDiagnosis,
    ReportFact,
    ReportNote,
    ReportNotRead,
    ReportSource,
    ReportStep,
    RootException,
)

HOSTILE = (
    "<!channel> <@U0123ABCD> <!here|here> <http://evil.example|log in> @here @everyone #general :tada:",
    "```\nend of code\n``` *bold* _italic_ ~gone~ `code` > quote &lt;!channel&gt; &amp;amp;",
    "\x1b[31mred\x00\x07\r\n\t\u202egnp.exe\u2066 \u200bhidden\ufeff\u2028\u061c\xad\u3164",
    "<&>" * 40,
    "😀🧑‍🚒" * 30,
    "\ud800 half \udfff",
    "드라이버가 너무 오래되었습니다. GPU 8장 중 3장만 보입니다.",
    "驱动版本过旧，容器看不到全部显卡；请先检查宿主机。",
    "Драйвер слишком старый: контейнер видит не все карты.",
    "e\u0301" * 60 + "\u0e49" * 60,
    "vllm serve moonshotai/Kimi-K3 --max-model-len 8192 # `vllm --version` & more",
    "x",
    " ",
    "\n\n",
    "",
)
ENTRIES = ("nccl-dmabuf-errno-524", "no-such-entry", "x" * 300, "<!channel>", "")
URLS = (None, "https://example.org/a?b=c&d=e", "javascript:alert(1)", "https://x/" + "&" * 2500, "http://a b|c>")
SIZES = (0, 1, 2, 3, 4, 5, 11, 40, 500)
TIMES = (1, 2, 6, 30, 300, 100_000)

Item = TypeVar("Item")


@dataclass(frozen=True)
class Recipe:
    """What makes a report. `palette`: texts with how often they are repeated, used in turn. `sizes`: of the lists."""

    outcome: str
    language: str
    palette: tuple[tuple[str, int], ...]
    sizes: tuple[int, ...]
    others: int
    full: bool
    numbered: bool

    def report(self) -> Report:
        """The report. Where it is numbered, every text of its own starts with a number such as §12§."""
        return _Cook(self).report()


def recipes(*, numbered: bool) -> st.SearchStrategy[Recipe]:
    """Any recipe."""
    text = st.sampled_from(HOSTILE) | st.text(max_size=40)
    return st.builds(
        Recipe,
        outcome=st.sampled_from(["matched", "matched", "unknown", "unrelated"]),
        language=st.sampled_from(LANGUAGES),
        palette=st.lists(st.tuples(text, st.sampled_from(TIMES)), min_size=1, max_size=5).map(tuple),
        sizes=st.lists(st.sampled_from(SIZES), min_size=9, max_size=9).map(tuple),
        others=st.sampled_from([0, 1, 3, 60]),
        full=st.booleans(),
        numbered=st.just(numbered),
    )


class _Cook:
    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._texts = cycle([(text * times)[: 1 << 20] for text, times in recipe.palette])
        self._sizes = cycle(recipe.sizes)
        self._entries = cycle(ENTRIES)
        self._urls = cycle(URLS)
        self._count = 0
        self._budget = 3 << 19  # characters, after which texts are short, so that a report of 3,000 texts is made soon

    def text(self) -> str:
        self._count += 1
        text = next(self._texts)
        text = text[: max(200, self._budget)]
        self._budget -= len(text)
        return (f"§{self._count}§" if self._recipe.numbered else "") + text

    def maybe(self) -> str | None:
        return self.text() if self._recipe.full else None

    def some(self, make: Callable[[], Item], size: int | None = None) -> list[Item]:
        return [make() for _ in range(next(self._sizes) if size is None else size)]

    def cited(self) -> Cited:
        return Cited(file=self.text(), line=7, text=self.text(), process=self.maybe(), host=self.maybe())

    def check(self) -> ReportCheck:
        scope = "every_node" if self._count % 2 else "this_node"
        check_id = ("driver", "x" * 64, "<!here>", "")[self._count % 4]
        return ReportCheck(id=check_id, text=self.text(), command=self.maybe(), expect=self.maybe(), scope=scope)

    def step(self) -> ReportStep:
        risk = ("safe", "restart", "reboot", "data")[self._count % 4]
        return ReportStep(text=self.text(), command=self.maybe(), risk=risk, verify=self.maybe())

    def source(self) -> ReportSource:
        return ReportSource(title=self.text(), url=next(self._urls), as_of="2026-11-29")

    def diagnosis(self, size: int | None = None) -> ReportDiagnosis:
        return ReportDiagnosis(
            entry=next(self._entries),
            layer=LAYERS[self._count % len(LAYERS)],
            title=self.text(),
            cause=self.text(),
            confidence=("certain", "likely", "possible")[self._count % 3],
            evidence=self.some(self.cited, size),
            consequences=self.some(lambda: next(self._entries), size),
            version_note=self.maybe(),
            unknown_facts=self.some(self.text, size) if self._recipe.full else [],
            checklist=self.some(self.check, size),
            recovery=self.some(self.step, size),
            avoid=self.some(self.text, size),
            sources=self.some(self.source, size),
        )

    def report(self) -> Report:
        recipe = self._recipe
        found = [self.diagnosis()] if recipe.outcome == "matched" or recipe.full else []
        found += [self.diagnosis(1) for _ in range(recipe.others if found else 0)]
        root: dict[str, Any] = {"process": self.maybe(), "host": self.maybe(), "file": self.text(), "line": 3}
        names = ("vllm_version", "gpu_model", "gpu_count", "tp_size", "driver_version", "kv_cache_dtype")
        return Report(
            outcome=recipe.outcome,
            language=recipe.language,
            layer=found[0].layer if recipe.outcome == "matched" else None,
            stage="weights" if recipe.full else None,
            diagnoses=found,
            root_exception=RootException(type=self.text(), text=self.text(), **root) if recipe.full else None,
            notes=self.some(
                lambda: ReportNote(entry=next(self._entries), title=self.text(), text=self.text(), evidence=[])
            ),
            facts={name: ReportFact(value=self.text(), file=self.text(), line=1) for name in names if recipe.full},
            missing_evidence=self.some(lambda: MissingEvidence(what=self.text(), command=self.text())),
            coverage=Coverage(
                bytes_read=10**12,
                lines_read=10**9,
                files=[],
                not_read=self.some(lambda: ReportNotRead(file=self.text(), reason=self.text())),
            ),
        )


@st.composite
def states(draw: st.DrawFn, report: Report) -> AnswerState:
    """What people may have done with the report's answer."""
    checks = [ids.check_key(item.entry, check.id) for item in report.diagnoses[:1] for check in item.checklist[:20]]
    user = st.sampled_from(["U0123ABCD", "W1", "<!channel>", "u1", ""])
    time = st.sampled_from(["2026-11-29T12:00:00Z", "2026-11-29T12:00:00+09:00", "2026-11-29T12:00:00", "noon", ""])
    return AnswerState(
        incident_id=draw(st.sampled_from(["abc123abc123", "f" * 20])),
        ticked=draw(st.dictionaries(st.sampled_from(checks), st.tuples(user, time))) if checks else {},
        expanded=draw(st.frozensets(st.sampled_from(ids.SECTIONS)) | st.just(frozenset(ids.SECTIONS))),
        status=draw(st.sampled_from(["open", "resolved", "wrong"])),
        resolved_by=draw(st.none() | user),
        changed=draw(st.lists(st.sampled_from(["cause", "layer", "no-such-news", "facts", "head"]), max_size=8)),
        alternatives_shown=draw(st.booleans()),
    )


def items(report: Report, *, shown: bool) -> Iterator[tuple[str | None, ...]]:
    """The texts of every item of every section of an answer; the first one tells whether the item is there."""
    for lost in report.coverage.not_read:
        yield lost.file, lost.reason
    for note in report.notes:
        yield (note.title,)
    for missing in report.missing_evidence:
        yield missing.what, missing.command
    for first in report.diagnoses[:1]:
        for check in first.checklist:
            yield check.text, check.command, check.expect
        for step in first.recovery:
            yield step.text, step.command, step.verify
        for text in first.avoid:
            yield (text,)
        for cited in first.evidence:
            who = " ".join(part for part in (cited.process, cited.host) if part)
            yield cited.file, cited.text, who or None
        for source in first.sources:
            yield (source.title,)
    for other in report.diagnoses[1:] if shown else []:
        yield other.title, other.cause
