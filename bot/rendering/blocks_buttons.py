"""The buttons below an answer, and the menu of languages."""

from __future__ import annotations

from slack_sdk.models.blocks import (
    ActionsBlock,
    ButtonElement,
    ConfirmObject,
    InteractiveElement,
    Option,
    StaticSelectElement,
)

from bot.catalogue import say
from bot.rendering import ids
from bot.rendering.blocks_text import Writer, plain
from bot.rendering.message import AnswerState, Json
from kb.entry import LANGUAGES, Language
from kb.report import Report

LANGUAGE_NAMES: dict[Language, str] = {"en": "English", "ko": "한국어", "zh": "中文", "ru": "Русский"}


def buttons(report: Report, state: AnswerState, writer: Writer, others: int) -> Json:
    """The row of buttons. `others`: how many alternatives wait to be shown."""

    def button(action: str, name: str, style: str | None = None, **values: object) -> ButtonElement:
        text = plain(writer.say(f"slack.button.{name}", **values), 75)
        return ButtonElement(text=text, action_id=action, value=state.incident_id, style=style)

    elements: list[InteractiveElement] = []
    if state.status != "resolved" and report.outcome != "unrelated":
        elements.append(button(ids.RESOLVED, "resolved", style="primary"))
    elif state.status == "resolved":
        elements.append(button(ids.REOPEN, "reopen"))
    elements.append(button(ids.WRONG, "wrong" if report.outcome == "matched" else "know"))
    if others:
        elements.append(button(ids.ALTERNATIVES, "alternatives", count=others))
    elements += [button(ids.REPORT_FILE, "report"), language_menu(report.language), _delete(state, writer)]
    return ActionsBlock(block_id=ids.menu_block(state.incident_id), elements=elements).to_dict()


def language_menu(language: Language) -> StaticSelectElement:
    """The menu of languages, with the present one chosen."""
    options = language_options()
    return StaticSelectElement(
        action_id=ids.LANGUAGE_SELECT,
        placeholder=plain(say(language, "slack.button.language"), 75),
        options=options,
        initial_option=options[LANGUAGES.index(language)],
    )


def language_options() -> list[Option]:
    """The languages by their own names; the value is the code."""
    return [Option(text=plain(LANGUAGE_NAMES[language], 75), value=language) for language in LANGUAGES]


def _delete(state: AnswerState, writer: Writer) -> ButtonElement:
    texts = {name: plain(writer.say(f"slack.delete.{name}"), 300) for name in ("title", "text")}
    labels = {name: plain(writer.say(f"slack.delete.{name}"), 30) for name in ("confirm", "deny")}
    return ButtonElement(
        text=plain(writer.say("slack.button.delete"), 75),
        action_id=ids.DELETE_INCIDENT,
        value=state.incident_id,
        confirm=ConfirmObject(**texts, **labels, style="danger"),
    )
