from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kb.facts
from kb.evidence import Collector, Source, Watch
from kb.facts import ANCHORS, Fact, Facts, extract_facts
from kb.facts.vocabulary import FACTS, fact_type
from kb.framing import parse_line
from kb.lines import Line
from kb.scanner import Scanner, compile_hyperscan, compile_re2
from tests.growth import assert_bounded, assert_linear

CASE_FILES = Path(__file__).parent.parent.parent / "cases"
ARGS = "(APIServer pid=1) INFO 08-11 12:00:00 [utils.py:2] non-default args: {'tensor_parallel_size': %d, 'port': 8000}"


def test_later_start_wins_over_an_earlier_one(facts):
    found = facts(ARGS % 4 + "\nValueError\n" + ARGS % 8)
    assert found.get("tp_size").value == 8
    assert [fact.value for fact in found.all("tp_size")] == [8]


def test_same_value_is_given_once_with_its_first_line(facts):
    found = facts("vLLM is using nccl==2.30.7\nvLLM is using nccl==2.30.7\nvLLM is using nccl==2.28.9")
    assert [(fact.value, fact.line) for fact in found.all("nccl_version")] == [("2.28.9", 3), ("2.30.7", 1)]


def test_unknown_name_gives_nothing():
    found = extract_facts([])
    assert (found.get("driver_version"), found.all("driver_version"), found.names(), len(found)) == (None, (), (), 0)


def test_facts_can_be_made_by_hand():
    first, second = Fact("tp_size", 8, "a.log", 1), Fact("tp_size", 4, "b.log", 2)
    found = Facts([first, second])
    assert found.get("tp_size") is first
    assert found.all("tp_size") == (first, second)
    assert list(found) == [first, second]
    assert "tp_size" in found
    assert repr(found) == "Facts(tp_size=8)"


def test_total_memory_of_a_cluster(value):
    text = """
$ nvidia-smi --query-gpu=index,name,memory.total --format=csv,noheader
0, NVIDIA B200, 183359 MiB
1, NVIDIA B200, 183359 MiB
$ vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 2 --nnodes 2
"""
    assert value(text, "total_gpu_memory_gib") == 716.2


def test_server_that_fits_on_one_host_runs_on_one(values):
    rows = "\n".join(f"GPU {i}: NVIDIA B200 (UUID: GPU-{i})" for i in range(8))
    assert values(rows + "\nvllm serve x/y --tensor-parallel-size 8")["host_count"] == 1
    assert "host_count" not in values(rows + "\nvllm serve x/y --tensor-parallel-size 8 --pipeline-parallel-size 2")


def test_every_value_has_the_type_of_the_vocabulary(lines):
    types = {"version": str, "text": str, "int": int, "float": float, "bool": bool}
    for path in sorted(CASE_FILES.glob("*.log")):
        for fact in extract_facts(lines(path.read_text(encoding="utf-8"), path.name)):
            kind = fact_type(fact.name)
            assert kind is not None
            assert type(fact.value) is types[kind], fact


def test_vocabulary_has_no_name_that_nothing_reads():
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(kb.facts.__file__).parent.glob("*.py"))
    assert [name for name in FACTS if sources.count(name) < 2] == []


def test_anchors_compile_in_both_engines():
    for anchor in ANCHORS:
        compile_re2(anchor.pattern)
    compile_hyperscan([anchor.pattern for anchor in ANCHORS])
    assert len({anchor.name for anchor in ANCHORS}) == len(ANCHORS)


@pytest.mark.parametrize("anchor", ANCHORS, ids=lambda anchor: anchor.name)
def test_anchor_leaves_ordinary_lines_alone(anchor):
    pattern = compile_re2(anchor.pattern)
    for row in (
        'INFO:     127.0.0.1:34970 - "GET /health HTTP/1.1" 200 OK',
        'INFO:     127.0.0.1:34970 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error',
        "(APIServer pid=1) INFO 08-11 12:01:00 [loggers.py:283] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg "
        "generation throughput: 2.0 tokens/s, Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: 4.0%, Prefix cache "
        "hit rate: 50.0%",
        "(APIServer pid=1) INFO 08-11 12:01:00 [logger.py:40] Received request chatcmpl-1: params: SamplingParams(n=1)",
        '  File "/usr/local/lib/python3.12/dist-packages/vllm/v1/engine/core.py", line 1482, in run_engine_core',
        "node1:912:912 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read",
        "",
    ):
        assert pattern.search(row.encode()) is None


