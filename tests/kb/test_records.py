"""JSON around messages is taken off; JSON that is no log record stays."""

from __future__ import annotations

import json

import pytest

from kb.blocks import Reading, read_blocks
from kb.framing import parse_line

WHEN = "2026-08-11T12:00:00Z"


def read(text: str) -> list[tuple[int, str]]:
    out: list[tuple[int, str]] = []
    for block in read_blocks([text.encode()], Reading()):
        lines = block.data.decode().split("\n")[:-1]
        numbers = block.numbers if block.numbers is not None else range(block.first, block.first + block.raw_lines)
        out.extend(zip(numbers, lines, strict=True))
    return out


def one(record: dict[str, object]) -> list[str]:
    return [text for _, text in read(json.dumps(record) + "\n")]


def docker(log: str, stream: str = "stderr") -> str:
    return json.dumps({"log": log, "stream": stream, "time": "2026-08-11T12:00:00.123456789Z"}) + "\n"


def test_docker_line_when_read_then_time_and_message():
    assert read(docker("(Worker_TP0 pid=9) INFO 08-11 12:00:00 [a.py:1] up\n")) == [
        (1, "2026-08-11T12:00:00.123456789Z (Worker_TP0 pid=9) INFO 08-11 12:00:00 [a.py:1] up")
    ]


def test_docker_line_when_read_then_framing_is_understood():
    ((number, text),) = read(docker("(Worker_TP0 pid=9) ERROR 08-11 12:00:00 [a.py:1] boom\r\n"))
    line = parse_line("f", number, text)
    assert (line.process, line.pid, line.level, line.body) == ("Worker_TP0", 9, "ERROR", "boom")


def test_docker_line_when_cut_at_16_kib_then_put_together_under_its_first_number():
    text = read(docker("x" * 16_384) + docker("other\n", "stdout") + docker("y" * 16_384) + docker("z\n"))
    assert [(number, len(line)) for number, line in text] == [(2, 36), (1, 31 + 2 * 16_384 + 1)]


def test_docker_line_when_short_and_without_line_end_then_whole():
    assert [number for number, _ in read(docker("no line end") + docker("next\n"))] == [1, 2]


def test_docker_line_when_its_end_never_comes_then_kept():
    assert [(number, len(line)) for number, line in read(docker("a\n") + docker("x" * 16_384))] == [
        (1, 32),
        (2, 16_415),
    ]


def test_docker_line_when_coloured_then_colours_are_gone():
    assert read(docker("\x1b[31mERROR\x1b[0m x\n"))[0][1].endswith("Z ERROR x")


def test_docker_line_when_it_holds_a_progress_bar_then_only_its_last_state():
    assert read(docker("Loading: 1%\rLoading: 2%\rLoading: 3%\n")) == [
        (1, "2026-08-11T12:00:00.123456789Z Loading: 3%")
    ]


def test_docker_lines_when_prose_stands_above_then_still_read():
    assert [number for number, _ in read("our pod dies, see below\n" + docker("a\n") + "that was all\n")] == [1, 2, 3]
    assert read("our pod dies\n" + docker("Killed\n"))[1][1] == "2026-08-11T12:00:00.123456789Z Killed"


def test_cri_line_when_in_parts_then_put_together():
    frame = "2026-08-11T12:00:00.1Z stderr"
    assert read(
        f"{frame} P one \n2026-08-11T12:00:00.1Z stdout F other\n{frame} P two \n{frame} F three\n{frame} F next\n"
    ) == [
        (2, "2026-08-11T12:00:00.1Z stdout F other"),
        (1, f"{frame} F one two three"),
        (5, f"{frame} F next"),
    ]


def test_vllm_record_when_of_its_json_formatter_then_in_its_own_form():
    record = {
        "asctime": "08-11 12:00:00",
        "levelname": "ERROR",
        "name": "vllm.v1.engine.core",
        "processName": "EngineCore_DP0",
        "process": 212,
        "message": 'It failed.\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x',
    }
    lines = read(json.dumps(record) + "\n")
    assert [number for number, _ in lines] == [1, 1, 1, 1]
    parsed = [parse_line("f", number, text) for number, text in lines]
    assert {(line.process, line.pid, line.level, line.origin) for line in parsed} == {
        ("EngineCore_DP0", 212, "ERROR", "vllm.v1.engine.core:0")
    }
    assert [line.body for line in parsed] == [
        "It failed.", "Traceback (most recent call last):", '  File "a.py", line 1, in f', "ValueError: x",
    ]  # fmt: skip


def test_python_record_when_with_exception_then_its_traceback_follows():
    lines = one(
        {"timestamp": "2026-08-11T12:00:00Z", "level": "error", "message": "failed", "exc_info": "ValueError: x"}
    )
    assert lines == ["2026-08-11T12:00:00Z ERROR:    failed", "2026-08-11T12:00:00Z ERROR:    ValueError: x"]


