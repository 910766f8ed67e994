"""Root before consequence, and silence where nothing is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb.engine import diagnose
from kb.evidence import Source
from kb.library import Library
from kb.report import Report
from tests.kb.conftest import BANNER, Entries, ask, entry_data, error

CASES = Path(__file__).parent.parent / "cases"


def case(builtin: Library, name: str) -> Report:
    log = CASES / f"{name}.log"
    return diagnose([Source(log.name, [log.read_bytes()], paste=True)], builtin)


def verdict(name: str) -> dict[str, object]:
    data: dict[str, object] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return data


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.json")))
def test_real_case_when_diagnosed_then_layer_is_that_of_the_verdict(builtin: Library, name: str) -> None:
    report, wanted = case(builtin, name), verdict(name)
    layer = report.layer or report.outcome
    assert layer in {str(wanted["layer"]), *wanted["accept_layers"]}  # type: ignore[misc]


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.json")))
def test_real_case_when_diagnosed_then_a_line_that_proves_it_is_cited(builtin: Library, name: str) -> None:
    report, wanted = case(builtin, name), verdict(name)
    keys = [str(key) for key in wanted["key_lines"]]  # type: ignore[attr-defined]
    raw = (CASES / f"{name}.log").read_text(encoding="utf-8").split("\n")
    cited = [line.line for item in report.diagnoses for line in item.evidence]
    if report.root_exception is not None:
        cited.append(report.root_exception.line)
    assert not keys or any(key.strip() in raw[number - 1] for key in keys for number in cited)


def test_wrappers_when_a_cause_is_in_sight_then_they_are_only_consequences(builtin: Library) -> None:
    report = case(builtin, "nixl_missing")
    assert [item.entry for item in report.diagnoses] == ["nixl-not-installed"]
    assert set(report.diagnoses[0].consequences) >= {"engine-core-init-failed", "worker-failed-wrapper"}
    assert report.diagnoses[0].evidence[0].line == 106


def test_wrappers_when_alone_then_outcome_is_unknown_and_the_first_failure_is_asked_for(builtin: Library) -> None:
    last = "(APIServer pid=1) ERROR 11-29 12:00:00 [async_llm.py:724] AsyncLLM output_handler failed.\n" + error(
        "Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}",
        process="APIServer pid=1",
    )
    report = ask(builtin, last)
    assert (report.outcome, report.layer) == ("unknown", None)
    assert "grep" in report.missing_evidence[0].command


def test_unknown_when_the_exception_is_new_then_it_is_named_with_its_line(builtin: Library) -> None:
    report = case(builtin, "runtime_engine_dead")
    root = report.root_exception
    assert report.outcome == "unknown"
    assert root is not None
    assert (root.type, root.line, root.process) == ("RuntimeError", 152, "Worker")
    assert root.text == "Unsupported CPU attention configuration: head_dim=16 isa=2 kv_cache_idx=0"
    assert report.stage == "first_request"


def test_root_when_a_later_failure_is_known_then_the_earlier_failure_still_stands_first(entries: Entries) -> None:
    first, later = entry_data("first"), entry_data("later")
    report = ask(entries(first, later), error("proof of first") + error("proof of later", clock="12:00:09"))
    assert [item.entry for item in report.diagnoses] == ["first", "later"]
    assert report.diagnoses[1].confidence == "likely"  # never two certain causes


def test_root_when_files_carry_times_then_the_earliest_of_all_hosts_counts(entries: Entries) -> None:
    library = entries(entry_data("first"), entry_data("later"))
    report = ask(library, error("proof of later", clock="12:00:09"), error("proof of first", clock="12:00:01"))
    assert report.diagnoses[0].entry == "first"


def test_tie_when_two_layers_claim_one_line_then_the_earlier_layer_wins(entries: Entries) -> None:
    signature = {"unique": True, "all": [{"pattern": "both claim this"}]}
    library = entries(
        entry_data("a-performance", "performance", signature=signature),
        entry_data("z-environment", "environment", signature=signature),
    )
    assert ask(library, error("both claim this")).diagnoses[0].entry == "z-environment"


def test_explains_when_the_explained_cause_is_later_then_it_is_a_consequence(entries: Entries) -> None:
    driver = entry_data("driver", "environment", explains=["device"])
    device = entry_data("device", "environment")
    report = ask(entries(driver, device), "UserWarning: proof of driver\n" + error("proof of device"))
    assert [item.entry for item in report.diagnoses] == ["driver"]
    assert report.diagnoses[0].consequences == ["device"]


def test_host_fault_when_found_then_it_outranks_a_software_error_before_it(entries: Entries) -> None:
    library = entries(entry_data("disk", "hardware"), entry_data("flag", "config"))
    report = ask(library, error("proof of flag") + error("proof of disk", clock="12:00:05"))
    assert report.diagnoses[0].entry == "disk"


def test_note_when_its_line_is_all_there_is_then_nothing_failed(entries: Entries) -> None:
    library = entries(entry_data("harmless", kind="note"))
    report = ask(library, BANNER.format(version="0.30.0") + error("proof of harmless"))
    assert (report.outcome, report.diagnoses) == ("unrelated", [])


def test_note_when_beside_a_failure_then_it_is_shown_and_never_a_diagnosis(entries: Entries) -> None:
    library = entries(entry_data("harmless", kind="note"), entry_data("alpha"))
    report = ask(library, error("proof of harmless") + error("proof of alpha"))
    assert [item.entry for item in report.diagnoses] == ["alpha"]
    assert [note.entry for note in report.notes] == ["harmless"]


def test_stop_when_it_was_ordered_then_the_dead_engine_is_no_failure(builtin: Library) -> None:
    stop = (
        BANNER.format(version="0.32.0")
        + "INFO:     Application startup complete.\n"
        + "(APIServer pid=1) INFO 11-29 13:50:46 [launcher.py:254] [shutdown] API server: shutdown triggered\n"
        + "(APIServer pid=1) ERROR 11-29 13:50:46 [async_llm.py:906] AsyncLLM output_handler failed.\n"
        + "(APIServer pid=1) ERROR 11-29 13:50:46 [async_llm.py:906] vllm.v1.engine.exceptions.EngineDeadError:"
        + " EngineCore encountered an issue. See stack trace (above) for the root cause.\n"
    )
    assert ask(builtin, stop).outcome == "unrelated"


def test_stop_when_something_failed_before_it_then_that_is_the_failure(builtin: Library) -> None:
    crash = (
        BANNER.format(version="0.32.0")
        + error("a new kind of failure", process="Worker pid=9")
        + "(APIServer pid=1) INFO 11-29 13:50:46 [launcher.py:254] [shutdown] API server: shutdown triggered\n"
    )
    report = ask(builtin, crash)
    assert report.outcome == "unknown"
    assert report.root_exception is not None
    assert report.root_exception.text == "a new kind of failure"


def test_other_engine_when_it_fails_then_nothing_is_claimed(builtin: Library) -> None:
    sglang = (
        "Traceback (most recent call last):\n"
        '  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 1, in x\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a capacity of 275.04 GiB\n"
    )
    assert ask(builtin, sglang).outcome == "unrelated"


def test_request_that_failed_when_only_the_access_log_shows_it_then_refusals_are_healthy(builtin: Library) -> None:
    line = '(APIServer pid=1) INFO:     10.0.0.1:4000 - "POST /v1/chat/completions HTTP/1.1" {}\n'
    assert ask(builtin, line.format("400 Bad Request")).outcome == "unrelated"
    assert ask(builtin, line.format("500 Internal Server Error")).outcome == "unknown"


def test_access_log_of_a_worker_when_no_message_then_place_is_named(entries: Entries) -> None:
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3/dist-packages/vllm/model_loader/weights.py", line 40, in weight_loader\n'
        "    assert param.shape == loaded.shape\nAssertionError\n"
    )
    report = ask(entries(entry_data("alpha")), trace)
    assert report.root_exception is not None
    root = report.root_exception
    assert (root.type, root.text) == ("AssertionError", "in weight_loader (weights.py)")


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("we upgraded and now our server dies", "en"),
        ("업그레이드한 뒤로 서버가 죽습니다", "ko"),
        ("升级之后服务起不来了", "zh"),
        ("после обновления сервер падает", "ru"),
    ],
)
def test_language_when_words_stand_around_the_log_then_the_report_is_in_theirs(
    entries: Entries, words: str, language: str
) -> None:
    report = ask(entries(entry_data("alpha")), f"{words}\n{error('proof of alpha')}")
    assert report.language == language
    assert report.diagnoses[0].title == f"text of alpha in {language}"


def test_empty_input_when_diagnosed_then_said_and_unrelated(builtin: Library) -> None:
    report = ask(builtin, "")
    assert report.outcome == "unrelated"
    assert [item.reason for item in report.coverage.not_read] == ["empty"]
