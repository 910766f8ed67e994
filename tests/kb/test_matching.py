"""Signatures: patterns, distances, facts, releases, stages, and what an unknown fact does."""

from __future__ import annotations

import pytest

from tests.kb.conftest import BANNER, Entries, ask, entry_data, error


def named(report) -> list[tuple[str, str]]:
    return [(item.entry, item.confidence) for item in report.diagnoses]


def test_signature_when_unique_text_is_in_an_error_then_certain(entries: Entries) -> None:
    library = entries(entry_data("alpha"))
    assert named(ask(library, error("proof of alpha"))) == [("alpha", "certain")]


def test_signature_when_not_unique_then_likely(entries: Entries) -> None:
    library = entries(entry_data("alpha", signature={"all": [{"pattern": "proof of alpha"}]}))
    assert named(ask(library, error("proof of alpha"))) == [("alpha", "likely")]


def test_signature_when_confidence_of_the_knowledge_is_low_then_possible(entries: Entries) -> None:
    library = entries(entry_data("alpha", confidence="low"))
    assert named(ask(library, error("proof of alpha"))) == [("alpha", "possible")]


def test_all_when_one_pattern_is_missing_then_no_match(entries: Entries) -> None:
    library = entries(entry_data("alpha", signature={"all": [{"pattern": "first part"}, {"pattern": "second part"}]}))
    report = ask(library, error("first part"))
    assert (report.outcome, report.diagnoses) == ("unknown", [])


def test_any_when_one_of_two_is_there_then_match(entries: Entries) -> None:
    wordings = [{"pattern": "one wording"}, {"pattern": "other wording"}]
    library = entries(entry_data("alpha", signature={"any": wordings}))
    assert named(ask(library, error("other wording"))) == [("alpha", "likely")]


def test_none_when_its_pattern_is_anywhere_then_no_match(entries: Entries) -> None:
    signature = {"unique": True, "all": [{"pattern": "proof"}], "none": [{"pattern": "harmless because"}]}
    library = entries(entry_data("alpha", signature=signature))
    assert named(ask(library, error("proof"))) == [("alpha", "certain")]
    assert ask(library, error("proof") + error("harmless because of this")).outcome == "unknown"


def test_within_when_lines_are_of_other_processes_then_distance_is_counted_in_the_own_process(entries: Entries) -> None:
    signature = {"unique": True, "all": [{"pattern": "proof"}, {"pattern": "detail", "within": 1}]}
    library = entries(entry_data("alpha", signature=signature))
    noise = "".join(f"(Worker_TP{n} pid={100 + n}) INFO 11-29 12:00:00 [a.py:1] busy\n" for n in range(8))
    torn = error("proof") + noise + "(EngineCore_DP0 pid=7) ERROR 11-29 12:00:00 [core.py:708] detail\n"
    assert named(ask(library, torn)) == [("alpha", "certain")]


def test_within_when_another_process_says_it_then_no_match(entries: Entries) -> None:
    signature = {"unique": True, "all": [{"pattern": "proof"}, {"pattern": "detail", "within": 5}]}
    library = entries(entry_data("alpha", signature=signature))
    report = ask(library, error("proof") + error("detail", process="Worker_TP1 pid=9"))
    assert report.diagnoses == []


def test_within_when_a_native_line_names_no_process_then_raw_lines_count(entries: Entries) -> None:
    signature = {"unique": True, "all": [{"pattern": "proof"}, {"pattern": "Unknown error 524", "within": 2}]}
    library = entries(entry_data("alpha", signature=signature))
    assert named(ask(library, error("proof") + "strerror says Unknown error 524\n")) == [("alpha", "certain")]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.27.1", [("alpha", "certain")]),
        ("0.1.dev19262+gb6bbf29dd.d20260727", [("alpha", "certain")]),
        ("0.30.0", [("alpha", "possible")]),
    ],
)
def test_fixed_in_when_release_is_known_then_it_decides(entries: Entries, version: str, expected: object) -> None:
    library = entries(entry_data("alpha", applies_to={"fixed_in": "0.28.0"}))
    report = ask(library, BANNER.format(version=version) + error("proof of alpha"))
    assert named(report) == expected
    note = report.diagnoses[0].version_note
    assert (note is not None and "0.28.0" in note and version in note) == (version == "0.30.0")


def test_fixed_in_when_release_is_unknown_then_says_that_it_depends(entries: Entries) -> None:
    library = entries(entry_data("alpha", applies_to={"fixed_in": "0.28.0"}))
    report = ask(library, error("proof of alpha"))
    assert named(report) == [("alpha", "likely")]
    assert "vllm --version" in (report.diagnoses[0].version_note or "")
    assert any("vllm --version" in item.command for item in report.missing_evidence)


def test_release_range_when_outside_and_text_is_shared_then_no_match(entries: Entries) -> None:
    signature = {"all": [{"pattern": "proof of alpha"}]}
    library = entries(entry_data("alpha", applies_to={"vllm": "<0.28"}, signature=signature))
    assert ask(library, BANNER.format(version="0.30.0") + error("proof of alpha")).diagnoses == []


