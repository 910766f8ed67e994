"""Whose log a file is: that of vLLM, of a GPU machine, or of another program."""

from __future__ import annotations

import re
from enum import Enum

from kb.evidence import Evidence


class Domain(Enum):
    """Whose log a file is."""

    SERVING = "serving"
    """vLLM's, or that of a machine that serves with it."""
    GPU = "gpu"
    """Of a GPU machine: driver, NCCL, containers; no sign of the engine."""
    FOREIGN = "foreign"
    """Another program's."""
    NONE = "none"


_VLLM_PROOF = re.compile(
    r"/vllm/|\((?:APIServer|EngineCore|Worker)\w* pid=|vllm serve|vllm/vllm-|VLLM::|vllm\.(?:v1|entry)"
)
_ENGINES = {
    "SGLang": r"/sglang/|sglang\.(?:srt|launch)",
    "TensorRT-LLM": r"/tensorrt_llm/",
    "TGI": r"text_generation_(?:launcher|server)",
    "LMDeploy": r"/lmdeploy/",
    "llama.cpp": r"llama-server",
}
_OTHER_ENGINE = re.compile("|".join(_ENGINES.values()))
_SERVING = re.compile(
    r"\bvllm\b|vllm[/:_-]|\bEngineCore|\bWorker_(?:TP|PP|DP|EP|DCP)\d|[Kk]imi[-_ ]?[Kk]3|moonshotai/"
    r'|"type": ?"(?:BadRequest|NotFound|InternalServer|ServiceUnavailable)Error"'
    r"|\((?:A(?:PI|pi)Server|EngineCore|Worker|DPCoordinator|RustFrontend|RayWorker)\w* pid=|\bvLLM\b|VLLM_[A-Z]|VLLM::"
)
_GPU = re.compile(
    r"NCCL (?:WARN|INFO)|NCCL error|NVRM:|nvidia-(?:container|smi|fabricmanager|modprobe|ctk|peermem)"
    r"|NVIDIA-SMI|libnvidia"
    r"|ProcessGroupNCCL|UCX  |nixl_agent|NIXL|DeepEP|deep_ep|[Ff]lash[Ii]nfer|DeepGEMM|deep_gemm"
    r"|fastsafetensors|nvshmem|NVSHMEM|ibgda|mlx5|MooncakeT?"
    r"|CUDA (?:out of memory|error|driver)|cuda(?:Error|GetDeviceCount)|HIP error|hipError|torch\.(?:cuda"
    r"|distributed|OutOfMemory)"
    r"|NVML|[Ff]abric ?[Mm]anager|\bibv_|capabilities: \[\[gpu\]\]|nvidia\.com/gpu|rocm|\bRDMA\b"
)
_FOREIGN = re.compile(
    r"\bsglang\b|tensorrt_llm|TensorRT-LLM|\btrtllm\b|llama\.cpp|llama_(?:model|context|kv)|ggml_|\bollama\b"
    r"|text-generation-inference"
    r"|text_generation_server|\blmdeploy\b|\bdeepspeed\b|megatron|\bdiffusers\b|comfyui|ComfyUI"
    r"|stable[-_ ]diffusion|pytorch_lightning|lightning\.pytorch"
    r"|transformers/trainer\.py|\btrainer\.train\(|accelerate launch|\btrain(?:er|ing)?(?:_\w+)?\.py\b"
    r"|\bdjango\b|\bflask\b|gunicorn|celery|\bnginx\b"
    r"|\bpostgres\b|mysqld|redis-server|java\.lang\.|^\s+at [\w.$]+\(.*\.java:\d+\)|Exception in thread \"main\""
    r"|org\.(?:springframework|apache)|node:internal|npm ERR!|\.tsx?:\d+:\d+|goroutine \d+ \["
    r"|thread 'main' panicked|tensorflow|jax\.|xgboost|elasticsearch"
)

_SAMPLE = 4000


def domains(evidence: Evidence) -> dict[str, Domain]:
    """Whose log each file is, by the words on its kept lines."""
    serving: dict[str, int] = {}
    gpu: dict[str, int] = {}
    foreign: dict[str, int] = {}
    counted: dict[str, int] = {}
    proven: set[str] = set()
    others: set[str] = set()
    for line in evidence.lines:
        if counted.get(line.file, 0) >= _SAMPLE:
            continue
        counted[line.file] = counted.get(line.file, 0) + 1
        text = line.text[:600]
        if _VLLM_PROOF.search(text):
            proven.add(line.file)
        if _OTHER_ENGINE.search(text):
            others.add(line.file)
        if _FOREIGN.search(text):
            foreign[line.file] = foreign.get(line.file, 0) + 1
        elif _SERVING.search(text):
            serving[line.file] = serving.get(line.file, 0) + 1
        if _GPU.search(text):
            gpu[line.file] = gpu.get(line.file, 0) + 1
    if _SERVING.search(evidence.prose) and not foreign:
        serving.update({file: serving.get(file, 0) + 1 for file in counted})
    out = {}
    for file in counted:
        if file in others and file not in proven:
            out[file] = Domain.FOREIGN
        elif serving.get(file, 0) and serving[file] >= foreign.get(file, 0) / 4:
            out[file] = Domain.SERVING
        elif foreign.get(file):
            out[file] = Domain.FOREIGN
        elif gpu.get(file):
            out[file] = Domain.GPU
        else:
            out[file] = Domain.NONE
    return out


def other_engine(evidence: Evidence, whose: dict[str, Domain]) -> str | None:
    """The engine whose log this is, where it is the log of another one than vLLM and of nothing else."""
    if not whose or any(domain in (Domain.SERVING, Domain.GPU) for domain in whose.values()):
        return None
    for line in evidence.lines[:_SAMPLE]:
        if _OTHER_ENGINE.search(line.text[:600]):
            return next(name for name, pattern in _ENGINES.items() if re.search(pattern, line.text[:600]))
    return None
