import pytest
from slack_sdk.errors import SlackApiError

from tests.workspace.conftest import error_of

SECTION = [{"type": "section", "text": {"type": "mrkdwn", "text": "*found*"}}]
NOTE = {"event_type": "k3_report", "event_payload": {"incident": "42"}}


def test_post_message_when_accepted_then_everyone_reads_it(client, emma):
    answer = client.chat_postMessage(channel="k3-incidents", text="hello")
    assert answer["ts"] == "1790000000.000000"
    assert answer["message"]["bot_id"] == "B0000000001"
    assert [(one.author, one.text) for one in emma.read("k3-incidents")] == [("K3 Triage", "hello")]


def test_post_message_when_sent_then_returned_blocks_are_complete(client):
    block = client.chat_postMessage(channel="k3-incidents", text="x", blocks=SECTION)["message"]["blocks"][0]
    assert block["block_id"] == "b0001"
    assert block["text"] == {"type": "mrkdwn", "text": "*found*", "verbatim": False}


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("a < b && c", "a &lt; b &amp;&amp; c"),
        ("&lt;tag&gt;", "&lt;tag&gt;"),
        ("<@U0000000002> see <https://x.y|it>", "<@U0000000002> see <https://x.y|it>"),
        ("<module>", "&lt;module&gt;"),
        ("<!date^1^{date_short_pretty} {time}|long ago>", "<!date^1^{date_short_pretty} {time}|long ago>"),
        ("<!date^1^{date}^https://x.y|long ago>", "<!date^1^{date}^https://x.y|long ago>"),
        ("<!date^soon^{date} {time}|x>", "&lt;!date^soon^{date} {time}|x&gt;"),
        ("<!date^1^{date} {time}>", "&lt;!date^1^{date} {time}&gt;"),
    ],
)
def test_post_message_when_text_holds_angle_brackets_then_only_markup_stays(client, given, stored):
    assert client.chat_postMessage(channel="k3-incidents", text=given)["message"]["text"] == stored


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"channel": "nowhere", "text": "x"}, "channel_not_found"),
        ({"channel": "random", "text": "x"}, "not_in_channel"),
        ({"channel": "k3-incidents", "text": " "}, "no_text"),
        ({"channel": "k3-incidents", "text": "x" * 40_001}, "msg_too_long"),
        ({"channel": "k3-incidents", "text": "x", "thread_ts": "yesterday"}, "invalid_thread_ts"),
        ({"channel": "k3-incidents", "text": "x", "thread_ts": "1790000000.999999"}, "thread_not_found"),
        ({"channel": "k3-incidents", "text": "x", "metadata": {"event_type": "t"}}, "invalid_metadata_format"),
        (
            {"channel": "k3-incidents", "text": "x", "metadata": {**NOTE, "event_payload": {"a": "x" * 4_000}}},
            "metadata_too_large",
        ),
        ({"channel": "k3-incidents", "text": "x", "markdown_text": "y"}, "markdown_text_conflict"),
    ],
)
def test_post_message_when_not_allowed_then_slacks_error(client, arguments, error):
    assert error_of(lambda: client.api_call("chat.postMessage", json=arguments)) == error


def test_post_message_when_over_4000_characters_then_it_becomes_several_messages(client, emma):
    client.chat_postMessage(channel="k3-incidents", text="line\n" * 1_000)
    posted = emma.read("k3-incidents")
    assert len(posted) == 2
    assert sum(one.text.count("line") for one in posted) == 1_000


def test_post_message_when_blocks_are_too_long_together_then_msg_blocks_too_long(client):
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2_900}}] * 5
    assert error_of(lambda: client.chat_postMessage(channel="k3-incidents", text="x", blocks=blocks)) == (
        "msg_blocks_too_long"
    )


def test_post_message_when_archived_then_is_archived(client, workspace):
    workspace.archive("k3-incidents")
    assert error_of(lambda: client.chat_postMessage(channel="k3-incidents", text="x")) == "is_archived"


