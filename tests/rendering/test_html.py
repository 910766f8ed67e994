"""The report as a file."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from bot.rendering.blocks import file_report
from bot.rendering.html import html
from kb.entry import LANGUAGES, Language
from kb.library import Library
from tests.rendering.reports import Recipe

ATTACK = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\u202e&amp;"


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]


def recipe(language: str, outcome: str = "matched", **changes: object) -> Recipe:
    values: dict[str, object] = {
        "palette": ((ATTACK, 1),), "sizes": (3,) * 9, "others": 2, "full": True, "numbered": True,
    }  # fmt: skip
    return Recipe(outcome=outcome, language=language, **{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("outcome", ["matched", "unknown", "unrelated"])
def test_text_of_the_log_never_becomes_markup(library: Library, language: Language, outcome: str) -> None:
    page = html(recipe(language, outcome).report(), library)
    tags = _Tags()
    tags.feed(page)
    assert not tags.tags & {"script", "img", "iframe", "link", "form"}
    assert all(re.match(r"https?://", link) for link in tags.links)
    assert "default-src 'none'" in page
    assert "\u202e" not in page


def test_a_line_that_is_too_long_for_the_report_is_announced(library: Library) -> None:
    page = html(recipe("en", palette=(("x", 30_000),), full=False, others=0).report(), library)
    assert re.search(r"… 10,?00\d more characters", page)


@pytest.mark.parametrize("kind", ["md", "html"])
def test_a_report_file_has_a_harmless_name_and_a_title(library: Library, kind: str) -> None:
    report = recipe("ko").report()
    file = file_report(report, library, kind)  # type: ignore[arg-type]
    assert file.name == f"k3-triage-nccl-dmabuf-errno-524.ko.{kind}"
    assert file.title.startswith("진단: §1§")
    odd = report.model_copy(update={"diagnoses": [report.diagnoses[0].model_copy(update={"entry": "../<!>"})]})
    assert re.fullmatch(r"[a-z0-9.-]+", file_report(odd, library, kind).name)  # type: ignore[arg-type]
