import pytest


def test_docker_run_with_continuation_lines(values):
    text = r"""
$ docker run -d --gpus all --ipc=host --network host -e HF_TOKEN=hf_abcdef \
    -e NCCL_DMABUF_ENABLE=0 --env VLLM_ENGINE_READY_TIMEOUT_S=3600 -v /models:/models \
    --name k3 vllm/vllm-openai:kimi-k3@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef \
    moonshotai/Kimi-K3 --tensor-parallel-size 8 --trust-remote-code \
    --kv-cache-dtype fp8 \
    --attention-config '{"use_prefill_query_quantization":true,"mla_prefill_backend":"flashinfer"}' \
    --enable-prefix-caching --max-model-len 1M
some other line
"""
    assert values(text) == {
        "image": "vllm/vllm-openai:kimi-k3",
        "image_digest": "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "env.HF_TOKEN": "***",
        "env.NCCL_DMABUF_ENABLE": "0",
        "env.VLLM_ENGINE_READY_TIMEOUT_S": "3600",
        "model": "moonshotai/Kimi-K3",
        "flag.tensor_parallel_size": "8",
        "tp_size": 8,
        "flag.trust_remote_code": "true",
        "flag.kv_cache_dtype": "fp8",
        "kv_cache_dtype": "fp8",
        "flag.attention_config": '{"use_prefill_query_quantization":true,"mla_prefill_backend":"flashinfer"}',
        "mla_prefill_backend": "FLASHINFER",
        "flag.enable_prefix_caching": "true",
        "prefix_caching": True,
        "flag.max_model_len": "1M",
        "max_model_len": 1048576,
    }


def test_vllm_serve_with_prefixed_environment(values):
    text = "$ env VLLM_USE_V2_MODEL_RUNNER=1 NCCL_DEBUG=INFO vllm serve moonshotai/Kimi-K3 -tp 8 -pp=2 -ep --port 8000"
    assert values(text) == {
        "env.VLLM_USE_V2_MODEL_RUNNER": "1",
        "env.NCCL_DEBUG": "INFO",
        "model": "moonshotai/Kimi-K3",
        "flag.tensor_parallel_size": "8",
        "tp_size": 8,
        "flag.pipeline_parallel_size": "2",
        "pp_size": 2,
        "flag.enable_expert_parallel": "true",
        "ep_enabled": True,
        "flag.port": "8000",
    }


def test_lines_without_their_backslashes_are_joined(values):
    text = "vllm serve moonshotai/Kimi-K3\n  --tensor-parallel-size 16\n  --nnodes 2 --node-rank 0\nNext line"
    found = values(text)
    assert (found["tp_size"], found["nnodes"], found["host_count"]) == (16, 2, 2)


def test_negated_flag_says_so_in_both_names(values):
    found = values("vllm serve moonshotai/Kimi-K3 --no-enable-prefix-caching --no-enable-flashinfer-autotune")
    assert found == {
        "model": "moonshotai/Kimi-K3",
        "flag.no_enable_prefix_caching": "true",
        "flag.enable_prefix_caching": "false",
        "prefix_caching": False,
        "flag.no_enable_flashinfer_autotune": "true",
        "flag.enable_flashinfer_autotune": "false",
    }


def test_model_after_a_bare_flag(value):
    assert value("vllm serve --enable-prefix-caching --model moonshotai/Kimi-K3", "model") == "moonshotai/Kimi-K3"


def test_python_module_form(values):
    text = "python3 -m vllm.entrypoints.openai.api_server --model moonshotai/Kimi-K3 --max-num-seqs=128"
    assert values(text) == {
        "model": "moonshotai/Kimi-K3",
        "flag.model": "moonshotai/Kimi-K3",
        "flag.max_num_seqs": "128",
        "max_num_seqs": 128,
    }


def test_shell_in_quotes(values):
    text = """srun bash -lc "export X=1 && vllm serve moonshotai/Kimi-K3 -sc '{\\"method\\":\\"dspark\\"}'" """
    found = values(text)
    assert (found["model"], found["speculative_method"]) == ("moonshotai/Kimi-K3", "dspark")


