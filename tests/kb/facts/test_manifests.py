DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: kimi-k3
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: proxy
          image: envoyproxy/envoy:v1.30.0
          args: ["--concurrency", "4"]
        - name: vllm
          image: vllm/vllm-openai:v0.28.0
          command: ["vllm", "serve"]
          args:
            - moonshotai/Kimi-K3
            - --tensor-parallel-size
            - "8"
            - --kv-transfer-config
            - '{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}'
            - "--no-enable-prefix-caching"
            - --max-num-seqs=64
          env:
            - name: VLLM_SSM_CONV_STATE_LAYOUT
              value: "DS"
            - name: HF_TOKEN
              valueFrom:
                secretKeyRef: {name: hf, key: token}
            - name: UCX_TLS
              value: rc,cuda_copy
          resources:
            limits:
              nvidia.com/gpu: "8"
"""

EXPECTED = {
    "image": "vllm/vllm-openai:v0.28.0",
    "vllm_version": "0.28.0",
    "model": "moonshotai/Kimi-K3",
    "flag.tensor_parallel_size": "8",
    "tp_size": 8,
    "flag.kv_transfer_config": '{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}',
    "kv_connector": "NixlConnector",
    "kv_role": "kv_consumer",
    "flag.no_enable_prefix_caching": "true",
    "flag.enable_prefix_caching": "false",
    "prefix_caching": False,
    "flag.max_num_seqs": "64",
    "max_num_seqs": 64,
    "env.VLLM_SSM_CONV_STATE_LAYOUT": "DS",
    "env.UCX_TLS": "rc,cuda_copy",
    "gpu_count": 8,
    "host_count": 1,
}


def test_kubernetes_deployment(values):
    assert values(DEPLOYMENT) == EXPECTED


def test_facts_of_a_manifest_cite_their_own_lines(facts):
    found = facts(DEPLOYMENT)
    assert found.get("image").text.strip() == "image: vllm/vllm-openai:v0.28.0"
    assert found.get("env.UCX_TLS").text.strip() == "value: rc,cuda_copy"
    assert found.get("gpu_count").text.strip() == 'nvidia.com/gpu: "8"'
    assert found.get("flag.max_num_seqs").text.strip() == "- --max-num-seqs=64"


def test_manifest_that_is_cut_off_tells_what_stands_before_the_cut(values):
    found = values(DEPLOYMENT[: DEPLOYMENT.index("- name: HF_TOKEN")] + "            - name: {broken")
    assert found["tp_size"] == 8
    assert found["env.VLLM_SSM_CONV_STATE_LAYOUT"] == "DS"
    assert "env.UCX_TLS" not in found


def test_log_after_a_manifest_is_read_as_a_log(values):
    found = values(DEPLOYMENT + "(EngineCore_DP0 pid=1) INFO 08-11 12:00:00 [x.py:1] vLLM is using nccl==2.30.7")
    assert found == {**EXPECTED, "nccl_version": "2.30.7", "stage": "engine_start"}


def test_script_in_a_block_scalar(values):
    text = """
containers:
- image: vllm/vllm-openai:v0.29.0
  command: ["/bin/bash", "-c"]
  args:
  - |
    export NCCL_CUMEM_ENABLE=1
    VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS=1800 vllm serve moonshotai/Kimi-K3 \\
      --tensor-parallel-size 8 --pipeline-parallel-size 2
"""
    assert values(text) == {
        "image": "vllm/vllm-openai:v0.29.0",
        "vllm_version": "0.29.0",
        "env.NCCL_CUMEM_ENABLE": "1",
        "env.VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS": "1800",
        "model": "moonshotai/Kimi-K3",
        "flag.tensor_parallel_size": "8",
        "tp_size": 8,
        "flag.pipeline_parallel_size": "2",
        "pp_size": 2,
    }


def test_helm_values_of_the_production_stack(values):
    text = """
servingEngineSpec:
  modelSpec:
  - name: "kimi-k3"
    repository: "vllm/vllm-openai"
    tag: "v0.27.1"
    modelURL: "moonshotai/Kimi-K3"
    requestGPU: 8
    vllmConfig:
      tensorParallelSize: 8
      maxModelLen: 131072
      enablePrefixCaching: true
      extraArgs: ["--kv-cache-dtype", "fp8"]
    env:
      - name: NCCL_DEBUG
        value: INFO
"""
    assert values(text) == {
        "image": "vllm/vllm-openai:v0.27.1",
        "vllm_version": "0.27.1",
        "model": "moonshotai/Kimi-K3",
        "flag.tensor_parallel_size": "8",
        "tp_size": 8,
        "flag.max_model_len": "131072",
        "max_model_len": 131072,
        "flag.enable_prefix_caching": "true",
        "prefix_caching": True,
        "flag.kv_cache_dtype": "fp8",
        "kv_cache_dtype": "fp8",
        "env.NCCL_DEBUG": "INFO",
    }


def test_compose_file(values):
    text = """
services:
  k3:
    image: vllm/vllm-openai:kimi-k3
    command: --model moonshotai/Kimi-K3 --tensor-parallel-size 8
    environment:
      NCCL_DMABUF_ENABLE: "0"
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              count: 8
              capabilities: [gpu]
