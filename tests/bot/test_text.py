"""Reports on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from bot.rendering.literal import literal
from bot.rendering.markdown import markdown
from bot.rendering.text import TextRenderer
from bot.rendering.understood import understood
from kb.engine import diagnose
from kb.entry import LANGUAGES, Language
from kb.evidence import NotRead, Source
from kb.library import Library

HOSTILE = "\x1b[31mred\x1b[0m \u202egnp.exe \u200bzero\x07 <!channel> `tick` **bold**"


@pytest.fixture(scope="module")
def library() -> Library:
    return Library.open()


def shown(library: Library, text: str, language: Language, width: int = 100, *extra: NotRead) -> str:
    report = diagnose([Source("a.log", [text.encode()], paste=True), *extra], library, language)
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, markup=False, emoji=False)
    TextRenderer(console, library).print(report)
    return out.getvalue()


LOG = (
    "$ vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8\n"
    "(APIServer pid=1) INFO 11-29 11:59:00 [api_server.py:1] vLLM API server version 0.30.0\n"
    "(Worker_TP0 pid=9) ERROR 11-29 12:00:00 [x.py:1] RuntimeError: NIXL is not available\n"
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_when_printed_then_layer_cause_and_understanding_stand_first(library: Library, language: Language) -> None:
    lines = shown(library, LOG, language).split("\n")
    assert "(dependencies)" in lines[0]
    assert library.entry("nixl-not-installed").title.get(language) in lines[1]
    assert "vLLM 0.30.0, TP8" in lines[2]


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_when_narrow_then_prose_fits_the_width_in_cells(library: Library, language: Language) -> None:
    body = shown(library, LOG, language, 60)
    wide = [line for line in body.split("\n") if cell_len(line) > 60]
    # Commands, cited lines and sources are never broken, so that they can be copied.
    assert all(line.startswith(("     $ ", "      ", "  - ")) for line in wide), wide


def test_text_when_log_is_hostile_then_it_is_shown_literally(library: Library) -> None:
    body = shown(library, f"(Worker pid=9) ERROR 11-29 12:00:00 [x.py:1] RuntimeError: odd {HOSTILE}\n", "en")
    assert "\x1b" not in body
    assert "\u202e" not in body
    assert "\x07" not in body


def test_literal_when_text_is_plain_then_nothing_changes() -> None:
    plain = "RuntimeError: 가중치 权重 веса 100% [a.py:1] {'x': 1}"
    assert literal(plain) == plain


def test_literal_when_control_or_bidi_characters_then_visible_escapes() -> None:
    assert literal("a\x1b[0m\u202eb\tc") == "a\\x1b[0m\\u202eb    c"


def test_markdown_when_log_holds_backticks_then_the_fence_is_longer(library: Library) -> None:
    text = "(Worker pid=9) ERROR 11-29 12:00:00 [x.py:1] RuntimeError: odd ```\n"
    report = diagnose([Source("a.log", [text.encode()], paste=True)], library, "en")
    assert "\n````\n" in markdown(report, library)


def test_not_read_when_very_many_then_twenty_are_shown_and_the_rest_counted(library: Library) -> None:
    skipped = [NotRead(f"b.zip/{number}", "binary") for number in range(50)]
    body = shown(library, LOG, "en", 100, *skipped)
    assert body.count("Not read: ") == 20
    assert "… and 30 more" in body


def test_understood_when_a_log_tells_nothing_of_the_set_up_then_said(library: Library) -> None:
    log = b"RuntimeError: NIXL is not available, vllm\n"
    report = diagnose([Source("a", [log], paste=True)], library, "en").model_copy(update={"facts": {}, "stage": None})
    assert understood(report) == "no version, GPU or parallel settings"


def test_understood_when_there_is_nothing_to_tell_then_the_line_is_left_out(library: Library) -> None:
    report = diagnose([Source("a", [b"hello there\n"], paste=True)], library, "en")
    assert understood(report) == ""
    assert "Read from the log" not in shown(library, "hello there\n", "en")
