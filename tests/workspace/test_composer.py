import pytest

from bot.workspace.composer import compose, split


def words(block):
    return [word for part in block["elements"] for word in part["elements"]]


@pytest.mark.parametrize(
    ("typed", "text", "elements"),
    [
        ("a <b> & c", "a &lt;b&gt; &amp; c", [{"type": "text", "text": "a <b> & c"}]),
        (
            "<@U0000000001> help",
            "<@U0000000001> help",
            [{"type": "user", "user_id": "U0000000001"}, {"type": "text", "text": " help"}],
        ),
        ("`x<y`", "`x&lt;y`", [{"type": "text", "text": "x<y", "style": {"code": True}}]),
        (
            "see https://x.y/?a=1&b=2",
            "see <https://x.y/?a=1&amp;b=2>",
            [{"type": "text", "text": "see "}, {"type": "link", "url": "https://x.y/?a=1&b=2"}],
        ),
        (
            "README.md",
            "<http://README.md|README.md>",
            [{"type": "link", "url": "http://README.md", "text": "README.md"}],
        ),
        (
            "[core.py:12]",
            "[<http://core.py:12|core.py:12>]",
            [
                {"type": "text", "text": "["},
                {"type": "link", "url": "http://core.py:12", "text": "core.py:12"},
                {"type": "text", "text": "]"},
            ],
        ),
        ("a/core.py:12", "a/core.py:12", [{"type": "text", "text": "a/core.py:12"}]),
        ("<!here> look", "<!here> look", [{"type": "broadcast", "range": "here"}, {"type": "text", "text": " look"}]),
    ],
)
def test_compose_when_typed_then_text_and_rich_text(typed, text, elements):
    composed, block = compose(typed)
    assert composed == text
    assert words(block) == elements


def test_compose_when_fenced_then_preformatted_with_its_newlines():
    text, block = compose("it fails\n```\nERROR <x>\n  at line 2\n```\nwhy?")
    assert text == "it fails\n```ERROR &lt;x&gt;\n  at line 2```\nwhy?"
    assert [part["type"] for part in block["elements"]] == [
        "rich_text_section",
        "rich_text_preformatted",
        "rich_text_section",
    ]
    assert words(block)[1]["text"] == "ERROR <x>\n  at line 2"


def test_split_when_short_then_one_message():
    assert split("x" * 4_000) == ["x" * 4_000]


def test_split_when_long_then_cut_at_line_ends_and_nothing_is_lost():
    lines = [f"line {number} {'x' * 60}" for number in range(500)]
    parts = split("\n".join(lines))
    assert all(len(part) <= 4_000 for part in parts)
    assert "\n".join(parts).split("\n") == lines


def test_split_when_a_fence_is_cut_then_closed_and_opened_again():
    parts = split("```\n" + "line\n" * 1_500 + "```")
    assert len(parts) == 2
    assert all(part.count("```") == 2 for part in parts)


def test_split_when_one_endless_line_then_cut_anywhere():
    parts = split("x" * 9_000)
    assert "".join(parts) == "x" * 9_000
    assert len(parts) == 3


def test_split_when_blank_then_nothing_is_sent():
    assert split(" \n ") == []
