"""What Slack has given up telling us is read from the history."""

from pathlib import Path

import pytest

from bot.service import missed
from bot.workspace.model import Message
from bot.workspace.workspace import Workspace
from kb.library import Library
from tests.e2e.world import DMABUF, DRIVER, World, fenced, until, world

PLENTY = 1_000


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missed, "_PAUSE", 0.01)
    monkeypatch.setattr(missed, "_LONG_PAUSE", 0.01)


def ask(workspace: Workspace, name: str = "emma", log: str = DRIVER, channel: str = "general") -> Message:
    return workspace.person(name).post(channel, f"<@{workspace.bot.user_id}> please look\n{fenced(log[:3000])}")


def known_channel(directory: Path, library: Library, workspace: Workspace) -> Message:
    """A first answer, so that the channel is known; and everything after it is missed."""
    with world(directory, library, workspace=workspace) as pair:
        first = ask(workspace)
        pair.answer(first)
        pair.idle(20)
    workspace.faults.give_up(PLENTY)
    return first


def quiet(pair: World) -> None:
    pair.bot.catch_up()
    pair.idle(20)


def test_mentions_when_missed_then_answered_once(tmp_path: Path, library: Library) -> None:
    workspace = Workspace(rate_limits=False)
    known_channel(tmp_path, library, workspace)
    messages = [ask(workspace, name) for name in ("minjun", "wei", "olga")]
    aside = workspace.person("emma").post("general", "Lunch?")
    for _ in range(2):
        with world(tmp_path, library, workspace=workspace) as pair:
            for message in messages:
                assert pair.answer(message, 30)
            quiet(pair)
            assert [len(pair.of_bot(message)) for message in messages] == [1, 1, 1]
            assert pair.of_bot(aside) == []


def test_mention_when_the_channel_was_only_heard_of_then_answered(tmp_path: Path, library: Library) -> None:
    workspace = Workspace(rate_limits=False)
    with world(tmp_path, library, workspace=workspace) as pair:
        workspace.person("emma").post("k3-incidents", "Good morning")
        pair.idle(20)
    workspace.faults.give_up(PLENTY)
    message = ask(workspace, "olga", channel="k3-incidents")
    with world(tmp_path, library, workspace=workspace) as pair:
        assert pair.answer(message, 30)


def test_evidence_in_a_thread_when_missed_then_the_answer_is_updated(tmp_path: Path, library: Library) -> None:
    workspace = Workspace(rate_limits=False)
    first = known_channel(tmp_path, library, workspace)
    workspace.person("emma").reply(first, fenced(DMABUF[:3000]))
    with world(tmp_path, library, workspace=workspace) as pair:
        answer = pair.answer_when(first, lambda one: one.edited, 30)
        assert "TP16" in answer.text  # of the second log


def test_question_and_its_thread_when_both_missed_then_one_answer_of_both(tmp_path: Path, library: Library) -> None:
    workspace = Workspace(rate_limits=False)
    known_channel(tmp_path, library, workspace)
    message = ask(workspace, "minjun", "INFO 08-11 12:00:00 [a.py:1] nothing yet\n" * 20)
    workspace.person("minjun").reply(message, fenced(DMABUF[:3000]))
    with world(tmp_path, library, workspace=workspace) as pair:
        pair.answer_when(message, lambda one: "dma" in one.text.lower(), 30)
        quiet(pair)
        assert len(pair.of_bot(message)) == 1


def test_edit_of_evidence_when_missed_then_the_answer_is_updated(tmp_path: Path, library: Library) -> None:
    workspace = Workspace(rate_limits=False)
    first = known_channel(tmp_path, library, workspace)
    workspace.person("emma").edit(first, f"<@{workspace.bot.user_id}> look\n{fenced(DMABUF[:3000])}")
    with world(tmp_path, library, workspace=workspace) as pair:
        pair.answer_when(first, lambda one: "dma" in one.text.lower(), 30)


def test_direct_message_when_missed_then_answered(tmp_path: Path, library: Library) -> None:
    workspace = Workspace(rate_limits=False)
    emma = workspace.person("emma")
    with world(tmp_path, library, workspace=workspace, join_seconds=0) as pair:
        pair.answer(emma.post(emma.dm, fenced(DRIVER[:3000])))
        pair.idle(20)
    workspace.faults.give_up(PLENTY)
    message = emma.post(emma.dm, fenced(DMABUF[:3000]))
    with world(tmp_path, library, workspace=workspace, join_seconds=0) as pair:
        assert pair.answer(message, 30)


def test_replies_when_older_than_the_incident_then_still_no_evidence(tmp_path: Path, library: Library) -> None:
    workspace = Workspace(rate_limits=False)
    emma, olga = workspace.person("emma"), workspace.person("olga")
    with world(tmp_path, library, workspace=workspace) as pair:
        root = emma.post("general", "Deploy of today")
        olga.reply(root, fenced(DMABUF[:3000]))
        asked = emma.reply(root, f"{pair.mention} what is this?\n{fenced(DRIVER[:3000])}")
        before = pair.answer(asked)
        pair.idle(20)
    with world(tmp_path, library, workspace=workspace) as pair:
        quiet(pair)
        assert pair.answer(asked).text == before.text


def test_socket_when_away_for_long_then_caught_up_without_a_restart(own: World) -> None:
    own.answer(ask(own.workspace))
    own.idle(20)
    own.workspace.faults.give_up(1)
    message = ask(own.workspace, "wei")
    own.bot.catch_up()
    assert own.answer(message, 30)


def test_first_start_when_catching_up_is_broken_off_then_what_follows_is_found_all_the_same(
    tmp_path: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missed, "_OVERLAP", 0.0)
    workspace = Workspace(rate_limits=False)
    channels = {workspace.channel("general").id}
    workspace.faults.fail("conversations.history", times=PLENTY)
    with world(tmp_path, library, workspace=workspace, channels=channels) as pair:
        until(lambda: pair.bot.database.setting("listened_until"))
    workspace.faults.clear()
    workspace.faults.give_up(PLENTY)
    message = ask(workspace, "olga")
    with world(tmp_path, library, workspace=workspace, channels=channels) as pair:
        assert pair.answer(message, 30)


@pytest.mark.parametrize("fault", ["rate_limit", "fail"])
def test_history_when_slack_is_busy_then_read_later(tmp_path: Path, library: Library, fault: str) -> None:
    workspace = Workspace(rate_limits=False)
    known_channel(tmp_path, library, workspace)
    message = ask(workspace, "olga")
    getattr(workspace.faults, fault)("conversations.history", times=5)
    with world(tmp_path, library, workspace=workspace) as pair:
        assert pair.answer(message, 60)


def test_channel_when_the_bot_was_removed_then_the_others_are_read(tmp_path: Path, library: Library) -> None:
    workspace = Workspace(rate_limits=False)
    known_channel(tmp_path, library, workspace)
    message = ask(workspace, "olga")
    with world(tmp_path, library, workspace=workspace, channels={"C000", workspace.channel("general").id}) as pair:
        assert pair.answer(message, 30)


def test_absence_when_longer_than_wanted_then_what_is_older_stays_unanswered(tmp_path: Path, library: Library) -> None:
    workspace = Workspace(rate_limits=False)
    known_channel(tmp_path, library, workspace)
    message = ask(workspace, "olga")
    with world(tmp_path, library, workspace=workspace, catch_up_hours=0) as pair:
        quiet(pair)
        until(lambda: pair.bot.inbox.stats().open == 0)
        assert pair.of_bot(message) == []
