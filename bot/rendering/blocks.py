"""What the bot says in Slack: answers, progress and notices, each within Slack's limits.

Nothing is cut in silence: what does not fit is counted, and stands behind "Show more" or in the report.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from slack_sdk.models.blocks import HeaderBlock, RichTextElement, SectionBlock

from bot.catalogue import say
from bot.rendering import blocks_sections as parts
from bot.rendering.blocks_buttons import buttons
from bot.rendering.blocks_checks import lay_checks
from bot.rendering.blocks_layout import Laid, Layout, Room, Section
from bot.rendering.blocks_text import (
    OUR_CODE,
    Writer,
    clip,
    context,
    line,
    notification,
    plain,
    rich,
    run,
    told_plain,
    user,
)
from bot.rendering.counted import Counted
from bot.rendering.first_failure import cited_root, quoted
from bot.rendering.healthy import nothing_failed
from bot.rendering.html import html
from bot.rendering.markdown import markdown
from bot.rendering.message import AnswerState, Json, OutgoingFile, OutgoingMessage
from bot.rendering.names import fact_names
from bot.rendering.text import size_text
from bot.rendering.understood import understood
from kb.entry import Language
from kb.library import Library
from kb.report import Report, ReportDiagnosis, RootException

__all__ = ["AnswerState", "OutgoingFile", "OutgoingMessage", "answer", "failure_notice", "file_report", "progress"]

_TITLE = 150
_CAUSE = 1_200
_NOTE = 400
_UNDERSTOOD = 400

Lay = Callable[[Room], Laid]


def answer(report: Report, state: AnswerState, library: Library) -> OutgoingMessage:
    """The answer of an incident: short first, then what to do, then everything else.

    The message holds at most 50 blocks and 13,000 characters. Its `files` hold the report where a part is too long even
    for "Show more".
    """
    return _Answer(report, state, library).message()


class _Answer:
    def __init__(self, report: Report, state: AnswerState, library: Library) -> None:
        self._report = report
        self._state = state
        self._library = library
        self._writer = Writer(report.language, library)
        self._layout = Layout(self._writer, state.incident_id, state.expanded)
        self._first = report.diagnoses[0] if report.diagnoses else None

    def message(self) -> OutgoingMessage:
        head, tail = self._head(), self._tail()
        plan = self._plan()
        room = Room()
        room.take(head)
        room.take(tail)
        needs = [self._layout.reserve(heading) for heading, _ in plan]
        middle: list[Json] = []
        beyond = 0
        for at, (_, lay) in enumerate(plan):
            rest = Room(sum(need.blocks for need in needs[at + 1 :]), sum(need.characters for need in needs[at + 1 :]))
            laid = lay(room.less(rest))
            room.take(laid.blocks)
            middle += laid.blocks
            beyond += laid.beyond
        files = [file_report(self._report, self._library, "md")] if beyond else []
        return OutgoingMessage([*head, *middle, *tail], self._notification(), files)

    def _notification(self) -> str:
        return notification(self._report_title())

    def _report_title(self) -> str:
        if self._report.outcome == "matched" and self._first is not None:
            layer = self._library.guide(self._first.layer).name.get(self._report.language)
            word = self._writer.say(f"confidence.{self._first.confidence}")
            return f"{self._writer.pair(layer, self._first.title)} [{word}]"
        root = self._report.root_exception
        if self._report.outcome == "unrelated":
            return nothing_failed(self._report)[0]
        outcome = self._writer.say("outcome.unknown")
        return self._writer.pair(outcome, quoted(root)) if root and not self._first else outcome

    # The head: layer, cause, confidence, what was understood

    def _head(self) -> list[Json]:
        blocks = [*self._status(), *self._changed()]
        if self._report.outcome == "matched" and self._first is not None:
            return blocks + self._matched(self._first)
        if self._report.outcome == "unrelated":
            return blocks + self._unrelated()
        return blocks + self._unknown()

    def _status(self) -> list[Json]:
        if self._state.status == "open":
            return []
        known = self._state.status == "wrong" and self._report.outcome != "matched"
        key = f"slack.status.{'known' if known else self._state.status}"
        if self._state.resolved_by is None:
            return [rich(line(run(self._writer.say(f"{key}_plain"), bold=True)))]
        before, _, after = self._writer.say(key).partition("{user}")
        runs = [run(text, bold=True) for text in (before,) if text] + [user(self._state.resolved_by)]
        return [rich(line(*runs, *[run(text, bold=True) for text in (after,) if text]))]

    def _changed(self) -> list[Json]:
        if not self._state.changed:
            return []
        news = ", ".join(dict.fromkeys(map(self._news, self._state.changed[:12])))
        return [context(f"{self._writer.say('slack.changed.head')} {news}", self._writer.language)]

    def _news(self, key: str) -> str:
        try:
            return self._writer.say(f"slack.changed.{key}")
        except (KeyError, TypeError):
            return self._writer.say("slack.changed.other")  # of another release than the one that stored it

    def _matched(self, first: ReportDiagnosis) -> list[Json]:
        writer = self._writer
        layer = self._library.guide(first.layer).name.get(writer.language)
        summary = [
            line(*self._named("slack.layer", layer), run(writer.say("slack.aside", text=first.layer))),
            line(*self._named("slack.confidence", writer.say(f"slack.how_sure.{first.confidence}"))),
        ]
        return [
            *self._title(first.title),
            rich(*summary),
            *self._why(first),
            *self._understood(),
        ]

    def _named(self, key: str, value: str) -> list[RichTextElement]:
        return [run(self._writer.pair(self._writer.say(key), "")), run(value, bold=True)]

    def _understood(self) -> list[Json]:
        told = understood(self._report)
        text = self._writer.pair(self._writer.say("label.understood"), told)
        return [context(text, self._writer.language, _UNDERSTOOD)] if told else []

    def _title(self, title: str) -> list[Json]:
        header = HeaderBlock(text=plain(title, _TITLE)).to_dict()
        if not clip(title, _TITLE)[1]:
            return [header]
        return [header, rich(line(*self._writer.prose(title, 500, bold=True)))]

    def _why(self, item: ReportDiagnosis) -> list[Json]:
        """The cause in words, what it depends on, and the lines that prove it."""
        writer = self._writer
        elements: list[RichTextElement] = [line(*writer.prose(item.cause, _CAUSE, writer.code_of(item.entry)))]
        if item.version_note:
            elements.append(line(run("⚠ "), *writer.prose(item.version_note, _NOTE, OUR_CODE)))
        if item.unknown_facts:
            facts = fact_names(writer.language, item.unknown_facts)
            elements.append(line(run("⚠ "), *writer.prose(writer.say("label.depends_on", facts=facts), _NOTE)))
        if not item.evidence:
            elements.append(line(run(writer.say("label.by_words"), italic=True)))
            return [rich(*elements)]
        section = parts.evidence(item, writer, expanded=False)
        laid = self._layout.lay(section, Room(4, 2_500)) if not self._layout.is_expanded("evidence") else Laid([])
        return [rich(*elements), *laid.blocks]

    def _unknown(self) -> list[Json]:
        writer, report = self._writer, self._report
        key = "unknown_wrappers" if report.diagnoses else "unknown_cause" if report.root_exception else "unknown_words"
        blocks = [
            HeaderBlock(text=plain(writer.say("outcome.unknown"), _TITLE)).to_dict(),
            rich(line(run(writer.say(f"outcome.{key}"), bold=True))),
        ]
        if report.root_exception is not None and not self._is_cited(report.root_exception):
            root = parts.cite(cited_root(report.root_exception), writer)
            blocks.append(rich(self._layout.heading(writer.say("slack.first_failure")), *root))
        if self._first is not None:
            title = line(*writer.prose(self._first.title, 500, bold=True))
            blocks += [rich(title), *self._why(self._first)]
        return [*blocks, *self._understood()]

    def _is_cited(self, root: RootException) -> bool:
        """Whether the line stands among the evidence anyway."""
        cited = self._first.evidence[:2] if self._first else []
        return any((one.file, one.line) == (root.file, root.line) for one in cited)

    def _unrelated(self) -> list[Json]:
        writer = self._writer
        headline, more = nothing_failed(self._report)
        return [
            rich(
                line(*writer.prose(headline, 500, bold=True)),
                *([line(*writer.prose(more, _NOTE))] if more else []),
                line(run(writer.say("slack.next.unrelated"))),
            ),
            *self._understood(),
        ]

    # The middle: sections, in the order in which they get room

    def _plan(self) -> list[tuple[str, Lay]]:
        """(heading, what lays it out) of the sections that have anything to show."""
        writer, report, first = self._writer, self._report, self._first
        sections: list[Section | None] = []
        unknown = report.outcome == "unknown"
        if unknown:
            sections.append(parts.missing(report, writer, writer.say("slack.next.unknown"), compact=5))
        if first is not None:
            if self._layout.is_expanded("evidence"):
                sections.append(parts.evidence(first, writer, expanded=True))
            sections += [None, parts.recovery(first, writer), parts.avoid(first, writer)]
            sections.append(parts.consequences(first, writer))
        if not unknown:
            sections.append(parts.missing(report, writer, writer.say("label.missing")))
        shown = self._state.alternatives_shown
        sections.append(parts.alternatives(report, writer, self._library, shown=shown))
        sections.append(parts.notes(report, writer, expanded=self._layout.is_expanded("notes")))
        if first is not None:
            sections.append(parts.sources(first, writer))
        sections.append(parts.not_read(report, writer))
        plan: list[tuple[str, Lay]] = []
        for section in sections:
            if section is None and first is not None and first.checklist:
                plan.append((writer.say("label.checks"), self._lay_checks(first)))
            elif section is not None and section.items:
                plan.append((section.heading, self._lay(section)))
        return plan

    def _lay(self, section: Section) -> Lay:
        return lambda room: self._layout.lay(section, room)

    def _lay_checks(self, item: ReportDiagnosis) -> Lay:
        return lambda room: lay_checks(item, self._state, self._writer, self._layout, room)

    # The tail: what was read, and the buttons

    def _tail(self) -> list[Json]:
        writer, coverage = self._writer, self._report.coverage
        read = writer.say(
            "label.read",
            lines=Counted(coverage.lines_read, writer.language),
            files=Counted(len(coverage.files), writer.language),
            size=size_text(coverage.bytes_read),
        )
        others = 0 if self._state.alternatives_shown else max(0, len(self._report.diagnoses) - 1)
        told = f"{read} · {writer.say('slack.more.others', count=others)}" if others else read
        hint = [context(writer.say("slack.next.known"), writer.language)] if self._report.outcome == "unknown" else []
        return [context(told, writer.language), *hint, buttons(self._report, self._state, writer, others)]


def progress(language: Language, bytes_read: int, total: int | None, file: str) -> OutgoingMessage:
    """How far reading has come."""
    values: dict[str, object] = {"file": told_plain(file, 150, language).text, "done": size_text(bytes_read)}
    if total:
        values |= {"total": size_text(max(total, bytes_read)), "percent": min(100, 100 * bytes_read // total)}
    text = say(language, "slack.progress.of_total" if total else "slack.progress.so_far", **values)
    return OutgoingMessage([context(text, language)], notification(text))


def failure_notice(language: Language, key: str, **values: object) -> OutgoingMessage:
    """A notice that something did not work: a key of `slack.failure`, or the whole dotted key of any text.

    Values are shown literally. Raises KeyError for an unknown key.
    """
    literally = {name: told_plain(str(value), 300, language).text for name, value in values.items()}
    text = say(language, key if "." in key else f"slack.failure.{key}", **literally)
    section = SectionBlock(text=told_plain(text, 2_900, language)).to_dict()
    return OutgoingMessage([section], notification(text))


def file_report(report: Report, library: Library, kind: Literal["md", "html"]) -> OutgoingFile:
    """The whole report as a file."""
    about = report.diagnoses[0].entry if report.diagnoses else report.outcome
    name = f"k3-triage-{re.sub(r'[^a-z0-9-]', '', about)[:64]}.{report.language}.{kind}"
    title = say(report.language, "slack.report.title")
    if report.diagnoses:
        title = f"{title}: {clip(report.diagnoses[0].title, 150)[0]}"
    text = markdown(report, library) if kind == "md" else html(report, library)
    return OutgoingFile(name, title, text.encode("utf-8", "replace"))
