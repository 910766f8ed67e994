"""Each way in, with the real SDK on both ends."""

import io
import zipfile
from pathlib import Path

import pytest

from bot.catalogue import say
from bot.doctor import SCOPES
from bot.workspace.workspace import Workspace
from kb.library import Library
from tests.e2e.world import DMABUF, DRIVER, World, fenced, until, world


def _zip(files: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def test_mention_when_it_holds_a_log_then_one_answer_in_the_thread(pair: World) -> None:
    emma = pair.workspace.person("emma")
    message = emma.post("general", f"{pair.mention} what is this?\n{fenced(DRIVER[:3000])}")
    answer = pair.answer(message)
    assert "driver" in answer.text.lower()
    pair.idle()
    assert len(pair.of_bot(message)) == 1
    assert answer.message.thread_ts == message.ts


def test_direct_message_when_it_holds_a_log_then_an_answer(pair: World) -> None:
    olga = pair.workspace.person("olga")
    message = olga.post(olga.dm, DRIVER[:3000])
    assert pair.answer(message)


def test_mention_when_message_is_plain_text_without_blocks_then_an_answer(pair: World) -> None:
    emma = pair.workspace.person("emma")
    message = emma.post("general", f"{pair.mention} {DRIVER[:2000]}")
    assert "driver" in pair.answer(message).text.lower()


def test_message_when_nobody_speaks_to_the_bot_then_it_stays_quiet(pair: World) -> None:
    emma = pair.workspace.person("emma")
    message = emma.post("general", fenced(f"quiet-marker\n{DRIVER[:3000]}"))
    reply = emma.reply(message, "has anybody seen this?")
    pair.idle()
    assert pair.of_bot(message) == []
    assert pair.of_bot(reply) == []
    assert "quiet-marker" not in pair.stored()


def test_message_when_it_comes_from_a_bot_then_no_answer(pair: World) -> None:
    alert = pair.workspace.integration("Alertmanager")
    message = alert.post("general", f"{pair.mention} {fenced(DRIVER[:2000])}")
    pair.idle()
    assert pair.of_bot(message) == []


def test_shortcut_when_used_on_a_message_of_another_bot_then_an_answer_in_its_thread(pair: World) -> None:
    alert = pair.workspace.integration("Alertmanager")
    message = alert.post("general", fenced(DRIVER[:3000]))
    pair.workspace.person("minjun").use_shortcut("diagnose_message", message)
    assert pair.answer(message)


def test_global_shortcut_when_text_is_submitted_then_an_answer_in_the_direct_message(pair: World) -> None:
    wei = pair.workspace.person("wei")
    opened = pair.opens(wei, wei.dm)
    wei.use_shortcut("diagnose_text")
    wei.wait_for_modal()
    assert wei.submit({"text": DRIVER[:2500]}).accepted
    wei.close_modal()  # it says where the answer comes
    root = opened()
    replies = wei.wait_for_reply(root.message)
    assert len(replies) == 1
    assert replies[0].buttons


def test_command_when_text_is_given_then_a_thread_is_opened_for_it(pair: World) -> None:
    emma = pair.workspace.person("emma")
    opened = pair.opens(emma, "general")
    emma.run("general", f"/k3 diagnose {DRIVER[:1500]}")
    root = opened()
    replies = emma.wait_for_reply(root.message)
    assert replies[0].buttons
    more = emma.reply(root.message, fenced(DMABUF[:3000]))
    until(lambda: "IBV" in str(pair.stored()) or pair.bot.inbox.stats().open == 0)
    pair.idle()
    assert len([one for one in emma.read_thread(more) if one.message.user == pair.workspace.bot.user_id]) == 2


def test_command_when_bot_is_not_in_the_channel_then_the_thread_is_a_direct_message(pair: World) -> None:
    emma = pair.workspace.person("emma")
    opened = pair.opens(emma, emma.dm)
    emma.run("random", f"/k3 diagnose {DRIVER[:1500]}")
    root = opened()
    assert emma.wait_for_reply(root.message)[0].buttons


@pytest.mark.parametrize("line", ["/k3", "/k3 help", "/k3 nodes all", "/k3 diagnose"])
@pytest.mark.parametrize(
    ("name", "sign"), [("emma", "Paste a log"), ("minjun", "로그"), ("wei", "日志"), ("olga", "Вставьте")]
)
def test_command_when_it_gives_no_log_then_help_in_the_persons_language(
    pair: World, line: str, name: str, sign: str
) -> None:
    person = pair.workspace.person(name)
    before = len(person.read("general"))
    person.run("general", line)
    shown = until(lambda: [one for one in person.read("general")[before:] if one.ephemeral])
    assert sign in shown[-1].text
    assert "/k3 diagnose" in shown[-1].text


def test_command_when_the_bot_was_started_again_then_its_direct_message_is_still_updated(
    tmp_path: Path, library: Library
) -> None:
    workspace = Workspace(rate_limits=False)
    emma = workspace.person("emma")
    with world(tmp_path, library, workspace=workspace, join_seconds=0) as first:
        opened = first.opens(emma, emma.dm)
        emma.run("random", f"/k3 diagnose {DRIVER[:1500]}")
        root = opened()
        assert emma.wait_for_reply(root.message)[0].buttons
        first.idle()
        assert first.bot.service.store.find(emma.dm, root.ts) is not None
        assert f"'{emma.id}', None, '{root.ts}'" not in first.stored()
    with world(tmp_path, library, workspace=workspace, join_seconds=0) as second:
        emma.press(emma.read_thread(root.message)[1].message, "resolved")
        until(lambda: "Emma" in emma.read_thread(root.message)[1].text)
        second.idle()
        assert len(emma.read_thread(root.message)) == 2


@pytest.mark.parametrize(
    ("name", "too_large", "no_scope"),
    [
        ("emma", "were read, as large as a file may be", "login page"),
        ("minjun", "읽었습니다", "로그인"),
        ("wei", "读取", "登录"),
        ("olga", "прочитаны", "входа"),
    ],
)
def test_file_when_it_cannot_be_read_whole_then_the_reason_is_in_the_persons_language(
    tmp_path: Path, library: Library, name: str, too_large: str, no_scope: str
) -> None:
    for case, workspace, sign in (
        ("large", Workspace(rate_limits=False), too_large),
        ("scope", Workspace(rate_limits=False, scopes=SCOPES - {"files:read"}), no_scope),
    ):
        directory = tmp_path / case
        directory.mkdir()
        with world(directory, library, workspace=workspace, join_seconds=0, max_file_bytes=4096) as own:
            message = own.workspace.person(name).upload("general", {"vllm.log": b"nothing here\n" * 9_000}, own.mention)
            own.answer(message)
            incident = own.bot.service.store.find(message.channel, message.ts)
            assert incident is not None
            assert incident.language is not None
            report = (own.bot.service.store.reports(incident.id) or {})[incident.language]
            reasons = [one.reason for one in report.coverage.not_read]
            assert len(reasons) == 1
            assert sign in reasons[0].lower()
            assert "files." not in own.answer(message).text


@pytest.mark.parametrize("as_bundle", [False, True])
def test_upload_when_file_or_bundle_then_it_is_read(pair: World, as_bundle: bool) -> None:
    emma = pair.workspace.person("emma")
    files = (
        {"logs.zip": _zip({"node0/vllm.log": DMABUF, "node1/readme.txt": "nothing"})}
        if as_bundle
        else {"vllm.log": DMABUF.encode(), "dmesg.txt": b"nothing here\n"}
    )
    message = emma.upload("general", files, f"{pair.mention} please look")
    answer = pair.answer(message)
    assert "dmabuf" in answer.text.lower()


def test_upload_when_large_then_a_note_of_progress_becomes_the_answer(tmp_path: Path, library: Library) -> None:
    with world(tmp_path, library, progress_bytes=1 << 20) as own:
        emma = own.workspace.person("emma")
        lines = "".join(f"INFO 08-21 10:00:00 [loggers.py:{n}] Engine 000: running {n} reqs\n" for n in range(60_000))
        seen: list[str] = []
        message = emma.upload("general", {"vllm.log": (lines + DMABUF).encode()}, own.mention)
        until(lambda: seen.extend(one.text for one in own.of_bot(message)) or own.of_bot(message), 20)
        answer = own.answer(message, 30)
        assert answer.edited
        assert "vllm.log" in seen[0]
        assert not own.of_bot(message)[1:]
        assert "dmabuf" in answer.text.lower()


def test_snippet_when_sent_directly_then_it_is_read(pair: World) -> None:
    wei = pair.workspace.person("wei")
    message = wei.upload(wei.dm, {"trace.txt": DRIVER.encode()}, snippet_type="text")
    assert "driver" in pair.answer(message).text.lower()


def test_paste_when_slack_splits_it_then_it_is_read_as_one(pair: World) -> None:
    emma = pair.workspace.person("emma")
    long = "\n".join(f"INFO 08-21 10:00:{n % 60:02d} [core.py:{n}] step {n} is running well" for n in range(150))
    parts = emma.paste("general", f"{pair.mention}\n{long}\n{DRIVER}")
    assert len(parts) > 2
    answer = pair.answer(parts[0])
    assert "driver" in answer.text.lower()
    pair.idle()
    assert [pair.of_bot(part) for part in parts[1:]] == [[] for _ in parts[1:]]


def test_mention_when_it_follows_the_log_then_the_log_is_found(pair: World) -> None:
    emma = pair.workspace.person("emma")
    emma.post("general", fenced(DRIVER[:3000]))
    message = emma.post("general", f"{pair.mention} any idea?")
    assert "driver" in pair.answer(message).text.lower()


def test_mention_when_in_the_thread_of_a_log_then_the_thread_is_read(pair: World) -> None:
    alert = pair.workspace.integration("Alertmanager")
    message = alert.post("general", fenced(DRIVER[:3000]))
    pair.workspace.person("emma").reply(message, f"{pair.mention} any idea?")
    assert "driver" in pair.answer(message).text.lower()


def test_thread_when_more_evidence_comes_then_the_answer_is_edited_and_says_what_changed(pair: World) -> None:
    emma = pair.workspace.person("emma")
    message = emma.post("general", f"{pair.mention} it does not start\n{fenced('RuntimeError: Engine core failed')}")
    first = pair.answer(message)
    pair.workspace.person("wei").reply(message, fenced(DRIVER[:3000]))
    second = pair.answer_when(message, lambda shown: "Updated" in shown.text)
    assert second.ts == first.ts
    assert second.text != first.text
    assert "driver" in second.text.lower()


def test_thread_when_people_only_talk_then_nothing_changes(pair: World) -> None:
    emma = pair.workspace.person("emma")
    message = emma.post("general", f"{pair.mention}\n{fenced(DRIVER[:3000])}")
    first = pair.answer(message)
    pair.workspace.person("wei").reply(message, "could it be NCCL timeouts again? I will restart the node")
    pair.idle()
    assert pair.answer(message) == first


def test_edit_when_the_author_edits_the_evidence_then_the_answer_follows(pair: World) -> None:
    emma = pair.workspace.person("emma")
    message = emma.post("general", f"{pair.mention}\n{fenced('all is well')}")
    pair.answer(message)
    emma.edit(message, f"{pair.mention}\n{fenced(DRIVER[:3000])}")
    assert pair.answer_when(message, lambda shown: "driver" in shown.text.lower())


def test_deletion_when_the_author_deletes_evidence_then_it_is_forgotten(pair: World) -> None:
    emma = pair.workspace.person("emma")
    message = emma.post("general", f"{pair.mention}\n{fenced(DRIVER[:3000])}")
    pair.answer(message)
    more = emma.reply(message, fenced("RuntimeError: marker-of-the-second-message"))
    until(lambda: "marker-of-the-second-message" in pair.stored())
    pair.idle()
    emma.delete(more)
    until(lambda: "marker-of-the-second-message" not in pair.stored())


@pytest.mark.parametrize(("name", "language"), [("emma", "en"), ("minjun", "ko"), ("wei", "zh"), ("olga", "ru")])
def test_language_when_words_do_not_tell_then_the_persons_locale(pair: World, name: str, language: str) -> None:
    log = DMABUF[:3500].encode("ascii", "ignore").decode()
    message = pair.workspace.person(name).post("general", f"{pair.mention}\n{fenced(log)}")
    assert pair.answer(message)
    incident = pair.bot.service.store.find(message.channel, message.ts)
    assert incident is not None
    assert incident.language == language


def test_deletion_when_the_message_that_asked_is_deleted_then_answer_and_evidence_are_gone(pair: World) -> None:
    emma = pair.workspace.person("emma")
    message = emma.post("general", f"{pair.mention} help\n{fenced('RuntimeError: marker of what was taken back')}")
    pair.answer(message)
    pair.idle()
    assert "marker of what was taken back" in pair.stored()
    emma.delete(message)
    until(lambda: not pair.of_bot(message))
    assert "marker of what was taken back" not in pair.stored()


def test_call_when_far_down_a_thread_then_the_log_above_it_is_read(pair: World) -> None:
    emma = pair.workspace.person("emma")
    root = emma.post("general", "Deploy of today")
    for number in range(230):
        emma.reply(root, f"note {number}")
    emma.reply(root, fenced(DRIVER[:2900]))
    asked = emma.reply(root, f"{pair.mention} what is this?")
    answer = pair.answer(asked, 40)
    assert "драйвер" in answer.text.lower()


def test_command_when_the_log_begins_on_a_new_line_then_it_is_read(pair: World) -> None:
    emma = pair.workspace.person("emma")
    emma.run("general", "/k3 diagnose\nRuntimeError: marker of a line of its own")
    found = until(lambda: [one for one in emma.read("general") if "marker of a line of its own" in one.text])
    assert pair.answer(found[0].message)


def test_language_when_chosen_on_the_home_tab_then_it_holds_for_new_incidents(pair: World) -> None:
    wei = pair.workspace.person("wei")
    wei.open_home()
    home = until(lambda: wei.home)
    wei.choose(home, "language_select", "ru")
    until(lambda: pair.bot.service.languages.chosen(wei.id) == "ru")
    try:
        message = wei.post("general", f"{pair.mention}\n{fenced(DMABUF[:3000])}")
        assert "Слой" in pair.answer(message).text
    finally:
        pair.bot.service.languages.choose(wei.id, "zh")


@pytest.mark.parametrize(
    ("words", "sign"),
    [
        ("서버가 시작되지 않습니다, 확인 부탁드립니다", "가"),
        ("服务启动失败，请帮忙看看原因", "的"),
        ("сервер не запускается, помогите разобраться", "ы"),
        ("the server does not start, please help us", " the "),
    ],
)
def test_language_when_the_words_tell_then_that_one(pair: World, words: str, sign: str) -> None:
    emma = pair.workspace.person("emma")
    message = emma.post("general", f"{pair.mention} {words}\n{fenced(DMABUF[:3500])}")
    assert sign in pair.answer(message).text


def test_home_when_a_person_only_said_hello_then_it_lists_no_incident(own: World) -> None:
    emma = own.workspace.person("emma")
    message = emma.post(emma.dm, "hello there")
    until(lambda: own.of_bot(message))
    own.idle()
    emma.open_home()
    home = until(lambda: emma.home)
    assert say("en", "slack.home.none") in str(home.blocks)


def test_home_when_opened_then_it_is_published(pair: World) -> None:
    olga = pair.workspace.person("olga")
    olga.open_home()
    assert until(lambda: olga.home)
