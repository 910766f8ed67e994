"""Framing: every form that a serving log comes in, stacked ones, and what merely looks like framing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.columns import Column
from kb.framing import is_framed, parse_line
from kb.lines import Line

FIELDS = ("process", "pid", "rank", "host", "unit", "time", "level", "origin")


def at(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()


NOON = at("2026-08-11 12:00:00")


def framing(text: str, column: Column | None = None) -> tuple[str, dict[str, Any]]:
    """The body, and what the framing told."""
    line = parse_line("f", 1, text, column)
    return line.body, {name: value for name in FIELDS if (value := getattr(line, name)) is not None}


def test_line_when_parsed_then_text_number_and_file_are_kept():
    line = parse_line("a.log", 7, "(Worker pid=1) x")
    assert (line.file, line.number, line.text) == ("a.log", 7, "(Worker pid=1) x")


# vLLM


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("APIServer", None),
        ("ApiServer_3", None),
        ("EngineCore", None),
        ("EngineCore_DP0", None),
        ("EngineCore_0", None),
        ("Worker", None),
        ("Worker_TP3", 3),
        ("Worker_PP1", 1),
        ("Worker_DP1_EP9", 9),
        ("Worker_DP0_TP2_EP2", 2),
        ("Worker_DP1_PP0_PCP1_TP3_DCP0_EP11", 11),
        ("Worker_PP1_TP3", None),
        ("VllmWorker TP3", 3),
        ("VllmWorker rank=5", 5),
        ("VllmWorker-0", None),
        ("DPCoordinator", None),
        ("DPSupervisor", None),
        ("RustFrontend", None),
        ("RayWorkerWrapper", None),
    ],
)
def test_vllm_process_when_in_front_then_name_pid_and_rank(name, rank):
    body, told = framing(f"({name} pid=1234) WARNING 08-11 12:00:00 [cuda.py:998] text")
    expected = {"process": name, "pid": 1234, "level": "WARNING", "time": NOON, "origin": "cuda.py:998"}
    assert (body, told) == ("text", expected if rank is None else {**expected, "rank": rank})


@pytest.mark.parametrize(
    "record",
    [
        "ERROR 08-11 12:00:00 [core.py:708] text",
        "ERROR 08-11 12:00:00 core.py:708] text",
        "ERROR 08-11 12:00:00.123 [core.py:708] text",
        "ERROR 08-11 12:00:00,123 [core.py:708] text",
        "ERROR 2026-08-11 12:00:00 [core.py:708] text",
    ],
)
def test_vllm_record_when_old_or_new_then_level_time_and_origin(record):
    assert framing(record) == ("text", {"level": "ERROR", "time": NOON, "origin": "core.py:708"})


def test_vllm_record_when_debug_then_its_path_is_the_origin():
    assert framing("DEBUG 08-11 12:00:00 [v1/engine/core.py:708] text")[1]["origin"] == "v1/engine/core.py:708"


def test_vllm_record_when_of_the_rust_frontend_then_the_same():
    body, told = framing("(RustFrontend pid=9) WARNING 11-02 09:00:00 [router.rs:12] span: text")
    assert (body, told["origin"], told["level"]) == ("span: text", "router.rs:12", "WARNING")


@pytest.mark.parametrize(
    "text", ["(Worker_TP0 pid=9)", "(Worker_TP0 pid=9) ", "(Worker_TP0 pid=9) INFO 08-11 12:00:00 [a.py:1]"]
)
def test_vllm_line_when_empty_then_an_empty_body(text):
    assert framing(text)[0] == ""


def test_vllm_line_when_indented_then_the_body_keeps_its_indentation():
    body, told = framing('(Worker_TP0 pid=9) ERROR 08-11 12:00:00 [a.py:1]   File "x.py", line 3, in f')
    assert (body, told["pid"]) == ('  File "x.py", line 3, in f', 9)


def test_vllm_line_when_before_031_then_prints_and_tracebacks_carry_the_process_too():
    assert framing('(EngineCore_DP0 pid=9)   File "x.py", line 3, in f') == (
        '  File "x.py", line 3, in f',
        {"process": "EngineCore_DP0", "pid": 9},
    )


@pytest.mark.parametrize("level", ["INFO", "WARNING", "ERROR", "CRITICAL", "DEBUG"])
def test_uvicorn_line_when_padded_then_level_and_body(level):
    line = f"(APIServer pid=1) {level + ':':10}Started server process [1]"
    assert framing(line) == ("Started server process [1]", {"process": "APIServer", "pid": 1, "level": level})


def test_uvicorn_line_when_further_indented_then_the_body_keeps_it():
    assert framing('ERROR:      File "x.py", line 3')[0] == '  File "x.py", line 3'


def test_access_line_when_read_then_the_request_is_the_body():
    assert (
        framing('INFO:     127.0.0.1:1234 - "GET /health HTTP/1.1" 200 OK')[0]
        == '127.0.0.1:1234 - "GET /health HTTP/1.1" 200 OK'
    )


def test_custom_prefix_when_after_the_process_then_the_record_is_read():
    body, told = framing("(EngineCore_DP0 pid=9) [prod-a] ERROR 08-11 12:00:00 [core.py:708] text")
    assert (body, told["level"], told["pid"], told["origin"]) == ("text", "ERROR", 9, "core.py:708")


@pytest.mark.parametrize("prefix", ["prod-a: ", "[k3/blue] ", "k3> ", "cluster=a node=7 "])
def test_custom_prefix_when_in_front_of_all_then_the_record_is_read(prefix):
    body, told = framing(f"{prefix}(Worker_TP0 pid=9) ERROR 08-11 12:00:00 [core.py:708] text")
    assert (body, told["process"], told["level"]) == ("text", "Worker_TP0", "ERROR")


def test_record_when_a_progress_bar_stands_before_it_then_read():
    bar = "Loading safetensors checkpoint shards:  50% Completed | 48/96 [00:01<00:01,  1.03s/it]"
    body, told = framing(f"{bar}(Worker_TP0 pid=9) INFO 08-11 12:00:00 [a.py:1] text")
    assert (body, told["process"]) == ("text", "Worker_TP0")
    body, told = framing(f"(Worker_TP0 pid=9) {bar}ERROR 08-11 12:00:00 [a.py:1] text")
    assert (body, told["level"], told["pid"]) == ("text", "ERROR", 9)


# Ray, torchrun, MPI


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "(RayWorkerProc pid=7, ip=10.0.0.1) text",
            {"process": "RayWorkerProc", "pid": 7, "host": "10.0.0.1", "unit": "10.0.0.1"},
        ),
        ("(ServeReplica:llm:LLMServer pid=7) text", {"process": "ServeReplica:llm:LLMServer", "pid": 7}),
        ("(raylet) text", {"process": "raylet"}),
        ("(raylet, ip=10.0.0.2) text", {"process": "raylet", "host": "10.0.0.2", "unit": "10.0.0.2"}),
        ("(autoscaler +12s) text", {"process": "autoscaler"}),
        ("(pid=77) text", {"pid": 77}),
        ("(pid=77, ip=fd00::1) text", {"pid": 77, "host": "fd00::1", "unit": "fd00::1"}),
        ("[rank3]: text", {"process": "rank3", "rank": 3}),
        ("[default0]:text", {"process": "rank0", "rank": 0}),
        ("[1,5]<stderr>:text", {"process": "rank5", "rank": 5}),
        ("[2026-08-11 12:00:00,123 E 12 34] (gcs_server) text", {"pid": 12, "time": NOON, "level": "ERROR"}),
        ("2026-08-11 12:00:00,123\tINFO worker.py:1841 -- text", {"time": NOON, "level": "INFO"}),
    ],
)
def test_launchers_prefix_when_in_front_then_process_rank_and_node(text, told):
    body, found = framing(text)
    assert (body.removeprefix("worker.py:1841 -- "), found) == ("text", told)


def test_ray_actor_when_it_prints_vllms_prefix_then_the_inner_one_names_the_process():
    body, told = framing("(RayWorkerProc pid=7, ip=10.0.0.1) (Worker_TP2 pid=8) ERROR 08-11 12:00:00 [a.py:1] text")
    assert body == "text"
    told.pop("time")
    assert told == {
        "process": "Worker_TP2",
        "pid": 8,
        "rank": 2,
        "host": "10.0.0.1",
        "unit": "10.0.0.1",
        "level": "ERROR",
        "origin": "a.py:1",
    }


def test_ray_line_when_repeated_across_the_cluster_then_the_body_says_so():
    assert (
        framing("(RayWorkerProc pid=7, ip=10.0.0.1) x [repeated 7x across cluster]")[0]
        == "x [repeated 7x across cluster]"
    )


# Native code


@pytest.mark.parametrize(
    ("text", "body", "told"),
    [
        (
            "node-7:123:456 [0] NCCL INFO NET/IB : Using",
            "NCCL INFO NET/IB : Using",
            {"host": "node-7", "pid": 123},
        ),
        (
            "[2026-08-11 12:00:00] gpu7.cluster.local:123:456 [5] transport/net_ib.cc:201 (ncclIbInit) NCCL WARN text",
            "transport/net_ib.cc:201 (ncclIbInit) NCCL WARN text",
            {"host": "gpu7.cluster.local", "pid": 123, "time": NOON},
        ),
        (
            "10-0-0-1:99:12 [-1] misc/socket.cc:5 NCCL WARN x",
            "misc/socket.cc:5 NCCL WARN x",
            {"host": "10-0-0-1", "pid": 99},
        ),
        (
            "[rank3]:[E811 12:00:00.123456789 ProcessGroupNCCL.cpp:685] [Rank 3] text",
            "[Rank 3] text",
            {"process": "rank3", "rank": 3, "time": NOON, "level": "ERROR", "origin": "ProcessGroupNCCL.cpp:685"},
        ),
        (
            "[W811 12:00:00.5 TCPStore.cpp:340] [c10d] text",
            "[c10d] text",
            {"time": NOON, "level": "WARNING", "origin": "TCPStore.cpp:340"},
        ),
        (
            "E0811 12:00:00.000000  4242 nixl_agent.cpp:613] func: text",
            "func: text",
            {"time": NOON, "level": "ERROR", "pid": 4242, "origin": "nixl_agent.cpp:613"},
        ),
        (
            "I20260811 12:00:00.000000 4242 transfer_engine.cpp:77] text",
            "text",
            {"time": NOON, "level": "INFO", "pid": 4242, "origin": "transfer_engine.cpp:77"},
        ),
        (
            "[1786449600.123456] [node-7:123:0]   ucp_context.c:1770 UCX  ERROR text",
            "ucp_context.c:1770 UCX  ERROR text",
            {"time": 1786449600.123456, "host": "node-7", "pid": 123},
        ),
    ],
)
def test_native_line_when_of_a_known_library_then_host_pid_time_and_level(text, body, told):
    assert framing(text) == (body, told)


# Kernel, syslog, journal


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ("[   12.345678] ", {"process": "kernel"}),
        ("[ 12.34] ", {"process": "kernel"}),
        ("<4>[123456.000001] ", {"process": "kernel"}),
        ("[Tue Aug 11 12:00:00 2026] ", {"process": "kernel", "time": NOON}),
        ("[Mon Aug 11 12:00:00 2025] ", {"process": "kernel", "time": at("2025-08-11 12:00:00")}),
        ("kern  :err   : [Tue Aug 11 12:00:00 2026] ", {"process": "kernel", "time": NOON, "level": "ERROR"}),
        ("2026-08-11T12:00:00,123456+00:00 ", {"time": NOON}),
        ("Aug 11 12:00:00 gpu7 kernel: ", {"process": "kernel", "time": NOON, "host": "gpu7"}),
        ("Aug 11 12:00:00 gpu7 kernel: [   12.345678] ", {"process": "kernel", "time": NOON, "host": "gpu7"}),
        ("<6>Aug  1 12:00:00 gpu7 kernel: ", {"process": "kernel", "time": at("2026-08-01 12:00:00"), "host": "gpu7"}),
        ("2026-08-11T12:00:00.123456+09:00 gpu7 kernel: ", {"process": "kernel", "time": NOON, "host": "gpu7"}),
        ("[   12.345678] gpu7 kernel: ", {"process": "kernel", "host": "gpu7"}),
        ("1786449600.123456 gpu7 kernel: ", {"process": "kernel", "time": 1786449600.0, "host": "gpu7"}),
    ],
)
def test_kernel_line_when_of_dmesg_or_syslog_then_framing_is_taken_off(frame, told):
    text = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."
    assert framing(frame + text) == (text, told)


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ("Aug 11 12:00:00 gpu7 vllm[321]: ", {"unit": "vllm", "pid": 321, "host": "gpu7", "time": NOON}),
        ("Aug 11 12:00:00.123456 gpu7 vllm[321]: ", {"unit": "vllm", "pid": 321, "host": "gpu7", "time": NOON}),
        ("Aug 11 12:00:00 vllm[321]: ", {"unit": "vllm", "pid": 321, "time": NOON}),
        ("2026-08-11T12:00:00+0000 gpu7 vllm.service: ", {"unit": "vllm.service", "host": "gpu7", "time": NOON}),
        (
            "Tue 2026-08-11 12:00:00 UTC gpu7 k3.service[9]: ",
            {"unit": "k3.service", "pid": 9, "host": "gpu7", "time": NOON},
        ),
        (
            "<34>1 2026-08-11T12:00:00.003Z gpu7 vllm 321 - - ",
            {"unit": "vllm", "pid": 321, "host": "gpu7", "time": NOON},
        ),
        ('<34>1 2026-08-11T12:00:00Z gpu7 vllm - ID47 [a b="c"] ', {"unit": "vllm", "host": "gpu7", "time": NOON}),
    ],
)
def test_service_line_when_of_syslog_or_the_journal_then_host_unit_and_pid(frame, told):
    assert framing(f"{frame}text goes here") == ("text goes here", told)


def test_journal_line_when_a_vllm_record_is_inside_then_both_are_read():
    body, told = framing("Aug 11 12:00:07 gpu7 vllm[321]: (Worker_TP1 pid=9) ERROR 08-11 12:00:00 [a.py:1] text")
    assert body == "text"
    assert (told["unit"], told["pid"], told["host"], told["rank"]) == ("vllm", 9, "gpu7", 1)
    assert told["time"] == at("2026-08-11 12:00:07")


# Containers


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ("2026-08-11T12:00:00.123456789Z ", {"time": NOON}),
        ("2026-08-11T12:00:00+09:00 ", {"time": NOON}),
        ("2026-08-11T12:00:00.1Z stderr F ", {"time": NOON}),
        ("[pod/k3-0/vllm] ", {"unit": "k3-0", "host": "k3-0"}),
        ("[pod/k3-0/vllm] 2026-08-11T12:00:00.1Z ", {"unit": "k3-0", "host": "k3-0", "time": NOON}),
        ("vllm-1  | ", {"unit": "vllm-1"}),
        ("k3  | ", {"unit": "k3"}),
        ("vllm-1  | 2026-08-11T12:00:00.1Z ", {"unit": "vllm-1", "time": NOON}),
    ],
)
def test_container_line_when_a_vllm_record_is_inside_then_both_are_read(frame, told):
    body, found = framing(f"{frame}(Worker_TP1 pid=9) ERROR 08-11 12:00:00 [a.py:1] text")
    inner = {"process": "Worker_TP1", "pid": 9, "rank": 1, "level": "ERROR", "time": NOON, "origin": "a.py:1"}
    assert (body, found) == ("text", {**inner, **told})


def test_container_clock_when_outside_then_it_counts_and_not_the_inner_one():
    assert framing("2025-02-03T04:05:06Z (Worker pid=9) ERROR 08-11 12:00:00 [a.py:1] x")[1]["time"] == at(
        "2025-02-03 04:05:06"
    )


def test_container_line_when_empty_then_an_empty_body():
    assert framing("2026-08-11T12:00:00.123456789Z") == ("", {"time": NOON})
    assert framing("2026-08-11T12:00:00.1Z stderr F") == ("", {"time": NOON})


@pytest.mark.parametrize(
    ("text", "body", "level"),
    [
        ("2026-08-11 12:00:00,123 ERROR text", "text", "ERROR"),
        ("2026-08-11 12:00:00,123 - vllm.engine - ERROR - text", "text", "ERROR"),
        ("2026-08-11 12:00:00.123 | WARNING  | text", "text", "WARNING"),
        ("2026-08-11 12:00:00 [INFO] text", "text", "INFO"),
        ("2026/08/11 12:00:00 [ERROR] text", "text", "ERROR"),
        ("[2026-08-11 12:00:00,123] [ERROR] text", "text", "ERROR"),
        ("[Aug 11 2026 12:00:00] [ERROR] [tid 12] text", "[tid 12] text", "ERROR"),
        ("2026-08-11T12:00:00Z INFO:     text", "text", "INFO"),
        ('time="2026-08-11T12:00:00.123Z" level=error msg="text"', 'msg="text"', "ERROR"),
    ],
)
def test_python_and_go_logging_when_in_front_then_time_and_level(text, body, level):
    assert framing(text) == (body, {"time": NOON, "level": level})


@pytest.mark.parametrize(("text", "origin"), [("ERROR:vllm.engine:text", "vllm.engine"), ("WARNING:root:text", "root")])
def test_python_logging_when_not_set_up_then_level_and_logger(text, origin):
    assert framing(text) == ("text", {"level": text.split(":")[0], "origin": origin})


# Columns of a whole file


@pytest.mark.parametrize(
    ("column", "text", "told"),
    [
        (Column.STERN, "k3-7d9f8b-x2x4z vllm text", {"unit": "k3-7d9f8b-x2x4z", "host": "k3-7d9f8b-x2x4z"}),
        (Column.COMPOSE, "router      | text", {"unit": "router"}),
        (Column.TASK, " 3: text", {"unit": "3", "rank": 3}),
        (Column.HOST, "node07: text", {"unit": "node07", "host": "node07"}),
    ],
)
def test_column_when_found_in_the_file_then_taken_off(column, text, told):
    assert framing(text, column) == ("text", told)


def test_column_when_a_line_lacks_it_then_the_line_is_read_as_it_is():
    assert framing("(Worker pid=1) text", Column.STERN)[0] == "text"


def test_column_when_of_the_same_pid_on_two_nodes_then_two_streams():
    one = parse_line("f", 1, "node1: (Worker_TP0 pid=7) x", Column.HOST)
    two = parse_line("f", 2, "node2: (Worker_TP0 pid=7) x", Column.HOST)
    assert one.stream != two.stream


# What looks like framing and is not


@pytest.mark.parametrize(
    "text",
    [
        "{'model_tag': '/models/arch', 'port': 8202}",
        "the process (foo pid=1) is gone",
        "then the worker (EngineCore_DP0 pid=123) died",
        "| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |",
        "|   0  NVIDIA B300 SXM6 AC            On  |   00000000:1B:00.0 Off |                    0 |",
        "+-----------------------------------------+------------------------+----------------------+",
        "| GPU | Driver |",
        "GPU  | Memory",
        "name | value",
        "model  | moonshotai/Kimi-K3",
        "CUDA error: an illegal memory access was encountered",
        "vllm: error: unrecognized arguments: --enable-prefix-cache",
        "(2) a slow tokenizer instance to convert or",
        "(self.pid=3) is code",
        "[12] is an index",
        "[00:01<00:01,  1.03s/it]",
        "[c10d] The hostname of the client socket cannot be retrieved.",
        "[Rank 3] Watchdog caught collective operation timeout",
        "[0, 1, 2]",
        "10:32 we restarted it",
        "2026 was a good year",
        "E2E latency is high",
        "W8A8 is not supported",
        "Error: something",
        "INFO is a word",
        '  File "x.py", line 3, in f',
        "    raise ValueError(x)",
        "Loading safetensors checkpoint shards: 100% Completed | 96/96 [00:10<00:00,  9.1it/s]",
        "host:123:456 [0] is no NCCL line",
        "import torch; print(torch.__version__)",
        "stdout F is a word here",
        "May 5 is a date",
        "node-7 vllm text",
        "",
        " ",
        "(",
        "[",
        "<",
        "(Worker pid=99999999999999999999999) x",
    ],
)
def test_line_when_it_only_looks_like_framing_then_it_is_the_message(text):
    assert framing(text) == (text, {})


@pytest.mark.parametrize(
    "message", ["CUDA error: out of memory", "vllm serve: error: x", "Memory access fault by GPU: y"]
)
def test_docker_time_when_the_message_has_colons_then_none_of_it_is_taken_for_a_syslog_tag(message):
    assert framing(f"2026-08-11T12:00:00.123456789Z {message}") == (message, {"time": NOON})


def test_prose_when_it_quotes_a_process_then_it_is_not_framed():
    assert not is_framed("since the upgrade (EngineCore_DP0 pid=123) keeps dying on our nodes")
    assert is_framed("(EngineCore_DP0 pid=123) keeps dying")


@pytest.mark.parametrize("stamp", ["13-41 25:61:61", "00-00 00:00:00", "02-30 12:00:00"])
def test_time_when_there_is_no_such_moment_then_none_and_the_rest_is_read(stamp):
    assert framing(f"ERROR {stamp} [a.py:1] text") == ("text", {"level": "ERROR", "origin": "a.py:1"})


def test_time_when_on_a_leap_day_without_year_then_between_its_neighbours():
    times = [framing(f"INFO {day} 12:00:00 [a.py:1] x")[1]["time"] for day in ("02-28", "02-29", "03-02")]
    assert times == sorted(times)


def test_streams_when_of_several_processes_then_told_apart_by_pid_and_by_name():
    lines = [parse_line("f", 1, text) for text in ("(Worker_TP0 pid=1) x", "(Worker_TP0 pid=2) x", "[rank0]: x", "x")]
    assert [line.stream for line in lines] == [("f", None, 1), ("f", None, 2), ("f", None, "rank0"), ("f", None, None)]


PARTS = st.sampled_from(
    [
        "(Worker_TP3 pid=9) ",
        "(RayWorkerProc pid=7, ip=10.0.0.1) ",
        "[rank3]:",
        "ERROR 08-11 12:00:00 [core.py:708] ",
        "INFO:     ",
        "2026-08-11T12:00:00.1Z ",
        "stderr F ",
        "[pod/a/b] ",
        "Aug 11 12:00:00 gpu7 vllm[321]: ",
        "[   12.345678] ",
        "vllm-1  | ",
        "node-7:123:456 [0] NCCL INFO ",
        "[E811 12:00:00.1 a.cpp:6] ",
        "E0811 12:00:00.0 1 n.cpp:6] ",
        "[1786449600.1] [h:1:0] u UCX  ERROR ",
        "k3-0 vllm ",
        "text",
        " ",
        "(",
        "[",
        "|",
        "pid=",
        "\u0663",
        "한",
        "1",
        ":",
        "\t",
    ]
)


@given(st.lists(st.one_of(PARTS, st.text(max_size=8)), max_size=10).map("".join), st.sampled_from([None, *Column]))
@settings(max_examples=400, deadline=None)
def test_any_line_when_parsed_then_the_body_is_its_end_and_nothing_is_raised(text, column):
    line = parse_line("f", 1, text, column)
    assert isinstance(line, Line)
    assert text.endswith(line.body)


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("окт 31 02:14:55 gpu-1 kernel: nvme nvme3: x", "Oct 31 02:14:55 gpu-1 kernel: nvme nvme3: x"),
        ("мая 02 02:14:55 gpu-1 systemd[1]: x", "May 02 02:14:55 gpu-1 systemd[1]: x"),
        ("сент. 3 02:14:55 gpu-1 kernel: x", "Sep 3 02:14:55 gpu-1 kernel: x"),
        ("10월 31 02:14:55 gpu-1 systemd[1]: x", "Oct 31 02:14:55 gpu-1 systemd[1]: x"),
        (" 1월 05 02:14:55 gpu-1 kernel: x", "Jan 05 02:14:55 gpu-1 kernel: x"),
        ("10月 31 02:14:55 gpu-1 systemd[1]: x", "Oct 31 02:14:55 gpu-1 systemd[1]: x"),
        ("[Сб ноя 28 01:19:41 2026] x", "[Sat Nov 28 01:19:41 2026] x"),
        ("[토 11월 28 01:19:41 2026] x", "[Sat Nov 28 01:19:41 2026] x"),
        ("[六 11月 28 01:19:41 2026] x", "[Sat Nov 28 01:19:41 2026] x"),
        ("Сб 2026-10-31 02:14:55 MSK gpu-1 systemd[1]: x", "Sat 2026-10-31 02:14:55 MSK gpu-1 systemd[1]: x"),
        ("토 2026-10-31 02:14:55 KST gpu-1 systemd[1]: x", "Sat 2026-10-31 02:14:55 KST gpu-1 systemd[1]: x"),
    ],
)
def test_journal_when_its_dates_are_of_another_language_then_read_as_in_english(text, english):
    read, wanted = parse_line("f", 1, text), parse_line("f", 1, english)
    for name in ("body", "host", "unit", "pid", "process", "time"):
        assert getattr(read, name) == getattr(wanted, name), name


@pytest.mark.parametrize("text", ["ноя 20 ночью упало", "10월 31일에 죽었어요", "오늘 죽어요", " 1월부터 이래요"])
def test_sentence_when_it_begins_with_a_month_then_no_framing(text):
    assert parse_line("f", 1, text).body == text
