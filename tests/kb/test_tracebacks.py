"""Exceptions out of lines: whole tracebacks, however they are framed, chained, torn or cut."""

from __future__ import annotations

import json
import random
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.blocks import Reading, read_blocks
from kb.columns import find_column
from kb.framing import parse_line
from kb.lines import Line
from kb.tracebacks import Raised, find_exceptions

SIMPLE = """\
Traceback (most recent call last):
  File "/vllm/v1/engine/core.py", line 708, in run_engine_core
    engine_core = EngineCoreProc(*args)
                  ^^^^^^^^^^^^^^^^^^^^^
  File "/vllm/v1/worker/gpu_worker.py", line 12, in load_model
    raise ValueError("no room")
ValueError: no room
"""
FRAMES = [("/vllm/v1/engine/core.py", "run_engine_core"), ("/vllm/v1/worker/gpu_worker.py", "load_model")]
OLD = "(EngineCore_DP0 pid=7) "
NEW = "(EngineCore_DP0 pid=7) ERROR 08-11 12:00:00 [core.py:708] "


def parsed(text: str) -> list[Line]:
    rows: list[tuple[int, str]] = []
    for block in read_blocks([text.encode()], Reading()):
        lines = block.data.decode().split("\n")[:-1]
        numbers = block.numbers if block.numbers is not None else range(block.first, block.first + block.raw_lines)
        rows.extend(zip(numbers, lines, strict=True))
    column = find_column(line for _, line in rows)
    return [parse_line("f", number, line, column) for number, line in rows]


def found(text: str) -> list[Raised]:
    return find_exceptions(parsed(text))


def said(text: str) -> list[tuple[str, str]]:
    return [(raised.type, raised.message) for raised in found(text)]


def framed(text: str, frame: str) -> str:
    return "".join(f"{frame}{line}\n" for line in text.splitlines())


FRAMINGS = {
    "bare": "",
    "027": OLD,
    "031": NEW,
    "ray": "(RayWorkerProc pid=7, ip=10.0.0.1) ",
    "torchrun": "[rank3]: ",
    "docker": "2026-08-11T12:00:00.123456789Z ",
    "cri": "2026-08-11T12:00:00.1Z stderr F ",
    "kubectl": "[pod/k3-0/vllm] ",
    "journal": "Aug 11 12:00:00 gpu7 vllm[321]: ",
    "compose": "vllm-1  | ",
    "stern": "k3-7d9f8b-x2x4z vllm ",
    "stacked": "[pod/k3-0/vllm] 2026-08-11T12:00:00.1Z " + NEW,
}


@pytest.mark.parametrize("frame", FRAMINGS.values(), ids=FRAMINGS)
def test_traceback_when_framed_then_type_message_and_frames(frame):
    (raised,) = found(framed(SIMPLE, frame))
    assert (raised.type, raised.message, raised.frames) == ("ValueError", "no room", FRAMES)
    assert (raised.start, raised.index, raised.line.number) == (0, 6, 7)


def test_traceback_when_the_header_follows_words_then_read():
    (raised,) = found(framed(SIMPLE, NEW).replace("Traceback", "EngineCore failed. Traceback", 1))
    assert (raised.type, raised.frames) == ("ValueError", FRAMES)


@pytest.mark.parametrize("indent", ["", "    ", "\t"])
def test_traceback_when_indented_as_a_whole_then_read(indent):
    (raised,) = found(textwrap.indent(SIMPLE, indent))
    assert (raised.type, raised.message, raised.frames) == ("ValueError", "no room", FRAMES)


def test_traceback_when_its_indentation_was_lost_then_read():
    (raised,) = found("\n".join(line.strip() for line in SIMPLE.splitlines()))
    assert (raised.type, raised.message, raised.frames) == ("ValueError", "no room", FRAMES)


def test_code_when_its_indentation_was_lost_then_not_taken_for_an_exception():
    text = SIMPLE.replace("    engine_core = EngineCoreProc(*args)", "f.write(content)\nself.run\ntorch.load(path)")
    (raised,) = found(text)
    assert (raised.type, raised.frames) == ("ValueError", FRAMES)


