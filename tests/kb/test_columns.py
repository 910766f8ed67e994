"""Columns that a tool puts in front of every line of a file."""

from __future__ import annotations

import pytest

from kb.columns import Column, find_column

RECORD = "(Worker_TP0 pid=9) INFO 08-11 12:00:00 [a.py:1] text"


@pytest.mark.parametrize(
    ("column", "lines"),
    [
        (Column.STERN, [f"k3-7d9f8b-x2x4z vllm {RECORD}", "k3-7d9f8b-x2x4z vllm   File", "k3-7d9f8b-abcd1 vllm x"]),
        (Column.STERN, ["+ k3-0 › vllm", f"k3-0 vllm {RECORD}", "k3-0 vllm", "k3-1 vllm x", "k3-1 vllm y"]),
        (Column.COMPOSE, [f"vllm-1    | {RECORD}", "router-1  | x", "vllm-1    |", "vllm-1    | y"]),
        (Column.COMPOSE, ["k3 | x", "k3 | y", "k3 | z"]),
        (Column.TASK, [f"0: {RECORD}", "1: x", "0: y", "1: z", "0:   File"]),
        (Column.TASK, [" 3: x", "12: y", " 3: z", "12: a", "12: b", " 3: c"]),
        (Column.HOST, [f"node01: {RECORD}", "node02: x", "node01: y", "node02: z", "node01: a", "node02: b"]),
    ],
)
def test_column_when_in_front_of_all_lines_then_found(column, lines):
    assert find_column(lines) is column


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [RECORD] * 5,
        ["k3-0 vllm x", "k3-0 vllm y"],
        ["driver: 580", "cuda: 13.0", "gpu: B300", "nccl: 2.30", "ucx: 1.20"],
        ["1: first", "2: second", "3: third", "4: fourth"],
        ["GPU | Driver", "B300 | 580", "H200 | 575"],
        ["name | value", "model | kimi", "tp | 8", "pp | 2", "ep | 16", "dp | 4"],
        ["RuntimeError: x", "RuntimeError: y", "RuntimeError: z"],
        ["the server dies on start", "we use 8x B300 here", "any idea what it may be"],
        ["python3: a", "python3: b", RECORD, RECORD, RECORD, RECORD],
        ["GPU 0: NVIDIA B300", "GPU 1: NVIDIA B300", "GPU 2: NVIDIA B300"],
        ["mlx5_0 port 1 up", "mlx5_1 port 1 up", "mlx5_2 port 1 up"],
    ],
)
def test_lines_when_they_only_begin_alike_then_no_column(lines):
    assert find_column(lines) is None


def test_column_when_a_few_lines_lack_it_then_still_found():
    lines = ["k3-0 vllm x"] * 9 + ["no column here"]
    assert find_column(lines) is Column.STERN


def test_sample_when_endless_then_only_its_start_is_read():
    def endless():
        while True:
            yield "node01: x"

    assert find_column(endless()) is Column.HOST
