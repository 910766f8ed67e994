"""A report for a terminal: short first, commands copyable, CJK width right."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bot.catalogue import say
from bot.rendering.counted import Counted
from bot.rendering.first_failure import cited_root
from bot.rendering.han import Flowing
from bot.rendering.healthy import nothing_failed, other_notes
from bot.rendering.literal import literal, shorten
from bot.rendering.names import fact_names
from bot.rendering.placeholders import hint
from bot.rendering.titles import consequence_titles
from bot.rendering.understood import understood
from kb.entry import Language
from kb.library import Library
from kb.report import Cited, Report, ReportCheck, ReportDiagnosis, ReportStep

_EVIDENCE_LINES = 4
_EVIDENCE_WIDTH = 400
_NOT_READ = 20
_CONFIDENCE_STYLE = {"certain": "bold green", "likely": "bold yellow", "possible": "bold cyan"}
_RISK_STYLE = {"safe": "green", "restart": "yellow", "reboot": "red", "data": "bold red"}


class TextRenderer:
    """Prints reports on a rich console. The console decides about colour and width."""

    def __init__(self, console: Console, library: Library) -> None:
        self._console = console
        self._library = library

    def print(self, report: Report) -> None:
        """Print one report."""
        if report.outcome == "unrelated":
            headline, more = nothing_failed(report)
            self._line(literal(headline), "bold")
            if more:
                self._line(literal(more))
            self._understood(report)
            self._notes(report)
            self._coverage(report)
            return
        if report.outcome == "matched":
            self._matched(report)
        else:
            self._unknown(report)
        self._notes(report)
        self._missing(report)
        self._sources(report)
        self._coverage(report)

    def _matched(self, report: Report) -> None:
        language = report.language
        first = report.diagnoses[0]
        head = Text()
        head.append(self._label(language, "layer"), "dim")
        head.append(self._library.guide(first.layer).name.get(language), "bold")
        head.append(f" ({first.layer})", "dim")
        self._console.print(Flowing(head))
        head = Text()
        head.append(self._label(language, "cause"), "dim")
        head.append(literal(first.title), "bold")
        head.append(f" [{say(language, f'confidence.{first.confidence}')}]", _CONFIDENCE_STYLE[first.confidence])
        self._console.print(Flowing(head))
        self._understood(report)
        self._console.print()
        self._body(report, first)
        others = report.diagnoses[1:]
        if others:
            self._heading(language, "also")
            for other in others:
                text = Text("  - ")
                text.append(literal(other.title))
                text.append(
                    f" [{say(language, f'confidence.{other.confidence}')}]", _CONFIDENCE_STYLE[other.confidence]
                )
                text.append(f" {other.entry}", "dim")
                self._console.print(Flowing(text))
                for cited in other.evidence[:1]:
                    self._cited(language, cited)

    def _understood(self, report: Report) -> None:
        if told := understood(report):
            self._line(self._pair(report.language, "understood", told), "dim")

    def _body(self, report: Report, item: ReportDiagnosis) -> None:
        language = report.language
        self._line(literal(item.cause))
        if not item.evidence:
            self._line(say(language, "label.by_words"), "italic")
        if item.version_note:
            self._line(item.version_note, "yellow")
        if item.unknown_facts:
            self._line(say(language, "label.depends_on", facts=fact_names(language, item.unknown_facts)), "yellow")
        if item.evidence:
            self._heading(language, "evidence")
            for cited in item.evidence[:_EVIDENCE_LINES]:
                self._cited(language, cited)
        if item.consequences:
            self._heading(language, "consequences")
            for title in consequence_titles(self._library, item, language):
                self._console.print(Flowing(Text(f"  - {literal(title)}")))
        self._heading(language, "checks")
        if told := hint(language, item):
            self._indented(Text(told, "dim"), 2)
        for number, check in enumerate(item.checklist, 1):
            self._check(language, number, check)
        self._heading(language, "recovery")
        for number, step in enumerate(item.recovery, 1):
            self._step(language, number, step)
        self._heading(language, "avoid")
        for text in item.avoid:
            self._indented(Text(f"- {literal(text)}"), 2)

    def _unknown(self, report: Report) -> None:
        language = report.language
        self._line(say(language, "outcome.unknown"), "bold")
        if report.diagnoses:
            self._line(say(language, "outcome.unknown_wrappers"), "bold")
        elif report.root_exception is None:
            self._line(say(language, "outcome.unknown_words"), "bold")
        else:
            self._line(say(language, "outcome.unknown_cause"), "bold")
        self._understood(report)
        root = report.root_exception
        if root is not None:
            self._console.print()
            self._heading(language, "first_failure")
            self._cited(language, cited_root(root))
        for item in report.diagnoses[:1]:
            self._console.print()
            self._line(literal(item.title), "bold")
            self._body(report, item)

    def _cited(self, language: Language, cited: Cited) -> None:
        text, left = shorten(cited.text, _EVIDENCE_WIDTH)
        line = Text("  ")
        where = f"{literal(cited.file)}:{cited.line}"
        line.append(where, "cyan")
        who = " ".join(part for part in (cited.process, cited.host) if part)
        if who:
            line.append(f"  {literal(who)}", "magenta")
        self._console.print(line)
        for part in text.split("\n"):
            self._console.print(Text(f"      {literal(part)}"), soft_wrap=True)
        if left:
            self._console.print(
                Text("      " + say(language, "label.more_lines", count=Counted(left, language)), "dim")
            )

    def _check(self, language: Language, number: int, check: ReportCheck) -> None:
        scope = "" if check.scope == "this_node" else f" ({say(language, f'scope.{check.scope}')})"
        self._indented(Text(f"{number}. {literal(check.text)}{scope}"), 2)
        self._command(check.command)
        if check.expect:
            self._indented(Text(self._pair(language, "expect", literal(check.expect)), "green"), 5)

    def _step(self, language: Language, number: int, step: ReportStep) -> None:
        text = Text(f"{number}. {literal(step.text)} ")
        text.append(f"[{say(language, f'risk.{step.risk}')}]", _RISK_STYLE[step.risk])
        self._indented(text, 2)
        self._command(step.command)
        if step.verify:
            self._indented(Text(self._pair(language, "verify", literal(step.verify)), "green"), 5)

    def _command(self, command: str | None) -> None:
        """A command on lines of its own, never wrapped, so that it can be copied."""
        for part in (command or "").strip().split("\n"):
            if part:
                self._console.print(Text(f"     $ {literal(part)}", "bold"), soft_wrap=True)

    def _notes(self, report: Report) -> None:
        notes = other_notes(report)
        if not notes:
            return
        self._heading(report.language, "notes")
        for note in notes:
            self._indented(Text(f"- {literal(note.title)}"), 2)

    def _missing(self, report: Report) -> None:
        if not report.missing_evidence:
            return
        self._heading(report.language, "missing")
        for item in report.missing_evidence:
            self._indented(Text(f"- {literal(item.what)}"), 2)
            self._command(item.command)

    def _sources(self, report: Report) -> None:
        sources = {(s.title, s.url, s.as_of) for item in report.diagnoses[:1] for s in item.sources}
        if not sources:
            return
        self._heading(report.language, "sources")
        for title, url, day in sorted(sources, key=str):
            self._console.print(Text(f"  - {title}, {day}" + (f"  {url}" if url else ""), "dim"), soft_wrap=True)

    def _coverage(self, report: Report) -> None:
        language = report.language
        coverage = report.coverage
        self._console.print()
        self._line(
            say(
                language,
                "label.read",
                lines=Counted(coverage.lines_read, language),
                files=Counted(len(coverage.files), language),
                size=size_text(coverage.bytes_read),
            ),
            "dim",
        )
        for item in coverage.not_read[:_NOT_READ]:
            self._line(self._pair(language, "not_read", f"{literal(item.file)}: {literal(item.reason)}"), "yellow")
        left = len(coverage.not_read) - _NOT_READ
        if left > 0:
            self._line(say(language, "label.more_not_read", count=left), "yellow")

    def _heading(self, language: Language, key: str) -> None:
        self._console.print(Text(say(language, f"label.{key}"), "bold underline"))

    def _label(self, language: Language, key: str) -> str:
        return self._pair(language, key, "")

    def _pair(self, language: Language, key: str, value: str) -> str:
        return say(language, "label.pair", label=say(language, f"label.{key}"), value=value)

    def _indented(self, text: Text, cells: int) -> None:
        self._console.print(Padding(Flowing(text), (0, 0, 0, cells), expand=False))

    def _line(self, text: str, style: str = "") -> None:
        self._console.print(Flowing(Text(text, style)))


def size_text(size: int) -> str:
    """A number of bytes for people."""
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError  # the loop ends with GiB