def test_traceback_when_in_a_json_record_then_read_with_its_process():
    record = {
        "asctime": "08-11 12:00:00",
        "levelname": "ERROR",
        "name": "vllm",
        "processName": "EngineCore_DP0",
        "process": 7,
        "message": f"EngineCore failed.\n{SIMPLE}",
    }
    (raised,) = found(json.dumps(record) + "\n")
    assert (raised.type, raised.frames, raised.line.process, raised.line.number) == (
        "ValueError",
        FRAMES,
        "EngineCore_DP0",
        1,
    )


def test_traceback_when_in_dockers_json_file_then_read():
    text = "".join(
        json.dumps({"log": line + "\n", "stream": "stderr", "time": "2026-08-11T12:00:00Z"}) + "\n"
        for line in SIMPLE.splitlines()
    )
    (raised,) = found(text)
    assert (raised.type, raised.frames, raised.line.number) == ("ValueError", FRAMES, 7)


# Torn apart


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("form", ["027", "031", "kubectl"])
def test_tracebacks_when_torn_by_three_other_processes_then_each_is_whole(form, seed):
    names = ["Worker_TP0", "Worker_TP1", "Worker_TP2", "EngineCore_DP0"]
    queues = []
    for n, name in enumerate(names):
        frame = {
            "027": f"({name} pid={n + 10}) ",
            "031": f"({name} pid={n + 10}) ERROR 08-11 12:00:00 [core.py:708] ",
            "kubectl": f"[pod/k3-{n}/vllm] (Worker pid=10) ",
        }[form]
        queues.append([frame + line for line in SIMPLE.replace("no room", f"no room {n}").splitlines()])
    order = random.Random(seed)
    mixed = []
    while any(queues):
        mixed.append(order.choice([queue for queue in queues if queue]).pop(0))
    raised = found("\n".join(mixed))
    assert sorted(item.message for item in raised) == [f"no room {n}" for n in range(4)]
    assert all(item.frames == FRAMES for item in raised)


def test_bare_traceback_when_torn_by_records_and_native_lines_then_whole():
    others = [
        "(Worker_TP0 pid=9) INFO 08-11 12:00:00 [a.py:1] text",
        "node-7:123:456 [0] NCCL INFO NET/IB : Using",
        "[rank3]:[W811 12:00:00.5 TCPStore.cpp:340] [c10d] text",
        "Loading safetensors checkpoint shards: 100% Completed | 96/96 [00:10<00:00,  9.1it/s]",
    ]
    mixed = [part for line in SIMPLE.splitlines() for part in (line, *others)]
    (raised,) = found("\n".join(mixed))
    assert (raised.type, raised.message, raised.frames) == ("ValueError", "no room", FRAMES)


def test_prints_when_within_a_traceback_then_not_taken_for_its_exception():
    text = SIMPLE.replace("ValueError: no", "Killed\nDone\nWARNING: slow\nNote: x\nOK\nValueError: no")
    assert said(text) == [("ValueError", "no room")]


# Chains

CHAIN = """\
Traceback (most recent call last):
  File "a.py", line 1, in one
    d["x"]
KeyError: 'x'

{link}

Traceback (most recent call last):
  File "a.py", line 3, in two
    raise RuntimeError("second") from error
RuntimeError: second
"""
DIRECT = "The above exception was the direct cause of the following exception:"
DURING = "During handling of the above exception, another exception occurred:"


@pytest.mark.parametrize("frame", [FRAMINGS["bare"], OLD, NEW], ids=["bare", "027", "031"])
@pytest.mark.parametrize(("link", "direct", "root"), [(DIRECT, True, "KeyError"), (DURING, False, "RuntimeError")])
def test_chain_when_linked_then_cause_and_root(frame, link, direct, root):
    first, second = found(framed(CHAIN.format(link=link), frame))
    assert (first.type, first.cause, second.type) == ("KeyError", None, "RuntimeError")
    assert second.cause is first
    assert (second.direct, second.root.type) == (direct, root)


def test_chain_when_a_telling_exception_was_answered_while_handling_it_then_the_first_is_the_root():
    text = CHAIN.format(link=DURING).replace("KeyError: 'x'", "torch.OutOfMemoryError: CUDA out of memory")
    assert found(text)[-1].root.type == "torch.OutOfMemoryError"


def test_chain_when_of_three_then_the_root_is_the_first():
    links = f"\n{DIRECT}\n\n"
    text = links.join(SIMPLE.replace("ValueError", name) for name in ("ValueError", "OSError", "TypeError"))
    raised = found(text)
    assert [item.type for item in raised] == ["ValueError", "OSError", "TypeError"]
    assert raised[-1].root is raised[0]


