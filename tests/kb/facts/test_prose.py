import pytest

from kb.facts.prose import PROSE_FILE


@pytest.fixture
def told(values):
    return lambda prose: values("", prose)


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        (
            "We run vLLM 0.27.1 on 8x B300 and it hangs.",
            {"vllm_version": "0.27.1", "gpu_count": 8, "gpu_model": "B300"},
        ),
        (
            "H100 8장에서 vLLM 버전은 0.28.0 입니다. 드라이버 575 입니다.",
            {"gpu_model": "H100", "gpu_count": 8, "vllm_version": "0.28.0", "driver_version": "575"},
        ),
        (
            "2 ноды по 8 H200, драйвер 575.57.08, vLLM версии 0.27.0",
            {
                "host_count": 2,
                "gpu_count": 8,
                "gpu_model": "H200",
                "driver_version": "575.57.08",
                "vllm_version": "0.27.0",
            },
        ),
        ("2노드에 8 H200 구성입니다", {"host_count": 2, "gpu_count": 8, "gpu_model": "H200"}),
        ("두 노드에서 TP8 PP2로 띄웁니다", {"host_count": 2, "tp_size": 8, "pp_size": 2}),
        (
            "两台机器，每台 8 张 H200，驱动版本 570.124.06",
            {"host_count": 2, "gpu_model": "H200", "driver_version": "570.124.06"},
        ),
        ("8 卡 B200，CUDA 12.9，启动就挂了", {"gpu_count": 8, "gpu_model": "B200", "cuda_runtime": "12.9"}),
        ("Our host has driver 575.57.08 (CUDA 12.9)", {"driver_version": "575.57.08", "driver_cuda_max": "12.9"}),
        ("r575 driver on the nodes", {"driver_version": "575"}),
        ("using the image kimi-k3", {"image": "vllm/vllm-openai:kimi-k3"}),
        ("образ kimi-k3 на MI355X", {"image": "vllm/vllm-openai-rocm:kimi-k3", "gpu_model": "MI355X"}),
        (
            "vllm/vllm-openai:v0.28.0 이미지를 사용합니다",
            {"image": "vllm/vllm-openai:v0.28.0", "vllm_version": "0.28.0"},
        ),
        ("Serving moonshotai/Kimi-K3 on MI355X fails", {"model": "moonshotai/Kimi-K3", "gpu_model": "MI355X"}),
        (
            "NCCL 2.30.7, PyTorch 2.13.0, kernel 6.8.0-45-generic",
            {"nccl_version": "2.30.7", "torch_version": "2.13.0", "kernel_version": "6.8.0-45-generic"},
        ),
        ("2x8 H200 with TP=16", {"host_count": 2, "gpu_count": 8, "gpu_model": "H200", "tp_size": 16}),
        ("H200 双机，TP16", {"gpu_model": "H200", "host_count": 2, "tp_size": 16}),
        ("H100 TP8 PP2 起不来", {"gpu_model": "H100", "tp_size": 8, "pp_size": 2}),
        ("Why does vLLM 0.27.1 hang on 8x B300?", {"vllm_version": "0.27.1", "gpu_model": "B300", "gpu_count": 8}),
        ("16x B200 in the cluster", {"gpu_model": "B200"}),
        ("After we upgraded vLLM from 0.27.1 to 0.28.0 the cache hits.", {"vllm_version": "0.28.0"}),
        ("vLLM을 0.27.1에서 0.28.0으로 올렸더니 느려졌어요", {"vllm_version": "0.28.0"}),
        ("обновили vLLM с 0.27.1 до 0.28.0", {"vllm_version": "0.28.0"}),
        ("把 vLLM 从 0.27.1 升级到 0.28.0", {"vllm_version": "0.28.0"}),
        (
            "I start it with `vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8`.",
            {"model": "moonshotai/Kimi-K3", "tp_size": 8, "flag.tensor_parallel_size": "8"},
        ),
    ],
)
def test_plain_statements(told, prose, expected):
    derived = ("gpu_arch", "platform")
    assert {name: v for name, v in told(prose).items() if name not in derived} == expected


