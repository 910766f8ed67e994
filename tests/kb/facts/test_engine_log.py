import pytest

CONFIG = (
    "(EngineCore_DP0 pid=412) INFO 08-11 12:00:00 [core.py:139] Initializing a V1 LLM engine (v0.27.1) with config: "
    "model='moonshotai/Kimi-K3', speculative_config=SpeculativeConfig(method='dspark', "
    "model='RedHatAI/Kimi-K3-speculator.dspark', num_spec_tokens=8), tokenizer='moonshotai/Kimi-K3', "
    "trust_remote_code=True, dtype=torch.bfloat16, max_seq_len=1048576, load_format=fastsafetensors, "
    "tensor_parallel_size=8, pipeline_parallel_size=2, data_parallel_size=1, decode_context_parallel_size=1, "
    "disable_custom_all_reduce=False, quantization=mxfp4, quantization_config=None, enforce_eager=False, "
    "kv_cache_dtype=fp8, device_config=cuda, structured_outputs_config=StructuredOutputsConfig(backend='auto', "
    "reasoning_parser='kimi_k3', reasoning_parser_plugin=''), seed=0, served_model_name=kimi-k3, "
    "enable_prefix_caching=False, enable_chunked_prefill=True, "
    "kernel_config=KernelConfig(enable_flashinfer_autotune=False, moe_backend='auto')"
)


def test_engine_config_line(values):
    assert values(CONFIG) == {
        "vllm_version": "0.27.1",
        "model": "moonshotai/Kimi-K3",
        "speculative_method": "dspark",
        "max_model_len": 1048576,
        "tp_size": 8,
        "pp_size": 2,
        "dp_size": 1,
        "dcp_size": 1,
        "quantization": "mxfp4",
        "kv_cache_dtype": "fp8",
        "reasoning_parser": "kimi_k3",
        "prefix_caching": False,
        "stage": "engine_start",
    }


def test_engine_config_cut_off_in_the_middle(values):
    cut = CONFIG.index("max_seq_len=") + len("max_seq_len=10")
    assert values(CONFIG[:cut]) == {
        "vllm_version": "0.27.1",
        "model": "moonshotai/Kimi-K3",
        "speculative_method": "dspark",
        "stage": "engine_start",
    }


def test_day_0_image_reports_its_build(value):
    text = "Initializing a V1 LLM engine (v0.1.dev19262+gb6bbf29dd.d20260727) with config: model='moonshotai/Kimi-K3'"
    assert value(text, "vllm_version") == "0.1.dev19262+gb6bbf29dd.d20260727"


def test_dumped_config_of_a_dying_engine_counts_too(values):
    found = values(CONFIG.replace("Initializing a", "Dumping input data for"))
    assert (found["tp_size"], found["stage"]) == (8, "serving")


def test_engine_wins_over_the_arguments(facts):
    text = (
        "(APIServer pid=1) INFO 08-11 11:59:00 [utils.py:253] non-default args: {'model': 'moonshotai/Kimi-K3', "
        "'tensor_parallel_size': 16, 'enable_prefix_caching': True}\n" + CONFIG
    )
    found = facts(text)
    assert found.get("tp_size").value == 8
    assert found.get("prefix_caching").value is False
    assert found.get("flag.tensor_parallel_size").value == "16"
    assert [fact.value for fact in found.all("tp_size")] == [8, 16]


