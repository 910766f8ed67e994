"""What would make an answer surer: the evidence to ask for, as keys of the catalogue."""

from __future__ import annotations

import re

from kb.diagnosis import Diagnosis
from kb.facts import STAGES
from kb.matching import Match

_FACT_SOURCES = {
    "vllm_version": "vllm_version",
    "driver_version": "driver_version",
    "driver_cuda_max": "driver_version",
    "gpu_model": "driver_version",
    "gpu_arch": "driver_version",
    "gpu_count": "driver_version",
    "gpu_memory_gib": "driver_version",
    "stage": "whole_log",
    "prefix_cache_queries": "metrics",
    "prefix_cache_hits": "metrics",
    "prefix_cache_hit_rate": "metrics",
    "kv_cache_usage": "metrics",
    "preemptions": "metrics",
    "image": "launch",
}


def missing_keys(diagnosis: Diagnosis) -> list[str]:
    """Keys under `missing` in the catalogue, the most useful first; `fact:NAME` asks for a fact by name."""
    names = diagnosis.facts.names()
    layer = diagnosis.diagnoses[0].match.rule.layer if diagnosis.diagnoses else None
    text = diagnosis.root.line.text if diagnosis.root else ""
    unknown = diagnosis.outcome == "unknown"
    keys: list[str] = []
    if diagnosis.root is None and not any(item.match.anchor is not None for item in diagnosis.diagnoses):
        keys.append("any_log")
    if diagnosis.only_wrappers:
        keys.append("first_exception")
    for item in diagnosis.diagnoses:
        keys += _settling(item.match)
    if diagnosis.diagnoses and diagnosis.diagnoses[0].confidence == "certain":
        return keys
    if layer == "communication" or _NETWORK.search(text):
        keys += ["other_nodes"] if "NCCL INFO" in text else ["nccl_debug", "other_nodes"]
    if layer == "engine_crash" or _CRASH.search(text):
        keys += ["kernel_log", "blocking_launch"] if "illegal memory" in text else ["kernel_log"]
    if layer in ("prefix_cache", "performance") and "prefix_cache_queries" not in names:
        keys.append("metrics")
    if "vllm_version" not in names and layer != "hardware":
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
    for fact in match.unknown:
        of_launch = fact.startswith(("flag.", "env."))
        keys.append(_FACT_SOURCES.get(fact) or ("launch" if of_launch else f"fact:{fact}"))
    return keys
