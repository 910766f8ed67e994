from __future__ import annotations

import pytest

from bot.rendering.blocks_text import clip, cost, notification
from bot.rendering.literal import literal, literal_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n한국어 русский 中文", "plain    text\n한국어 русский 中文"),
        ("\x1b[31mred\x00\r", "\\x1b[31mred\\x00\\x0d"),
        ("\u202egnp.exe\u2066", "\\u202egnp.exe\\u2066"),
        ("a\u200bb\xadc\ufeff", "a\\u200bb\\xadc\\ufeff"),
        ("\ud800", "\\ud800"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("\u3164", "\\u3164"),
        ("⚠️ é", "⚠️ é"),
    ],
)
def test_what_nobody_sees_becomes_visible(text: str, shown: str) -> None:
    assert literal(text) == shown


def test_a_text_on_one_line_has_no_line_breaks() -> None:
    assert literal_line("one\ntwo") == "one two"


def test_cost_counts_what_escaping_and_utf16_add() -> None:
    assert cost("a<b>&") == 2 + 4 + 4 + 5
    assert cost("😀") == 2


def test_clip_tells_how_many_characters_of_the_text_are_left_out() -> None:
    assert clip("abcdef", 6) == ("abcdef", 0)
    assert clip("abcdef", 4) == ("abcd", 2)
    assert clip("\x00\x00\x00", 8) == ("\\x00\\x00", 1)
    assert clip("&&&", 10) == ("&&", 1)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!channel> & <@U1>", "&lt;!channel&gt; &amp; &lt;@U1&gt;"),
        ("@here @Everyone a@b.c", "@\u2060here @\u2060Everyone a@b.c"),
        (":tada: 12:30:15", ":\u2060tada: 12:\u206030:15"),
        ("https://evil.example", "https:\u2060//evil.example"),
        ("`code` max_model_len --flag", "ˋcodeˋ max_model_len --flag"),
        ("*bold* 2*3", "∗bold∗ 2*3"),
        ("x" * 400, "x" * 300 + "…"),
        ("", "…"),
    ],
)
def test_nothing_in_a_notification_comes_alive(text: str, shown: str) -> None:
    assert notification(text) == shown
