"""The checklist: checkboxes that everybody sees alike, who ticked what and when, and the commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from slack_sdk.models.blocks import (
    ActionsBlock,
    CheckboxesElement,
    ContextBlock,
    MarkdownTextObject,
    Option,
    RichTextElement,
)

from bot.rendering import ids
from bot.rendering.blocks_layout import BLOCK_CHARACTERS, Laid, Layout, Room
from bot.rendering.blocks_text import (
    OUR_CODE,
    USER_ID,
    Writer,
    clip,
    cost,
    label,
    line,
    plain,
    rich,
    run,
    weigh,
    weight,
)
from bot.rendering.message import AnswerState, Json
from bot.rendering.placeholders import hint
from kb.report import ReportCheck, ReportDiagnosis

NAME = "checks"
GROUP = 10
_LABEL = 75
_TEXT = 600
_EXPECT = 400


@dataclass(frozen=True, slots=True)
class _Drawn:
    """One check: its checkbox, what stands below, and who ticked it."""

    option: Option
    details: list[RichTextElement]
    ticked: str | None

    @property
    def weight(self) -> int:
        """Its characters in the message, where a ticked option stands twice."""
        return (
            weight(self.option.to_dict()) * (2 if self.ticked else 1)
            + weigh(self.details)
            + cost(self.ticked or "")
            + 5
        )


def lay_checks(item: ReportDiagnosis, state: AnswerState, writer: Writer, layout: Layout, room: Room) -> Laid:
    """The checklist in at most `room`."""
    code = writer.code_of(item.entry)
    expanded = layout.is_expanded(NAME)
    wanted = item.checklist if expanded else item.checklist[:GROUP]
    told = hint(writer.language, item)
    explained = [line(*writer.prose(told, _TEXT, OUR_CODE))] if told else []
    heading = rich(layout.heading(writer.say("label.checks")), *explained)
    if weight(heading) > room.characters - layout.note_weight():
        heading = rich(layout.heading(writer.say("label.checks")))
    characters = room.characters - layout.note_weight() - weight(heading)
    groups: list[list[Json]] = []
    drawn: list[_Drawn] = []
    shown = 0
    for number, (check, key) in enumerate(zip(wanted, _keys(item), strict=False)):
        one = _draw(number + 1, check, key, state, writer, code)
        characters -= one.weight
        group = _group(number // GROUP, [*drawn, one], state)
        blocks = 2 + sum(map(len, groups)) + len(group)
        if characters < 0 or blocks > room.blocks:
            break
        drawn.append(one)
        shown += 1
        if len(drawn) == GROUP or shown == len(wanted):
            groups.append(group)
            drawn = []
    if drawn:
        groups.append(_group(len(groups), drawn, state))
    laid = [heading, *[block for group in groups for block in group]]
    hidden = len(item.checklist) - shown
    if hidden:
        laid.append(layout.note(NAME, hidden, beyond=expanded))
    return Laid(laid, hidden if expanded else 0)


def _keys(item: ReportDiagnosis) -> list[str]:
    """The ids by which the checks are ticked, each once."""
    seen: dict[str, int] = {}
    keys = []
    for check in item.checklist:
        key = ids.check_key(item.entry, check.id)
        seen[key] = seen.get(key, 0) + 1
        keys.append(key if seen[key] == 1 else f"{key}~{seen[key]}")
    return keys


def _draw(
    number: int, check: ReportCheck, key: str, state: AnswerState, writer: Writer, code: frozenset[str]
) -> _Drawn:
    scope = "" if check.scope == "this_node" else writer.say("slack.aside", text=writer.say(f"scope.{check.scope}"))
    text = f"{number}. {label(check.text, code)}"
    expect = writer.pair(writer.say("label.expect"), check.expect) if check.expect else ""
    whole = not clip(text, _LABEL)[1]
    with_scope = not clip(text + scope, _LABEL)[1]
    fits = bool(expect) and not clip(label(expect, code), _LABEL)[1]
    option = Option(
        text=plain(text + scope if with_scope else text, _LABEL),
        value=key,
        description=plain(label(expect, code), _LABEL) if fits else None,
    )
    details: list[RichTextElement] = []
    command = writer.command(check.command)
    if not whole:
        told = writer.prose(check.text, _TEXT, code)
        details.append(line(run(f"{number}. ", bold=True), *told, *([run(scope)] if scope else [])))
    elif command or (expect and not fits) or not with_scope:
        details.append(line(run(f"{number}.", bold=True), *([] if with_scope or not scope else [run(scope)])))
    details += command
    if expect and not fits:
        details.append(line(*writer.prose(expect, _EXPECT, code)))
    by = state.ticked.get(key)
    return _Drawn(option, details, f"{number} {_who(*by)}" if by else None)


def _group(number: int, drawn: Sequence[_Drawn], state: AnswerState) -> list[Json]:
    """One group of checkboxes with what belongs to it."""
    mask = sum(1 << at for at, one in enumerate(drawn) if one.ticked)
    boxes = CheckboxesElement(
        action_id=ids.TICK,
        options=[one.option for one in drawn],
        initial_options=[one.option for one in drawn if one.ticked] or None,
    )
    block_id = ids.TickBlock(state.incident_id, number, mask).block_id
    blocks = [ActionsBlock(block_id=block_id, elements=[boxes]).to_dict()]
    ticked = [one.ticked for one in drawn if one.ticked]
    if ticked:
        blocks.append(ContextBlock(elements=[MarkdownTextObject(text="✓ " + " · ".join(ticked))]).to_dict())
    details: list[RichTextElement] = []
    for one in drawn:
        if details and weigh(details) + weigh(one.details) > BLOCK_CHARACTERS:
            blocks.append(rich(*details))
            details = []
        details += one.details
    if details:
        blocks.append(rich(*details))
    return blocks


def _who(user: str, at: str) -> str:
    """Who and when, in mrkdwn made of nothing but ids and digits; Slack shows the time in each reader's zone."""
    name = f"<@{user}>" if USER_ID.fullmatch(user) else "?"
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return name
    moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    return f"{name} <!date^{int(moment.timestamp())}^{{date_short_pretty}} {{time}}|{moment:%Y-%m-%d %H:%M} UTC>"