def test_tracebacks_when_unrelated_then_not_chained():
    first, second = found(SIMPLE + "INFO:     fine\n" + SIMPLE)
    assert (first.cause, second.cause) == (None, None)


# Forms of Python


def test_exception_group_when_nested_then_its_root_is_the_first_of_its_exceptions():
    text = """\
  + Exception Group Traceback (most recent call last):
  |   File "/starlette/routing.py", line 5, in app
  |     async with anyio.create_task_group():
  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "b.py", line 2, in task
    |     raise ValueError("a")
    | ValueError: first
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "b.py", line 3, in task
    |     raise TypeError("b")
    | TypeError: second
    +------------------------------------
after it
"""
    for frame in ("", NEW):
        raised = found(framed(text, frame))
        assert [(item.type, item.message) for item in raised] == [
            ("ExceptionGroup", "unhandled errors in a TaskGroup (2 sub-exceptions)"),
            ("ValueError", "first"),
            ("TypeError", "second"),
        ]
        assert raised[1].frames == [("b.py", "task")]
        assert raised[0].root is raised[1]


def test_syntax_error_when_raised_then_read():
    text = """\
Traceback (most recent call last):
  File "run.py", line 1, in <module>
    import model
  File "/work/model.py", line 3
    def f(:
          ^
SyntaxError: invalid syntax
"""
    (raised,) = found(text)
    assert (raised.type, raised.message) == ("SyntaxError", "invalid syntax")
    assert raised.frames == [("run.py", "<module>"), ("/work/model.py", "")]