def test_process_list(values):
    text = (
        "root  4242 12.0  0.4 9876543 812345 ?  Sl  09:11  1:02 /usr/bin/python3 /usr/local/bin/vllm serve "
        "moonshotai/Kimi-K3 --tensor-parallel-size 8 --all2all-backend deepep_v2"
    )
    found = values(text)
    assert (found["model"], found["tp_size"], found["all2all_backend"]) == ("moonshotai/Kimi-K3", 8, "deepep_v2")


def test_json_without_its_shell_quotes(values):
    text = (
        '$ vllm serve /models/tiny --kv-transfer-config {"kv_connector":"NixlConnector","kv_role":"kv_both"} --port 1'
    )
    found = values(text)
    assert (found["kv_connector"], found["kv_role"], found["flag.port"]) == ("NixlConnector", "kv_both", "1")


def test_dotted_options(values):
    text = "vllm serve x --attention-config.mla_prefill_backend=TRTLLM_RAGGED --kv-transfer-config.kv_role kv_consumer"
    found = values(text)
    assert (found["mla_prefill_backend"], found["kv_role"]) == ("TRTLLM_RAGGED", "kv_consumer")
    assert found["flag.attention_config.mla_prefill_backend"] == "TRTLLM_RAGGED"


def test_word_processor_dashes_and_quotes(values):
    text = "vllm serve moonshotai/Kimi-K3 —tensor-parallel-size 8 —kv-cache-dtype “fp8”"
    found = values(text)
    assert (found["tp_size"], found["kv_cache_dtype"]) == (8, "fp8")


def test_unset_variable_is_no_number(values):
    found = values('vllm serve "$MODEL" --tensor-parallel-size "$TP" --gpu-memory-utilization 0.95')
    assert found["flag.tensor_parallel_size"] == "$TP"
    assert "tp_size" not in found
    assert found["gpu_memory_utilization"] == 0.95


def test_unbalanced_quotes_do_not_hide_the_rest(value):
    assert value("vllm serve moonshotai/Kimi-K3 --chat-template 'broken --tensor-parallel-size 8", "tp_size") == 8


def test_docker_gpus(value):
    assert value("docker run --gpus 4 vllm/vllm-openai:v0.28.0 --model x/y", "gpu_count") == 4
    assert value("""docker run --gpus '"device=0,1"' vllm/vllm-openai:v0.28.0 --model x/y""", "gpu_count") == 2


def test_release_tag_tells_the_version_until_the_engine_does(facts):
    found = facts("docker run vllm/vllm-openai:v0.27.1-cu129 --model moonshotai/Kimi-K3")
    assert found.get("vllm_version").value == "0.27.1"
    both = facts("docker run vllm/vllm-openai:v0.27.1 --model x/y\nvLLM server version 0.27.0, serving model x/y")
    assert both.get("vllm_version").value == "0.27.0"


def test_rocm_image_tells_the_platform(value):
    assert value("docker run vllm/vllm-openai-rocm:kimi-k3 --model moonshotai/Kimi-K3", "platform") == "rocm"


def test_other_entrypoint_gives_the_image_and_no_flags(values):
    text = "docker run --rm --gpus all --entrypoint nvidia-smi vllm/vllm-openai:kimi-k3 --query-gpu=name"
    assert values(text) == {"image": "vllm/vllm-openai:kimi-k3"}


