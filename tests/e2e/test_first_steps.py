"""What somebody does who has just run `make run`, as the page does it."""

import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from bot.config import Settings
from bot.errors import UsageError
from bot.run import local_workspace, run
from tests.e2e.world import DRIVER, World, fenced, until

Do = Callable[..., dict[str, Any]]
_LANGUAGES = {"emma": "en", "minjun": "ko", "wei": "zh", "olga": "ru"}
_SIGNS = {
    "emma": ("this was neither", "I am not a member of this channel", "as a direct message"),
    "minjun": ("알 수 없는 명령", "이 채널의 멤버가 아니어서", "다이렉트 메시지로"),
    "wei": ("无法识别该命令", "我不在此频道", "以私信回复"),
    "olga": ("Такой команды нет", "Меня нет в этом канале", "в личные сообщения"),
}


@pytest.fixture
def do(pair: World) -> Do:
    def act(name: str, what: str, channel: str, **data: Any) -> dict[str, Any]:
        body = {"as": name, "channel": pair.workspace.channel(channel).id, **data}
        url = f"{pair.server.origin}/ui/{what}"
        answer = httpx.post(url, json=body, headers={"X-Workspace": "page"}, trust_env=False, timeout=30)
        found: dict[str, Any] = answer.json()
        assert found.pop("ok"), found
        return found

    return act


def test_samples_when_loaded_then_everyone_gets_a_known_cause_in_their_language(pair: World, do: Do) -> None:
    before = len(pair.workspace.messages("k3-incidents"))
    assert do("emma", "samples", "general")["posted"] == 4
    people = {pair.workspace.person(name).id: language for name, language in _LANGUAGES.items()}
    posted = [one for one in pair.workspace.messages("k3-incidents")[before:] if one.user in people]
    assert {one.user for one in posted} == set(people)
    for message in posted:
        assert pair.answer(message, 30)
        incident = pair.bot.service.store.find(message.channel, message.ts)
        assert incident is not None
        assert incident.language == people[str(message.user)]
        report = (pair.bot.service.store.reports(incident.id) or {})[incident.language]
        assert report.outcome == "matched"


def test_name_when_typed_on_the_page_then_the_bot_answers(pair: World, do: Do) -> None:
    do("emma", "post", "general", text=f"@K3 Triage what is this?\n{fenced(DRIVER[:3000])}")
    message = pair.workspace.messages("general")[-1]
    assert "driver" in pair.answer(message).text.lower()


def test_bot_when_invited_as_in_slack_then_it_answers_there(own: World) -> None:
    body = {"as": "wei", "channel": own.workspace.channel("random").id, "text": "/invite @K3 Triage"}
    url = f"{own.server.origin}/ui/post"
    assert httpx.post(url, json=body, headers={"X-Workspace": "page"}, trust_env=False).json()["ok"]
    message = own.workspace.person("wei").post("random", f"{own.mention}\n{fenced(DRIVER[:3000])}")
    assert own.answer(message)


def test_tick_when_shown_on_the_page_then_with_the_readers_time(pair: World) -> None:
    emma = pair.workspace.person("emma")
    message = emma.post("general", f"{pair.mention} why?\n{fenced(DRIVER[:3000])}")
    answer = pair.answer(message)
    emma.tick(answer.message, answer.ticks[0].value)
    where = {"as": "minjun", "at": message.channel, "thread": message.ts}

    def thread() -> str:
        answer = httpx.get(f"{pair.server.origin}/ui/parts", params=where, trust_env=False)
        return str(answer.json()["parts"]["thread"])

    html = until(lambda: "@Emma Hart</span>" in (found := thread()) and found)
    assert "!date^" not in html
    assert ">오늘 " in html.partition("@Emma Hart</span>")[2][:80]


