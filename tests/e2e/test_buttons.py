"""Each button of an answer, pressed by people."""

import threading

import pytest

from bot.lease import Lease
from bot.workspace import posting
from bot.workspace.reading import Shown
from bot.workspace.validation.blocks import elements_of
from tests.e2e.world import DMABUF, DRIVER, ENTRIES, World, fenced, until


def _action_ids(shown: Shown) -> list[str]:
    return [element.get("action_id", "") for block in shown.message.blocks for element in elements_of(block)]


@pytest.fixture
def asked(pair: World):  # type: ignore[no-untyped-def]
    """A message of emma's with its answer in place."""
    message = pair.workspace.person("emma").post(
        "general", f"{pair.mention} please help us here\n{fenced(DMABUF[:3500])}"
    )
    pair.answer(message)
    return message


def test_tick_when_two_people_tick_then_both_are_kept_with_their_names(pair: World, asked) -> None:  # type: ignore[no-untyped-def]
    emma, wei = pair.workspace.person("emma"), pair.workspace.person("wei")
    answer = pair.answer(asked)
    first, second = answer.ticks[0], answer.ticks[1]
    emma.tick(answer.message, first.value)
    pair.answer_when(asked, lambda shown: shown.ticks[0].ticked)
    wei.tick(pair.answer(asked).message, second.value)
    both = pair.answer_when(asked, lambda shown: shown.ticks[0].ticked and shown.ticks[1].ticked)
    assert "Emma" in both.text
    assert "王伟" in both.text
    emma.tick(both.message, first.value, on=False)
    after = pair.answer_when(asked, lambda shown: not shown.ticks[0].ticked)
    assert after.ticks[1].ticked


def test_tick_when_two_people_tick_at_once_then_nobody_undoes_the_other(pair: World, asked) -> None:  # type: ignore[no-untyped-def]
    answer = pair.answer(asked)
    pair.workspace.person("emma").tick(answer.message, answer.ticks[0].value, wait=False)
    pair.workspace.person("wei").tick(answer.message, answer.ticks[1].value, wait=False)
    pair.answer_when(asked, lambda shown: shown.ticks[0].ticked and shown.ticks[1].ticked)


def test_resolved_when_pressed_twice_then_it_is_resolved_once(pair: World, asked) -> None:  # type: ignore[no-untyped-def]
    answer = pair.answer(asked)
    minjun = pair.workspace.person("minjun")
    minjun.press(answer.message, "resolved", wait=False)
    minjun.press(answer.message, "resolved", wait=False)
    shown = pair.answer_when(asked, lambda shown: "김민준" in shown.text)
    pair.idle()
    assert len(pair.of_bot(asked)) == 1
    incident = pair.bot.service.store.find(shown.message.channel, asked.ts)
    assert incident is not None
    assert [what for _, _, what, _ in pair.bot.service.store.history(incident.id)].count("resolved") == 1


def test_wrong_when_the_form_is_submitted_then_the_verdict_is_kept(pair: World, asked) -> None:  # type: ignore[no-untyped-def]
    olga = pair.workspace.person("olga")
    olga.press(pair.answer(asked).message, "wrong")
    olga.wait_for_modal()
    assert olga.submit({"wrong_text": "the switch lost power"}).accepted
    pair.answer_when(asked, lambda shown: "Ольга" in shown.text)
    assert "the switch lost power" in pair.stored()


def test_language_when_chosen_then_the_answer_is_in_it_and_stays(pair: World, asked) -> None:  # type: ignore[no-untyped-def]
    minjun = pair.workspace.person("minjun")
    for language, sign in (("ko", "계층"), ("zh", "层"), ("ru", "Слой"), ("ko", "계층")):
        minjun.choose(pair.answer(asked).message, "language_select", language)
        try:
            pair.answer_when(asked, lambda shown, sign=sign: sign in shown.text or sign in str(shown.message.text))
        except AssertionError as error:
            raise AssertionError(language) from error
    pair.workspace.person("emma").reply(asked, fenced("RuntimeError: CUDA error: an illegal memory access"))
    pair.idle()
    assert "가" in pair.answer(asked).text or "다" in pair.answer(asked).text


def test_resolved_when_too_early_then_reopened(pair: World, asked) -> None:  # type: ignore[no-untyped-def]
    emma, wei = pair.workspace.person("emma"), pair.workspace.person("wei")
    emma.press(pair.answer(asked).message, "resolved")
    resolved = pair.answer_when(asked, lambda shown: "reopen" in _action_ids(shown))
    assert "resolved" not in _action_ids(resolved)
    wei.press(resolved.message, "reopen")
    again = pair.answer_when(asked, lambda shown: "resolved" in _action_ids(shown))
    assert "Resolved, says" not in again.text


def test_report_when_pressed_twice_then_one_file_and_a_hint(pair: World, asked) -> None:  # type: ignore[no-untyped-def]
    emma = pair.workspace.person("emma")
    answer = pair.answer(asked)
    emma.press(answer.message, "report_file")
    until(lambda: [one for one in pair.of_bot(asked) if one.files])
    emma.press(answer.message, "report_file")
    until(lambda: [one for one in emma.read_thread(asked) if one.ephemeral])
    pair.idle()
    assert len([one for one in pair.of_bot(asked) if one.files]) == 1


