"""What a person can do, and what they read."""

import pytest

from bot.workspace import PersonError, SlackError

CHECKS = [
    {"type": "header", "text": {"type": "plain_text", "text": "Layer: config"}},
    {
        "type": "section",
        "text": {
            "type": "mrkdwn",
            "text": "*Cause* for <@U0000000002> in <#C0000000002>: <https://x.y|docs> &lt;b&gt;",
        },
        "fields": [{"type": "mrkdwn", "text": "vLLM 0.30"}],
    },
    {
        "type": "actions",
        "elements": [
            {"type": "button", "text": {"type": "plain_text", "text": "Solved"}},
            {
                "type": "checkboxes",
                "options": [{"text": {"type": "mrkdwn", "text": "driver"}, "value": "d"}],
                "initial_options": [{"text": {"type": "mrkdwn", "text": "driver"}, "value": "d"}],
            },
        ],
    },
    {"type": "context", "elements": [{"type": "mrkdwn", "text": "certain"}]},
    {"type": "markdown", "text": "**restart**"},
    {"type": "table", "rows": [[{"type": "raw_text", "text": "node"}, {"type": "raw_text", "text": "ok"}]]},
]


def test_message_when_made_of_blocks_then_read_from_top_to_bottom(client, emma):
    client.chat_postMessage(channel="k3-incidents", text="fallback", blocks=CHECKS)
    shown = emma.read("k3-incidents")[0]
    assert shown.text.splitlines() == [
        "Layer: config",
        "*Cause* for @Emma Hart in #k3-incidents: docs <b>",
        "vLLM 0.30",
        "driver",
        "certain",
        "**restart**",
        "node | ok",
    ]
    assert shown.buttons == ("Solved",)
    assert [(tick.text, tick.value, tick.ticked) for tick in shown.ticks] == [("driver", "d", True)]


@pytest.mark.parametrize(
    ("text", "pings"),
    [
        ("<!channel> see", ("<!channel>",)),
        ("`<@U0000000002>`", ("<@U0000000002>",)),
        ("<!subteam^S0000000001>", ("<!subteam^S0000000001>",)),
        ("&lt;!channel&gt;", ()),
        ("<https://x.y>", ()),
    ],
)
def test_text_when_it_names_somebody_then_it_pings_even_in_code(client, emma, text, pings):
    client.chat_postMessage(channel="k3-incidents", text=text)
    block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    client.chat_postMessage(channel="k3-incidents", text="x", blocks=[block])
    assert [one.pings for one in emma.read("k3-incidents")] == [pings, pings]


def test_plain_text_when_it_looks_like_a_mention_then_it_pings_nobody(client, emma):
    block = {"type": "section", "text": {"type": "plain_text", "text": "<!channel>"}}
    client.chat_postMessage(channel="k3-incidents", text="x", blocks=[block])
    assert emma.read("k3-incidents")[0].pings == ()


def test_typed_text_when_read_then_as_it_was_typed(workspace, emma):
    emma.post("k3-incidents", f"<@{workspace.bot.user_id}> a < b & c in `x` and core.py\n```\n<pre>\n```")
    assert emma.read("k3-incidents")[0].text == "@K3 Triage a < b & c in x and core.py\n<pre>"


def test_thread_when_read_then_root_and_replies(emma, workspace):
    root = emma.post("k3-incidents", "root")
    reply = workspace.person("wei").reply(root, "reply")
    assert [(one.author, one.text) for one in emma.read_thread(reply)] == [("Emma Hart", "root"), ("王伟", "reply")]


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda person, theirs: person.post("k3-leads", "x"), SlackError),
        (lambda person, theirs: person.post("nowhere", "x"), SlackError),
        (lambda person, theirs: person.post("general", "  "), PersonError),
        (lambda person, theirs: person.edit(theirs, "x"), PersonError),
        (lambda person, theirs: person.delete(theirs), PersonError),
        (lambda person, theirs: person.submit(), PersonError),
        (lambda person, theirs: person.tick(theirs, "x"), PersonError),
    ],
)
def test_act_when_not_possible_then_refused(emma, workspace, act, error):
    theirs = emma.post("k3-incidents", "x")
    with pytest.raises(error):
        act(workspace.person("wei"), theirs)


def test_post_when_the_channel_is_archived_then_refused(emma, workspace):
    workspace.archive("general")
    with pytest.raises(SlackError, match="is_archived"):
        emma.post("general", "x")


def test_snippet_when_uploaded_then_its_type_is_kept(emma, workspace):
    message = emma.upload("k3-incidents", {"crash": b"x"}, snippet_type="text")
    file = workspace.files_of(message)[0]
    assert (file.mode, file.filetype) == ("snippet", "text")


def test_wait_for_reply_when_none_comes_then_timeout(emma):
    message = emma.post("k3-incidents", "x")
    with pytest.raises(TimeoutError):
        emma.wait_for_reply(message, seconds=0.05)


def test_delivery_when_nobody_serves_the_workspace_then_wait_says_so(emma):
    delivery = emma.run("k3-incidents", "/k3", wait=False)
    with pytest.raises(TimeoutError, match="slash_commands is still open"):
        delivery.wait(0.01)
