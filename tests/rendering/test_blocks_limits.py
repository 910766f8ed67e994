"""No report of any size in any language makes a message that Slack refuses, and every cut is announced."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bot.catalogue import say
from bot.rendering.blocks import answer, failure_notice, file_report, progress
from bot.rendering.counted import Counted
from bot.rendering.first_failure import quoted
from bot.rendering.ids import SECTIONS
from bot.rendering.literal import literal, literal_line
from bot.rendering.message import AnswerState, OutgoingMessage
from kb.entry import LANGUAGES, Language
from kb.library import Library
from kb.report import Report
from tests.rendering.reports import HOSTILE, TIMES, Recipe, items, recipes, states
from tests.rendering.slack_limits import assert_within_limits, walk

_SLOW = settings(
    max_examples=80,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a recipe is short enough to read as it is
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@_SLOW
@given(data=st.data(), recipe=recipes(numbered=False))
def test_an_answer_to_any_report_is_within_the_limits(library: Library, data: st.DataObject, recipe: Recipe) -> None:
    report = recipe.report()
    assert_within_limits(answer(report, data.draw(states(report)), library))


@_SLOW
@given(recipe=recipes(numbered=True), expanded=st.booleans(), shown=st.booleans())
def test_whatever_an_answer_leaves_out_is_announced(
    library: Library, recipe: Recipe, expanded: bool, shown: bool
) -> None:
    report = recipe.report()
    if report.outcome == "unrelated":
        report = report.model_copy(update={"diagnoses": []})
    state = AnswerState("abc", expanded=frozenset(SECTIONS) if expanded else frozenset(), alternatives_shown=shown)
    message = answer(report, state, library)
    seen = _Seen(message, report)
    hidden = 0
    for first, *others in items(report, shown=shown):
        if first is not None and seen.starts(first):
            assert seen.lost(first, *others) == []
        else:
            hidden += 1
    hidden += _hidden_consequences(report, message, expanded=expanded)
    assert hidden == seen.announced_items
    assert bool(message.files) == seen.report_offered
    assert not (expanded and seen.unfolding_offered)
    assert seen.lost(*_head(report)) == []
    if not shown and len(report.diagnoses) > 1:
        assert say(report.language, "slack.more.others", count=len(report.diagnoses) - 1) in seen.flat


@settings(max_examples=60, deadline=None)
@given(
    language=st.sampled_from(LANGUAGES),
    text=st.sampled_from(HOSTILE),
    times=st.sampled_from(TIMES),
    read=st.integers(0, 10**13),
    total=st.none() | st.integers(0, 10**13),
)
def test_progress_and_notices_are_within_the_limits(
    language: Language, text: str, times: int, read: int, total: int | None
) -> None:
    assert_within_limits(progress(language, read, total, text * times))
    assert_within_limits(failure_notice(language, "internal", incident=text * times))


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(recipe=recipes(numbered=True), kind=st.sampled_from(["md", "html"]))
def test_the_report_file_holds_every_item(library: Library, recipe: Recipe, kind: Any) -> None:
    report = recipe.report()
    content = file_report(report, library, kind).content.decode()
    told = set(re.findall(r"§(\d+)§", content))
    for first, *_ in items(report, shown=True):
        assert first is not None
        assert first.split("§")[1] in told


def _head(report: Report) -> list[str]:
    """The texts that every answer shows."""
    if report.outcome == "matched":
        first = report.diagnoses[0]
        return [text for text in (first.title, first.cause, first.version_note) if text]
    root = report.root_exception
    return [quoted(root)] if root and report.outcome == "unknown" else []


def _hidden_consequences(report: Report, message: OutgoingMessage, *, expanded: bool) -> int:
    """Consequences have no number of their own: they are counted as bullets below their heading."""
    heading = say(report.language, "label.consequences")
    listed = report.diagnoses[0].consequences if report.diagnoses else []
    if not listed:
        return 0
    blocks = message.blocks
    at = next(n for n, block in enumerate(blocks) if heading in _lines(block)[:1])
    shown = 0
    for block in blocks[at:]:
        if block["type"] != "rich_text" or (
            block is not blocks[at] and block["elements"][0]["type"] != "rich_text_list"
        ):
            break
        shown += sum(element["type"] == "rich_text_list" for element in block["elements"])
    return len(listed) - shown


class _Seen:
    """What a person sees in a message."""

    def __init__(self, message: OutgoingMessage, report: Report) -> None:
        self._language = report.language
        self.flat = "\n".join(_lines(message.blocks))
        notes = [block for block in message.blocks if block["type"] == "section"]
        counts = [re.search(r"\d+", note["text"]["text"]) for note in notes]
        self.announced_items = sum(int(count[0]) for count in counts if count)
        actions = [note["accessory"]["action_id"] for note in notes]
        self.report_offered = "report_file" in actions
        self.unfolding_offered = any(action.startswith("show_more") for action in actions)
        forms = {re.escape(self._more(count)).replace(str(count), r"(\d+)") for count in (1, 2, 5)}
        self._left = {int(count) for form in forms for count in re.findall(form, self.flat)}

    def _more(self, count: int) -> str:
        return say(self._language, "label.more_lines", count=Counted(count, self._language))

    def starts(self, text: str) -> bool:
        return text[: text.index("§", 1) + 1] in self.flat

    def lost(self, *texts: str | None) -> list[str]:
        """The beginnings of texts that are neither whole nor announced as cut."""
        return [repr(text[:60]) for text in texts if text is not None and not self._whole_or_announced(text)]

    def _whole_or_announced(self, text: str) -> bool:
        count = Counted(len(text.strip()), self._language)
        if say(self._language, "slack.more.command", count=count) in self.flat:
            return True
        short = [one for one in (text, text.strip("\n"), text.strip()) if len(one) < 13_000]
        if any(shape in self.flat for one in short for shape in (literal_line(one), literal(one))):
            return True
        for left in self._left:
            for whole in (text, text.strip("\n")):
                note = self._more(left)
                start = whole[: len(whole) - left] if left < len(whole) else None
                if start is not None and any(
                    f"{shape}{gap}{note}" in self.flat
                    for shape in (literal_line(start), literal(start))
                    for gap in (" ", "\n ", "…:7 ")
                ):
                    return True
        return False


def _lines(value: Any) -> list[str]:
    """The texts of blocks; the runs of one line together."""
    lines = []
    for one in walk(value):
        if str(one.get("type", "")).startswith("rich_text_") and one["type"] != "rich_text_list":
            runs = [(run.get("text", ""), run.get("style", {}).get("code")) for run in one["elements"]]
            lines.append("".join(text for text, _ in runs))
            lines.append("".join(f"`{text}`" if code else text for text, code in runs))
        elif one.get("type") == "plain_text":
            lines.append(one["text"])
    return lines
