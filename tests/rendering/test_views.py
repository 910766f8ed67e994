"""Forms and the Home tab: what Slack takes, in every language."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.rendering.home import HomeIncident, home
from bot.rendering.modals import known_entries, language_modal, notice_modal, text_modal, wrong_modal
from bot.workspace.validation import check_view
from kb.entry import LANGUAGES, Language
from kb.library import Library
from tests.rendering.reports import HOSTILE
from tests.rendering.slack_limits import walk

every_language = pytest.mark.parametrize("language", LANGUAGES)


@every_language
def test_the_forms_are_taken_by_slack(language: Language, library: Library) -> None:
    known = known_entries(library, language)
    for view in (
        text_modal(language, json.dumps({"via": "form"})),
        wrong_modal(language, "abc", [("entry", "A title")]),
        wrong_modal(language, "abc", []),
        wrong_modal(language, "abc", [(f"e{n}", f"{n} {HOSTILE[n % len(HOSTILE)]}") for n in range(500)], known),
        language_modal(language, "abc"),
        notice_modal(language, "slack.failure.internal", incident="<!channel>" * 500),
    ):
        check_view(view, "modal")
        for name in ("title", "submit", "close"):
            assert "…" not in view.get(name, {}).get("text", "")


@every_language
def test_the_home_tab_is_taken_by_slack(language: Language) -> None:
    incidents = [
        HomeIncident(text * 300, status, "2026-11-29", url)
        for text in HOSTILE
        for status, url in (
            ("open", "https://x.slack.com/archives/C1/p1"),
            ("wrong", "javascript:1"),
            ("resolved", None),
        )
    ]
    view = home(language, incidents)
    check_view(view, "home")
    check_view(home(language), "home")
    assert str(len(incidents) - 10) in json.dumps(view)
    assert not [one for one in walk(view) if one.get("type") == "mrkdwn"]


def test_the_form_for_the_real_cause_offers_every_known_cause_once(library: Library) -> None:
    known = known_entries(library, "en")
    first = known[0][1][0]
    view = wrong_modal("en", "abc", [first], known)
    values = [option["value"] for group in _groups(view) for option in group["options"]]
    assert values[0] == first[0]
    assert len(values) == len(set(values)) == sum(len(entries) for _, entries in known)
    assert view["private_metadata"] == "abc"
    assert view["callback_id"] == "wrong_view"


def test_the_form_for_the_real_cause_says_what_its_list_leaves_out() -> None:
    view = wrong_modal("en", "abc", [(f"e{n}", "title") for n in range(130)])
    assert sum(len(group["options"]) for group in _groups(view)) == 100
    assert view["blocks"][1]["hint"]["text"].startswith("The list holds 100 of 130")


def test_private_metadata_too_long_for_slack_is_refused() -> None:
    with pytest.raises(ValueError, match="3,000"):
        text_modal("en", "x" * 3_001)


def _groups(view: dict[str, Any]) -> list[dict[str, Any]]:
    return [group for one in walk(view) for group in one.get("option_groups", [])]