@pytest.mark.parametrize("name", list(_SIGNS))
def test_command_when_the_bot_is_not_there_then_it_says_where_the_answer_is(pair: World, name: str) -> None:
    person = pair.workspace.person(name)
    opened = pair.opens(person, person.dm)
    before = len(person.read("random"))
    person.run("random", f"/k3 diagnose {DRIVER[:1500]}")
    notes = until(lambda: [one for one in person.read("random")[before:] if _SIGNS[name][1] in one.text])
    assert notes[-1].ephemeral
    link = notes[-1].message.text.partition("<")[2].partition("|")[0]
    where = httpx.get(link, trust_env=False).headers["location"]
    root = opened()
    assert f"at={person.dm}&thread={root.ts}" in where


def test_command_when_the_bot_is_there_then_no_note(pair: World) -> None:
    emma = pair.workspace.person("emma")
    before = len(emma.read("general"))
    emma.run("general", f"/k3 diagnose {DRIVER[:1400]}")
    until(lambda: len(emma.read("general")) > before)
    pair.idle()
    assert [one.ephemeral for one in emma.read("general")[before:]] == [False]


def test_command_when_the_note_cannot_be_sent_then_the_answer_comes_all_the_same(own: World) -> None:
    own.workspace.faults.fail("response_url", 500)
    emma = own.workspace.person("emma")
    opened = own.opens(emma, emma.dm)
    emma.run("random", f"/k3 diagnose {DRIVER[:1500]}")
    root = opened()
    assert emma.wait_for_reply(root.message)[0].buttons
    own.idle()
    assert emma.read("random") == []


@pytest.mark.parametrize("name", list(_SIGNS))
def test_command_when_its_word_is_unknown_then_that_is_said(pair: World, name: str) -> None:
    person = pair.workspace.person(name)
    before = len(person.read("random"))
    for line in ("/k3 frobnicate", "/k3 help"):
        person.run("random", line)
    shown = until(lambda: len(found := person.read("random")[before:]) == 2 and found)
    assert _SIGNS[name][0] in shown[0].text
    assert shown[1].text in shown[0].text
    assert _SIGNS[name][0] not in shown[1].text


@pytest.mark.parametrize("name", list(_SIGNS))
def test_form_when_sent_then_it_says_where_the_answer_comes(pair: World, name: str) -> None:
    person = pair.workspace.person(name)
    if person.modal is not None:  # left open by another test
        person.close_modal(everything=True)
    person.use_shortcut("diagnose_text")
    person.wait_for_modal()
    assert person.submit({"text": DRIVER[:2500]}).accepted
    view = person.wait_for_modal()
    assert _SIGNS[name][2] in str(view.blocks)
    person.close_modal()


def test_local_workspace_when_both_ports_are_taken_then_others_are_used() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        settings = Settings(_env_file=None, workspace_port=one.getsockname()[1], http_port=two.getsockname()[1])
        with local_workspace(settings) as (slack, local, origin):
            assert local.http_port == 0
            assert slack.api_url == f"{origin}/api/"
            assert not origin.endswith(f":{settings.workspace_port}")


def test_run_when_the_bot_does_not_start_then_nothing_was_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise UsageError("no")

    monkeypatch.setattr("bot.run.Bot", refuse)
    monkeypatch.setattr("bot.run.signal.signal", lambda *_: None)
    said: list[str] = []
    with pytest.raises(UsageError):
        run(Settings(_env_file=None, workspace_port=0), said.append)
    assert said == []


def test_run_when_started_then_it_says_where_and_why_not_at_the_usual_port(monkeypatch: pytest.MonkeyPatch) -> None:
    class Started:
        def __init__(self, *_: object) -> None:
            assert said == []

        def start(self) -> None:
            raise_signal[0]()

        def stop(self) -> None:
            pass

    raise_signal: list[Callable[[], None]] = []
    monkeypatch.setattr("bot.run.Bot", Started)
    monkeypatch.setattr("bot.run.signal.signal", lambda _, handler: raise_signal.append(handler))
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run(Settings(_env_file=None, workspace_port=port), said.append)
    assert len(said) == 1
    assert f"(port {port} is taken" in said[0]