def test_release_range_when_text_is_not_compared_then_0_9_is_older_than_0_10(entries: Entries) -> None:
    library = entries(entry_data("alpha", applies_to={"fixed_in": "0.10.0"}))
    assert named(ask(library, BANNER.format(version="0.9.2") + error("proof of alpha"))) == [("alpha", "certain")]


def test_fact_when_unknown_then_not_certain_and_asked_for(entries: Entries) -> None:
    signature = {"unique": True, "all": [{"pattern": "proof"}, {"fact": "driver_version", "version": "<580"}]}
    library = entries(entry_data("alpha", signature=signature))
    report = ask(library, error("proof"))
    assert named(report) == [("alpha", "likely")]
    assert report.diagnoses[0].unknown_facts == ["driver_version"]
    assert any(item.command.startswith("nvidia-smi") for item in report.missing_evidence)


def test_fact_when_it_contradicts_then_no_match(entries: Entries) -> None:
    signature = {"unique": True, "all": [{"pattern": "proof"}, {"fact": "tp_size", "equals": 16}]}
    library = entries(entry_data("alpha", signature=signature))
    command = "$ vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8\n"
    assert ask(library, command + error("proof")).diagnoses == []


def test_fact_when_it_holds_then_its_line_is_cited(entries: Entries) -> None:
    signature = {"unique": True, "all": [{"pattern": "proof"}, {"fact": "tp_size", "equals": 8}]}
    library = entries(entry_data("alpha", signature=signature))
    report = ask(library, "$ vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8\n" + error("proof"))
    assert [line.line for line in report.diagnoses[0].evidence] == [2, 1]


def test_flag_when_the_command_is_known_without_it_then_it_counts_as_absent(entries: Entries) -> None:
    fact = {"fact": "flag.enable_expert_parallel", "present": False}
    library = entries(entry_data("alpha", signature={"unique": True, "all": [{"pattern": "proof"}, fact]}))
    command = "$ vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8{}\n"
    assert named(ask(library, command.format("") + error("proof"))) == [("alpha", "certain")]
    assert ask(library, command.format(" --enable-expert-parallel") + error("proof")).diagnoses == []


def test_stage_when_server_was_ready_then_a_startup_entry_does_not_match(entries: Entries) -> None:
    startup = entry_data("early", "memory_startup", stage="startup", signature={"all": [{"pattern": "out of room"}]})
    serving = entry_data("late", "memory_runtime", stage="serving", signature={"all": [{"pattern": "out of room"}]})
    library = entries(startup, serving)
    ready = "(APIServer pid=1) INFO:     Application startup complete.\n"
    engine = (
        "(EngineCore_DP0 pid=7) INFO 11-29 11:59:30 [core.py:1] Initializing a V1 LLM engine (v0.30.0) with config: x"
    )
    engine += "\n"
    assert named(ask(library, engine + error("out of room"))) == [("early", "likely")]
    assert named(ask(library, engine + ready + error("out of room"))) == [("late", "likely")]


def test_stage_when_unknown_then_both_are_possible_and_the_whole_log_is_asked_for(entries: Entries) -> None:
    startup = entry_data("early", "memory_startup", stage="startup", signature={"all": [{"pattern": "out of room"}]})
    serving = entry_data("late", "memory_runtime", stage="serving", signature={"all": [{"pattern": "out of room"}]})
    report = ask(entries(startup, serving), error("out of room"))
    assert sorted(named(report)) == [("early", "possible"), ("late", "possible")]
    assert any("server.log" in item.command for item in report.missing_evidence)


def test_generic_text_when_the_log_is_another_programs_then_nothing_is_claimed(entries: Entries) -> None:
    signature = {"generic": True, "all": [{"pattern": "No space left on device"}]}
    library = entries(entry_data("disk", "weights_loading", signature=signature))
    django = 'Traceback (most recent call last):\n  File "/srv/django/app.py", line 3, in save\n    f.write(x)\n'
    assert ask(library, django + "OSError: [Errno 28] No space left on device\n").outcome == "unrelated"
    vllm = 'Traceback (most recent call last):\n  File "/usr/lib/vllm/loader.py", line 3, in save\n    f.write(x)\n'
    assert named(ask(library, vllm + "OSError: [Errno 28] No space left on device\n")) == [("disk", "likely")]


def test_named_groups_when_matched_then_fill_the_texts(entries: Entries) -> None:
    title = dict.fromkeys(("en", "ko", "zh", "ru"), "needs {need} GiB")
    signature = {"unique": True, "all": [{"pattern": r"short of (?P<need>[\d.]+) GiB"}]}
    report = ask(entries(entry_data("alpha", signature=signature, title=title)), error("short of 12.5 GiB"))
    assert report.diagnoses[0].title == "needs 12.5 GiB"


def test_platform_when_the_log_shows_another_then_no_match(entries: Entries) -> None:
    library = entries(entry_data("alpha", applies_to={"platform": ["rocm"]}))
    cuda = "(APIServer pid=1) INFO 11-29 11:59:00 [__init__.py:1] Automatically detected platform cuda.\n"
    assert named(ask(library, error("proof of alpha"))) == [("alpha", "certain")]
    assert ask(library, cuda + error("proof of alpha")).diagnoses == []
