"""What would make an answer surer: the evidence to ask for, as keys of the catalogue."""

from __future__ import annotations

import re

from kb.diagnosis import Diagnosis
from kb.facts import STAGES
from kb.failures import Failure
from kb.matching import Match

_FACT_SOURCES = {
    "vllm_version": ("vllm_version",),
    "driver_version": (
        *("driver_version", "driver_cuda_max", "gpu_model", "gpu_arch", "gpu_count", "gpu_memory_gib"),
        *("gpu_memory_used_gib", "host_count", "total_gpu_memory_gib", "oom_total_gib"),
    ),
    "topology": ("topology",),
    "network": ("kernel_version", "ofed_version", "nic_state", "rdma_devices"),
    "packages": (
        *("cuda_runtime", "torch_version", "torch_cuda", "torchvision_version", "nccl_version", "flashinfer_version"),
        *("transformers_version", "triton_version", "deep_gemm_version", "python_version", "rocm_version"),
        *("nixl_version", "platform"),
    ),
    "launch": (
        *("image", "image_digest", "model", "architecture", "quantization", "tp_size", "pp_size", "dp_size"),
        *("dcp_size", "ep_enabled", "nnodes", "kv_cache_dtype", "prefix_caching", "mamba_cache_mode", "block_size"),
        *("max_model_len", "max_num_seqs", "max_num_batched_tokens", "gpu_memory_utilization", "kv_connector"),
        *("kv_role", "speculative_method", "moe_backend", "all2all_backend", "attention_backend"),
        *("mla_prefill_backend", "tool_call_parser", "reasoning_parser"),
    ),
    "whole_log": (*("stage", "kv_cache_available_gib", "weights_gib", "oom_tried_gib", "oom_free_gib", "exit_code"),),
    "kernel_log": ("xid",),
    "metrics": (
        *("prefix_cache_queries", "prefix_cache_hits", "prefix_cache_hit_rate", "kv_cache_usage", "preemptions"),
        *("corrupted_requests", "nixl_failed_transfers", "nixl_expired_requests", "spec_acceptance_length"),
    ),
}
"""What to ask for -> the facts that it tells."""
_SOURCE_OF = {fact: source for source, facts in _FACT_SOURCES.items() for fact in facts}
_FAMILIES = {"flag": "launch", "env": "launch", "module": "modules"}

ON_KUBERNETES = frozenset(
    {
        *("first_exception", "whole_log", "any_log", "around_first", "vllm_version", "launch", "packages"),
        *("other_nodes", "metrics"),
    }
)
ON_ROCM = frozenset({"driver_version", "topology", "kernel_log", "blocking_launch"})
"""Keys whose command differs there: they stand once more below `on_kubernetes` and `on_rocm`."""


def source_of(fact: str) -> str:
    """The key of what to ask for to learn a fact."""
    return _SOURCE_OF.get(fact) or _FAMILIES.get(fact.partition(".")[0]) or "any_log"


def missing_keys(diagnosis: Diagnosis) -> list[str]:
    """Keys under `missing` in the catalogue, the most useful first; `foreign_code:PATH` names a file."""
    keys = dict.fromkeys(_keys(diagnosis))
    if "any_log" in keys:
        keys.pop("launch", None)  # asked for with the log
    kubernetes, rocm = _runs_on_kubernetes(diagnosis), _runs_on_rocm(diagnosis)
    return [
        f"on_kubernetes.{key}"
        if kubernetes and key in ON_KUBERNETES
        else f"on_rocm.{key}"
        if rocm and key in ON_ROCM
        else key
        for key in keys
    ]


def _keys(diagnosis: Diagnosis) -> list[str]:
    names = diagnosis.facts.names()
    layer = diagnosis.diagnoses[0].match.rule.layer if diagnosis.diagnoses else None
    text = diagnosis.root.line.text if diagnosis.root else ""
    unknown = diagnosis.outcome == "unknown"
    keys: list[str] = []
    if diagnosis.root is None and not any(item.match.anchor is not None for item in diagnosis.diagnoses):
        keys.append("any_log")
    if diagnosis.only_wrappers:
        keys.append("first_exception")
    elif unknown and diagnosis.root is not None:
        keys += [*_foreign_code(diagnosis.root), "around_first", "other_ranks", "what_changed"]
    for item in diagnosis.diagnoses:
        keys += _settling(item.match)
    if diagnosis.diagnoses and diagnosis.diagnoses[0].confidence == "certain":
        return keys
    if layer == "communication" or _NETWORK.search(text):
        keys += ["other_nodes"] if "NCCL INFO" in text else ["nccl_debug", "other_nodes"]
    if layer == "engine_crash" or _CRASH.search(text):
        keys += [] if "xid" in names else ["kernel_log"]
        keys += ["blocking_launch"] if "illegal memory" in text else []
    if layer in ("prefix_cache", "performance") and "prefix_cache_queries" not in names:
        keys.append("metrics")
    if "vllm_version" not in names and layer not in ("hardware", "environment"):
        keys.append("vllm_version")
    about_setup = unknown or layer in ("config", "memory_startup", "memory_runtime", "prefix_cache")
    if about_setup and "tp_size" not in names and not any(name.startswith("flag.") for name in names):
        keys.append("launch")
    stage = diagnosis.facts.stage
    early = stage is None or STAGES.index(stage) <= STAGES.index("engine_start")
    if "driver_version" not in names and (layer in ("hardware", "environment") or (unknown and early)):
        keys.append("driver_version")
    return keys