@pytest.mark.parametrize(
    ("line", "type_", "message"),
    [
        ("AssertionError", "AssertionError", ""),
        ("KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("StopIteration", "StopIteration", ""),
        ("SystemExit: 1", "SystemExit", "1"),
        (
            "socket.gaierror: [Errno -2] Name or service not known",
            "socket.gaierror",
            "[Errno -2] Name or service not known",
        ),
        ("socket.timeout: timed out", "socket.timeout", "timed out"),
        ("queue.Empty", "queue.Empty", ""),
        ("_queue.Empty", "_queue.Empty", ""),
        ("zmq.error.Again: Resource temporarily unavailable", "zmq.error.Again", "Resource temporarily unavailable"),
        ("pynvml.NVMLError_LibraryNotFound: NVML not found", "pynvml.NVMLError_LibraryNotFound", "NVML not found"),
        ("nixl._bindings.nixlBackendError: NIXL_ERR_BACKEND", "nixl._bindings.nixlBackendError", "NIXL_ERR_BACKEND"),
        ("a.f.<locals>.Odd: x", "a.f.<locals>.Odd", "x"),
        ("RequestRejected: x", "RequestRejected", "x"),
        ("torch.OutOfMemoryError: CUDA out of memory.", "torch.OutOfMemoryError", "CUDA out of memory."),
        ("ValueError:", "ValueError", ""),
        ("ValueError: ", "ValueError", ""),
        ("RuntimeError: a: b: c", "RuntimeError", "a: b: c"),
    ],
)
def test_exception_line_when_of_any_form_then_type_and_message(line, type_, message):
    assert said(SIMPLE.replace("ValueError: no room", line)) == [(type_, message)]


RAY = """\
Traceback (most recent call last):
  File "/vllm/engine/ray.py", line 1, in run
    ray.get(refs)
ray.exceptions.RayTaskError(ValueError): ray::RayWorkerProc.execute_method() (pid=99, ip=10.0.0.1, actor_id=ab)
  File "/vllm/worker.py", line 2, in execute_method
    raise e
  File "/vllm/loader.py", line 3, in load
    raise ValueError("bad shard")
ValueError: bad shard
"""


def test_ray_task_error_when_the_remote_traceback_follows_then_the_remote_exception_with_all_frames():
    (raised,) = found(RAY)
    assert (raised.type, raised.message, raised.start) == ("ValueError", "bad shard", 0)
    assert [function for _, function in raised.frames] == ["run", "execute_method", "load"]


def test_ray_task_error_when_nothing_follows_then_itself():
    assert [type_ for type_, _ in said("\n".join(RAY.splitlines()[:4]))] == ["ray.exceptions.RayTaskError(ValueError)"]


def test_ray_task_error_when_the_remote_one_is_chained_then_the_root_is_the_first():
    remote = 'ray::RayWorkerProc.load() (pid=9)\n  File "w.py", line 1, in load\n    x\nOSError: disk\n\n'
    text = RAY.replace("ray.exceptions", f"{remote}{DIRECT}\n\nray.exceptions").replace(
        'Traceback (most recent call last):\n  File "/vllm/engine/ray.py", line 1, in run\n    ray.get(refs)\n', ""
    )
    raised = found(text)
    assert (raised[0].type, raised[0].frames) == ("OSError", [("w.py", "load")])
    assert raised[-1].type == "ValueError"


# Messages of several lines

PYDANTIC = """\
pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig
tool_parser
  Value error, unknown [type=value_error, input_value=ArgsKwargs((), {}), input_type=ArgsKwargs]
    For further information visit https://errors.pydantic.dev/2.14/v/value_error
"""


@pytest.mark.parametrize("frame", ["", OLD, NEW], ids=["bare", "027", "031"])
def test_pydantic_error_when_read_then_its_message_is_whole(frame):
    ((type_, message),) = said(framed(SIMPLE.replace("ValueError: no room\n", PYDANTIC) + "INFO:     next\n", frame))
    assert type_ == "pydantic_core._pydantic_core.ValidationError"
    assert message.split("\n") == [line.strip().removeprefix(f"{type_}: ") for line in PYDANTIC.splitlines()]


def test_message_when_of_a_record_then_all_its_lines():
    text = framed(SIMPLE.replace("no room", "no room\n\nunindented rest\n  and more"), NEW)
    text += NEW.replace("12:00:00", "12:00:01") + "another record\n"
    assert said(text) == [("ValueError", "no room\n\nunindented rest\nand more")]


@pytest.mark.parametrize("frame", ["", OLD, NEW], ids=["bare", "027", "031"])
def test_cuda_error_when_it_advises_then_the_advice_is_of_the_message(frame):
    rest = [
        "Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com/cuda/",
        "CUDA kernel errors might be asynchronously reported at some other API call.",
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
    ]
    text = SIMPLE.replace("ValueError: no room", "\n".join(["torch.AcceleratorError: CUDA error: illegal", *rest]))
    ((_, message),) = said(framed(text, frame))
    assert message.split("\n") == ["CUDA error: illegal", *rest]


def test_nccl_error_when_it_tells_its_last_error_then_that_is_of_the_message():
    text = (
        "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:94, unhandled system error\n"
        "ncclSystemError: System call (e.g. socket, malloc) or external library call failed.\n"
        "Last error:\nsocketStartConnect: Connect to 10.0.0.2 failed\nnext line\n"
    )
    ((type_, message),) = said(text)
    assert type_ == "torch.distributed.DistBackendError"
    assert message.split("\n")[1:] == [
        "ncclSystemError: System call (e.g. socket, malloc) or external library call failed.",
        "Last error:",
        "socketStartConnect: Connect to 10.0.0.2 failed",
    ]


def test_message_when_other_things_follow_then_they_are_not_of_it():
    assert said(SIMPLE + "Loading weights\n    indented later\n") == [("ValueError", "no room")]


def test_message_when_endless_then_bounded():
    ((_, message),) = said(SIMPLE + "  more\n" * 500)
    assert message.count("\n") == 40


def test_message_when_torn_by_another_process_then_only_its_own_lines():
    mine = framed(SIMPLE.replace("no room", "no room\n  of it"), NEW).splitlines()
    mine.insert(7, "(Worker_TP0 pid=99) ERROR 08-11 12:00:00 [core.py:708]   not of it")
    assert said("\n".join(mine)) == [("ValueError", "no room\nof it")]


def test_message_when_the_containers_clock_ticks_within_it_then_still_whole():
    lines = framed(SIMPLE.replace("no room", "no room\nrest of it"), NEW).splitlines()
    text = "\n".join(f"2026-08-11T12:00:{n:02}.1Z {line}" for n, line in enumerate(lines))
    assert said(text) == [("ValueError", "no room\nrest of it")]


# Lines without a traceback


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RuntimeError: CUDA error: out of memory", ("RuntimeError", "CUDA error: out of memory")),
        ("torch.OutOfMemoryError: CUDA out of memory", ("torch.OutOfMemoryError", "CUDA out of memory")),
        (f"{NEW}EngineCore failed: RuntimeError: boom", ("RuntimeError", "boom")),
        (f"{OLD}ValueError: x", ("ValueError", "x")),
        (
            "huggingface_hub.errors.GatedRepoError: 403 Client Error",
            ("huggingface_hub.errors.GatedRepoError", "403 Client Error"),
        ),
        ("requests.exceptions.ConnectTimeout: x", ("requests.exceptions.ConnectTimeout", "x")),
        ("ray.exceptions.RayTaskError(ValueError): x", ("ray.exceptions.RayTaskError", "x")),
    ],
)
def test_exception_line_when_bare_then_found(text, expected):
    assert said(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "INFO: fine",
        "Error: something",
        "we get RuntimeError: CUDA error when it starts",
        "/x/y.py:12: UserWarning: old",
        "raise ValueError: no",
        "{'error': 'ValueError: x'}",
        "# TYPE vllm:errors_total counter",
        'File "x.py", line 3, in f',
        'Current thread 0x00007f (most recent call first):\n  File "x.py", line 3 in f',
    ],
)
def test_line_when_it_is_no_exception_then_nothing(text):
    assert said(text) == []


