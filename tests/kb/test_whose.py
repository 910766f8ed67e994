"""Whose failure it is, and whether there is one: other engines, other vendors, libraries without a log level, hangs."""

from __future__ import annotations

import pytest

from kb.filling import title_of
from kb.library import Library
from kb.matching import Match
from kb.report import ELSEWHERE
from tests.kb.conftest import ask

NVSHMEM = "/dvs/p4/build/sw/rel/gpgpu/toolkit/r13.0/main_nvshmem/src/"
DEEPEP = "(EngineCore_DP3 pid=702) INFO 11-30 01:14:09 [all2all.py:281] Using DeepEP low-latency all2all manager\n"
WAITS = (
    "(EngineCore pid=190) INFO 11-30 01:{at}:13 [shm_broadcast.py:681] No available shared memory broadcast block "
    "found in 60 seconds. This typically happens when some processes are hanging or doing some time-consuming work "
    "(e.g. compilation, weight/kv cache quantization).\n"
)
START = (
    "(EngineCore pid=190) INFO 11-30 01:20:11 [gpu_model_runner.py:5012] Starting to load model moonshotai/Kimi-K3...\n"
)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("host/topo/topo.cpp:477: non-zero status: 7 building the map failed ", "non-zero status: 7"),
        ("host/team/team.cpp:nvshmemi_team_init:12: NULL value mem_alloc failed", "NULL value"),
        ("host/transport/transport.cpp:nvshmemi_transport_init:282: init failed for transport: X", "init failed for"),
        ("host/init/init.cu:nvshmemi_check_state_and_init:1216: nvshmem initialization failed, exiting", "exiting"),
    ],
)
@pytest.mark.parametrize("frame", ["", "[pod/kimi-k3-decode-0/vllm] "])
def test_nvshmem_when_it_fails_then_its_first_line_is_the_first_failure(
    builtin: Library, line: str, said: str, frame: str
) -> None:
    log = DEEPEP + f"{NVSHMEM}{line}\n" + f"{NVSHMEM}host/init/init.cu:1138: non-zero status: 7 setup failed\n" * 2
    report = ask(builtin, "".join(frame + one + "\n" for one in log.splitlines()))
    assert report.outcome != "unrelated"
    assert report.root_exception is not None
    assert (report.root_exception.line, said in report.root_exception.text) == (2, True)


@pytest.mark.parametrize("words", ["", "K3 on the other cluster dies on start, what is it?\n\n"])
def test_failure_when_of_another_engine_then_its_name_is_said(builtin: Library, words: str) -> None:
    log = (
        "[2026-11-29 02:11:04 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 2914, in run_scheduler_process\n'
        "    scheduler = Scheduler(\n"
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n"
    )
    report = ask(builtin, words + log)
    assert report.outcome == "unrelated"
    assert [(note.entry, "SGLang" in note.title) for note in report.notes] == [(ELSEWHERE, True)]


@pytest.mark.parametrize(
    ("times", "outcome"), [(["21"], "unrelated"), (["21", "22"], "unknown"), (["21", "22", "23"], "unknown")]
)
def test_log_when_it_ends_in_waiting_again_and_again_then_it_may_hang(
    builtin: Library, times: list[str], outcome: str
) -> None:
    report = ask(builtin, START + "".join(WAITS.format(at=at) for at in times))
    assert report.outcome == outcome
    assert "shm-broadcast-wait-note" in [note.entry for note in report.notes]


@pytest.mark.parametrize(
    "words", ["K3 一直停在这里不动", "여기서 먹통입니다 K3", "K3 висит на этом месте", "K3 is stuck here"]
)
def test_log_when_somebody_says_that_it_hangs_then_it_is_not_well(builtin: Library, words: str) -> None:
    assert ask(builtin, f"{words}\n\n{START}{WAITS.format(at='21')}").outcome == "unknown"


def test_words_when_the_machine_is_of_another_vendor_then_no_entry_of_this_one(builtin: Library) -> None:
    words = "the container was started without GPUs, torch says Found no NVIDIA driver on your system"
    assert ask(builtin, words).diagnoses[0].entry == "container-without-gpu-driver"
    on_amd = ask(builtin, f"MI355X: {words}")
    assert "container-without-gpu-driver" not in [item.entry for item in on_amd.diagnoses]


@pytest.mark.parametrize(
    "frame", ["(Worker_TP0_EP0 pid=733) ERROR 11-29 00:51:40 [nixl_connector.py:1377] ", "decode-2 ", ""]
)
def test_cause_when_in_the_traceback_below_what_it_explains_then_first(builtin: Library, frame: str) -> None:
    record = "(Worker_TP0_EP0 pid=733) ERROR 11-29 00:51:40 [nixl_connector.py:1377] NIXL transfer failure: "
    trace = (
        "Traceback (most recent call last):",
        '  File "/opt/vllm/distributed/kv_transfer/kv_connector/v1/nixl_connector.py", line 1160, in _nixl_handshake',
        "    raise RuntimeError(",
        "RuntimeError: NIXL compatibility hash mismatch. Local: 5c1e7a0b93f2, Remote: 88d10ffab3c4. "
        "Prefill and decode instances have incompatible configurations.",
    )
    log = record + "handshake_setup_failed\n" + "".join(f"{frame}{line}\n" for line in trace)
    assert ask(builtin, log).diagnoses[0].entry == "nixl-compat-hash-mismatch"


def test_title_when_no_line_fills_its_bracket_then_without_it(builtin: Library) -> None:
    match = Match(builtin.by_id["cuda-driver-too-old"], None, [], [])
    assert title_of(match, builtin, "en") == "Host driver too old for the CUDA of the image"
    match.captures["found"] = "12040"
    assert title_of(match, builtin, "en") == "Host driver too old for the CUDA of the image (found 12040)"


def test_log_when_the_server_was_told_to_stop_then_it_does_not_hang(builtin: Library) -> None:
    stop = "(APIServer pid=1) INFO 11-30 01:20:59 [launcher.py:110] Shutting down FastAPI HTTP server.\n"
    assert ask(builtin, START + stop + WAITS.format(at="21") + WAITS.format(at="22")).outcome == "unrelated"