def test_anchored_lines_alone_tell_the_same(lines):
    for path in sorted(CASE_FILES.glob("*.log")):
        whole = lines(path.read_text(encoding="utf-8"), path.name)
        kept: set[int] = set()
        for anchor in ANCHORS:
            pattern = compile_re2(anchor.pattern)
            for index, line in enumerate(whole):
                if pattern.search(line.text.encode("utf-8", "replace")):
                    kept.update(range(index, index + 1 + anchor.after))
        some = extract_facts([line for index, line in enumerate(whole) if index in kept])
        every = extract_facts(whole)
        assert set(every.names()) - set(some.names()) <= {"python_version"}, path.name
        assert some.stage == every.stage, path.name


CASES = {
    "arch_unsupported": ("0.32.0", "import", {"architecture": "KimiK9ForCausalLM", "flag.port": "8202"}),
    "dep_torchvision_nms": (None, "import", {"python_version": "3.12"}),
    "flag_unknown": (
        None,
        "import",
        {"flag.enable_prefix_cache": "true", "flag.port": "8211", "model": "/models/tiny"},
    ),
    "healthy_startup_032": (
        "0.32.0",
        "ready",
        {
            "tp_size": 1,
            "prefix_caching": True,
            "max_model_len": 2048,
            "platform": "cpu",
            "flag.served_model_name": "tiny",
        },
    ),
    "hub_offline": (
        "0.32.0",
        "import",
        {"tp_size": 8, "model": "moonshotai/Kimi-K3", "flag.load_format": "fastsafetensors", "prefix_caching": True},
    ),
    "kv_too_small": (
        "0.32.0",
        "kv_cache",
        {"env.VLLM_CPU_KVCACHE_SPACE": "1", "kv_cache_available_gib": 0.0, "max_model_len": 8192, "exit_code": 1},
    ),
    "metrics_warm": (
        None,
        None,
        {
            "prefix_cache_queries": 18351.0,
            "prefix_cache_hits": 15488.0,
            "prefix_cache_hit_rate": 84.4,
            "block_size": 128,
        },
    ),
    "nixl_missing": ("0.32.0", "kv_cache", {"kv_connector": "NixlConnector", "kv_role": "kv_both"}),
    "port_in_use": ("0.32.0", "import", {"flag.port": "8230", "flag.host": "127.0.0.1"}),
    "pp2_ray_missing": ("0.32.0", "import", {"pp_size": 2, "flag.distributed_executor_backend": "ray"}),
    "runtime_engine_dead": ("0.32.0", "first_request", {"tp_size": 1, "architecture": "LlamaForCausalLM"}),
    "safetensors_truncated": ("0.32.0", "weights", {"model": "/models/trunc"}),
    "tool_parser_unknown": (
        "0.32.0",
        "import",
        {"tool_call_parser": "kimi_k9", "flag.enable_auto_tool_choice": "true"},
    ),
    "tp3": ("0.32.0", "import", {"tp_size": 3, "max_num_batched_tokens": 6144}),
}


def case(name: str) -> list[Line]:
    text = (CASE_FILES / f"{name}.log").read_text(encoding="utf-8")
    return [parse_line(f"{name}.log", number, row) for number, row in enumerate(text.split("\n"), 1)]


@pytest.mark.parametrize("name", CASES)
def test_real_log(name):
    version, stage, expected = CASES[name]
    found = extract_facts(case(name))
    fact = found.get("vllm_version")
    assert (fact and fact.value, found.stage) == (version, stage)
    assert {key: value.value for key in expected if (value := found.get(key))} == expected


def test_failing_line_of_the_real_crash_comes_after_the_start():
    lines = case("runtime_engine_dead")
    failing = next(line for line in lines if "RuntimeError: Unsupported CPU attention" in line.text)
    assert extract_facts(lines).stage_at(failing) == "ready"


WORDS = st.sampled_from(
    """
vllm serve
docker run
--tensor-parallel-size
non-default args: {'a':
V1 LLM engine (v0.27.1) with config: model='
NVIDIA-SMI 580.65.06
GPU 0: NVIDIA
vllm:cache_config_info{a="
vllm:prefix_cache_hits_total{
apiVersion: v1
args:
"Config": {
env:
hca_id: x
lsmod | grep nvidia
Module   Size  Used by
Tried to allocate 1.0 GiB
torch==
Name: vllm
index, name, driver_version
--query-gpu=name
print(torch.__version__)
NCCL_DEBUG=
GPU0\tGPU1
█ version 1
vLLM 0.27.1
8x B300
2 nodes
driver
드라이버 575
kimi-k3 image
DCGM_FI_DEV_FB_USED{gpu="0"
Driver Version : 5
FB Memory Usage
uname -r
999999999999999999999999999999
""".strip().split("\n")
    + list("\\'\"{}[](),:;=|-~`<>\t 8.\x00…\ud800")
)
TEXT = st.lists(st.one_of(WORDS, WORDS, st.text(max_size=12)), max_size=14).map("".join)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TEXT, max_size=8), TEXT)
def test_arbitrary_text_never_fails(rows, prose):
    lines = [Line(file="x", number=number, text=row, body=row) for number, row in enumerate(rows, 1)]
    found = extract_facts(lines, prose)
    for name in found.names():
        assert fact_type(name) is not None
    for line in lines:
        found.stage_at(line)


