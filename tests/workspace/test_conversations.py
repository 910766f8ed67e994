import pytest

from tests.workspace.conftest import error_of


@pytest.fixture
def channel(workspace):
    return workspace.channel("k3-incidents").id


def test_replies_when_read_then_root_first_with_its_counts(client, emma, workspace):
    root = emma.post("k3-incidents", "root")
    workspace.person("wei").reply(root, "one")
    last = emma.reply(root, "two")
    messages = client.conversations_replies(channel=root.channel, ts=root.ts)["messages"]
    assert [one["text"] for one in messages] == ["root", "one", "two"]
    assert (messages[0]["reply_count"], messages[0]["latest_reply"]) == (2, last.ts)
    assert messages[1]["parent_user_id"] == emma.id


def test_replies_when_the_thread_is_unknown_then_thread_not_found(client, channel):
    assert error_of(lambda: client.conversations_replies(channel=channel, ts="1.1")) == "thread_not_found"


def test_replies_when_paged_then_the_clients_iterator_gets_all(client, emma):
    root = emma.post("k3-incidents", "root")
    for number in range(6):
        emma.reply(root, str(number))
    pages = client.conversations_replies(channel=root.channel, ts=root.ts, limit=3)
    assert [(len(page["messages"]), page["has_more"]) for page in pages] == [(3, True), (3, True), (1, False)]


def test_history_when_read_then_newest_first_without_replies_but_with_broadcasts(client, emma, channel):
    root = emma.post("k3-incidents", "root")
    emma.reply(root, "hidden")
    emma.reply(root, "shown", broadcast=True)
    messages = client.conversations_history(channel=channel)["messages"]
    assert [one["text"] for one in messages] == ["shown", "root"]
    assert messages[0]["subtype"] == "thread_broadcast"


def test_history_when_bounded_then_oldest_and_latest_are_left_out_unless_inclusive(client, emma, channel, workspace):
    posted = []
    for number in range(3):
        posted.append(emma.post("k3-incidents", str(number)).ts)
        workspace.clock.advance(1)
    bounds = {"channel": channel, "oldest": posted[0], "latest": posted[2]}
    assert [one["text"] for one in client.conversations_history(**bounds)["messages"]] == ["1"]
    assert len(client.conversations_history(**bounds, inclusive=True)["messages"]) == 3


def test_history_when_the_bot_is_not_there_then_not_in_channel_or_not_even_found(client, workspace):
    public = workspace.channel("random").id
    private = workspace.channel("k3-leads").id
    workspace.remove_bot("k3-leads")
    assert error_of(lambda: client.conversations_history(channel=public)) == "not_in_channel"
    assert error_of(lambda: client.conversations_history(channel=private)) == "channel_not_found"
    assert error_of(lambda: client.conversations_info(channel=private)) == "channel_not_found"


def test_limit_when_out_of_range_then_invalid_limit(client, channel):
    assert error_of(lambda: client.conversations_history(channel=channel, limit=1_000)) == "invalid_limit"
    assert error_of(lambda: client.conversations_history(channel=channel, cursor="x")) == "invalid_cursor"


def test_channel_and_user_when_given_by_name_then_only_posting_takes_it(client):
    assert client.chat_postMessage(channel="#k3-incidents", text="x")["ok"]
    assert error_of(lambda: client.conversations_history(channel="k3-incidents")) == "channel_not_found"
    assert error_of(lambda: client.users_info(user="emma")) == "user_not_found"
    assert error_of(lambda: client.usergroups_users_list(usergroup="k3-leads")) == "no_such_subteam"


def test_info_when_asked_then_membership_and_archived(client, workspace, channel):
    info = client.conversations_info(channel=channel)["channel"]
    assert (info["name"], info["is_member"], info["is_archived"], info["is_private"]) == (
        "k3-incidents",
        True,
        False,
        False,
    )
    workspace.archive("k3-incidents")
    workspace.remove_bot("k3-incidents")
    info = client.conversations_info(channel=channel)["channel"]
    assert (info["is_member"], info["is_archived"]) == (False, True)


def test_list_when_private_ones_are_wanted_then_only_those_the_bot_is_in(client, workspace):
    def names(**wanted):
        return [one["name"] for one in client.conversations_list(**wanted)["channels"]]

    assert names() == ["general", "k3-incidents", "random"]
    assert names(types="private_channel") == ["k3-leads"]
    workspace.remove_bot("k3-leads")
    assert names(types="public_channel,private_channel", exclude_archived=True) == ["general", "k3-incidents", "random"]


def test_members_when_listed_then_the_bot_too(client, workspace, channel):
    members = client.conversations_members(channel=channel)["members"]
    assert workspace.bot.user_id in members
    assert len(members) == 5


def test_open_when_called_twice_then_the_same_direct_message(client, emma):
    first = client.conversations_open(users=[emma.id])["channel"]["id"]
    assert first == client.conversations_open(users=emma.id, return_im=True)["channel"]["id"] == emma.dm


def test_join_when_public_then_a_member_and_when_private_not(client, workspace):
    joined = client.conversations_join(channel=workspace.channel("random").id)["channel"]
    assert joined["is_member"] is True
    assert workspace.messages("random")[-1].subtype == "channel_join"
    private = workspace.channel("k3-leads").id
    assert error_of(lambda: client.conversations_join(channel=private)) == "method_not_supported_for_channel_type"


def test_deleted_root_when_it_has_replies_then_a_tombstone_stays(client, emma):
    root = emma.post("k3-incidents", "root")
    emma.reply(root, "reply")
    emma.delete(root)
    messages = client.conversations_replies(channel=root.channel, ts=root.ts)["messages"]
    assert [(one.get("subtype"), one["text"]) for one in messages] == [
        ("tombstone", "This message was deleted."),
        (None, "reply"),
    ]