def test_python_record_when_indented_then_the_message_keeps_its_indentation():
    (line,) = one({"time": "2026-08-11T12:00:00Z", "level": "INFO", "msg": '  File "a.py", line 1'})
    assert parse_line("f", 1, line).body == '  File "a.py", line 1'


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"ts": 1754913600.25, "level": "warn", "msg": "slow"}, "2025-08-11T12:00:00Z WARNING:  slow"),
        ({"timestamp": 1754913600000, "message": "cloudwatch"}, "2025-08-11T12:00:00Z cloudwatch"),
        ({"textPayload": "gcp", "timestamp": WHEN, "severity": "ERROR"}, f"{WHEN} ERROR:    gcp"),
        ({"timestamp": WHEN, "level": "ERROR", "fields": {"message": "rust"}}, f"{WHEN} ERROR:    rust"),
        ({"line": "loki", "timestamp": WHEN}, f"{WHEN} loki"),
        ({"log": "fluentd", "stream": "stdout"}, "fluentd"),
        (
            {"log": "fb", "time": WHEN, "kubernetes": {"pod_name": "k3-0", "container_name": "vllm"}},
            f"[pod/k3-0/vllm] {WHEN} fb",
        ),
        (
            {"MESSAGE": "up", "_HOSTNAME": "gpu7", "_COMM": "k3", "__REALTIME_TIMESTAMP": str(1754913600 * 10**6)},
            "2025-08-11T12:00:00Z gpu7 k3[0]: up",
        ),
    ],
)  # fmt: skip
def test_record_when_of_a_shipper_then_its_frame_as_text(record, expected):
    assert one(record) == [expected]


def test_journal_message_when_given_as_numbers_then_decoded():
    assert one({"MESSAGE": list(b"caf\xc3\xa9"), "__REALTIME_TIMESTAMP": "1754913600000000"})[0].endswith("café")


@pytest.mark.parametrize(
    "text",
    [
        '{"object":"error","message":"This model\'s maximum context length is 8192 tokens.","code":400}',
        '{"error":{"message":"\\"auto\\" tool choice requires --enable-auto-tool-choice","code":400}}',
        '{"id":"chatcmpl-1","object":"chat.completion","created":1754913600,"choices":[{"message":{"content":"x"}}]}',
        '{"architectures": ["KimiK3ForCausalLM"], "hidden_size": 7168}',
        '{"model": "moonshotai/Kimi-K3", "messages": [{"role": "user", "content": "hi"}]}',
        "{'model_tag': '/models/arch', 'message': 'a Python dict'}",
        '{"message": "no time and no level"}',
        '{"message": "broken", "time": "2026-08-11T12:00:00Z"',
        '["log", "message"]',
        '{"log": "no stream"}',
        "$ vllm serve /models/tiny --kv-transfer-config {\"kv_connector\":\"NixlConnector\"}",
        "INFO 08-11 12:00:00 [a.py:1] request body={\"message\":\"x\",\"time\":\"2026-08-11T12:00:00Z\"}",
    ],
)  # fmt: skip
def test_json_when_no_log_record_then_as_it_was(text):
    assert read(text + "\n") == [(1, text)]


def test_record_when_within_a_containers_line_then_both_are_taken_off():
    inner = json.dumps(
        {
            "asctime": "08-11 12:00:00",
            "levelname": "ERROR",
            "name": "x",
            "processName": "Worker",
            "process": 3,
            "message": "in",
        }
    )
    ((_, text),) = read(docker(inner + "\n"))
    line = parse_line("f", 1, text)
    assert (line.process, line.pid, line.level, line.body) == ("Worker", 3, "ERROR", "in")


def test_record_when_behind_kubectls_prefix_then_taken_off():
    ((_, text),) = read('[pod/k3-0/vllm] {"level":"ERROR","timestamp":"2026-08-11T12:00:00Z","message":"in"}\n')
    line = parse_line("f", 1, text)
    assert (line.unit, line.level, line.body) == ("k3-0", "ERROR", "in")


@pytest.mark.parametrize(
    "value", ["9" * 5000, "²", "-1", "", "NaN", [1], {"a": 1}, None, True, 1e400, -5, 10**30, "99-99 99:99:99"]
)
def test_record_when_its_fields_are_odd_then_never_raises(value):
    for key in ("time", "asctime", "process", "pid", "level", "lineno", "kubernetes", "stream", "_PID", "ts"):
        one({"message": "m", "log": "l", "level": "ERROR", "processName": "p", "time": "08-11 12:00:00", key: value})