@pytest.mark.parametrize(
    "prose",
    [
        "K3 needs driver r580 or later.",
        "드라이버 580.65.06 이상이 필요합니다",
        "требуется драйвер не ниже 580.65.06",
        "驱动需要 580.65.06 以上",
        "Does vLLM 0.27.1 support DCP?",
        "vLLM 0.28.0 or newer has it.",
        "requires CUDA 13.0",
        "On H100 it works, on B200 it fails.",
        "One node has vLLM 0.27.1 and the other vLLM 0.28.0.",
        "| node | vLLM 0.27.1 | driver 575.57.08 |",
        "driver 580",
        "The model has 896 experts and 1,048,576 tokens of context.",
        "vLLM은 0.28.0부터 켜져 있습니다",
        "see https://github.com/vllm-project/vllm/issues/50147",
        "requires 8x B300",
        "does K3 run with driver 570",
        "드라이버 570으로 K3를 돌릴 수 있나요",
        "驱动 570 能跑 K3 吗",
        "пойдёт ли K3 на драйвере 570",
        "how many H100 for K3",
        "TP 6 or 12 does not work",
        "P는 TP16, D는 TP8인데 글이 이상해요",
        "RecoverSSM требует PP=1",
        "B300 설정의 KDA 옵션을 그대로 썼습니다",
        "照抄 B300 的 KDA 参数起不来",
        "并发 16 个会话就变慢",
        "K3 wheel does not see the GPU on CUDA 12 host",
        "vllm:prefix_cache_hits_total is 0 all the time",
        "1P1D gives garbage, a single node is fine",
    ],
)
def test_bounds_questions_and_comparisons_state_nothing(told, prose):
    assert told(prose) == {}


def test_evidence_wins_over_prose(facts):
    found = facts(
        "| NVIDIA-SMI 580.65.06   Driver Version: 580.65.06   CUDA Version: 13.0 |", "our driver is 575.57.08"
    )
    assert [fact.value for fact in found.all("driver_version")] == ["580.65.06", "575.57.08"]


def test_prose_in_the_evidence_is_cited_there(facts):
    sentence = "We run vLLM 0.27.1."
    found = facts(f"hello\n{sentence}\nTraceback", sentence)
    assert (found.get("vllm_version").file, found.get("vllm_version").line) == ("paste.log", 2)
    alone = facts("Traceback", f"hello\n{sentence}").get("vllm_version")
    assert (alone.file, alone.line, alone.text) == (PROSE_FILE, 2, sentence)


@pytest.mark.parametrize(
    "prose",
    [
        "8xB300 crashes",
        "8×B300 crashes",
        "8хB300 падает",
        "B300 x8 crashes",
        "B300x8 crashes",
        "8*B300 crashes",
        "B300*8 crashes",
        "8-GPU B300 crashes",
        "b300 8장에서 죽어요",
        "B300 8개로 죽어요",
        "8卡B300 起不来",
        "八卡 B300 起不来",
        "B300 8卡 起不来",
        "8 карт B300 падает",
        "8 видеокарт B300 падает",
    ],
)
def test_gpu_count_when_written_in_any_usual_way_then_read(told, prose):
    found = told(prose)
    assert (found.get("gpu_model"), found.get("gpu_count")) == ("B300", 8)


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("2x8xH200 dies", {"host_count": 2, "gpu_count": 8, "gpu_model": "H200"}),
        ("2 nodes of 8xB200 die", {"host_count": 2, "gpu_count": 8, "gpu_model": "B200"}),
        ("8xB300 x 2 nodes", {"host_count": 2, "gpu_count": 8, "gpu_model": "B300"}),
        ("2台8卡B200 挂了", {"host_count": 2, "gpu_count": 8, "gpu_model": "B200"}),
        ("у нас одна машина 8xB300, падает", {"host_count": 1, "gpu_count": 8, "gpu_model": "B300"}),
        ("16xH200 dies", {"gpu_model": "H200"}),
        ("одна нода упала, 3 шарда не загрузились", {}),
    ],
)
def test_hosts_when_told_beside_the_gpus_then_read(told, prose, expected):
    derived = ("gpu_arch", "platform")
    assert {name: v for name, v in told(prose).items() if name not in derived} == expected


