"""A report as one HTML file: no script, nothing loaded from anywhere, and text of the log cannot become markup."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from importlib import resources
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from bot.catalogue import say
from bot.rendering.blocks_text import CODE, OUR_CODE, Writer
from bot.rendering.counted import Counted
from bot.rendering.first_failure import cited_root
from bot.rendering.healthy import nothing_failed, other_notes
from bot.rendering.literal import literal
from bot.rendering.markdown import literal_lines
from bot.rendering.names import fact_name, fact_names
from bot.rendering.placeholders import hint
from bot.rendering.text import size_text
from bot.rendering.titles import consequence_titles
from bot.rendering.understood import understood
from kb.library import Library
from kb.report import Report

_QUOTE = 20_000
_FACTS = 300
_WEB = re.compile(r"https?://[^\s<>\"']+")


def html(report: Report, library: Library) -> str:
    """The whole report. A line of evidence longer than 20,000 characters is cut, which the report says."""
    language = report.language
    writer = Writer(language, library)
    root = report.root_exception
    first = report.diagnoses[0] if report.diagnoses else None
    coverage = report.coverage
    names = list(report.facts)
    page: str = _template().render(
        lang={"zh": "zh-Hans"}.get(language, language),
        report=report,
        first=first,
        heading=literal(_heading(report)),
        more=nothing_failed(report)[1] if report.outcome == "unrelated" else "",
        notes=other_notes(report),
        why_unknown="unknown_wrappers" if first else "unknown_cause" if root else "unknown_words",
        root=cited_root(root) if root and report.outcome == "unknown" else None,
        understood=understood(report),
        facts=[(fact_name(language, name), report.facts[name]) for name in names[:_FACTS]],
        facts_left_out=max(0, len(names) - _FACTS),
        read=say(
            language,
            "label.read",
            lines=Counted(coverage.lines_read, language),
            files=Counted(len(coverage.files), language),
            size=size_text(coverage.bytes_read),
        ),
        say=partial(say, language),
        pair=lambda key, value: say(language, "label.pair", label=say(language, key), value=value),
        layer_of=lambda layer: library.guide(layer).name.get(language),
        consequences=lambda item: consequence_titles(library, item, language),
        named=partial(fact_names, language),
        counted=lambda number: Counted(number, language),
        hint=partial(hint, language),
        prose=lambda text, entry: _prose(text, writer.code_of(entry)),
        ours=lambda text: _prose(text, OUR_CODE),
    )
    return page


def _heading(report: Report) -> str:
    if report.outcome == "matched" and report.diagnoses:
        return report.diagnoses[0].title
    return nothing_failed(report)[0] if report.outcome == "unrelated" else say(report.language, "outcome.unknown")


def _prose(text: str, code: frozenset[str]) -> Markup:
    """A text with its code as code, where the entry's author wrote it so."""
    parts = []
    start = 0
    shown = literal(text)
    for found in CODE.finditer(shown):
        if found[1] in code:
            parts += [escape(shown[start : found.start()]), Markup("<code>{}</code>").format(found[1])]
            start = found.end()
    return Markup("").join([*parts, escape(shown[start:])])


@lru_cache(maxsize=1)
def _template() -> Any:
    environment = Environment(loader=BaseLoader(), autoescape=True, undefined=StrictUndefined)
    environment.filters |= {
        "shown": literal,
        "whole": literal_lines,
        "quoted": lambda text: literal_lines(text[:_QUOTE]),
        "left_out": lambda text: max(0, len(text) - _QUOTE),
        "web": lambda url: bool(_WEB.fullmatch(url)),
    }
    source = resources.files("bot.rendering").joinpath("report.html.j2").read_text(encoding="utf-8")
    return environment.from_string(source)