def test_arguments_with_objects_lists_and_nested_dicts(values):
    text = (
        "(APIServer pid=1) INFO 08-11 11:59:00 [utils.py:253] non-default args: {'model_tag': 'moonshotai/Kimi-K3', "
        "'served_model_name': ['kimi-k3'], 'attention_config': AttentionConfig(backend=None, "
        "mla_prefill_backend='FLASHINFER', use_prefill_query_quantization=True), 'compilation_config': {'pass_config': "
        "{'fuse_allreduce_rms': False}}, 'api_key': '***', 'kv_transfer_config': KVTransferConfig("
        "kv_connector='NixlConnector', kv_role='kv_producer', kv_connector_extra_config={'a': 'b'}), "
        "'gpu_memory_utilization': 0.95, 'enable_expert_parallel': True, 'max_num_seqs': 128}"
    )
    assert values(text, without=("flag.attention_config", "flag.kv_transfer_config")) == {
        "flag.served_model_name": "kimi-k3",
        "flag.compilation_config": '{"pass_config":{"fuse_allreduce_rms":false}}',
        "flag.api_key": "***",
        "flag.gpu_memory_utilization": "0.95",
        "flag.enable_expert_parallel": "true",
        "flag.max_num_seqs": "128",
        "mla_prefill_backend": "FLASHINFER",
        "kv_connector": "NixlConnector",
        "kv_role": "kv_producer",
        "gpu_memory_utilization": 0.95,
        "ep_enabled": True,
        "max_num_seqs": 128,
        "stage": "import",
    }


def test_arguments_cut_off_keep_what_is_whole(values):
    text = "non-default args: {'tensor_parallel_size': 8, 'kv_cache_dtype': 'fp8', 'compilation_config': {'pass_con"
    assert values(text) == {
        "flag.tensor_parallel_size": "8",
        "tp_size": 8,
        "flag.kv_cache_dtype": "fp8",
        "kv_cache_dtype": "fp8",
        "stage": "import",
    }


def test_switched_off_argument(values):
    found = values("non-default args: {'enable_prefix_caching': False}")
    assert (found["flag.enable_prefix_caching"], found["prefix_caching"]) == ("false", False)