def test_delete_when_pressed_by_another_then_refused_and_by_the_author_then_all_is_gone(pair: World, asked) -> None:  # type: ignore[no-untyped-def]
    answer = pair.answer(asked)
    wei, emma = pair.workspace.person("wei"), pair.workspace.person("emma")
    wei.press(answer.message, "delete_incident")
    until(lambda: [one for one in wei.read_thread(asked) if one.ephemeral])
    assert pair.answer(asked)
    emma.press(answer.message, "delete_incident")
    until(lambda: not [one for one in pair.of_bot(asked) if one.buttons])
    pair.idle()
    assert f"'{asked.ts}'" not in pair.stored()


def test_tick_when_another_unticks_it_and_a_stale_message_is_pressed_then_it_stays_off(pair: World, asked) -> None:  # type: ignore[no-untyped-def]
    answer = pair.answer(asked)
    first, second = answer.ticks[0].value, answer.ticks[1].value
    incident = pair.bot.service.store.find(asked.channel, asked.ts)
    assert incident is not None
    blocks = [dict(block) for block in answer.message.blocks if str(block.get("block_id", "")).startswith("tick:")]
    emma, wei = pair.workspace.person("emma"), pair.workspace.person("wei")

    def press(user: str, *chosen: str, block: dict[str, object]) -> None:
        values = {"block_id": block["block_id"], "chosen": list(chosen), "blocks": blocks, "thread_ts": asked.ts}
        payload = {"incident": incident.id, "name": "tick", "user": user, "channel": asked.channel, "values": values}
        pair.bot.service.actions.apply(payload, Lease("", threading.Event()))

    ticked_block = {"block_id": blocks[0]["block_id"].removesuffix(":0") + ":1"}
    press(emma.id, first, block=blocks[0])
    press(wei.id, block=ticked_block)
    assert pair.bot.service.store.ticked(incident.id) == {}
    press(emma.id, first, second, block=blocks[0])  # drawn before anybody ticked
    assert set(pair.bot.service.store.ticked(incident.id)) == {second}


def test_alternatives_when_pressed_then_they_are_shown_in_the_answer(pair: World) -> None:
    emma = pair.workspace.person("emma")
    asked = emma.post("general", f"{pair.mention} please help us here\n{fenced(DMABUF[:3300])}")
    emma.reply(asked, fenced(DRIVER[:3000]))
    before = pair.answer_when(asked, lambda shown: "alternatives" in _action_ids(shown))
    pair.workspace.person("wei").press(before.message, "alternatives")
    after = pair.answer_when(asked, lambda shown: shown.text != before.text)
    incident = pair.bot.service.store.find(asked.channel, asked.ts)
    assert incident is not None
    assert incident.alternatives
    assert incident.language
    report = (pair.bot.service.store.reports(incident.id) or {})[incident.language]
    assert len(report.diagnoses) > 1
    assert [one.title for one in report.diagnoses[1:3] if one.title not in after.text] == []
    assert len(after.text) > len(before.text)
    assert after.ts == before.ts


def test_show_more_when_pressed_then_the_section_is_unfolded_for_all(pair: World) -> None:
    log = (ENTRIES / "dependencies/host-python-packages-over-image/match/home-mounted-zh.log").read_text()
    asked = pair.workspace.person("emma").post("general", f"{pair.mention} please help us here\n{fenced(log)}")
    before = pair.answer(asked)
    folded = [one for one in _action_ids(before) if one.startswith("show_more:")]
    assert folded
    pair.workspace.person("olga").press(before.message, folded[0])
    after = pair.answer_when(asked, lambda shown: shown.text != before.text)
    assert folded[0] not in _action_ids(after)
    assert len(pair.of_bot(asked)) == 1


def test_answer_when_someone_deleted_it_then_it_is_posted_anew_once(pair: World, asked) -> None:  # type: ignore[no-untyped-def]
    first = pair.answer(asked)
    posting.delete(pair.workspace, first.message)
    assert pair.of_bot(asked) == []
    emma = pair.workspace.person("emma")
    emma.reply(asked, f"{pair.mention} where is the answer?")
    second = pair.answer(asked)
    assert second.ts != first.ts
    emma.press(second.message, "resolved")
    pair.answer_when(asked, lambda shown: "Emma" in shown.text)
    pair.idle()
    assert [one.ts for one in pair.of_bot(asked) if one.buttons] == [second.ts]


def test_button_when_stale_then_it_explains_itself(pair: World, asked) -> None:  # type: ignore[no-untyped-def]
    answer = pair.answer(asked)
    incident = pair.bot.service.store.find(asked.channel, asked.ts)
    assert incident is not None
    pair.bot.service.store.delete(incident.id)
    emma = pair.workspace.person("emma")
    emma.press(answer.message, "resolved")
    said = until(lambda: [one for one in emma.read_thread(asked) if one.ephemeral])
    assert "no longer kept" in said[-1].text
    emma.press(answer.message, "wrong")
    assert "no longer kept" in str(emma.wait_for_modal().blocks)
