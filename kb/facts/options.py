"""What an option of `vllm serve` means, however it was given: flag, logged argument, Helm value or config file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

OPTION_FACTS = {
    "model": "model",
    "model_tag": "model",
    "tensor_parallel_size": "tp_size",
    "pipeline_parallel_size": "pp_size",
    "data_parallel_size": "dp_size",
    "decode_context_parallel_size": "dcp_size",
    "enable_expert_parallel": "ep_enabled",
    "nnodes": "nnodes",
    "kv_cache_dtype": "kv_cache_dtype",
    "enable_prefix_caching": "prefix_caching",
    "mamba_cache_mode": "mamba_cache_mode",
    "block_size": "block_size",
    "max_model_len": "max_model_len",
    "max_num_seqs": "max_num_seqs",
    "max_num_batched_tokens": "max_num_batched_tokens",
    "gpu_memory_utilization": "gpu_memory_utilization",
    "quantization": "quantization",
    "moe_backend": "moe_backend",
    "all2all_backend": "all2all_backend",
    "attention_backend": "attention_backend",
    "tool_call_parser": "tool_call_parser",
    "reasoning_parser": "reasoning_parser",
}

ALIASES = {
    "tp": "tensor_parallel_size",
    "pp": "pipeline_parallel_size",
    "dp": "data_parallel_size",
    "dcp": "decode_context_parallel_size",
    "pcp": "prefill_context_parallel_size",
    "ep": "enable_expert_parallel",
    "dpn": "data_parallel_rank",
    "dpr": "data_parallel_start_rank",
    "dpl": "data_parallel_size_local",
    "dpa": "data_parallel_address",
    "dpp": "data_parallel_rpc_port",
    "dpb": "data_parallel_backend",
    "n": "nnodes",
    "r": "node_rank",
    "q": "quantization",
    "sc": "speculative_config",
    "cc": "compilation_config",
    "ac": "attention_config",
}
"""Short flags, from vllm 0.32.0 engine/arg_utils.py."""

_NESTED = {
    ("kv_transfer_config", "kv_connector"): "kv_connector",
    ("kv_transfer_config", "kv_role"): "kv_role",
    ("speculative_config", "method"): "speculative_method",
    ("attention_config", "backend"): "attention_backend",
    ("attention_config", "mla_prefill_backend"): "mla_prefill_backend",
    ("kernel_config", "moe_backend"): "moe_backend",
}
_NUMBERS = frozenset({"max_model_len", "max_num_batched_tokens", "max_num_seqs"})
_HUMAN = re.compile(r"(\d+(?:\.\d+)?)([kKmMgG])")
_POWERS = {"k": 10**3, "K": 2**10, "m": 10**6, "M": 2**20, "g": 10**9, "G": 2**30}  # as vLLM's human_readable_int
_SECRET = re.compile(r"(?:^|_)(?:api_?keys?|access_key|token|secret|password|passwd|credentials?)$", re.IGNORECASE)
_PAIR = re.compile(r"""(?<!\w)(\w{1,80})['"]?\s{0,9}[=:]\s{0,9}['"]([^'"]{1,200})['"]""")
_DRAFTS = ("dspark", "eagle3", "dflash", "medusa")
"""Methods that vLLM concludes from the name of the draft model."""
_UNSAID = frozenset({"auto", "none", "default", ""})
_UPPER = frozenset({"attention_backend", "mla_prefill_backend"})
_LOWER = frozenset({"moe_backend", "all2all_backend", "quantization"})
_MANAGERS = {
    "AgRsAll2AllManager": "allgather_reducescatter",
    "DeepEPHTAll2AllManager": "deepep_high_throughput",
    "DeepEPLLAll2AllManager": "deepep_low_latency",
    "DeepEPV2All2AllManager": "deepep_v2",
    "FlashInferNVLinkOneSidedManager": "flashinfer_nvlink_one_sided",
    "FlashInferNVLinkTwoSidedManager": "flashinfer_nvlink_two_sided",
    "FlashInferAllToAllManager": "flashinfer_nvlink_two_sided",
    "MoonEPAll2AllManager": "moonep",
    "NixlEPAll2AllManager": "nixl_ep",
    "PassThroughAll2AllManager": "passthrough",
}


def is_secret(name: str) -> bool:
    """Whether the value of an option or environment variable must not be repeated."""
    return _SECRET.search(name) is not None


def normalised(fact: str, value: str) -> str:
    """The one spelling of a backend, which vLLM's flags, enums and classes write differently."""
    if fact in _UPPER:
        return value.upper()
    if fact == "kv_connector" and value == "NixlPullConnector":
        return "NixlConnector"  # the class behind the flag's name, from 0.31 on
    return _MANAGERS.get(value, value.lower()) if fact in _LOWER else value


def text_of(value: object) -> str:
    """A value as one would write it on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return " ".join(map(text_of, value))
    return json.dumps(value, separators=(",", ":"), default=str) if isinstance(value, dict) else str(value)


def option_facts(option: str, value: object) -> Iterator[tuple[str, object]]:
    """The facts in one option; `value` is its text, or what a log or a manifest holds (bool, number, list, dict)."""
    name, _, rest = option.strip().lstrip("-").partition(".")
    name = name.replace("-", "_")
    name = ALIASES.get(name, name)
    if value is None or not name.isidentifier():
        return
    text = text_of(value).strip()
    yield f"flag.{name}{'.' + rest if rest else ''}", "***" if is_secret(name) else text
    positive = name.removeprefix("no_")
    if positive != name and text == "true":
        yield f"flag.{positive}", "false"
        name, text = positive, "false"
    if rest:
        nested = _NESTED.get((name, rest.replace("-", "_")))
        if nested:
            yield from _said(nested, text)
    elif name in OPTION_FACTS:
        yield from _said(OPTION_FACTS[name], _plain(name, text))
    elif name.endswith("_config"):
        yield from _nested(name, value, text)


def _said(fact: str, text: str) -> Iterator[tuple[str, object]]:
    if fact == "max_model_len" and text.startswith("-"):
        return  # -1 is `auto`
    if fact == "kv_cache_dtype" or text.lower() not in _UNSAID:
        yield fact, normalised(fact, text)


def _plain(name: str, text: str) -> str:
    human = _HUMAN.fullmatch(text) if name in _NUMBERS else None
    if human is None:
        return text
    amount = float(human[1]) * _POWERS[human[2]]
    return str(int(amount)) if isfinite(amount) else text


def _nested(name: str, value: object, text: str) -> Iterator[tuple[str, object]]:
    """Facts inside a JSON value, the repr of a config object, or JSON that lost its quotes in a shell."""
    content: Any = value
    if not isinstance(content, dict):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = dict(reversed(_PAIR.findall(text[:20_000])))
    if not isinstance(content, dict):
        return
    for (config, key), fact in _NESTED.items():
        if config == name and isinstance(content.get(key), str):
            yield from _said(fact, content[key])
    if name == "speculative_config" and "method" not in content:
        model = str(content.get("model", "")).lower()
        yield from (("speculative_method", method) for method in _DRAFTS if method in model)
