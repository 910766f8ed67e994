"""The forms that open in Slack."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from slack_sdk.models.blocks import (
    Block,
    InputBlock,
    Option,
    OptionGroup,
    PlainTextInputElement,
    RadioButtonsElement,
    SectionBlock,
    StaticSelectElement,
)
from slack_sdk.models.views import View

from bot.catalogue import say
from bot.rendering import ids
from bot.rendering.blocks_buttons import language_options
from bot.rendering.blocks_text import clip, plain, told_plain
from bot.rendering.message import Json
from bot.rendering.titles import title_of
from kb.entry import LANGUAGES, Language
from kb.library import Library

MAX_TYPED = 3_000
"""Characters that Slack lets people type into an input."""
_OPTIONS = 100
_TITLE = 24


def text_modal(language: Language, private_metadata: str) -> Json:
    """The form for a log or a question; submits `diagnose_text_view` with state text.text."""
    key = "slack.text_modal"
    field = InputBlock(
        block_id=ids.TEXT_BLOCK,
        label=plain(say(language, f"{key}.label"), 150),
        hint=plain(say(language, f"{key}.hint"), 300),
        element=PlainTextInputElement(
            action_id=ids.TEXT_INPUT,
            multiline=True,
            max_length=MAX_TYPED,
            placeholder=plain(say(language, f"{key}.placeholder"), 150),
            focus_on_load=True,
        ),
    )
    return _modal(language, key, ids.DIAGNOSE_TEXT_VIEW, private_metadata, [field])


def wrong_modal(
    language: Language,
    incident_id: str,
    suggestions: Sequence[tuple[str, str]],
    known: Sequence[tuple[str, Sequence[tuple[str, str]]]] = (),
) -> Json:
    """The form for what it really was; submits `wrong_view` with the incident as private metadata.

    `suggestions`: (entry id, title), the likeliest first. `known`: all other entries by layer, as from `known_entries`.
    Slack's menu holds groups of 100, and the form says so where there are more. State: wrong_entry.entry and
    wrong_text.text, each may be empty; where both are, answer with the text `slack.wrong_modal.need_one` as an error of
    the block wrong_text.
    """
    key = "slack.wrong_modal"
    blocks: list[Block] = [SectionBlock(text=plain(say(language, f"{key}.intro"), 500))]
    groups = [(say(language, f"{key}.suggested"), suggestions), *known]
    listed, total, shown = _groups(groups)
    if listed:
        hint = say(language, f"{key}.left_out", count=shown, total=total) if shown < total else None
        blocks.append(
            InputBlock(
                block_id=ids.WRONG_ENTRY_BLOCK,
                optional=True,
                label=plain(say(language, f"{key}.entry"), 150),
                hint=plain(hint, 300) if hint else None,
                element=StaticSelectElement(
                    action_id=ids.WRONG_ENTRY_INPUT,
                    placeholder=plain(say(language, f"{key}.entry_placeholder"), 150),
                    option_groups=listed,
                ),
            )
        )
    blocks.append(
        InputBlock(
            block_id=ids.WRONG_TEXT_BLOCK,
            optional=True,
            label=plain(say(language, f"{key}.text"), 150),
            element=PlainTextInputElement(
                action_id=ids.WRONG_TEXT_INPUT,
                multiline=True,
                max_length=MAX_TYPED,
                placeholder=plain(say(language, f"{key}.text_placeholder"), 150),
            ),
        )
    )
    return _modal(language, key, ids.WRONG_VIEW, incident_id, blocks)


def _groups(groups: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> tuple[list[OptionGroup], int, int]:
    """(groups of the menu, entries in all, entries in the menu); an entry is listed once, where it comes first."""
    seen: set[str] = set()
    listed: list[OptionGroup] = []
    shown = 0
    for label, entries in groups:
        fresh = [(entry, title) for entry, title in dict(entries).items() if entry not in seen]
        seen.update(entry for entry, _ in fresh)
        options = [_option(entry, title) for entry, title in fresh if 0 < len(entry) <= 150][:_OPTIONS]
        if options and len(listed) < _OPTIONS:
            listed.append(OptionGroup(label=plain(label, 75), options=options))
            shown += len(options)
    return listed, len(seen), shown


def _option(entry: str, title: str) -> Option:
    """An entry; its id stands below a title that is too long for a menu, so that it can be looked up."""
    cut = bool(clip(title, 75)[1])
    return Option(text=plain(title or entry, 75), value=entry, description=plain(entry, 75) if cut else None)


@lru_cache(maxsize=8)
def _causes(library: Library, language: Language) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    found: dict[str, list[tuple[str, str]]] = {}
    for rule in library.rules:
        if rule.kind == "cause":
            found.setdefault(rule.layer, []).append((rule.id, title_of(library, rule.id, language)))
    return tuple((library.guide(layer).name.get(language), tuple(entries)) for layer, entries in found.items())


def known_entries(
    library: Library, language: Language, wrong: str | None = None
) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """(name of the layer, ((entry id, title), ...)) of all causes, for `wrong_modal`; without the one that is wrong."""
    return tuple(
        (layer, tuple((entry, title) for entry, title in entries if entry != wrong))
        for layer, entries in _causes(library, language)
    )


def language_modal(language: Language, private_metadata: str = "") -> Json:
    """The form for the language of answers; submits `language_view` with state language.language."""
    key = "slack.language_modal"
    options = language_options()
    field = InputBlock(
        block_id=ids.LANGUAGE_BLOCK,
        label=plain(say(language, f"{key}.label"), 150),
        element=RadioButtonsElement(
            action_id=ids.LANGUAGE_INPUT,
            options=options,
            initial_option=options[LANGUAGES.index(language)],
        ),
    )
    return _modal(language, key, ids.LANGUAGE_VIEW, private_metadata, [field])


def notice_modal(language: Language, key: str, **values: object) -> Json:
    """A form that only tells something: any dotted key of the catalogue. Values are shown literally."""
    literally = {name: told_plain(str(value), 300, language).text for name, value in values.items()}
    text = told_plain(say(language, key, **literally), 2_900, language)
    view = View(
        type="modal",
        title=plain("k3-triage", _TITLE),
        close=plain(say(language, "slack.text_modal.dismiss"), _TITLE),
        blocks=[SectionBlock(text=text)],
    )
    return view.to_dict()


def _modal(language: Language, key: str, callback_id: str, private_metadata: str, blocks: Sequence[Block]) -> Json:
    """Raises ValueError for private metadata longer than Slack's 3,000 characters."""
    if len(private_metadata) > 3_000:
        raise ValueError("private metadata of a view holds at most 3,000 characters")
    view = View(
        type="modal",
        callback_id=callback_id,
        title=plain(say(language, f"{key}.title"), _TITLE),
        submit=plain(say(language, f"{key}.submit"), _TITLE),
        close=plain(say(language, f"{key}.close"), _TITLE),
        private_metadata=private_metadata or None,
        blocks=blocks,
    )
    return view.to_dict()