@pytest.mark.parametrize(
    "row",
    [
        "a" * 1_000_000,
        "{" * 1_000_000,
        "non-default args: {'a': " + "[" * 1_000_000,
        "vllm serve " + "--a " * 250_000,
        "vllm serve " + "'" * 999_999,
        "docker run " + "-e A=1 " * 140_000,
        "V1 LLM engine (v0.27.1) with config: " + "model=" * 160_000,
        "Tried to allocate 1.00 GiB" + " free; 1.00" * 90_000,
        "NCCL_DEBUG=" + "'\"" * 500_000,
        "torch " * 166_000,
        "index, name" * 90_000,
        'vllm:cache_config_info{a="' + "\\" * 1_000_000,
        "args: " + "- " * 500_000,
        '{"' + "[" * 1_000_000,
        "lsmod | grep " + "a|" * 500_000,
        "GPU0\tGPU1" + "\tGPU" * 250_000,
    ],
    ids=lambda row: row[:16],
)
def test_line_when_a_megabyte_long_then_the_work_is_bounded(row):
    def lines(size):
        return [Line(file="x", number=1, text=row[:size], body=row[:size])] * 2

    assert_bounded(extract_facts, lines, len(row))


@pytest.mark.parametrize(
    "prose",
    [
        "a" * 1_000_000,
        "vllm" * 250_000,
        "8" * 1_000_000,
        "8 H200 " * 140_000,
        "does vLLM " * 4000,
        "a/" * 500_000,
    ],
    ids=lambda prose: prose[:10],
)
def test_prose_when_a_megabyte_long_then_the_work_is_bounded(prose):
    assert_bounded(lambda text: extract_facts([], text), lambda size: prose[:size] + "?", len(prose))


def test_ordinary_lines_when_many_then_linear():
    row = 'INFO:     127.0.0.1:34970 - "GET /docs HTTP/1.1" 200 OK and some more words that are nothing'
    lines = [Line(file="x", number=number, text=row, body=row) for number in range(1, 10_001)]
    assert_linear(extract_facts, lambda size: lines[:size], len(lines))


def test_lines_of_a_failure_when_many_then_linear():
    lines = case("runtime_engine_dead") * 20
    assert_linear(extract_facts, lambda size: lines[:size], len(lines))


def test_facts_in_the_middle_of_a_huge_file_are_kept():
    access = 'INFO:     127.0.0.1:34970 - "GET /health HTTP/1.1" 200 OK\n' * 60_000
    middle = (
        "| NVIDIA-SMI 575.57.08              Driver Version: 575.57.08      CUDA Version: 12.9     |\n"
        "|   0  NVIDIA H200                    On  |   00000000:19:00.0 Off |                    0 |\n"
        "| N/A   31C    P0             71W /  700W |       0MiB / 143771MiB |      0%      Default |\n"
        "(APIServer pid=1) INFO 08-11 12:00:00 [utils.py:2] non-default args: {'tensor_parallel_size': 8}\n"
        "  Exit Code:    137\n"
    )
    collector = Collector(
        Scanner([anchor.pattern for anchor in ANCHORS]),
        [Watch(anchor.after, 0, anchor.frequent) for anchor in ANCHORS],
    )
    collector.add(Source("huge.log", [(access + middle + access).encode()]))
    evidence = collector.finish()
    assert len(evidence.lines) < 20_000
    found = extract_facts(evidence.lines)
    wanted = ("driver_version", "gpu_model", "gpu_memory_gib", "tp_size", "exit_code")
    assert [fact and fact.value for name in wanted for fact in [found.get(name)]] == [
        "575.57.08",
        "H200",
        140.401,
        8,
        -9,
    ]
    fact = found.get("driver_version")
    assert fact is not None
    assert fact.line == 60_001


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve moonshotai/Kimi-K3 --max-model-len {}k --tensor-parallel-size {}",
        "apiVersion: v1\nkind: Pod\nstatus:\n  containerStatuses:\n  - state:\n      terminated:\n        exitCode: {}",
        "    State:          Terminated\n      Exit Code:    {}",
        "index, name, memory.total [MiB]\n{}, NVIDIA B300, {} MiB\n1, NVIDIA B300, 275040 MiB",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {} GiB. GPU 0 has a total capacity of {} GiB",
        "INFO 11-29 12:10:43 [gpu.py:1] Available KV cache memory: {} GiB",
        "died with exit code {}",
    ],
)
def test_number_of_thousands_of_digits_ends_nothing(values, text):
    values(text.replace("{}", "9" * 5000) + "\nERROR 11-29 12:10:43 [x.py:1] failed")
