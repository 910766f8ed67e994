"""Slack promises no order: what belongs together may come the wrong way round."""

import contextlib
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.service import intake, overtaken
from bot.workspace.model import Message
from kb.library import Library
from tests.e2e.world import DMABUF, DRIVER, World, fenced, until, world

LATE = 1.5


@pytest.fixture
def by_http(tmp_path: Path, library: Library) -> Iterator[World]:
    """Over HTTP one delivery can be late while the next one is not."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with world(tmp_path, library, slack_mode="http", http_port=port, join_seconds=0.25) as running:
        yield running


def late_call(pair: World) -> Message:
    """A mention that is told late, as `app_mention` and as `message`."""
    pair.workspace.faults.delay("socket", LATE, times=2)
    asked = pair.workspace.person("emma").post("general", f"{pair.mention} what is this?\n{fenced(DMABUF[:2000])}")
    until(lambda: not pair.workspace.faults.open)
    return asked


def evidence(pair: World, asked: Message) -> list[str]:
    incident = pair.bot.service.store.find(asked.channel, asked.ts)
    return [item.log for item in pair.bot.service.store.evidence(incident.id)] if incident else []


def causes(pair: World, asked: Message) -> list[str]:
    incident = pair.bot.service.store.find(asked.channel, asked.ts)
    assert incident is not None
    report = next(iter((pair.bot.service.store.reports(incident.id) or {}).values()), None)
    return [item.entry for item in report.diagnoses] if report else []


def test_reply_when_it_overtakes_the_call_then_its_evidence_counts(by_http: World) -> None:
    asked = late_call(by_http)
    by_http.workspace.person("emma").reply(asked, fenced(DRIVER[:3000]))
    until(lambda: "cuda-driver-too-old" in causes(by_http, asked) if evidence(by_http, asked) else False)
    by_http.idle()
    assert len(evidence(by_http, asked)) == 2
    assert by_http.answer(asked)


def test_reply_when_the_call_is_told_much_later_then_its_evidence_counts(
    by_http: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overtaken, "_KEPT_FOR", 0.0)
    monkeypatch.setattr(intake, "_LATE", LATE / 2)
    asked = late_call(by_http)
    emma = by_http.workspace.person("emma")
    emma.reply(asked, fenced(DRIVER[:3000]))
    emma.reply(asked, "nobody there?")
    assert by_http.answer(asked)
    by_http.idle()
    assert len(evidence(by_http, asked)) == 2
    assert "cuda-driver-too-old" in causes(by_http, asked)


def test_edit_when_it_overtakes_the_message_then_the_edited_text_counts(by_http: World) -> None:
    asked = late_call(by_http)
    by_http.workspace.person("emma").edit(asked, f"{by_http.mention} what is this?\n{fenced(DRIVER[:3000])}")
    until(lambda: [log for log in evidence(by_http, asked) if log in DRIVER])
    by_http.idle()
    assert causes(by_http, asked)[0] == "cuda-driver-too-old"
    assert by_http.answer(asked)


def test_deletion_when_it_overtakes_the_message_then_nothing_of_it_stays(by_http: World) -> None:
    asked = late_call(by_http)
    by_http.workspace.person("emma").delete(asked)
    until(lambda: by_http.bot.intake.inbox.known(f"msg:{asked.channel}:{asked.ts}"))
    until(lambda: not evidence(by_http, asked) and not by_http.bot.intake.overtaken.waiting)
    by_http.idle()
    assert by_http.bot.service.store.find(asked.channel, asked.ts) is None


def test_talk_when_it_is_not_for_the_bot_then_it_is_forgotten_soon(
    by_http: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overtaken, "_KEPT_FOR", 1.0)
    emma = by_http.workspace.person("emma")
    root = emma.post("general", "lunch?")
    emma.reply(root, fenced(DRIVER[:500]))
    until(lambda: by_http.bot.intake.overtaken.waiting)
    until(lambda: not by_http.bot.intake.overtaken.waiting)
    assert evidence(by_http, root) == []
    assert DRIVER[:100] not in by_http.written()


def test_edit_when_its_message_still_waits_for_more_parts_then_the_edited_text_counts(by_http: World) -> None:
    emma = by_http.workspace.person("emma")
    asked = emma.post("general", f"{by_http.mention} what is this?\n{fenced(DMABUF[:3300])}")
    until(lambda: by_http.bot.intake.inbox.known(f"msg:{asked.channel}:{asked.ts}"))
    emma.edit(asked, f"{by_http.mention} what is this?\n{fenced(DRIVER[:3000])}")
    assert by_http.answer(asked)
    by_http.idle()
    assert causes(by_http, asked)[0] == "cuda-driver-too-old"
    assert [log for log in evidence(by_http, asked) if log not in DRIVER] == []


def test_deletion_when_its_message_still_waits_for_more_parts_then_nothing_of_it_stays(by_http: World) -> None:
    emma = by_http.workspace.person("emma")
    asked = emma.post("general", f"{by_http.mention} what is this?\n{fenced(DMABUF[:3300])}")
    until(lambda: by_http.bot.intake.inbox.known(f"msg:{asked.channel}:{asked.ts}"))
    emma.delete(asked)
    by_http.workspace.settle()
    by_http.idle()
    assert evidence(by_http, asked) == []
    assert "answered" not in by_http.log.getvalue()


def test_event_when_it_can_never_be_taken_in_then_the_others_are_and_it_is_forgotten() -> None:
    now = 0.0
    kept = overtaken.Overtaken(clock=lambda: now)
    taken: list[str] = []

    def take_in(body: Mapping[str, Any]) -> bool:
        if body["id"] == "bad":
            raise KeyError("ts")
        taken.append(body["id"])
        return True

    kept.keep("1", {"id": "bad"})
    kept.keep("2", {"id": "good"})
    for _ in range(50):
        now += 0.25
        with contextlib.suppress(KeyError):
            kept.look(take_in)
    assert taken == ["good"]
    assert kept.waiting == 0
