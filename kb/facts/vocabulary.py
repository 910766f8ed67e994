"""Names and types of the facts that may be read out of evidence. Entries may use no others."""

from __future__ import annotations

from typing import Literal

FactType = Literal["version", "text", "int", "float", "bool"]

STAGES = (
    "import",
    "engine_start",
    "weights",
    "profiling",
    "kv_cache",
    "graph_capture",
    "ready",
    "first_request",
    "serving",
)
"""How far a server came, in order. Everything before `ready` is start-up."""

FACTS: dict[str, FactType] = {
    "vllm_version": "version",
    "driver_version": "version",
    "driver_cuda_max": "version",  # the highest CUDA the driver serves, as nvidia-smi prints it
    "cuda_runtime": "version",  # the CUDA of the container or of the wheels
    "torch_version": "version",
    "torch_cuda": "version",
    "torchvision_version": "version",
    "nccl_version": "version",
    "flashinfer_version": "version",
    "transformers_version": "version",
    "triton_version": "version",
    "deep_gemm_version": "version",
    "python_version": "version",
    "rocm_version": "version",
    "nixl_version": "version",
    "kernel_version": "text",
    "ofed_version": "text",
    "image": "text",
    "image_digest": "text",
    "platform": "text",  # cuda, rocm or cpu
    "gpu_model": "text",  # B300, GB300, B200, GB200, H100, H200, H20, A100, MI300X, MI325X, MI350X, MI355X, ...
    "gpu_arch": "text",  # ampere, ada, hopper, blackwell, blackwell_ultra, blackwell_sm120, cdna3, cdna4
    "gpu_count": "int",  # GPUs of one host
    "gpu_memory_gib": "float",  # of one GPU
    "gpu_memory_used_gib": "float",  # the highest of the GPUs, as nvidia-smi prints it
    "host_count": "int",
    "total_gpu_memory_gib": "float",
    "topology": "text",  # nvlink or pcie, from nvidia-smi topo -m
    "nic_state": "text",  # down if a port in the evidence is down, else up
    "rdma_devices": "int",
    "model": "text",
    "architecture": "text",
    "quantization": "text",
    "tp_size": "int",
    "pp_size": "int",
    "dp_size": "int",
    "dcp_size": "int",
    "ep_enabled": "bool",
    "nnodes": "int",
    "kv_cache_dtype": "text",
    "prefix_caching": "bool",  # what the engine uses, else what was asked for
    "mamba_cache_mode": "text",
    "block_size": "int",  # tokens; the attention block of a hybrid model
    "max_model_len": "int",
    "max_num_seqs": "int",
    "max_num_batched_tokens": "int",
    "gpu_memory_utilization": "float",
    "kv_connector": "text",  # NixlConnector, MooncakeConnector, LMCacheConnectorV1, ...
    "kv_role": "text",
    "speculative_method": "text",
    "moe_backend": "text",
    "all2all_backend": "text",
    "attention_backend": "text",
    "mla_prefill_backend": "text",
    "tool_call_parser": "text",
    "reasoning_parser": "text",
    "stage": "text",  # the furthest stage reached, see STAGES
    "kv_cache_available_gib": "float",
    "weights_gib": "float",  # per GPU, from "Model loading took"
    "oom_tried_gib": "float",
    "oom_free_gib": "float",
    "oom_total_gib": "float",
    "xid": "int",
    "exit_code": "int",  # of a worker, negative for a signal
    "prefix_cache_queries": "float",
    "prefix_cache_hits": "float",
    "prefix_cache_hit_rate": "float",  # percent, from the engine statistics line or the counters
    "kv_cache_usage": "float",  # percent
    "preemptions": "float",
    "corrupted_requests": "float",
    "nixl_failed_transfers": "float",
    "nixl_expired_requests": "float",
    "spec_acceptance_length": "float",
}

DYNAMIC: dict[str, FactType] = {
    "flag": "text",  # flag.kv_cache_dtype: the value given on the command line, "true" for a bare flag
    "env": "text",  # env.NCCL_DMABUF_ENABLE: the value of the environment variable
    "module": "bool",  # module.nvidia_peermem: whether lsmod lists it (only where an lsmod is in the evidence)
}


def fact_type(name: str) -> FactType | None:
    """The type of the fact `name`, or None where there is no such fact."""
    if name in FACTS:
        return FACTS[name]
    family, _, rest = name.partition(".")
    return DYNAMIC.get(family) if rest else None
