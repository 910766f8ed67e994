import pytest

from tests.workspace.conftest import error_of


@pytest.mark.parametrize(
    ("name", "locale"), [("emma", "en-US"), ("minjun", "ko-KR"), ("wei", "zh-CN"), ("olga", "ru-RU")]
)
def test_user_info_when_the_locale_is_included_then_it_is_there(client, workspace, name, locale):
    user = client.users_info(user=workspace.person(name).id, include_locale=True)["user"]
    assert (user["name"], user["locale"], user["is_bot"]) == (name, locale, False)


def test_user_info_when_the_locale_is_not_asked_for_then_it_is_not(client, emma):
    assert "locale" not in client.users_info(user=emma.id)["user"]


def test_user_info_when_unknown_then_user_not_found(client):
    assert error_of(lambda: client.users_info(user="U9")) == "user_not_found"


def test_user_info_when_the_language_was_changed_then_the_new_one(client, emma, workspace):
    workspace.directory.set_locale(emma.id, "ko-KR")
    assert client.users_info(user=emma.id, include_locale=True)["user"]["locale"] == "ko-KR"


def test_users_list_when_read_then_all_and_the_bot(client):
    members = client.users_list(limit=3)["members"]
    assert [one["name"] for one in members] == ["k3-triage", "emma", "minjun"]
    assert members[0]["is_bot"]


def test_user_group_when_asked_then_its_members(client, emma):
    group = client.usergroups_list(include_users=True)["usergroups"][0]
    assert (group["handle"], group["users"]) == ("k3-leads", [emma.id])
    assert client.usergroups_users_list(usergroup=group["id"])["users"] == [emma.id]
    assert error_of(lambda: client.usergroups_users_list(usergroup="S9")) == "no_such_subteam"


def test_auth_test_when_called_then_who_the_bot_is(client, workspace):
    answer = client.auth_test()
    assert (answer["user_id"], answer["bot_id"], answer["team_id"]) == (
        workspace.bot.user_id,
        workspace.bot.bot_id,
        workspace.team_id,
    )


def test_team_and_bot_when_asked_then_their_names(client, workspace):
    assert client.team_info()["team"]["domain"] == "k3-local"
    bot = client.bots_info(bot=workspace.bot.bot_id)["bot"]
    assert (bot["name"], bot["app_id"]) == ("K3 Triage", workspace.bot.app_id)
    assert error_of(lambda: client.bots_info(bot="B9")) == "bot_not_found"


def test_reactions_when_added_twice_or_removed_twice_then_slacks_errors(client, emma):
    message = emma.post("k3-incidents", "x")
    place = {"channel": message.channel, "timestamp": message.ts}
    client.reactions_add(**place, name="eyes")
    assert client.reactions_get(**place)["message"]["reactions"][0]["count"] == 1
    assert error_of(lambda: client.reactions_add(**place, name="eyes")) == "already_reacted"
    client.reactions_remove(**place, name="eyes")
    assert error_of(lambda: client.reactions_remove(**place, name="eyes")) == "no_reaction"
    assert error_of(lambda: client.reactions_add(**place, name="no such thing")) == "invalid_name"
