"""Section 3 of the promise: nothing is lost, nobody is answered twice, whatever goes wrong at Slack's end or ours."""

import time
from pathlib import Path

import pytest

from bot.app import Bot, Slack
from bot.store import ReplyStore
from bot.workspace.workspace import Workspace
from kb.library import Library
from tests.databases import new_database
from tests.e2e.world import DMABUF, DRIVER, World, fenced, until, world


def _ask(pair: World, name: str = "emma", log: str = DRIVER[:3000]):  # type: ignore[no-untyped-def]
    return pair.workspace.person(name).post("general", f"{pair.mention} please look at this\n{fenced(log)}")


def test_event_when_delivered_twice_then_one_answer(own: World) -> None:
    own.workspace.faults.deliver_twice(3)
    message = _ask(own)
    own.answer(message)
    own.idle()
    assert len(own.of_bot(message)) == 1


def test_event_when_the_socket_is_cut_then_it_is_answered_once(own: World) -> None:
    own.workspace.faults.close_socket(how="cut")
    message = _ask(own)
    own.answer(message, 30)
    own.idle(20)
    assert len(own.of_bot(message)) == 1


def test_event_when_the_socket_closes_after_it_then_it_is_answered_once(own: World) -> None:
    own.workspace.faults.close_socket(how="close")
    message = _ask(own)
    own.answer(message, 30)
    own.idle(20)
    assert len(own.of_bot(message)) == 1


def test_post_when_it_succeeds_and_its_answer_is_lost_then_one_reply(own: World) -> None:
    own.workspace.faults.lose_answer("chat.postMessage")
    message = _ask(own)
    own.answer(message, 30)
    own.idle(30)
    assert len(own.of_bot(message)) == 1


def test_post_when_the_request_is_lost_then_it_is_tried_again(own: World) -> None:
    own.workspace.faults.lose_request("chat.postMessage")
    message = _ask(own)
    own.answer(message, 30)
    own.idle(30)
    assert len(own.of_bot(message)) == 1


@pytest.mark.parametrize("retry_after", ["0", "1", None, "soon"])
def test_post_when_rate_limited_then_it_comes_later(own: World, retry_after: str | None) -> None:
    own.workspace.faults.rate_limit("chat.postMessage", retry_after)
    message = _ask(own)
    own.answer(message, 40)


def test_post_when_slack_has_an_error_then_it_comes_later(own: World) -> None:
    own.workspace.faults.fail("chat.postMessage", 503, times=2)
    message = _ask(own)
    own.answer(message, 40)
    own.idle(20)
    assert len(own.of_bot(message)) == 1


def test_post_when_bot_was_removed_then_evidence_is_kept_and_the_person_told(own: World) -> None:
    emma = own.workspace.person("emma")
    own.workspace.faults.error("chat.postMessage", "not_in_channel")
    message = _ask(own)
    told = until(lambda: [one for one in emma.read(emma.dm) if one.message.user == own.workspace.bot.user_id], 20)
    assert "/invite" in told[0].text
    own.idle()
    assert own.bot.inbox.stats().failed == 0
    emma.reply(message, f"{own.mention} again please")
    assert own.answer(message)


def test_post_when_the_channel_is_archived_then_the_person_is_told(own: World) -> None:
    emma = own.workspace.person("emma")
    own.workspace.faults.delay("conversations.history", 0.1)
    message = own.workspace.person("emma").post("k3-incidents", f"{own.mention} look\n{fenced(DRIVER[:2900])}")
    own.workspace.archive("k3-incidents")
    until(
        lambda: (
            [one for one in emma.read(emma.dm) if one.message.user == own.workspace.bot.user_id] or own.of_bot(message)
        ),
        20,
    )


def test_token_when_revoked_then_work_is_kept_and_goes_on_with_the_token(own: World) -> None:
    own.workspace.faults.error("chat.postMessage", "token_revoked")
    message = _ask(own)
    until(lambda: own.bot.checks()["slack"] is False)
    assert own.bot.inbox.stats().open == 1
    assert own.of_bot(message) == []
    with own.bot.database.write() as connection:  # time passes
        connection.exec_driver_sql("update inbox set not_before = 0")
        connection.exec_driver_sql("update lanes set due_at = 0")
    own.answer(message)
    until(lambda: own.bot.checks()["slack"] is True)


