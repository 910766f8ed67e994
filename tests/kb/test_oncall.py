"""Pastes of somebody at night: several logs in one message, words beside them, and facts that nobody gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.engine import diagnose
from kb.evidence import Source
from kb.library import Library
from tests.kb.conftest import Entries, ask, entry_data, error

CASES = Path(__file__).parents[1] / "cases"
BROADCAST = "No available shared memory broadcast block found in 60 seconds"
FP8 = (
    "(Worker_TP2 pid=1290) ERROR 11-26 04:11:53 [multiproc_executor.py:1057] AssertionError: Kimi-K3 fp8 KV cache "
    "requires an fp8 prefill query; enable --attention-config.\n"
)
RPC = "(EngineCore pid=5) ERROR 11-21 08:18:06 [core.py:1593] TimeoutError: RPC call to sample_tokens timed out.\n"
LOADING = (
    "(Worker_TP0 pid=402) INFO 11-28 01:19:20 [gpu_model_runner.py:5012] Starting to load model moonshotai/Kimi-K3...\n"
    "Loading safetensors checkpoint shards:  41% Completed | 39/96 [14:51<21:33, 22.69s/it]\n"
)


def named(report) -> list[tuple[str, str]]:
    return [(item.entry, item.confidence) for item in report.diagnoses]


@pytest.mark.parametrize("words", ["falls over with this", "падает вот с этим", "이걸로 죽어요", "报这个错"])
def test_siblings_when_the_fact_that_decides_is_unknown_then_neither_is_sure_and_it_is_asked_for(
    builtin: Library, words: str
) -> None:
    report = ask(builtin, f"{words}\n\n{FP8}")
    assert sorted(named(report)) == [
        ("fp8-kv-impossible-on-hopper", "possible"),
        ("fp8-kv-needs-fp8-prefill-query", "possible"),
    ]
    assert all(item.unknown_facts == ["gpu_arch"] for item in report.diagnoses)
    assert any("nvidia-smi" in item.command for item in report.missing_evidence)


@pytest.mark.parametrize("words", ["one box, 8xB300, dies with this", "у нас одна машина 8xB300, падает вот с этим"])
def test_siblings_when_the_words_tell_the_gpu_then_it_decides(builtin: Library, words: str) -> None:
    assert named(ask(builtin, f"{words}\n\n{FP8}"))[0] == ("fp8-kv-needs-fp8-prefill-query", "certain")


def test_alternative_when_the_first_is_only_possible_then_no_surer_than_it(entries: Entries) -> None:
    proof = {"pattern": "proof of both"}
    hopper, blackwell = ({"fact": "gpu_arch", "equals": arch} for arch in ("hopper", "blackwell"))
    library = entries(
        entry_data("on-hopper", signature={"unique": True, "all": [proof, hopper]}),
        entry_data("on-blackwell", signature={"unique": True, "all": [proof, blackwell]}),
        entry_data("later", layer="performance"),
    )
    log = error("proof of both") + error("proof of later", process="Worker_TP0 pid=9", clock="12:05:00")
    assert [confidence for _, confidence in named(ask(library, log))] == ["possible"] * 3


def test_oom_kill_when_the_log_ends_in_the_load_then_not_one_of_serving(builtin: Library) -> None:
    status = "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n\n"
    report = ask(builtin, status + LOADING)
    assert report.diagnoses[0].entry == "host-oom-killer"
    assert "host-oom-killer-serving" not in [item.entry for item in report.diagnoses]


def test_probe_when_refused_while_loading_then_not_a_busy_server(builtin: Library) -> None:
    event = (
        "16m  Warning  Unhealthy  pod/k3-0  Liveness probe failed: dial tcp :8000: connect: connection refused\n"
        "16m  Normal   Killing    pod/k3-0  Container vllm failed liveness probe, will be restarted\n\n"
    )
    report = ask(builtin, event + LOADING)
    assert [item.entry for item in report.diagnoses] == ["load-killed-by-ready-deadline"]


def test_kernel_line_when_pasted_below_a_later_log_then_still_the_earlier_failure(builtin: Library) -> None:
    port = "[Sat Nov 21 08:13:00 2026] mlx5_core 0000:9c:00.0: Port module event[error]: module 0, Cable error, x\n"
    report = ask(builtin, RPC + "\nother node:\n\n" + port)
    assert report.diagnoses[0].entry == "nic-link-down"
    assert report.root_exception is not None
    assert "Port module event" in report.root_exception.text


def test_supervisor_when_it_tells_of_the_end_then_not_the_first_failure(builtin: Library) -> None:
    report = ask(
        builtin,
        "окт 31 02:16:04 gpu-1 systemd[1]: k3.service: Main process exited, code=exited, status=1/FAILURE\n"
        "окт 31 02:18:01 gpu-1 vllm[9]: (EngineCore pid=9) ERROR 10-31 02:18:01 [core.py:1] OSError: [Errno 99] odd\n",
    )
    assert report.root_exception is not None
    assert (report.root_exception.type, report.root_exception.text) == ("OSError", "[Errno 99] odd")


@pytest.mark.parametrize(
    "text",
    [
        f"Раз в минуту в логе «{BROADCAST}». Это уже зависло или можно подождать?",
        f'Every minute the log says "{BROADCAST}". Is it hung or can I wait?',
        f"로그에 {BROADCAST} 가 1분마다 나와요. 멈춘 건가요?",
        f"日志每分钟一条 {BROADCAST}，是卡死了吗",
        f"(EngineCore pid=5) INFO 11-25 03:32:08 [shm_broadcast.py:112] {BROADCAST}.",
    ],
)
def test_note_when_nothing_else_matches_then_shown_and_no_failure_is_named(builtin: Library, text: str) -> None:
    report = ask(builtin, text)
    assert (report.outcome, report.diagnoses) == ("unknown", [])
    assert [note.entry for note in report.notes] == ["shm-broadcast-wait-note"]


SERVING = (
    "INFO:     Application startup complete.\n"
    'INFO:     192.0.2.9:33220 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    'INFO:     192.0.2.9:33220 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    'INFO:     192.0.2.9:33220 - "GET /health HTTP/1.1" 200 OK\n'
)


def test_log_when_healthy_then_said_so_with_the_harmless_lines(builtin: Library) -> None:
    waiting = f"(EngineCore pid=2) INFO 11-28 03:42:20 [shm_broadcast.py:112] {BROADCAST}.\n"
    report = ask(builtin, "is this ok?? lots of warnings after the upgrade\n\n" + waiting + SERVING)
    assert report.outcome == "unrelated"
    assert [note.entry for note in report.notes] == ["healthy", "shm-broadcast-wait-note"]
    assert report.notes[0].evidence[0].line == 6


def test_log_when_it_ends_with_a_line_of_a_note_then_not_called_healthy(builtin: Library) -> None:
    waiting = f"(EngineCore pid=2) INFO 11-28 03:42:20 [shm_broadcast.py:112] {BROADCAST}.\n"
    report = ask(builtin, SERVING + waiting)
    assert [note.entry for note in report.notes] == ["shm-broadcast-wait-note"]


def test_log_when_the_server_was_told_to_stop_then_said_so(builtin: Library) -> None:
    stopped = "(APIServer pid=1) INFO 11-28 04:10:05 [launcher.py:131] Received SIGTERM, shutting down\n"
    report = ask(builtin, SERVING + stopped)
    assert report.outcome == "unrelated"
    assert "stop" in report.notes[0].title


def test_log_when_of_another_program_then_nothing_is_said_of_health(builtin: Library) -> None:
    assert ask(builtin, "npm ERR! code ENOENT\nnpm ERR! syscall open\n").notes == []


def test_message_when_the_reason_stands_in_its_last_line_then_that_line_is_cited(builtin: Library) -> None:
    frame = "(Worker_TP7 pid=6) ERROR 11-27 17:40:51 [multiproc_executor.py:1120] "
    reason = "AssertionError('Loop-carried variable b_h has initial type fp32')"
    lines = [
        "Traceback (most recent call last):",
        '  File "/usr/lib/python3/dist-packages/triton/compiler/compiler.py", line 322, in compile',
        "triton.compiler.errors.CompilationError: at 118:12:",
        "    for i_t in range(NT):",
        "            ^",
        reason,
    ]
    report = ask(builtin, "".join(f"{frame}{line}\n" for line in lines))
    assert named(report) == [("kernel-compile-failed", "possible")]
    assert reason in report.diagnoses[0].evidence[-1].text


def test_prefix_cache_when_off_on_a_decode_pool_then_on_purpose(builtin: Library) -> None:
    config = "(EngineCore pid=4) INFO 11-12 10:01:20 [core.py:139] Initializing a V1 LLM engine (v0.33.0) with config: "
    log = config + "model='/models/Kimi-K3', enable_prefix_caching=False\n" + SERVING
    words = "prefix cache hit rate 0.0% and enable_prefix_caching=False, did somebody switch the cache off?\n\n"
    assert ask(builtin, words + log).diagnoses[0].entry == "prefix-cache-switched-off"
    assert ask(builtin, "looking at the decode pool, " + words + log).diagnoses == []
    fed = "(APIServer pid=1) INFO 11-12 10:14:40 [loggers.py:283] External prefix cache hit rate: 99.2%\n"
    assert ask(builtin, words + log + fed).diagnoses == []


def test_failure_when_of_another_server_in_another_file_then_no_consequence(builtin: Library) -> None:
    files = [Source(name, [(CASES / name).read_bytes()], paste=True) for name in ("nixl_missing.log", "tp3.log")]
    report = diagnose(files, builtin)
    assert [item.entry for item in report.diagnoses] == ["nixl-not-installed", "heads-not-divisible-by-tp"]
    assert "heads-not-divisible-by-tp" not in report.diagnoses[0].consequences


def test_consequence_when_its_title_has_places_then_the_log_fills_them(builtin: Library) -> None:
    kernel = "[Fri Nov 27 03:42:16 2026] NVRM: Xid (PCI:0000:9b:00): "
    report = ask(
        builtin,
        f"{kernel}79, pid=23117, name=VLLM::Worker_PP, GPU has fallen off the bus.\n"
        f"{kernel}154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)\n",
    )
    first = report.diagnoses[0]
    titles = dict(zip(first.consequences, first.consequence_titles, strict=True))
    assert titles["gpu-recovery-action-required"] == "The driver asks for: Node Reboot Required (Xid 154)"
