import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slackio.text import MessageText, evidence_of, plain, without_mention
from bot.workspace.composer import compose


def rich(*elements):
    return {"text": "ignored", "blocks": [{"type": "rich_text", "elements": list(elements)}]}


def section(*elements, kind="rich_text_section", **more):
    return {"type": kind, "elements": list(elements), **more}


def text(value, **more):
    return {"type": "text", "text": value, **more}


@pytest.mark.parametrize(
    ("element", "typed"),
    [
        ({"type": "link", "url": "http://core.py:12", "text": "core.py:12"}, "core.py:12"),
        ({"type": "link", "url": "https://a.example/x?a=1&b=2"}, "https://a.example/x?a=1&b=2"),
        ({"type": "link", "url": "mailto:a@b.example", "text": "a@b.example"}, "a@b.example"),
        ({"type": "emoji", "name": "100", "unicode": "1f4af"}, ":100:"),
        ({"type": "emoji", "name": "wave", "skin_tone": 3}, ":wave::skin-tone-3:"),
        ({"type": "user", "user_id": "U1"}, "<@U1>"),
        ({"type": "channel", "channel_id": "C1"}, "<#C1>"),
        ({"type": "usergroup", "usergroup_id": "S1"}, "<!subteam^S1>"),
        ({"type": "broadcast", "range": "here"}, "@here"),
        ({"type": "color", "value": "#aabbcc"}, "#aabbcc"),
        ({"type": "date", "timestamp": 1, "fallback": "today"}, "today"),
        (text("x < y && `z`", style={"code": True}), "x < y && `z`"),
        (text("ulimit -n", style={"code": True}), "`ulimit -n`"),
        ({"type": "new_kind"}, ""),
    ],
)
def test_rich_text_when_it_holds_what_slack_made_of_it_then_as_typed(element, typed):
    assert evidence_of(rich(section(text("a"), element, text("b")))).prose == f"a{typed}b"


def test_rich_text_when_code_and_words_then_kept_apart_and_in_order():
    message = rich(
        section(text("before\n")),
        section(
            text("line 1\nat "), {"type": "link", "url": "http://a.py", "text": "a.py"}, kind="rich_text_preformatted"
        ),
        section(text("between")),
        section(text("line 2"), kind="rich_text_preformatted"),
    )
    assert evidence_of(message) == MessageText(
        "line 1\nat a.py\nline 2", "before\nbetween", "before\nline 1\nat a.py\nbetween\nline 2"
    )


def test_rich_text_when_lines_became_lists_then_as_typed():
    bullets = section(section(text("one")), section(text("two")), kind="rich_text_list", style="bullet", indent=1)
    numbers = section(section(text("three")), kind="rich_text_list", style="ordered", offset=2)
    assert evidence_of(rich(bullets, numbers)).prose == "    - one\n    - two\n3. three"


@pytest.mark.parametrize(
    ("escaped", "typed"),
    [
        ("a &lt;unk&gt; &amp;amp; b", "a <unk> &amp; b"),
        ("<http://core.py:12|core.py:12>", "core.py:12"),
        ("<https://a.example/?a=1&amp;b=2>", "https://a.example/?a=1&b=2"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("<@U1|emma> and <@U2>", "@emma and <@U2>"),
        ("<#C1|general> <#C2>", "#general <#C2>"),
        ("<!here> <!here|here> <!channel>", "@here @here @channel"),
        ("<!here|here>", "@here"),
        ("<!subteam^S1|@leads> <!subteam^S1>", "@leads <!subteam^S1>"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("&lt;@U1&gt;", "<@U1>"),
        ("&amp;lt;", "&lt;"),
    ],
)
def test_text_when_there_are_no_blocks_then_escapes_are_undone(escaped, typed):
    assert plain(escaped) == typed
    assert evidence_of({"text": escaped}).prose == plain(escaped)


def test_text_when_it_holds_fences_then_they_are_the_log():
    message = {"text": "look\n```a &lt; b\nc```\nthanks ```cut off"}
    assert evidence_of(message) == MessageText("a < b\nc\ncut off", "look\nthanks ", "look\na < b\nc\nthanks \ncut off")


def test_message_when_forwarded_then_what_was_forwarded():
    inner = rich(section(text("Traceback"), kind="rich_text_preformatted"))
    message = {
        **rich(section(text("see"))),
        "attachments": [{"is_share": True, "message_blocks": [{"message": inner}]}],
    }
    assert evidence_of(message) == MessageText("Traceback", "see", "see\nTraceback")
    shared = {"text": "", "attachments": [{"is_share": True, "from_url": "https://x", "text": "```log```"}]}
    assert evidence_of(shared).log == "log"


def test_message_when_a_link_was_unfurled_then_the_preview_is_no_evidence():
    message = {"text": "see <https://x>", "attachments": [{"from_url": "https://x", "text": "CUDA error"}]}
    assert evidence_of(message).whole == "see https://x"


def test_message_when_of_another_bot_then_its_blocks_and_attachments():
    message = {
        "text": "",
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": "Alert"}},
            {"type": "section", "fields": [{"type": "mrkdwn", "text": "a &gt; b"}]},
            {"type": "context", "elements": [{"type": "image"}, {"type": "mrkdwn", "text": "```x```"}]},
        ],
        "attachments": [{"title": "T", "fields": [{"title": "pod", "value": "vllm-0"}]}, {"fallback": "F"}],
    }
    assert evidence_of(message) == MessageText(
        "x", "Alert\na > b\nT\npod\nvllm-0\nF", "Alert\na > b\nx\nT\npod\nvllm-0\nF"
    )


def test_mention_when_of_the_bot_then_gone_and_others_stay():
    assert without_mention("<@UB> why? <@UB|k3> <@UX>", "UB") == "why? <@UX>"
    assert without_mention(" <@UB> ", "") == " <@UB> "


@given(st.text(st.characters(codec="utf-8", exclude_characters="`\r"), min_size=1))
def test_code_when_composed_by_slack_then_it_comes_back_whole(log):
    shown, block = compose(f"```\n{log}\n```")
    typed = log.strip("\n") if log.strip() else ""
    assert evidence_of({"text": shown, "blocks": [block]}).log.strip("\n") == typed
    assert evidence_of({"text": shown}).log.strip("\n") == typed


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "text", "blocks", "elements", "attachments", "fields", "message_blocks", "message"]
                ),
                inner,
            )
        ),
    )
)
def test_message_when_of_any_shape_then_no_error(value):
    message = {"text": "x", "blocks": value, "attachments": value}
    assert isinstance(evidence_of(json.loads(json.dumps(message))), MessageText)