@pytest.mark.parametrize(
    "prose",
    [
        "TP8xPP2 hangs",
        "tp=8/pp=2 hangs",
        "tp8pp2 hangs",
        "TP 8 x PP 2 hangs",
        "tensor parallel 8, pipeline parallel 2",
        "张量并行 8，流水线并行 2",
        "텐서 병렬 8, 파이프라인 병렬 2",
        "тензорный параллелизм 8, конвейерный параллелизм 2",
    ],
)
def test_parallel_sizes_when_joined_or_spelt_out_then_read(told, prose):
    assert told(prose) == {"tp_size": 8, "pp_size": 2}


@pytest.mark.parametrize(
    ("prose", "driver", "vllm"),
    [
        ("обновили драйвер до 580.95.05, vllm 0.29.0 не видит карты", "580.95.05", "0.29.0"),
        ("driver updated to 580.95.05, vllm 0.29.0", "580.95.05", "0.29.0"),
        ("드라이버를 580.95.05로 올렸고 vLLM은 0.29.0입니다", "580.95.05", "0.29.0"),
        ("驱动升级到 580.95.05，vLLM 版本 0.29.0", "580.95.05", "0.29.0"),
        ("обновили vLLM до 0.29.0, драйвер 580.95.05", "580.95.05", "0.29.0"),
        ("P/D: префилл обновили до 0.33.0, декод ещё на 0.32.0, vllm", None, None),
        ("moved our lmcache to 0.3.1, vllm hangs", None, None),
    ],
)
def test_move_when_of_another_program_then_not_the_release_of_vllm(told, prose, driver, vllm):
    found = told(prose)
    assert (found.get("driver_version"), found.get("vllm_version")) == (driver, vllm)


@pytest.mark.parametrize(
    ("prose", "version"),
    [
        ("8xB300, tp8, 0.27.1, --enable-prefix-caching.", "0.27.1"),
        ("k3 on 0.29 hangs", "0.29"),
        ("Two H200 nodes, v0.31.0.", "0.31.0"),
        ("once in a while, 0.33.0 16xB200", "0.33.0"),
        ("nightly сборка (0.33.1rc1.dev212) на B300", "0.33.1rc1.dev212"),
        ("k3 0.31에서 죽어요", "0.31"),
        ("K3 在 0.31 上起不来", "0.31"),
        ("after our quota plugin k3 does not start (8xB300, 0.32.0)", "0.32.0"),
        ("We upgraded from 0.28 to 0.31 and VLLM_X=3 does nothing", "0.31"),
        ("upgraded k3 to 0.31, it worked on 0.28", "0.31"),
        ("k3 with nixl 0.10.1 hangs", None),
        ("the gateway in front of k3 runs on 0.30.1", None),
        ("gpu memory utilization 0.95 on B200", None),
        ("B300, fixed in 0.31.0", None),
        ("lunch at 0.31", None),
        ("the npm registry is slow with 0.31.0", None),
    ],
)
def test_release_when_bare_then_that_of_vllm_unless_another_program_is_named(told, prose, version):
    assert told(prose).get("vllm_version") == version


def test_release_when_bare_beside_a_log_of_vllm_then_read(facts):
    found = facts("(EngineCore pid=7) INFO 11-29 12:00:00 [core.py:1] x", "crashes every night, 0.33.0")
    assert found.get("vllm_version").value == "0.33.0"


def test_variable_when_named_with_its_value_in_a_sentence_then_known(told):
    found = told("since the upgrade VLLM_PREFIX_CACHE_RETENTION_INTERVAL=32768 seems to do nothing")
    assert found["env.VLLM_PREFIX_CACHE_RETENTION_INTERVAL"] == "32768"