@pytest.mark.parametrize(
    "text",
    [
        "Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them.",
        "usage: vllm serve [model_tag] [options]",
        "port 8000 is used by process psutil.Process(pid=9) launched with command: /usr/bin/vllm serve x/y -tp 4",
        "docker run --rm nvidia/cuda:12.9.1-base-ubuntu24.04 nvidia-smi",
        "docker run -d --gpus all nvcr.io/nvidia/k8s/dcgm-exporter:4.2.0",
        "The image runs vllm serve by itself.",
    ],
)
def test_mentions_and_other_containers_are_no_launch(values, text):
    assert {name for name in values(text) if name != "stage"} == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export NCCL_DMABUF_ENABLE=0", {"env.NCCL_DMABUF_ENABLE": "0"}),
        ('export UCX_TLS="rc,cuda_copy"', {"env.UCX_TLS": "rc,cuda_copy"}),
        ("NCCL_IB_HCA=mlx5_0,mlx5_1", {"env.NCCL_IB_HCA": "mlx5_0,mlx5_1"}),
        ("CUDA_VISIBLE_DEVICES=", {"env.CUDA_VISIBLE_DEVICES": ""}),
        ('  "NCCL_NVLS_ENABLE=0",', {"env.NCCL_NVLS_ENABLE": "0"}),
        ("VLLM_LOGGING_LEVEL=DEBUG NCCL_DEBUG=INFO \\", {"env.VLLM_LOGGING_LEVEL": "DEBUG", "env.NCCL_DEBUG": "INFO"}),
        ("+ export PYTHONHASHSEED=0", {"env.PYTHONHASHSEED": "0"}),
        ("VLLM_API_KEY=sk-very-secret", {"env.VLLM_API_KEY": "***"}),
        (
            "NVIDIA_REQUIRE_CUDA=cuda>=13.0 brand=unknown,driver>=535,driver<536",
            {"env.NVIDIA_REQUIRE_CUDA": "cuda>=13.0 brand=unknown,driver>=535,driver<536"},
        ),
        (
            "node1:912:912 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0",
            {"env.NCCL_SOCKET_IFNAME": "eth0"},
        ),
        ("CUDA_VERSION=13.0.1", {"env.CUDA_VERSION": "13.0.1", "cuda_runtime": "13.0.1", "platform": "cuda"}),
    ],
)
def test_environment_lines(values, text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "\tVLLM_CPU_OMP_THREADS_BIND='auto', auto_setup=True, skip_setup=False",
        "set the environment variable: VLLM_ENGINE_READY_TIMEOUT_S=<seconds> and try again",
        "Disable NVLS (NCCL_NVLS_ENABLE=0) if you wish to avoid this error in the future.",
    ],
)
def test_environment_variables_in_advice_are_not_set(values, text):
    assert values(text) == {}


def test_flags_of_an_earlier_start_are_forgotten(facts):
    found = facts(
        "$ vllm serve x/y --enforce-eager --tensor-parallel-size 4\nTraceback\n"
        "$ vllm serve x/y --tensor-parallel-size 8"
    )
    assert found.get("flag.enforce_eager") is None
    assert [fact.value for fact in found.all("tp_size")] == [8]


def test_refused_flags_were_given(values):
    assert values("vllm: error: unrecognized arguments: --prefix-cache-retention-interval 32768") == {
        "flag.prefix_cache_retention_interval": "32768",
        "stage": "import",
    }
    found = values("vllm serve: error: argument --kv-cache-dtype: invalid choice: 'fp4' (choose from auto, fp8)")
    assert found["flag.kv_cache_dtype"] == "fp4"


def test_image_that_was_pulled(values):
    text = '  Normal   Pulled   2s   kubelet   Container image "vllm/vllm-openai:v0.30.0" already present on machine'
    assert values(text) == {"image": "vllm/vllm-openai:v0.30.0", "vllm_version": "0.30.0"}
    row = '0f1e2d3c4b5a   vllm/vllm-openai:kimi-k3   "vllm serve moonshot…"   3 hours ago   Up 3 hours   k3'
    assert values(row)["image"] == "vllm/vllm-openai:kimi-k3"
    assert values('Normal Pulled 2s kubelet Successfully pulled image "nginx:1.27"') == {}


def test_facts_of_a_long_command_cite_their_own_lines(facts):
    found = facts(
        "docker run -d \\\n  -e NCCL_DEBUG=INFO \\\n  vllm/vllm-openai:v0.28.0 \\\n  --model moonshotai/Kimi-K3 \\\n"
        "  --enable-prefix-caching \\\n  --tensor-parallel-size 8"
    )
    lines = {name: found.get(name).line for name in found.names()}
    assert lines == {
        "env.NCCL_DEBUG": 2,
        "image": 3,
        "vllm_version": 3,
        "flag.model": 4,
        "model": 4,
        "flag.enable_prefix_caching": 5,
        "prefix_caching": 5,
        "flag.tensor_parallel_size": 6,
        "tp_size": 6,
    }


def test_counts_of_tokens_are_no_secrets(values):
    text = "vllm serve x/y --max-num-batched-tokens 8192 --hf-token hf_abc --api-key sk-1"
    found = values(text)
    assert (found["flag.max_num_batched_tokens"], found["max_num_batched_tokens"]) == ("8192", 8192)
    assert (found["flag.hf_token"], found["flag.api_key"]) == ("***", "***")
