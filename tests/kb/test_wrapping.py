"""Hard-wrapped logs are put together again, and logs that are not wrapped stay as they are."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from kb.framing import parse_line
from kb.repair import repair
from kb.tracebacks import find_exceptions

CASES = Path(__file__).parents[1] / "cases"
ENTRIES = Path(__file__).parents[2] / "kb" / "entries"
WIDTHS = (80, 100, 120, 160, 200)

LOG = [
    "(APIServer pid=1) INFO 08-11 12:00:00 [api_utils.py:286] non-default args: {'model_tag': 'moonshotai/Kimi-K3', "
    "'model': 'moonshotai/Kimi-K3', 'trust_remote_code': True, 'tensor_parallel_size': 8, 'max_model_len': 1048576}",
    "(EngineCore_DP0 pid=212) INFO 08-11 12:00:11 [core.py:133] Initializing a V1 LLM engine (v0.30.0) with config: "
    "model='moonshotai/Kimi-K3', dtype=torch.bfloat16, max_seq_len=1048576, load_format=fastsafetensors, "
    "tensor_parallel_size=8, pipeline_parallel_size=1, enable_prefix_caching=True, kv_cache_dtype=auto",
    "(Worker_TP0 pid=400) INFO 08-11 12:00:27 [model_runner.py:425] Model loading took 208.71 GiB and 304.118842 s",
    "(Worker_TP0 pid=400) ERROR 08-11 12:01:27 [multiproc_executor.py:912] Traceback (most recent call last):",
    "(Worker_TP0 pid=400) ERROR 08-11 12:01:27 [multiproc_executor.py:912]   File "
    '"/usr/local/lib/python3.12/dist-packages/vllm/v1/executor/multiproc_executor.py", line 884, in worker_main',
    "(Worker_TP0 pid=400) ERROR 08-11 12:01:27 [multiproc_executor.py:912] torch.OutOfMemoryError: CUDA out of memory. "
    "Tried to allocate 1.64 GiB. GPU 0 has a total capacity of 178.35 GiB of which 1.02 GiB is free.",
    "(EngineCore_DP0 pid=212) ERROR 08-11 12:01:28 [core.py:1349] EngineCore failed to start.",
]
BARE = [
    "Traceback (most recent call last):",
    '  File "/usr/local/lib/python3.12/dist-packages/vllm/entrypoints/openai/api_server.py", line 12, in build_engine',
    "    raise RuntimeError(f'Engine core initialization failed: {failed}') from error_of_the_worker_with_a_name",
    '  File "/usr/local/lib/python3.12/dist-packages/vllm/v1/engine/core_client.py", line 764, in wait_for_startup',
    "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': 1} "
    "and nothing else is known about it",
]


def cut(lines: list[str], width: int, *, trimmed: bool = False) -> list[str]:
    """As a terminal of so many columns shows the lines."""
    out = []
    for line in lines:
        parts = [line[at : at + width] for at in range(0, len(line), width)] or [""]
        out.extend(part.rstrip() if trimmed else part for part in parts)
    return out


def wrapped(lines: list[str], width: int) -> list[str]:
    """As a mail program wraps the lines."""
    out = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        parts = textwrap.wrap(
            line.strip(), width, initial_indent=indent, break_long_words=False, break_on_hyphens=False,
            replace_whitespace=False,
        )  # fmt: skip
        out.extend(parts or [""])
    return out


def repaired(lines: list[str]) -> list[str]:
    return [text for _, text in repair(list(enumerate(lines, 1))).lines]


def squeezed(lines: list[str]) -> list[str]:
    return [" ".join(line.split()) for line in lines]


def restored(lines: list[str], damaged: list[str], width: int) -> float:
    """Share of the long lines that come out as they were, blanks aside."""
    long = [line for line in squeezed(lines) if len(line) > width]
    found = set(squeezed(repaired(damaged)))
    return sum(line in found for line in long) / len(long) if long else 1.0


@pytest.mark.parametrize("width", [*WIDTHS, 132, 97])
@pytest.mark.parametrize("log", [LOG, BARE], ids=["framed", "bare"])
def test_log_when_cut_by_a_terminal_then_as_it_was(log, width):
    if sum(len(line) > width for line in log) < 2:
        pytest.skip("too few lines are as long as that")
    assert repaired(cut(log, width)) == log
    assert repaired(cut(log, width, trimmed=True)) == log


@pytest.mark.parametrize("width", [80, 100, 120, 132])
def test_log_when_wrapped_by_a_mail_program_then_as_it_was(width):
    assert squeezed(repaired(wrapped(LOG, width))) == squeezed(LOG)


@pytest.mark.parametrize("width", [80, 100])
def test_bare_traceback_when_wrapped_by_a_mail_program_then_as_it_was(width):
    assert squeezed(repaired(wrapped(BARE * 2, width))) == squeezed(BARE * 2)


def test_log_when_wrapped_with_hyphens_then_words_are_whole_again():
    log = [f"{line} with --tensor-parallel-size 8 --enable-expert-parallel --load-format x" for line in LOG[:4]] * 2
    damaged = [part for line in log for part in textwrap.wrap(line, 80)]
    assert squeezed(repaired(damaged)) == squeezed(log)


def test_log_when_cut_then_numbers_are_those_of_the_first_parts():
    result = repair(list(enumerate(cut(LOG[:3], 80), 1)))
    assert [number for number, _ in result.lines] == [1, 4, 8]
    assert result.joined == {1, 4, 8}


def test_log_when_cut_and_quoted_with_words_around_then_as_it_was():
    text = ["our K3 dies on start, why?", *(f"> {line}" for line in cut(LOG, 100)), "", "thanks a lot"]
    result = repair(list(enumerate(text, 1)))
    assert [line for _, line in result.lines][1:-2] == LOG
    assert result.prose == "our K3 dies on start, why?\nthanks a lot"


def test_korean_words_when_above_a_cut_log_then_not_joined():
    text = ["K3가 켜지다가 죽어요. 로그는 아래와 같습니다. " * 3, *cut(LOG, 120)]
    assert repaired(text) == [text[0], *LOG]


CASE_LOGS = sorted(path for path in CASES.glob("*.log") if "metrics" not in path.stem)


def case_lines(path: Path) -> list[str]:
    return repaired([line.rstrip() for line in path.read_text(encoding="utf-8").split("\n")[:300]])


@pytest.mark.parametrize("path", CASE_LOGS, ids=lambda path: path.stem)
def test_real_log_when_not_wrapped_then_unchanged(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    assert repaired(lines) == lines


@pytest.mark.parametrize("width", WIDTHS)
def test_real_logs_when_cut_by_a_terminal_then_nearly_all_is_as_it_was(width):
    shares = []
    for path in CASE_LOGS:
        lines = case_lines(path)
        if sum(len(line) > width for line in lines) >= 3:
            shares.append(restored(lines, cut(lines, width), width))
    assert sum(shares) / len(shares) > 0.95


@pytest.mark.parametrize("width", WIDTHS)
def test_real_logs_when_wrapped_by_a_mail_program_then_most_is_as_it_was(width):
    shares = []
    for path in CASE_LOGS:
        lines = case_lines(path)
        if sum(len(line) > width for line in lines) >= 3:
            shares.append(restored(lines, wrapped(lines, width), width))
    assert sum(shares) / len(shares) > 0.85


def test_logs_of_entries_when_not_wrapped_then_never_joined():
    for path in sorted(ENTRIES.glob("*/*/*/*.log"))[::4]:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        assert not repair(list(enumerate(lines, 1))).joined, path


# Lines of one length that are no wrapped ones

RECORD = "(Worker_TP0 pid=9) ERROR 08-11 12:00:00 [a.py:1] x"
TOPOLOGY = [
    "        GPU0    GPU1    GPU2    GPU3    NIC0    CPU Affinity    NUMA Affinity",
    "GPU0     X      NV18    NV18    NV18    PIX     0-47,96-143     0            ",
    "GPU1    NV18     X      NV18    NV18    NODE    0-47,96-143     0            ",
    "GPU2    NV18    NV18     X      NV18    NODE    0-47,96-143     0            ",
    "GPU3    NV18    NV18    NV18     X      NODE    0-47,96-143     0            ",
]
SMI = [
    "+-----------------------------------------------------------------------------------------+",
    "| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |",
    "|-----------------------------------------+------------------------+----------------------+",
    "|   0  NVIDIA B300 SXM6 AC            On  |   00000000:1B:00.0 Off |                    0 |",
    "| N/A   33C    P0            145W / 1400W |       4MiB / 275040MiB |      0%      Default |",
    "+-----------------------------------------------------------------------------------------+",
]
MARKDOWN = [
    "| flag                   | value    |",
    "|------------------------|----------|",
    "| --tensor-parallel-size | 8        |",
]
UUIDS = [f"GPU {n}: NVIDIA B300 SXM6 AC (UUID: GPU-0000000{n}-0000-0000-0000-000000000000)" for n in range(8)]
CODE = [
    "engine = AsyncLLM.from_engine_args(engine_args, usage_context=UsageContext.OPENAI)",
    "engine.start_profile(torch_profiler_directory_of_this_run, with_stack_traces=True)",
    "output = await engine.generate(prompt_with_a_long_name, sampling_params, 'req-12')",
]
PODS = [
    "NAME                       READY   STATUS             RESTARTS      AGE",
    "k3-7d9f8b-x2x4z            0/1     CrashLoopBackOff   7 (2m ago)    25m",
    "k3-router-5c6d7e-p9q8r     1/1     Running            0             25m",
]
SENTENCE = "Triton is installed, but doesn't include CPU backend. Disabling Triton."
SAME = ["(Worker_TP0 pid=9) INFO 08-11 12:00:00 [a.py:1] " + "y" * 60] * 3


@pytest.mark.parametrize(
    "lines",
    [
        [*TOPOLOGY, RECORD],
        [*SMI, RECORD],
        [*MARKDOWN, RECORD],
        [*UUIDS, RECORD],
        [*CODE, RECORD],
        [*PODS, RECORD],
        [RECORD, SENTENCE, SENTENCE, SENTENCE],
        [*SAME, "plain line", *SAME, "plain line", *SAME],
        ["$ vllm serve /models/tiny --port 8211 --enable-prefix-cache", SENTENCE, "usage: vllm [-h]", "vllm: error: x"],
        ['INFO:     127.0.0.1:54321 - "POST /v1/chat/completions HTTP/1.1" 200 OK'] * 30,
        [RECORD, "  Value error, the model does not fit [type=value_error, input_value=ArgsKwargs]"] * 3,
    ],
    ids=["topology", "smi", "markdown", "uuids", "code", "pods", "prints", "same", "usage", "access", "pydantic"],
)
def test_lines_of_one_length_when_they_are_no_wrapped_ones_then_unchanged(lines):
    assert repaired(lines) == lines


def test_exception_when_just_as_long_as_the_terminal_is_wide_then_its_field_is_not_joined():
    error = "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig"
    assert len(error) == 80
    log = [*LOG, error, "  Value error, Unknown quantization method: fp9 [type=value_error]"]
    assert repaired(cut(log, 80)) == log


def test_exception_when_cut_within_its_name_then_joined():
    log = [*LOG, f"{'x' * 60}.module.SafetensorError: Error while deserializing header: incomplete metadata"]
    assert repaired(cut(log, 80)) == log


def test_message_when_its_lines_were_wrapped_then_still_of_its_exception():
    long = "  Value error, Failed to import Ray: No module named 'ray'. Please install Ray. [type=value_error, input=x]"
    log = [
        *LOG,
        "pydantic_core.ValidationError: 1 validation error for ParallelConfig",
        long,
        "    For further information",
    ]
    result = repair(list(enumerate(cut(log, 80), 1)))
    lines = [parse_line("f", number, text) for number, text in result.lines]
    assert find_exceptions(lines)[-1].message.split("\n")[1:] == [long.strip(), "For further information"]


def test_prints_when_the_same_again_and_again_then_no_sign_of_wrapping():
    request = "'[Errno -3] Temporary failure in name resolution' thrown while requesting HEAD https://huggingface.co/api/models"
    lines = [RECORD, f"{RECORD} {'y ' * 99}z"]
    for n in range(5):
        lines += [request, f"Retrying in {n}s [Retry {n}/5]."]
    assert repaired(lines) == lines


def test_paste_when_huge_and_of_one_width_then_joined_lines_stay_bounded():
    result = repair([(n, "x" * 80) for n in range(1, 20_000)] + [(20_000, RECORD)])
    assert max(len(text) for _, text in result.lines) <= (1 << 15) + 80
