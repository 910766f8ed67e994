"""What the app is told of, without an app: deliveries wait in the workspace."""

import pytest

from bot.workspace import ManualClock, Workspace


def events(workspace, kind=None):
    return [one.event for one in workspace.deliveries(kind) if one.kind == "events_api"]


def test_mention_when_posted_then_app_mention_and_message(workspace, emma):
    message = emma.post("k3-incidents", f"<@{workspace.bot.user_id}> help")
    first, second = events(workspace)
    assert (first["type"], second["type"]) == ("message", "app_mention")
    assert first["ts"] == second["ts"] == message.ts
    assert first["channel_type"] == "channel"
    assert second["text"] == f"<@{workspace.bot.user_id}> help"
    assert second["blocks"][0]["elements"][0]["elements"][0] == {"type": "user", "user_id": workspace.bot.user_id}


def test_envelope_when_built_then_as_slacks(workspace, emma):
    emma.post("k3-incidents", "x")
    payload = workspace.deliveries()[0].payload
    assert payload["type"] == "event_callback"
    assert payload["event_id"] == "Ev000000001"
    assert payload["event_time"] == 1_790_000_000
    assert (payload["team_id"], payload["api_app_id"]) == (workspace.team_id, workspace.bot.app_id)
    assert payload["authorizations"] == [
        {
            "enterprise_id": None,
            "team_id": workspace.team_id,
            "user_id": workspace.bot.user_id,
            "is_bot": True,
            "is_enterprise_install": False,
        }
    ]


def test_direct_message_when_it_names_the_bot_then_only_message_im(workspace, emma):
    emma.post(emma.dm, f"<@{workspace.bot.user_id}> help")
    assert [(one["type"], one["channel_type"]) for one in events(workspace)] == [("message", "im")]


def test_private_channel_when_posted_in_then_channel_type_group(workspace, emma):
    emma.post("k3-leads", "x")
    assert events(workspace)[0]["channel_type"] == "group"


@pytest.mark.parametrize("channel", ["random"])
def test_channel_when_the_bot_is_not_there_then_nothing(workspace, emma, channel):
    emma.post(channel, f"<@{workspace.bot.user_id}> help")
    assert events(workspace) == []


def test_channel_when_the_bot_is_removed_then_nothing_more_and_after_inviting_again(workspace, emma):
    workspace.remove_bot("k3-incidents")
    emma.post("k3-incidents", "unheard")
    assert events(workspace) == []
    workspace.invite_bot("k3-incidents")
    emma.post("k3-incidents", "heard")
    kinds = [(one["type"], one.get("subtype")) for one in events(workspace)]
    assert kinds == [("message", "channel_join"), ("member_joined_channel", None), ("message", None)]


def test_event_when_not_subscribed_or_without_its_scope_then_not_sent(emma):
    quiet = Workspace(clock=ManualClock(), events=["message.channels"], scopes=["app_mentions:read"])
    quiet.person("emma").post("k3-incidents", f"<@{quiet.bot.user_id}>")
    assert quiet.deliveries() == []


def test_upload_when_posted_then_file_share_with_the_files_and_file_shared(workspace, emma):
    emma.upload("k3-incidents", {"a.log": b"one", "b.tar.gz": b"two"}, f"<@{workspace.bot.user_id}> see")
    message, mention, *shared = events(workspace)
    assert message["subtype"] == "file_share"
    assert [(one["name"], one["size"]) for one in message["files"]] == [("a.log", 3), ("b.tar.gz", 3)]
    assert mention["type"] == "app_mention"
    assert len(mention["files"]) == 2
    assert [one["type"] for one in shared] == ["file_shared"] * 2


def test_edit_when_made_then_message_changed_with_both(workspace, emma):
    message = emma.post("k3-incidents", "old")
    emma.edit(message, "new")
    event = events(workspace)[1]
    assert event["subtype"] == "message_changed"
    assert (event["previous_message"]["text"], event["message"]["text"]) == ("old", "new")
    assert event["message"]["edited"]["user"] == emma.id
    assert event["hidden"] is True


def test_edit_when_it_newly_names_the_bot_then_app_mention(workspace, emma):
    message = emma.post("k3-incidents", "help")
    emma.edit(message, f"<@{workspace.bot.user_id}> help")
    emma.edit(message, f"<@{workspace.bot.user_id}> please help")
    assert len(events(workspace, "app_mention")) == 1


def test_delete_when_made_then_message_deleted(workspace, emma):
    message = emma.post("k3-incidents", "x")
    emma.delete(message)
    event = events(workspace)[1]
    assert (event["subtype"], event["deleted_ts"]) == ("message_deleted", message.ts)
    assert event["previous_message"]["text"] == "x"


def test_delete_when_the_root_has_replies_then_message_changed_to_a_tombstone(workspace, emma):
    root = emma.post("k3-incidents", "x")
    emma.reply(root, "y")
    emma.delete(root)
    event = events(workspace)[-1]
    assert (event["subtype"], event["message"]["subtype"]) == ("message_changed", "tombstone")


def test_reply_when_broadcast_then_thread_broadcast_with_its_root(workspace, emma):
    root = emma.post("k3-incidents", "root")
    emma.reply(root, "x", broadcast=True)
    event = events(workspace)[1]
    assert (event["subtype"], event["root"]["text"], event["thread_ts"]) == ("thread_broadcast", "root", root.ts)


def test_integration_when_it_posts_then_bot_message(workspace):
    workspace.integration("Alertmanager").post("k3-incidents", "node3 is down")
    event = events(workspace)[0]
    assert (event["subtype"], event["username"]) == ("bot_message", "Alertmanager")
    assert "user" not in event


def test_own_message_when_posted_by_the_app_then_its_event_carries_bot_id(workspace, client):
    client.chat_postMessage(channel="k3-incidents", text="x")
    event = events(workspace)[0]
    assert (event["bot_id"], event["user"]) == (workspace.bot.bot_id, workspace.bot.user_id)
    assert "subtype" not in event


def test_reaction_when_given_then_reaction_added(workspace, emma):
    message = emma.post("k3-incidents", "x")
    emma.react(message, "eyes")
    event = events(workspace, "reaction_added")[0]
    assert (event["reaction"], event["item"]["ts"]) == ("eyes", message.ts)


def test_long_paste_when_posted_then_several_messages_each_with_its_event(workspace, emma):
    posted = emma.paste("k3-incidents", "line of a log\n" * 1_000)
    assert len(posted) == 4
    assert [one["ts"] for one in events(workspace)] == [one.ts for one in posted]
    assert all(len(one["text"]) <= 4_000 for one in events(workspace))


def test_uninstall_when_done_then_both_events_and_nothing_after(workspace, emma):
    workspace.uninstall()
    emma.post("k3-incidents", "x")
    assert sorted(one["type"] for one in events(workspace)) == ["app_uninstalled", "tokens_revoked"]


def test_ids_when_made_anew_then_the_same_in_every_run():
    def story():
        workspace = Workspace(clock=ManualClock())
        emma = workspace.person("emma")
        emma.upload("k3-incidents", {"a": b"x"}, f"<@{workspace.bot.user_id}>")
        return [one.payload for one in workspace.deliveries()]

    assert story() == story()