def test_exception_when_logged_as_a_warning_then_quiet():
    (raised,) = found(framed(SIMPLE, NEW.replace("ERROR", "WARNING")))
    assert raised.logged_quietly
    assert not found(framed(SIMPLE, NEW))[0].logged_quietly


# Cut at the ends


@pytest.mark.parametrize("frame", ["", OLD, NEW], ids=["bare", "027", "031"])
def test_traceback_when_its_start_is_missing_then_what_is_there(frame):
    lines = SIMPLE.splitlines()[2:]
    (raised,) = found(framed("\n".join(lines), frame))
    assert (raised.type, raised.message, raised.frames, raised.start) == ("ValueError", "no room", FRAMES[1:], 2)


@pytest.mark.parametrize("last", range(1, 6))
def test_traceback_when_its_end_is_missing_then_nothing_is_made_up(last):
    assert found("\n".join(SIMPLE.splitlines()[:last])) == []


def test_traceback_when_never_ended_then_a_later_exception_does_not_end_it():
    text = "\n".join([*SIMPLE.splitlines()[:5], *["plain line of text"] * 40, "ValueError: later"])
    (raised,) = found(text)
    assert (raised.message, raised.frames) == ("later", [])


def test_traceback_when_lines_between_were_left_out_then_not_joined_over_the_gap():
    lines = [parse_line("f", n if n < 4 else n + 5000, text) for n, text in enumerate(SIMPLE.splitlines(), 1)]
    (raised,) = find_exceptions(lines)
    assert raised.start >= 3


def test_files_when_several_then_their_tracebacks_stay_apart():
    one = [parse_line("a", n, text) for n, text in enumerate(SIMPLE.splitlines()[:4], 1)]
    two = [parse_line("b", n, text) for n, text in enumerate(SIMPLE.splitlines(), 1)]
    (raised,) = find_exceptions(one + two)
    assert (raised.line.file, raised.start) == ("b", 4)


# Any lines

PIECES = st.sampled_from(
    [
        *SIMPLE.splitlines(),
        *RAY.splitlines(),
        *PYDANTIC.splitlines(),
        DIRECT,
        DURING,
        "  + Exception Group Traceback (most recent call last):",
        "  | ExceptionGroup: x (1 sub-exception)",
        "    +---------------- 2 ----------------",
        "Last error:",
        "",
        "plain",
    ]
)


@given(st.lists(st.tuples(st.sampled_from(["", OLD, NEW, "[rank1]: "]), st.one_of(PIECES, st.text(max_size=20)))))
@settings(max_examples=200, deadline=None)
def test_any_lines_when_read_then_exceptions_are_within_them(pieces):
    lines = [parse_line("f", n, (frame + text).replace("\n", " ")) for n, (frame, text) in enumerate(pieces, 1)]
    for raised in find_exceptions(lines):
        assert 0 <= raised.start <= raised.index < len(lines)
        assert raised.line is lines[raised.index]
        assert lines[raised.start].stream == raised.line.stream
        assert raised.root is not None
        rest = [line for line in lines[raised.index + 1 :] if line.stream == raised.line.stream]
        assert raised.message.count("\n") <= len(rest)
