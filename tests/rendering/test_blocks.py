"""The answer, as people read it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.rendering.blocks import AnswerState, answer, failure_notice, progress
from bot.rendering.message import OutgoingMessage
from kb.entry import Language
from kb.library import Library
from kb.report import (
    Cited,
    Coverage,
    MissingEvidence,
    Report,
    ReportCheck,
    ReportDiagnosis,
    ReportNotRead,
    ReportSource,
    ReportStep,
    RootException,
)
from tests.rendering.slack_limits import assert_within_limits, walk


def diagnosis(**changes: Any) -> ReportDiagnosis:
    values: dict[str, Any] = {
        "entry": "nccl-dmabuf-errno-524",
        "layer": "communication",
        "title": "NCCL cannot register GPU memory",
        "cause": "The driver refuses it. Set `NCCL_DMABUF_ENABLE=0` and see.",
        "confidence": "likely",
        "evidence": [Cited(file="a.log", line=12, text="NCCL WARN failed", process="Worker_TP3", host="n1")],
        "consequences": ["engine-core-init-failed", "gone-from-the-knowledge-base"],
        "checklist": [
            ReportCheck(id="one", text="Is it loaded?", command="lsmod", expect="nvidia_peermem", scope="every_node"),
            ReportCheck(id="two", text="Is the link up?", command="ibstat"),
        ],
        "recovery": [
            ReportStep(text="Switch it off", command="export NCCL_DMABUF_ENABLE=0", risk="restart", verify="it starts"),
            ReportStep(text="Reboot the node", risk="reboot"),
        ],
        "avoid": ["Do not shorten the context"],
        "sources": [ReportSource(title="nccl#1", url="https://example.org/1", as_of="2026-11-29")],
        "version_note": None,
    }
    return ReportDiagnosis(**(values | changes))


def report(*diagnoses: ReportDiagnosis, **changes: Any) -> Report:
    values: dict[str, Any] = {
        "outcome": "matched",
        "language": "en",
        "layer": "communication",
        "stage": None,
        "diagnoses": list(diagnoses or [diagnosis()]),
        "root_exception": None,
        "notes": [],
        "facts": {},
        "missing_evidence": [MissingEvidence(what="The other nodes", command="docker logs CONTAINER")],
        "coverage": Coverage(bytes_read=2048, lines_read=20, files=["a.log"], not_read=[]),
    }
    return Report(**(values | changes))


def shown(message: OutgoingMessage) -> list[str]:
    """The lines of a message, in order."""
    lines: list[str] = []
    for block in message.blocks:
        if block["type"] == "rich_text":
            for part in walk(block):
                if part.get("type") in ("rich_text_section", "rich_text_preformatted"):
                    lines.append("".join(run.get("text") or f"@{run['user_id']}" for run in part["elements"]))
        else:
            lines += [one["text"] for one in walk(block) if one.get("type") in ("plain_text", "mrkdwn")]
    return lines


def buttons(message: OutgoingMessage) -> dict[str, str]:
    """Action id and label of the buttons below the answer."""
    return {one["action_id"]: one["text"]["text"] for one in message.blocks[-1]["elements"] if one["type"] == "button"}


def test_layer_cause_and_confidence_come_first_with_the_line_that_proves_them(library: Library) -> None:
    lines = shown(answer(report(), AnswerState("abc"), library))
    assert lines[:7] == [
        "NCCL cannot register GPU memory",
        "Layer: NCCL, RDMA, NVLink and all-to-all (communication)",
        "Confidence: likely. Confirm it with the checks below",
        "The driver refuses it. Set `NCCL_DMABUF_ENABLE=0` and see.",
        "Evidence",
        "a.log:12  Worker_TP3 n1",
        "NCCL WARN failed",
    ]
    assert lines[7].startswith("Read from the log: ")


def test_the_sections_follow_in_the_order_of_the_work(library: Library) -> None:
    lines = shown(answer(report(), AnswerState("abc"), library))
    headings = ["Evidence", "Check", "Recover", "Do not", "Only consequences", "Still needed", "Sources"]
    assert [line for line in lines if line in headings] == headings
    assert "1. Switch it off  [needs a restart]" in lines
    assert "export NCCL_DMABUF_ENABLE=0" in lines
    assert "then: it starts" in lines
    assert "gone-from-the-knowledge-base" in lines


def test_ticks_are_seen_by_all_with_who_and_when(library: Library) -> None:
    state = AnswerState("abc", ticked={"nccl-dmabuf-errno-524/two": ("U0AB1", "2026-11-29T12:00:00Z")})
    message = answer(report(), state, library)
    group = next(block for block in message.blocks if str(block.get("block_id")).startswith("tick:"))
    boxes = group["elements"][0]
    assert group["block_id"] == "tick:abc:0:2"
    assert [option["value"] for option in boxes["options"]] == [
        "nccl-dmabuf-errno-524/one",
        "nccl-dmabuf-errno-524/two",
    ]
    assert boxes["options"][0]["text"]["text"] == "1. Is it loaded? (on every node)"
    assert boxes["options"][0]["description"]["text"] == "good: nvidia_peermem"
    assert boxes["initial_options"] == boxes["options"][1:]
    assert "✓ 2 <@U0AB1> <!date^1795953600^{date_short_pretty} {time}|2026-11-29 12:00 UTC>" in shown(message)


def test_a_tick_of_an_unknown_check_or_time_does_no_harm(library: Library) -> None:
    ticked = {"gone/check": ("U1", ""), "nccl-dmabuf-errno-524/one": ("<!channel>", "once upon a time")}
    message = answer(report(), AnswerState("abc", ticked=ticked), library)
    assert "✓ 1 ?" in shown(message)
    assert_within_limits(message)


def test_a_check_too_long_for_its_box_stands_in_full_below_it(library: Library) -> None:
    text = "Look at " + "every " * 20 + "node"
    item = diagnosis(checklist=[ReportCheck(id="one", text=text, expect="x" * 90, scope="container")])
    lines = shown(answer(report(item), AnswerState("abc"), library))
    assert any(line.startswith("1. Look at every") and line.endswith("…") and len(line) <= 75 for line in lines)
    assert f"1. {text} (in the container)" in lines
    assert "good: " + "x" * 90 in lines


def test_eleven_checks_show_ten_until_unfolded_and_then_two_groups(library: Library) -> None:
    checks = [ReportCheck(id=f"c{n}", text=f"Check {n}") for n in range(11)]
    folded = answer(report(diagnosis(checklist=checks)), AnswerState("abc"), library)
    assert "Not shown here: 1" in shown(folded)
    assert [one["action_id"] for one in walk(folded.blocks) if "show_more" in str(one.get("action_id"))] == [
        "show_more:checks"
    ]
    unfolded = answer(report(diagnosis(checklist=checks)), AnswerState("abc", expanded=frozenset({"checks"})), library)
    groups = [one for one in walk(unfolded.blocks) if one.get("type") == "checkboxes"]
    assert [len(group["options"]) for group in groups] == [10, 1]
    assert unfolded.files == []


def test_what_not_even_unfolding_shows_is_in_the_attached_report(library: Library) -> None:
    steps = [ReportStep(text=f"Step {n} " + "x" * 300, risk="safe") for n in range(60)]
    state = AnswerState("abc", expanded=frozenset({"recovery"}))
    message = answer(report(diagnosis(recovery=steps)), state, library)
    assert any(line.startswith("Not in this message but in the report: ") for line in shown(message))
    assert [file.name for file in message.files] == ["k3-triage-nccl-dmabuf-errno-524.en.md"]
    assert b"Step 59" in message.files[0].content


def test_half_a_command_is_never_shown(library: Library) -> None:
    command = "rm -rf /data/" + "x" * 3_000
    step = ReportStep(text="Clean", command=command, risk="data")
    lines = shown(answer(report(diagnosis(recovery=[step])), AnswerState("abc"), library))
    assert not any("rm -rf" in line for line in lines)
    assert f"The command ({len(command)} characters) does not fit here: see the report" in lines


def test_alternatives_wait_behind_their_button(library: Library) -> None:
    other = diagnosis(title="Something else", confidence="possible", layer="hardware")
    folded = answer(report(diagnosis(), other, other), AnswerState("abc"), library)
    assert "Something else" not in " ".join(shown(folded))
    assert buttons(folded)["alternatives"] == "Show alternatives (2)"
    assert "Also possible, not shown here: 2" in " ".join(shown(folded))
    unfolded = answer(report(diagnosis(), other), AnswerState("abc", alternatives_shown=True), library)
    assert "Something else  [possible]  Hardware" in shown(unfolded)
    assert "alternatives" not in buttons(unfolded)


def test_the_buttons_carry_the_incident(library: Library) -> None:
    message = answer(report(), AnswerState("abc"), library)
    assert list(buttons(message)) == ["resolved", "wrong", "report_file", "delete_incident"]
    elements = message.blocks[-1]["elements"]
    assert {one["value"] for one in elements if one["type"] == "button"} == {"abc"}
    menu = next(one for one in elements if one["type"] == "static_select")
    assert menu["action_id"] == "language_select"
    assert menu["initial_option"]["value"] == "en"
    assert message.blocks[-1]["block_id"] == "answer:abc"


@pytest.mark.parametrize(
    ("status", "user", "line"),
    [
        ("resolved", "U1", "Resolved, says @U1."),
        ("resolved", None, "Resolved."),
        ("wrong", "U1", "@U1 says that this diagnosis is wrong. What it really was is kept with this incident, for"),
    ],
)
def test_what_people_concluded_stands_at_the_top(library: Library, status: Any, user: str | None, line: str) -> None:
    message = answer(report(), AnswerState("abc", status=status, resolved_by=user), library)
    assert shown(message)[0].startswith(line)
    assert ("resolved" in buttons(message)) == (status == "wrong")


def test_what_changed_is_said_and_unknown_news_do_no_harm(library: Library) -> None:
    message = answer(report(), AnswerState("abc", changed=["cause", "facts", "gone", "head.x"]), library)
    assert shown(message)[0] == "Updated: another cause, more is known of the set-up, the answer"


def test_unknown_says_where_to_start_and_what_to_collect(library: Library) -> None:
    root = RootException(type="RuntimeError", text="no <idea>", process="Worker", file="a.log", line=3)
    message = answer(
        report(outcome="unknown", layer=None, diagnoses=[], root_exception=root), AnswerState("abc"), library
    )
    lines = shown(message)
    assert lines[:5] == [
        "A failure this knowledge base does not explain",
        "Unknown cause. The first failure is the place to start.",
        "First failure",
        "a.log:3  Worker",
        "RuntimeError: no <idea>",
    ]
    assert lines[lines.index("What to collect next") + 1 :][:2] == ["The other nodes", "docker logs CONTAINER"]
    assert buttons(message)["wrong"] == "I know the cause"
    assert message.text == "A failure this knowledge base does not explain: RuntimeError: no &lt;idea&gt;"


def test_unrelated_is_short_and_says_what_would_help(library: Library) -> None:
    lost = Coverage(bytes_read=0, lines_read=0, files=[], not_read=[ReportNotRead(file="x.7z", reason="a 7z archive")])
    state = AnswerState("abc")
    message = answer(
        report(outcome="unrelated", layer=None, diagnoses=[], missing_evidence=[], coverage=lost), state, library
    )
    lines = shown(message)
    assert lines[0] == "Nothing here looks like a failure of serving with vLLM."
    assert "paste the log of the server" in lines[1]
    assert "x.7z: a 7z archive" in lines
    assert "resolved" not in buttons(message)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Nothing here looks like a failure of serving with vLLM."),
        ("ko", "vLLM 서빙 장애로 보이는 내용이 없습니다."),
        ("zh", "这里没有看到 vLLM 服务故障的迹象。"),
        ("ru", "Здесь нет ничего похожего на сбой vLLM."),
    ],
)
def test_the_answer_is_in_the_language_of_the_report(library: Library, language: Language, text: str) -> None:
    message = answer(
        report(outcome="unrelated", layer=None, diagnoses=[], language=language), AnswerState("abc"), library
    )
    assert shown(message)[0] == text


def test_code_is_code_only_where_the_author_of_the_entry_wrote_it_so(library: Library) -> None:
    entry = next(library.entry(rule.id) for rule in library.rules if "`" in library.entry(rule.id).cause.en)
    written = entry.cause.en.split("`")[1]
    item = diagnosis(entry=entry.id, cause=f"`{written}` and `from the log`")
    message = answer(report(item), AnswerState("abc"), library)
    code = [run["text"] for run in walk(message.blocks) if run.get("style") == {"code": True}]
    assert written in code
    assert "from the log" not in code
    assert f"{written} and `from the log`" in shown(message)


def test_a_source_is_a_link_only_to_the_web(library: Library) -> None:
    urls = ["https://example.org/1", "javascript:alert(1)", "file:///etc/passwd"]
    sources = [ReportSource(title=f"source {url[:4]}", url=url, as_of="2026-11-29") for url in urls]
    message = answer(report(diagnosis(sources=sources)), AnswerState("abc"), library)
    assert [one["url"] for one in walk(message.blocks) if one.get("type") == "link"] == urls[:1]


def test_progress_tells_how_far_reading_has_come() -> None:
    assert shown(progress("en", 3 << 20, 12 << 20, "a.tar.gz")) == ["Reading a.tar.gz: 3.0 MiB of 12.0 MiB (25 %)"]
    assert shown(progress("ko", 3 << 20, None, "a.tar.gz")) == ["a.tar.gz 읽는 중: 지금까지 3.0 MiB"]


def test_a_notice_is_a_text_of_the_catalogue_with_values_shown_literally() -> None:
    message = failure_notice("en", "internal", incident="<!here>\u202e")
    assert "giving the incident <!here>\\u202e." in shown(message)[0]
    assert shown(failure_notice("en", "slack.failure.deleted"))[0].startswith("This incident has been deleted")
    with pytest.raises(KeyError):
        failure_notice("en", "no_such_notice")
