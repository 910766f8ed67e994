"""The sections of an answer other than the checklist, made of a report."""

from __future__ import annotations

import re
from functools import partial

from slack_sdk.models.blocks import RichTextElementParts

from bot.rendering.blocks_layout import Item, Section
from bot.rendering.blocks_text import Writer, clip, line, run
from bot.rendering.healthy import other_notes
from kb.library import Library
from kb.report import (
    Cited,
    MissingEvidence,
    Report,
    ReportDiagnosis,
    ReportNote,
    ReportNotRead,
    ReportSource,
    ReportStep,
)

_PROSE = 600
_QUOTE = 800
_QUOTE_UNFOLDED = 1_500
_PLACE = 120
_WEB = re.compile(r"https?://[^\s<>\"|]{1,2000}")


def evidence(item: ReportDiagnosis, writer: Writer, *, expanded: bool) -> Section:
    """The cited lines: two of them, until unfolded."""
    limit = _QUOTE_UNFOLDED if expanded else _QUOTE
    folded = any(clip(cited.text, _QUOTE, lines=True)[1] for cited in item.evidence[:2])
    items = [partial(cite, cited, writer, limit) for cited in item.evidence]
    return Section("evidence", writer.say("label.evidence"), items, compact=2, folded=folded)


def cite(cited: Cited, writer: Writer, limit: int = _QUOTE) -> Item:
    """A line of the evidence: where it stands, who said it, and the line itself."""
    where, cut = clip(cited.file, _PLACE)
    runs = [run(f"{where}{'…' if cut else ''}:{cited.line}", code=True), *writer.cut(cut)]
    who = " ".join(part for part in (cited.process, cited.host) if part)
    if who:
        runs.append(run("  "))
        runs += writer.prose(who, _PLACE)
    return [line(*runs), *writer.quote(cited.text, limit)]


def consequences(item: ReportDiagnosis, writer: Writer) -> Section:
    """What only follows from the cause."""
    items = [partial(_bullet, title, writer, frozenset()) for title in writer.consequence_titles(item)]
    return Section("consequences", writer.say("label.consequences"), items)


def recovery(item: ReportDiagnosis, writer: Writer) -> Section:
    """The steps, with their risk and the command to copy."""
    code = writer.code_of(item.entry)
    items = [partial(_step, number, step, writer, code) for number, step in enumerate(item.recovery, 1)]
    return Section("recovery", writer.say("label.recovery"), items, compact=4)


def _step(number: int, step: ReportStep, writer: Writer, code: frozenset[str]) -> Item:
    dangerous = step.risk in ("reboot", "data")
    risk = run(f"  [{writer.say(f'risk.{step.risk}')}]", **({"bold": True} if dangerous else {"italic": True}))
    item: Item = [line(run(f"{number}. ", bold=True), *writer.prose(step.text, _PROSE, code), risk)]
    item += writer.command(step.command)
    if step.verify:
        item.append(line(*writer.prose(writer.pair(writer.say("label.verify"), step.verify), _PROSE, code)))
    return item


def avoid(item: ReportDiagnosis, writer: Writer) -> Section:
    """What not to do."""
    code = writer.code_of(item.entry)
    items = [partial(_bullet, text, writer, code) for text in item.avoid]
    return Section("avoid", writer.say("label.avoid"), items)


def missing(report: Report, writer: Writer, heading: str, compact: int = 3) -> Section:
    """What would make the answer surer, and the command that collects it."""
    items = [partial(_missing, one, writer) for one in report.missing_evidence]
    return Section("missing", heading, items, compact=compact)


def _missing(one: MissingEvidence, writer: Writer) -> Item:
    return [line(*writer.prose(one.what, _PROSE)), *writer.command(one.command)]


def alternatives(report: Report, writer: Writer, library: Library, *, shown: bool) -> Section:
    """What else it may be; nothing until asked for."""
    others = report.diagnoses[1:] if shown else []
    items = [partial(_alternative, item, writer, library) for item in others]
    return Section("alternatives", writer.say("label.also"), items, compact=4)


def _alternative(item: ReportDiagnosis, writer: Writer, library: Library) -> Item:
    word = writer.say(f"confidence.{item.confidence}")
    layer = library.guide(item.layer).name.get(writer.language)
    code = writer.code_of(item.entry)
    return [
        line(*writer.prose(item.title, 300, code, bold=True), run(f"  [{word}]  ", italic=True), run(layer)),
        line(*writer.prose(item.cause, _PROSE, code)),
        *[part for cited in item.evidence[:1] for part in cite(cited, writer)],
    ]


def notes(report: Report, writer: Writer, *, expanded: bool) -> Section:
    """What is true and useful and not the fault: its title, until unfolded."""
    told = other_notes(report)
    items = [partial(_note, note, writer, expanded=expanded) for note in told]
    folded = any(note.text for note in told)
    return Section("notes", writer.say("label.notes"), items, folded=folded)


def _note(note: ReportNote, writer: Writer, *, expanded: bool) -> Item:
    code = writer.code_of(note.entry)
    runs = writer.prose(note.title, 300, code, bold=expanded)
    if expanded and note.text:
        runs += [run(" "), *writer.prose(note.text, _PROSE, code)]
    return [writer.bullet(runs)]


def sources(item: ReportDiagnosis, writer: Writer) -> Section:
    """Where the statements come from."""
    items = [partial(_source, source, writer) for source in item.sources]
    return Section("sources", writer.say("label.sources"), items)


def _source(source: ReportSource, writer: Writer) -> Item:
    day = run(f", {clip(source.as_of, 20)[0]}")
    title, left = clip(source.title, 300)
    usable = source.url and _WEB.fullmatch(source.url) and not clip(source.url, 2_000)[1]
    if source.url and usable and title.strip() and not left:
        return [writer.bullet([RichTextElementParts.Link(url=source.url, text=title), day])]
    address = [run(" "), *writer.prose(source.url, 300)] if source.url else []
    return [writer.bullet([*writer.prose(source.title, 300), day, *address])]


def not_read(report: Report, writer: Writer) -> Section:
    """What was given and not read."""
    items = [partial(_not_read, one, writer) for one in report.coverage.not_read]
    return Section("not_read", writer.say("label.not_read"), items)


def _not_read(one: ReportNotRead, writer: Writer) -> Item:
    runs = [*writer.prose(one.file, _PLACE), run(": "), *writer.prose(one.reason, 300)]
    return [writer.bullet(runs)]


def _bullet(text: str, writer: Writer, code: frozenset[str]) -> Item:
    return [writer.bullet(writer.prose(text, _PROSE, code))]
