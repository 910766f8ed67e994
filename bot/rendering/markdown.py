"""A report as Markdown, for a ticket or a wiki."""

from __future__ import annotations

import re

from bot.catalogue import say
from bot.rendering.counted import Counted
from bot.rendering.first_failure import cited_root
from bot.rendering.healthy import nothing_failed, other_notes
from bot.rendering.literal import literal, shorten
from bot.rendering.names import fact_names
from bot.rendering.placeholders import hint
from bot.rendering.text import size_text
from bot.rendering.titles import consequence_titles
from bot.rendering.understood import understood
from kb.entry import Language
from kb.library import Library
from kb.report import Cited, Report, ReportDiagnosis

_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_{}[]<>#|~"})
_WEB = re.compile(r"https?://[^\s<>\"'\\\\]+")
_EVIDENCE_WIDTH = 1500


def markdown(report: Report, library: Library) -> str:
    """The whole report as Markdown. Text of the log can neither format nor link."""
    language = report.language
    lines: list[str] = []
    if report.outcome == "unrelated":
        headline, more = nothing_failed(report)
        lines += [f"**{_plain(headline)}**", "", *([_plain(more), ""] if more else [])]
    elif report.outcome == "matched":
        first = report.diagnoses[0]
        layer = library.guide(first.layer).name.get(language)
        confidence = say(language, f"confidence.{first.confidence}")
        lines += [
            f"# {_plain(first.title)}",
            "",
            "- " + _pair(language, "layer", f"{layer} (`{first.layer}`)", bold=True),
            "- " + _pair(language, "cause", f"{_plain(first.title)} ({confidence})", bold=True),
        ]
    else:
        lines += [f"# {say(language, 'outcome.unknown')}", ""]
        key = "unknown_wrappers" if report.diagnoses else "unknown_cause" if report.root_exception else "unknown_words"
        lines.append(say(language, f"outcome.{key}"))
    if told := understood(report):
        lines += ["- " + _pair(language, "understood", _plain(told), bold=True), ""]
    if report.outcome == "unknown" and report.root_exception is not None:
        root = report.root_exception
        lines += [f"## {say(language, 'label.first_failure')}", "", *_cited(language, cited_root(root))]
    for number, item in enumerate(report.diagnoses):
        if number:
            lines += ["# " + _pair(language, "also", _plain(item.title)), ""]
        lines += _body(language, item, library)
    if notes := other_notes(report):
        lines += [f"## {say(language, 'label.notes')}", ""]
        lines += [f"- {_plain(note.title)}: {_plain(note.text)}" for note in notes] + [""]
    if report.missing_evidence:
        lines += [f"## {say(language, 'label.missing')}", ""]
        for missing in report.missing_evidence:
            lines += [f"- {_plain(missing.what)}", *_fence(missing.command, "sh")]
        lines.append("")
    coverage = report.coverage
    read = say(
        language,
        "label.read",
        lines=Counted(coverage.lines_read, language),
        files=Counted(len(coverage.files), language),
        size=size_text(coverage.bytes_read),
    )
    lines.append(read)
    lines += [
        "- " + _pair(language, "not_read", f"{_plain(item.file)}: {_plain(item.reason)}") for item in coverage.not_read
    ]
    return "\n".join(lines) + "\n"


def _pair(language: Language, key: str, value: str, *, bold: bool = False) -> str:
    label = say(language, f"label.{key}")
    return say(language, "label.pair", label=f"**{label}**" if bold else label, value=value)


def _body(language: Language, item: ReportDiagnosis, library: Library) -> list[str]:
    lines = [_plain(item.cause), ""]
    if not item.evidence:
        lines += [f"_{say(language, 'label.by_words')}_", ""]
    if item.version_note:
        lines += [f"> {_plain(item.version_note)}", ""]
    if item.unknown_facts:
        lines += [f"> {_plain(say(language, 'label.depends_on', facts=fact_names(language, item.unknown_facts)))}", ""]
    if item.evidence:
        lines += [f"## {say(language, 'label.evidence')}", ""]
        for cited in item.evidence:
            lines += _cited(language, cited)
    if item.consequences:
        lines += [f"## {say(language, 'label.consequences')}", ""]
        lines += [f"- {_plain(title)}" for title in consequence_titles(library, item, language)] + [""]
    lines += [f"## {say(language, 'label.checks')}", ""]
    if told := hint(language, item):
        lines += [told, ""]
    for check in item.checklist:
        scope = "" if check.scope == "this_node" else f" ({say(language, f'scope.{check.scope}')})"
        lines += [f"- [ ] {_plain(check.text)}{scope}", *_fence(check.command, "sh")]
        if check.expect:
            lines.append("  " + _pair(language, "expect", _plain(check.expect)))
    lines += ["", f"## {say(language, 'label.recovery')}", ""]
    for number, step in enumerate(item.recovery, 1):
        lines += [f"{number}. {_plain(step.text)} ({say(language, f'risk.{step.risk}')})", *_fence(step.command, "sh")]
        if step.verify:
            lines.append("   " + _pair(language, "verify", _plain(step.verify)))
    lines += ["", f"## {say(language, 'label.avoid')}", "", *[f"- {_plain(text)}" for text in item.avoid], ""]
    lines += [f"## {say(language, 'label.sources')}", ""]
    lines += [f"- {_plain(s.title)}, {s.as_of}" + (f" {_address(s.url)}" if s.url else "") for s in item.sources] + [""]
    return lines


def _plain(text: str) -> str:
    return literal(text).translate(_SPECIAL).replace("://", "\\://").replace("\n", " ")


def _address(url: str) -> str:
    return f"<{url}>" if _WEB.fullmatch(url) else _plain(url)


def _cited(language: Language, cited: Cited) -> list[str]:
    text, left = shorten(cited.text, _EVIDENCE_WIDTH)
    more = [say(language, "label.more_lines", count=Counted(left, language))] if left else []
    speaker = " ".join(part for part in (cited.process, cited.host) if part)
    who = f" ({_plain(speaker)})" if speaker else ""
    return [f"{_plain(cited.file)}:{cited.line}{who}", *_fence(text, ""), *more, ""]


def _fence(text: str | None, kind: str) -> list[str]:
    """A code block that its content cannot close."""
    if not text or not text.strip():
        return []
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return ["", fence + kind, literal_lines(text), fence]


def literal_lines(text: str) -> str:
    """Each line literally."""
    return "\n".join(literal(line) for line in text.strip("\n").split("\n"))