def test_post_message_when_to_a_user_then_it_lands_in_the_direct_message(client, emma):
    answer = client.chat_postMessage(channel=emma.id, text="psst")
    assert answer["channel"] == emma.dm
    assert emma.read(emma.dm)[0].text == "psst"


def test_post_message_when_replying_to_a_reply_then_refused(client, emma):
    root = emma.post("k3-incidents", "root")
    reply = emma.reply(root, "reply")
    assert error_of(lambda: client.chat_postMessage(channel=root.channel, text="x", thread_ts=reply.ts)) == (
        "cannot_reply_to_message"
    )


def test_metadata_when_asked_for_in_replies_then_returned_else_not(client, emma):
    root = emma.post("k3-incidents", "root")
    client.chat_postMessage(channel=root.channel, text="answer", thread_ts=root.ts, metadata=NOTE)
    with_all = client.conversations_replies(channel=root.channel, ts=root.ts, include_all_metadata=True)
    assert with_all["messages"][1]["metadata"] == NOTE
    assert "metadata" not in client.conversations_replies(channel=root.channel, ts=root.ts)["messages"][1]


def test_update_when_own_message_then_changed_and_metadata_stays(client, emma):
    posted = client.chat_postMessage(channel="k3-incidents", text="old", blocks=SECTION, metadata=NOTE)
    answer = client.chat_update(channel=posted["channel"], ts=posted["ts"], text="new")
    assert answer["text"] == "new"
    assert "blocks" not in answer["message"]
    assert answer["message"]["metadata"] == NOTE
    assert emma.read("k3-incidents")[0].edited


def test_update_when_over_4000_characters_then_msg_too_long(client):
    posted = client.chat_postMessage(channel="k3-incidents", text="old")
    assert error_of(lambda: client.chat_update(channel=posted["channel"], ts=posted["ts"], text="x" * 4_001)) == (
        "msg_too_long"
    )


def test_update_and_delete_when_of_somebody_else_then_refused(client, emma):
    message = emma.post("k3-incidents", "mine")
    place = {"channel": message.channel, "ts": message.ts}
    assert error_of(lambda: client.chat_update(**place, text="x")) == "cant_update_message"
    assert error_of(lambda: client.chat_delete(**place)) == "cant_delete_message"
    assert error_of(lambda: client.chat_delete(channel=message.channel, ts="1.1")) == "message_not_found"


def test_delete_when_own_message_then_gone(client, emma):
    posted = client.chat_postMessage(channel="k3-incidents", text="x")
    client.chat_delete(channel=posted["channel"], ts=posted["ts"])
    assert emma.read("k3-incidents") == []


def test_ephemeral_when_posted_then_only_that_person_reads_it(client, workspace, emma):
    client.chat_postEphemeral(channel="k3-incidents", user=emma.id, text="for you")
    assert [(one.text, one.ephemeral) for one in emma.read("k3-incidents")] == [("for you", True)]
    assert workspace.person("olga").read("k3-incidents") == []
    assert client.conversations_history(channel=workspace.channel("k3-incidents").id)["messages"] == []


def test_ephemeral_when_the_person_is_not_there_then_user_not_in_channel(client, workspace):
    olga = workspace.person("olga")
    assert error_of(lambda: client.chat_postEphemeral(channel="k3-leads", user=olga.id, text="x")) == (
        "user_not_in_channel"
    )


def test_permalink_when_of_a_reply_then_names_the_thread(client, server, emma):
    root = emma.post("k3-incidents", "root")
    reply = emma.reply(root, "reply")
    answer = client.chat_getPermalink(channel=root.channel, message_ts=reply.ts)
    assert answer["permalink"] == (
        f"{server.origin}/archives/{root.channel}/p{reply.ts.replace('.', '')}?thread_ts={root.ts}&cid={root.channel}"
    )


def test_refusal_of_blocks_when_read_then_says_where(client):
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_001}}]
    with pytest.raises(SlackApiError) as refusal:
        client.chat_postMessage(channel="k3-incidents", text="x", blocks=blocks)
    assert refusal.value.response["error"] == "invalid_blocks"
    assert refusal.value.response["errors"] == ["must be less than 3001 characters [json-pointer:/blocks/0/text/text]"]