def test_secrets_in_arguments_are_not_repeated(value):
    assert value("non-default args: {'api_key': ['sk-123'], 'port': 8000}", "flag.api_key") == "***"


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("vLLM is using nccl==2.30.7", "nccl_version", "2.30.7"),
        ("NCCL version 2.30.7+cuda13.0", "nccl_version", "2.30.7"),
        ("vLLM API server version 0.26.0", "vllm_version", "0.26.0"),
        ("vLLM server version 0.33.0, serving model moonshotai/Kimi-K3", "vllm_version", "0.33.0"),
        ("vLLM server version 0.33.0, serving model moonshotai/Kimi-K3", "model", "moonshotai/Kimi-K3"),
        ("Model loading took 196.4231 GiB memory and 411.201344 seconds", "weights_gib", 196.4231),
        ("Available KV cache memory: 41.27 GiB", "kv_cache_available_gib", 41.27),
        ("Available KV cache memory: -3.10 GiB", "kv_cache_available_gib", -3.1),
        (
            "Setting attention block size to 1536 tokens to ensure that attention page size is >= mamba page size.",
            "block_size",
            1536,
        ),
        (
            "Mamba cache mode is set to 'align' for KimiK3ForConditionalGeneration by default when it is on",
            "mamba_cache_mode",
            "align",
        ),
        (
            "Hybrid or mamba-based model detected without support for prefix caching with Mamba cache 'all' mode: "
            "falling back to 'align' mode.",
            "mamba_cache_mode",
            "align",
        ),
        (
            "Auto-fit max_model_len: reduced from 1048576 to 262144 to fit in available KV cache memory (9.1 GiB)",
            "max_model_len",
            262144,
        ),
        ("Chunked prefill is enabled with max_num_batched_tokens=8192.", "max_num_batched_tokens", 8192),
        (
            "Using FLASHMLA attention backend out of potential backends: ['FLASHMLA', 'TRITON_MLA'].",
            "attention_backend",
            "FLASHMLA",
        ),
        ("Using TRTLLM_RAGGED MLA prefill backend.", "mla_prefill_backend", "TRTLLM_RAGGED"),
        ("Using 'FLASHINFER_TRTLLM_MXFP4_MXFP8' Mxfp4 MoE backend.", "moe_backend", "flashinfer_trtllm_mxfp4_mxfp8"),
        ("Using DeepEPV2All2AllManager all2all manager.", "all2all_backend", "deepep_v2"),
        ("Using FlashInferNVLinkOneSidedManager all2all manager.", "all2all_backend", "flashinfer_nvlink_one_sided"),
        ("Creating v1 connector with name: NixlPushConnector and engine_id: 0", "kv_connector", "NixlPushConnector"),
        ("[EP Rank 0/16] Expert parallelism is enabled. Expert placement strategy: linear.", "ep_enabled", True),
        ("Worker proc VllmWorker-3 died unexpectedly (exit code: -9), shutting down executor.", "exit_code", -9),
        ("RuntimeError: Process RustFrontend (PID: 91) died with exit code 2", "exit_code", 2),
        ("Failed core proc(s): {'EngineCore_DP0': -11}", "exit_code", -11),
        ("World size (16) is larger than the number of available GPUs (7) in this node.", "gpu_count", 7),
        ("Automatically detected platform rocm.", "platform", "rocm"),
        (
            "Model architectures ['KimiK3ForConditionalGeneration'] are not supported for now.",
            "architecture",
            "KimiK3ForConditionalGeneration",
        ),
        ("is not supported for the current GPU. Minimum capability: 80. Current capability: 90.", "gpu_arch", "hopper"),
        ("The NVIDIA driver on your system is too old (found version 12090). Please update", "driver_cuda_max", "12.9"),
        ("requirements not met: unsatisfied condition: cuda>=13.0 (cuda=12.8)", "driver_cuda_max", "12.8"),
        ("DeepEP v2 requires NCCL >= 2.30.4 but found 2.28.9. PyTorch pins an older NCCL", "nccl_version", "2.28.9"),
        (
            "SpecDecoding metrics: Mean acceptance length: 3.41, Accepted throughput: 88.2 tokens/s",
            "spec_acceptance_length",
            3.41,
        ),
        ('  File "/usr/local/lib/python3.12/dist-packages/vllm/v1/engine/core.py", line 1', "python_version", "3.12"),
    ],
)
def test_one_line(value, text, name, expected):
    assert value(text, name) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Please re-compile with NCCL. Prior to NCCL 2.31, NCCL compile-time and runtime versions must be the same.",
        "NCCL WARN Mismatched NCCL version detected : rank 0 version 23007 rank 8 version 22809",
        "PyTorch was compiled with CUDA 12.4 but the system has another version",
        "See https://github.com/vllm-project/vllm/releases/tag/v0.28.0 and https://docs.vllm.ai/en/v0.29.0/",
        "CUDA graph memory profiling is enabled (default since v0.21.0).",
        "--mamba-cache-mode is deprecated and will be removed in v0.33.0. It has no effect",
        "Selected MLA prefill backend TRTLLM_RAGGED is not valid for this configuration. Reason: ['x']",
        "Moe backend 'flashinfer_trtllm' does not support the deployment configuration",
        "unsatisfied condition: cuda>=13.0, please update your driver to a newer version",
    ],
)
def test_texts_that_only_mention_a_version_or_a_backend_state_nothing(values, text):
    assert values(text) == {}


def test_out_of_memory_numbers(values):
    text = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.61 GiB. GPU 3 has a total capacity of "
        "178.35 GiB of which 812.19 MiB is free. Including non-PyTorch memory, this process has 177.55 GiB in use."
    )
    assert values(text) == {
        "oom_tried_gib": 1.61,
        "oom_total_gib": 178.35,
        "oom_free_gib": 0.793,
        "gpu_memory_gib": 178.35,
    }


def test_out_of_memory_numbers_in_the_old_wording(values):
    text = (
        "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 79.10 GiB total capacity; 70.02 GiB already "
        "allocated; 8.12 MiB free; 71 GiB reserved)"
    )
    found = values(text)
    assert (found["oom_tried_gib"], found["oom_total_gib"]) == (0.02, 79.1)


def test_out_of_memory_on_rocm(value):
    text = "OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 287.98 GiB"
    assert value(text, "platform") == "rocm"


def test_first_out_of_memory_counts(value):
    text = (
        "Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 178.35 GiB of which 1.00 GiB is free.\n"
        "Tried to allocate 5.00 GiB. GPU 1 has a total capacity of 178.35 GiB of which 2.00 GiB is free."
    )
    assert value(text, "oom_tried_gib") == 3.0