_NETWORK = re.compile(r"NCCL|ProcessGroup|UCX|NIXL|Gloo|TCPStore|timed out")
_CRASH = re.compile(r"illegal memory access|Segmentation fault|died unexpectedly|exit code")


def _settling(match: Match) -> list[str]:
    """What would settle a diagnosis that the evidence leaves open."""
    keys = []
    if match.stage_unknown:
        keys.append("whole_log")
    if match.version_unknown or match.outside:
        keys.append("vllm_version")
    return keys + [source_of(fact) for fact in match.unknown]


_KUBERNETES = re.compile(
    r"kubectl|kubelet|kubepods|CrashLoopBackOff|ImagePullBackOff|OOMKilled|Back-off |nvidia\.com/gpu|(?i:statefulset)"
    r"|(?:liveness|readiness|startup) probe|\b[Pp]ods?\b"
)

_LOOKED_AT = 2_000
"""Lines at the start, and at the end, in which to look for the way the server runs."""


def _runs_on_kubernetes(diagnosis: Diagnosis) -> bool:
    lines = diagnosis.evidence.lines
    looked_at = [*lines[:_LOOKED_AT], *lines[_LOOKED_AT:][-_LOOKED_AT:]]
    return bool(_KUBERNETES.search(diagnosis.evidence.prose)) or any(_KUBERNETES.search(one.text) for one in looked_at)


def _runs_on_rocm(diagnosis: Diagnosis) -> bool:
    platform, model = diagnosis.facts.get("platform"), diagnosis.facts.get("gpu_model")
    if platform is not None:
        return platform.value == "rocm"
    return model is not None and str(model.value).startswith("MI")


_PACKAGE = re.compile(r"[\\/](?:site|dist)-packages[\\/]([^\\/]+)")
_STANDARD_LIBRARY = re.compile(r"[\\/]python3(?:\.\d+)?[\\/]|^<")
_SOURCE_TREE = re.compile(r"(?:^|[\\/])(?:vllm|vllm_ascend|torch)(?:[\\/]|$)")
_MADE_AT_RUN_TIME = re.compile(r"torchinductor|torch_compile_cache|[\\/]\.triton[\\/]|triton_cache")
_SERVING_STACK = frozenset(
    {
        *("vllm", "torch", "torchvision", "triton", "flashinfer", "transformers", "tokenizers", "safetensors", "ray"),
        *("huggingface_hub", "hf_xet", "fastsafetensors", "numpy", "numba", "pydantic", "pydantic_core", "fastapi"),
        *("starlette", "uvicorn", "uvloop", "httpx", "httpcore", "anyio", "aiohttp", "requests", "urllib3", "zmq"),
        *("msgspec", "cloudpickle", "openai", "openai_harmony", "xgrammar", "llguidance", "outlines_core", "tiktoken"),
        *("compressed_tensors", "deep_gemm", "deep_ep", "aiter", "flash_attn", "nixl", "lmcache", "mooncake", "cuda"),
        *("prometheus_client", "prometheus_fastapi_instrumentator", "multiprocess", "einops", "PIL", "cv2", "jinja2"),
        *("vllm_flash_attn", "nvidia", "cupy", "cutlass", "tilelang", "dynamo", "regex", "yaml", "psutil", "gguf"),
    }
)


def _foreign_code(root: Failure) -> list[str]:
    """The file that raised the exception, where it is neither vLLM's nor that of a library it is served with."""
    if root.raised is None:
        return []
    for path, _ in reversed(root.raised.root.frames):
        if _MADE_AT_RUN_TIME.search(path):
            return []
        package = _PACKAGE.search(path)
        if package is None and _STANDARD_LIBRARY.search(path):
            continue
        name = package.group(1).removesuffix(".py") if package else ""
        inside = name in _SERVING_STACK if package else bool(_SOURCE_TREE.search(path))
        absolute = path.startswith("/") or re.match(r"[A-Za-z]:\\", path)
        return [] if inside or not absolute else [f"foreign_code:{path}"]
    return []