def test_report_when_work_breaks_off_before_it_is_recorded_then_one_file(
    own: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = _ask(own)
    answer = own.answer(message)
    posted, broken = ReplyStore.posted, []

    def once(store: ReplyStore, key: str, ts: str, *rest: str | None) -> None:
        if ts == "file" and not broken:
            broken.append(key)
            raise ConnectionError
        posted(store, key, ts, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(ReplyStore, "posted", once)
    own.workspace.person("emma").press(answer.message, "report_file")
    until(lambda: broken)
    own.idle(20)
    assert len([one for one in own.of_bot(message) if one.files]) == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_processes_when_two_share_a_database_then_work_is_not_doubled(
    tmp_path: Path, library: Library, kind: str, request: pytest.FixtureRequest
) -> None:
    url = new_database(request.getfixturevalue("postgres_url")) if kind == "postgres" else None
    with world(tmp_path, library, join_seconds=0, database_url=url) as pair:
        slack = Slack(
            pair.workspace.bot.bot_token,
            pair.workspace.bot.app_token,
            None,
            pair.server.api_url,
        )
        second = Bot(pair.settings, slack, library)
        second.start()
        try:
            until(lambda: pair.server.sockets == 2)
            messages = [_ask(pair, name) for name in ("emma", "minjun", "wei", "olga")]
            messages += [_ask(pair, name, DMABUF[:3000]) for name in ("emma", "minjun", "wei", "olga")]
            for message in messages:
                pair.answer(message, 40)
            pair.idle(20)
            assert [len(pair.of_bot(message)) for message in messages] == [1] * 8
        finally:
            second.stop()


@pytest.mark.parametrize("queue", ["redis", "postgres", "sqlite"])
def test_processes_when_they_share_a_queue_then_each_message_is_answered_once(
    tmp_path: Path, library: Library, queue: str, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path / 'queue.sqlite'}"
    if queue != "sqlite":
        given = request.getfixturevalue(f"{queue}_url")
        url = given if queue == "redis" else new_database(given)
    with world(tmp_path, library, join_seconds=0, queue_url=url) as pair:
        slack = Slack(pair.workspace.bot.bot_token, pair.workspace.bot.app_token, None, pair.server.api_url)
        second = Bot(pair.settings, slack, library)
        second.start()
        try:
            until(lambda: pair.server.sockets == 2)
            messages = [_ask(pair, name) for name in ("emma", "minjun", "wei", "olga")]
            for message in messages:
                pair.answer(message, 40)
            pair.idle(20)
            assert [len(pair.of_bot(message)) for message in messages] == [1] * 4
        finally:
            second.stop()


def test_stop_when_work_is_open_then_the_next_process_finishes_it(tmp_path: Path, library: Library) -> None:
    workspace = Workspace(rate_limits=False)
    with world(tmp_path, library, workspace=workspace, settle_seconds=30) as pair:
        message = _ask(pair, log="x" * 2600 + "\n" + DRIVER[:1300])
        # Nobody works on it while it settles, so that there is nothing to wait for.
        until(lambda: pair.bot.inbox.stats().open == 1 and not pair.bot.workers.busy)
    assert pair.of_bot(message) == []
    with world(tmp_path, library, workspace=workspace) as pair:
        with pair.bot.database.write() as connection:
            connection.exec_driver_sql("update inbox set not_before = 0")
            connection.exec_driver_sql("update lanes set due_at = 0")
        assert pair.answer(message, 20)


def test_crash_when_posted_and_not_recorded_then_the_reply_is_found_again(
    own: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = own.bot.service.actions.reply_store
    kept = store.posted
    crashes = [RuntimeError("killed between posting and recording")]

    def posted(key: str, ts: str, digest: str, channel: str | None = None) -> None:
        if crashes:
            raise crashes.pop()
        kept(key, ts, digest, channel)

    monkeypatch.setattr(store, "posted", posted)
    message = _ask(own)
    own.answer(message, 20)
    own.idle(20)
    assert not crashes
    assert len(own.of_bot(message)) == 1


def test_secrets_when_posted_every_way_then_none_is_stored_logged_or_sent(own: World) -> None:
    canaries = {
        "hf": "hf_" + "CanaryCanaryCanaryCanary1234567890",
        "slack": "xoxb-" + "123456789012-123456789012-CanaryCanaryCanaryCanary",
        "aws": "AKIA" + "CANARYCANARY1234",
        "gh": "ghp_" + "CanaryCanaryCanaryCanaryCanary123456",
        "key": "Kanarienvogel-9137-geheim",
    }
    lines = "\n".join(
        [
            f"export HF_TOKEN={canaries['hf']}",
            f"SLACK={canaries['slack']}",
            f"aws_access_key_id = {canaries['aws']}",
            f"git clone https://x:{canaries['gh']}@github.com/a/b",
            f"vllm serve moonshotai/Kimi-K3 --api-key {canaries['key']}",
            f"пароль: {canaries['key']}",
        ]
    )
    emma = own.workspace.person("emma")
    first = emma.post("general", f"{own.mention} look\n{fenced(lines + chr(10) + DRIVER[:2000])}")
    own.answer(first)
    time.sleep(0.3)
    second = emma.upload("general", {"run.log": (lines + "\n" + DRIVER).encode()}, f"{own.mention} and this")
    answer = own.answer(second)
    emma.run("general", f"/k3 diagnose {lines}")
    emma.use_shortcut("diagnose_text")
    emma.wait_for_modal()
    emma.submit({"text": lines})
    emma.close_modal()  # it says where the answer comes
    emma.reply(first, f"{own.mention} my password: {canaries['key']}")
    emma.edit(first, f"{own.mention} changed\n{fenced(lines + chr(10) + DRIVER[:1500])}")
    emma.press(answer.message, "wrong")
    emma.wait_for_modal()
    emma.submit({"wrong_text": f"the token {canaries['hf']} was wrong"})
    emma.press(answer.message, "report_file")
    until(lambda: [one for one in own.of_bot(second) if one.files])
    own.idle(20)
    written = own.written()
    files = b"".join(file.content or b"" for one in own.of_bot(second) for file in own.workspace.files_of(one.message))
    raw = b"".join(path.read_bytes() for path in Path(own.settings.data_dir).iterdir() if path.is_file())
    for name, canary in canaries.items():
        assert canary not in written, name
        assert canary.encode() not in files, name
        assert canary.encode() not in raw, name
    assert "Worker" not in own.log.getvalue()  # no text of the evidence, secret or not