def test_taken_memory_tells_the_size_of_the_gpu(value):
    text = "ValueError: Free memory on device cuda:2 (3.21/178.35 GiB) on startup is less than desired"
    assert value(text, "gpu_memory_gib") == 178.35


def test_lowest_kv_memory_of_the_ranks_counts(value):
    text = (
        "Available KV cache memory: 41.27 GiB\nAvailable KV cache memory: 40.02 GiB\nAvailable KV cache memory: 41 GiB"
    )
    assert value(text, "kv_cache_available_gib") == 40.02


def test_killed_worker_counts_and_not_the_orderly_exits_after_it(value):
    text = (
        "Worker proc VllmWorker-0 died unexpectedly (exit code: 0), shutting down executor.\n"
        "Worker proc VllmWorker-3 died unexpectedly (exit code: -9), shutting down executor.\n"
        "Failed core proc(s): {'EngineCore_DP0': 1}"
    )
    assert value(text, "exit_code") == -9


def test_statistics_lines(facts):
    row = (
        "(APIServer pid=1) INFO 08-11 12:0{n}:00 [loggers.py:283] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg "
        "generation throughput: 2.0 tokens/s, Running: 3 reqs, Waiting: 9 reqs, {p}GPU KV cache usage: {u}%, "
        "Prefix cache hit rate: {h}%, External prefix cache hit rate: 77.0%"
    )
    found = facts(
        "\n".join(
            [
                row.format(n=1, p="", u="41.0", h="0.0"),
                row.format(n=2, p="Preemptions: 7, ", u="99.2", h="3.5"),
                row.format(n=3, p="Preemptions: 2, ", u="98.0", h="4.1"),
            ]
        )
    )
    assert {name: found.get(name).value for name in ("kv_cache_usage", "prefix_cache_hit_rate", "preemptions")} == {
        "kv_cache_usage": 99.2,
        "prefix_cache_hit_rate": 4.1,
        "preemptions": 7.0,
    }
    assert len(found.all("kv_cache_usage")) == 1
    assert found.get("kv_cache_usage").line == 2


def test_banner(values):
    text = """
(APIServer pid=1) INFO 11-29 12:02:49 [api_utils.py:347]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.32.0
(APIServer pid=1) INFO 11-29 12:02:49 [api_utils.py:347]   █▄█▀ █     █     █     █  model   /models/tiny
"""
    assert values(text) == {"vllm_version": "0.32.0", "model": "/models/tiny", "stage": "import"}


def test_draft_model_does_not_replace_the_architecture(value):
    text = "Resolved architecture: KimiK3ForConditionalGeneration\nResolved architecture: K3DSparkModel"
    assert value(text, "architecture") == "KimiK3ForConditionalGeneration"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "User-specified max_model_len (2097152) is greater than the derived max_model_len (x=1048576)",
            {"max_model_len": 2097152},
        ),
        (
            "To serve at least one request with the model's max seq len (1048576), (61.3 GiB KV cache is needed, "
            "which is larger than the available KV cache memory (41.2 GiB). Based on the available memory,",
            {"max_model_len": 1048576, "kv_cache_available_gib": 41.2},
        ),
        (
            "max_num_batched_tokens (512) must be greater than or equal to max_num_seqs (1024).",
            {"max_num_batched_tokens": 512},
        ),
        ("max_num_seqs (512) exceeds available Mamba cache blocks (301).", {"max_num_seqs": 512}),
        (
            "Total number of attention heads (96) must be divisible by tensor parallel size (10).",
            {"tp_size": 10},
        ),
        (
            "Free memory on device cuda:2 (271.63/287.98 GiB) on startup is less than desired GPU memory utilization "
            "(0.95, 273.58 GiB).",
            {"gpu_memory_gib": 287.98, "gpu_memory_utilization": 0.95},
        ),
        (
            "Memory access fault by GPU node-3 (Agent handle: 0x1c2) on address 0x7f. Reason: Unknown.",
            {"platform": "rocm"},
        ),
    ],
)
def test_refusals_tell_what_was_asked_for(values, text, expected):
    assert values(text) == expected