"""
    assert values(text) == {
        "image": "vllm/vllm-openai:kimi-k3",
        "model": "moonshotai/Kimi-K3",
        "flag.model": "moonshotai/Kimi-K3",
        "flag.tensor_parallel_size": "8",
        "tp_size": 8,
        "env.NCCL_DMABUF_ENABLE": "0",
        "gpu_count": 8,
        "host_count": 1,
    }


def test_vllm_config_file(values):
    text = "model: moonshotai/Kimi-K3\ntensor-parallel-size: 8\nkv-cache-dtype: fp8"
    found = values(text)
    assert (found["tp_size"], found["kv_cache_dtype"]) == (8, "fp8")


INSPECT = """
[
    {
        "Id": "4f2d0c5b6a",
        "State": {
            "Status": "exited",
            "OOMKilled": true,
            "ExitCode": 137
        },
        "Image": "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "HostConfig": {
            "ShmSize": 67108864,
            "DeviceRequests": [{"Driver": "", "Count": 8, "DeviceIDs": null, "Capabilities": [["gpu"]]}]
        },
        "Config": {
            "Env": [
                "NCCL_DEBUG=INFO",
                "CUDA_VERSION=13.0.1",
                "NVIDIA_REQUIRE_CUDA=cuda>=13.0 brand=unknown,driver>=535,driver<536"
            ],
            "Cmd": ["moonshotai/Kimi-K3", "--tensor-parallel-size", "8"],
            "Image": "vllm/vllm-openai:kimi-k3",
            "Entrypoint": ["vllm", "serve"]
        }
    }
]
"""
INSPECTED = {
    "exit_code": -9,
    "gpu_count": 8,
    "host_count": 1,
    "image": "vllm/vllm-openai:kimi-k3",
    "env.NCCL_DEBUG": "INFO",
    "env.CUDA_VERSION": "13.0.1",
    "cuda_runtime": "13.0.1",
    "platform": "cuda",
    "env.NVIDIA_REQUIRE_CUDA": "cuda>=13.0 brand=unknown,driver>=535,driver<536",
    "model": "moonshotai/Kimi-K3",
    "flag.tensor_parallel_size": "8",
    "tp_size": 8,
}


def test_docker_inspect(values):
    assert values(INSPECT) == INSPECTED


def test_docker_inspect_on_one_line(values):
    assert values("".join(row.strip() for row in INSPECT.splitlines())) == INSPECTED


def test_docker_inspect_without_its_beginning(values):
    found = values(INSPECT[INSPECT.index('        "Config"') :])
    assert (found["image"], found["tp_size"]) == ("vllm/vllm-openai:kimi-k3", 8)


def test_docker_image_inspect(values):
    text = """
[
    {
        "RepoTags": ["vllm/vllm-openai:kimi-k3"],
        "RepoDigests": ["vllm/vllm-openai@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"],
        "Config": {"Env": ["CUDA_VERSION=13.0.1"], "Entrypoint": ["vllm", "serve"]}
    }
]
"""
    found = values(text)
    assert (found["image"], found["cuda_runtime"]) == ("vllm/vllm-openai:kimi-k3", "13.0.1")
    assert found["image_digest"].startswith("sha256:0123")


def test_environment_of_an_image_as_an_array(value):
    text = '["PATH=/usr/bin","NVIDIA_REQUIRE_CUDA=cuda>=13.0 driver>=535","CUDA_VERSION=13.0.1"]'
    assert value(text, "env.NVIDIA_REQUIRE_CUDA") == "cuda>=13.0 driver>=535"


def test_kubectl_describe(values):
    text = """
Containers:
  vllm:
    Container ID:  containerd://0f
    Image:         vllm/vllm-openai:v0.30.0
    Image ID:      docker.io/vllm/vllm-openai@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
    Args:
      moonshotai/Kimi-K3
      --tensor-parallel-size
      8
      --kv-cache-dtype=fp8
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
    Limits:
      nvidia.com/gpu:  8
    Environment:
      NCCL_DEBUG:  INFO
      HF_TOKEN:    <set to the key 'token' in secret 'hf'>  Optional: false
    Mounts:
      /dev/shm from shm (rw)
"""
    assert values(text) == {
        "image": "vllm/vllm-openai:v0.30.0",
        "vllm_version": "0.30.0",
        "image_digest": "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "model": "moonshotai/Kimi-K3",
        "flag.tensor_parallel_size": "8",
        "tp_size": 8,
        "flag.kv_cache_dtype": "fp8",
        "kv_cache_dtype": "fp8",
        "exit_code": -9,
        "gpu_count": 8,
        "host_count": 1,
        "env.NCCL_DEBUG": "INFO",
    }


def test_json_of_a_request_is_no_manifest(values):
    assert values('{"model": "moonshotai/Kimi-K3", "messages": [{"role": "user", "content": "hi"}]}') == {}


def test_nesting_and_aliases_do_no_harm(facts):
    bomb = "apiVersion: v1\na: &a [x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20)
    )
    facts(bomb)
    facts("apiVersion: " + "[" * 100_000)
    facts("args:\n" + "- " * 50_000)
