"""Facts in the log of vLLM itself, 0.27 to 0.33, and of the libraries that it loads.

Message templates: vllm wheels 0.27.1 and 0.33.0, pytorch c10/cuda, NCCL 2.30.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kb.facts.model import Source
from kb.facts.options import normalised, option_facts
from kb.facts.reading import Cursor, Found, Reader, Says
from kb.facts.values import arch_of_capability, cuda_of_driver, gib

_ENGINE, _DERIVED = Source.ENGINE, Source.DERIVED

_CONFIG_KEYS = {
    "model": "model",
    "max_seq_len": "max_model_len",
    "tensor_parallel_size": "tp_size",
    "pipeline_parallel_size": "pp_size",
    "data_parallel_size": "dp_size",
    "decode_context_parallel_size": "dcp_size",
    "quantization": "quantization",
    "kv_cache_dtype": "kv_cache_dtype",
    "enable_prefix_caching": "prefix_caching",
    "reasoning_parser": "reasoning_parser",
    "moe_backend": "moe_backend",
    "device_config": "platform",
}
_CONFIG_VALUE = re.compile(rf"(?:^|[ (])({'|'.join(_CONFIG_KEYS)})=(?:'([^']*)'|([^,\s()]+)(?=[,\s)]))")
_METHOD = re.compile(r"SpeculativeConfig\(method='(\w+)'")
_ARGUMENT = re.compile(r"""['"](\w{1,80})['"]: """)
_OPEN, _CLOSE = frozenset("([{<"), frozenset(")]}>")
_TOKENS = re.compile(r"""'(?:[^'\\]|\\.)*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)|[()\[\]{}<>,]""")

_OOM = re.compile(
    r"Tried to allocate (?P<tried>[\d.]+) (?P<tried_unit>[KMG]iB|bytes)"
    r"(?:.{0,40}?(?:total capacity of (?P<total>[\d.]+) (?P<total_unit>[KMG]iB)"
    r"|; (?P<old_total>[\d.]+) (?P<old_total_unit>[KMG]iB) total capacity))?"
    r"(?:.{0,80}?(?:of which |; )(?P<free>[\d.]+) (?P<free_unit>[KMG]iB|bytes)(?: is)? free)?"
)
_USAGE = re.compile(r"KV cache usage: ([\d.]+)%")
_HIT_RATE = re.compile(r"(?<!External )Prefix cache hit rate: ([\d.]+)%")
_PREEMPTIONS = re.compile(r"Preemptions: (\d+)")


def _config(cursor: Cursor) -> Iterator[Found]:
    """`V1 LLM engine (v0.27.1) with config: model='...', ...`: what the engine really uses."""
    _, _, text = cursor.body.partition(" with config: ")
    seen: set[str] = set()
    for match in _CONFIG_VALUE.finditer(text):
        key, value = match[1], match[2] if match[2] is not None else match[3]
        if key in seen:
            continue
        seen.add(key)
        fact = _CONFIG_KEYS[key]
        if fact == "platform":
            value = value if value == "cpu" else ""  # "cuda" is also what ROCm calls itself
        elif fact != "kv_cache_dtype" and value in ("None", "auto"):
            continue
        if value:
            yield Found(fact, normalised(fact, value), cursor.line, _ENGINE)
    method = _METHOD.search(text)
    if method:
        yield Found("speculative_method", method[1], cursor.line, _ENGINE)


def _arguments(cursor: Cursor) -> Iterator[Found]:
    """`non-default args: {...}`: a dict of Python reprs, some of them of objects, possibly cut off."""
    text = cursor.body.partition("non-default args: ")[2].strip().removeprefix("{")
    for key, value in _items(text):
        if key == "model_tag":
            continue
        try:
            plain: object = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            plain = value
        for name, said in option_facts(key, plain):
            yield Found(name, said, cursor.line, Source.ARGS)


def _items(text: str) -> Iterator[tuple[str, str]]:
    """Keys and texts of the values of a dict literal, outermost level; a value that is cut off is left out."""
    at = 0
    while match := _ARGUMENT.match(text, at):
        depth, begin, end = 0, match.end(), -1
        for token in _TOKENS.finditer(text, begin):
            sign = token[0]
            if sign in _OPEN:
                depth += 1
            elif sign in _CLOSE:
                depth -= 1
            if depth < 0 or (sign == "," and depth == 0):
                end = token.start()
                break
        if end < 0:
            return
        yield match[1], text[begin:end].strip()
        at = end + 2


def _out_of_memory(cursor: Cursor) -> Iterator[Found]:
    match = _OOM.search(cursor.body)
    if match is None:
        return
    amounts = {
        "oom_tried_gib": (match["tried"], match["tried_unit"]),
        "oom_total_gib": (match["total"] or match["old_total"], match["total_unit"] or match["old_total_unit"]),
        "oom_free_gib": (match["free"], match["free_unit"]),
    }
    for name, (amount, unit) in amounts.items():
        if amount and unit:
            yield Found(name, gib(amount, unit), cursor.line, _ENGINE)
            if name == "oom_total_gib":
                yield Found("gpu_memory_gib", gib(amount, unit), cursor.line, _DERIVED)
    if "HIP" in cursor.body:
        yield Found("platform", "rocm", cursor.line, _ENGINE)


def _statistics(cursor: Cursor) -> Iterator[Found]:
    for name, pattern in (
        ("kv_cache_usage", _USAGE),
        ("prefix_cache_hit_rate", _HIT_RATE),
        ("preemptions", _PREEMPTIONS),
    ):
        match = pattern.search(cursor.body)
        if match:
            yield Found(name, match[1], cursor.line, _DERIVED)


def _normal(cursor: Cursor, pattern: re.Pattern[str], fact: str) -> Iterator[Found]:
    match = pattern.search(cursor.body)
    if match:
        yield Found(fact, normalised(fact, match[1]), cursor.line, _ENGINE)


_MOE = re.compile(r"Using '?(\w+)'? (?:\w+ ){0,2}MoE backend")
_ALL2ALL = re.compile(r"Using (\w+) all2all manager")
_CONNECTOR = re.compile(r"Creating v1 connector with name: (\w+)")


def _old_driver(cursor: Cursor) -> Iterator[Found]:
    match = re.search(r"driver on your system is too old \(found version (\d{4,5})\)", cursor.body)
    if match:
        yield Found("driver_cuda_max", cuda_of_driver(match[1]), cursor.line, _ENGINE)
        yield Found("platform", "cuda", cursor.line, _ENGINE)


def _capability(cursor: Cursor) -> Iterator[Found]:
    match = re.search(r"Current capability: (\d{2,3})\.", cursor.body)
    if match:
        yield Found("gpu_arch", arch_of_capability(match[1]), cursor.line, _ENGINE)


_SAYS = (
    Says("vllm-banner", r"█ +version (?P<vllm_version>\d[\w.+-]*)", _ENGINE),
    Says("vllm-banner-model", r"█ +model +(?P<model>\S+)", Source.ARGS),
    Says(
        "vllm-server",
        r"vLLM (?:API )?server version (?P<vllm_version>\d[\w.+-]*)(?:, serving model (?P<model>\S+))?",
        _ENGINE,
    ),
    Says("vllm-engine", r"V1 LLM engine \(v(?P<vllm_version>\d[\w.+-]*)\)", _ENGINE),
    Says("vllm-architecture", r"Resolved architecture: (?P<architecture>\w+)", _ENGINE),
    Says("vllm-architecture-unknown", r"Model architectures \['(?P<architecture>\w+)'", _ENGINE),
    Says("vllm-context", r"Using max model len (?P<max_model_len>\d+)", Source.ARGS),
    Says("vllm-context-fit", r"Auto-fit max_model_len: reduced from \d+ to (?P<max_model_len>\d+)", _ENGINE),
    Says("vllm-batch", r"enabled with max_num_batched_tokens=(?P<max_num_batched_tokens>\d+)", _ENGINE),
    Says("vllm-platform", r"Automatically detected platform (?P<platform>cuda|rocm|cpu)", _ENGINE),
    Says("nccl-loaded", r"vLLM is using nccl==(?P<nccl_version>\d[\w.]*)", _ENGINE),
    Says("nccl-version", r"NCCL version (?P<nccl_version>\d+\.\d+[\w.]*)", _ENGINE),
    Says("nccl-too-old", r"requires NCCL >= [\d.]+ but found (?P<nccl_version>\d[\w.]*)"),
    Says("weights", r"Model loading took (?P<weights_gib>\d[\d.]*) Gi?B", _ENGINE),
    Says("kv-memory", r"Available KV cache memory: (?P<kv_cache_available_gib>-?\d[\d.]*) GiB", _ENGINE),
    Says(
        "kv-too-small", r"larger than the available KV cache memory \((?P<kv_cache_available_gib>\d[\d.]*) GiB", _ENGINE
    ),
    Says("attention-block", r"Setting attention block size to (?P<block_size>\d+) tokens", _ENGINE),
    Says("mamba-mode", r"Mamba cache mode is set to '(?P<mamba_cache_mode>\w+)'", _ENGINE),
    Says("mamba-fallback", r"'all' mode: falling back to '(?P<mamba_cache_mode>\w+)' mode", _ENGINE),
    Says("prefix-caching-off", r"Disabling prefix caching(?::| for )", _ENGINE, {"prefix_caching": False}),
    Says(
        "attention-backend",
        r"Using (?:AttentionBackendEnum\.)?(?P<attention_backend>[A-Z][A-Z0-9_]+) (?:attention )?backend"
        r"(?:\.| out of| \()",
        _ENGINE,
    ),
    Says("prefill-backend", r"Using (?P<mla_prefill_backend>[A-Z][A-Z0-9_]+) MLA prefill backend", _ENGINE),
    Says("expert-parallel", r"Expert parallelism is enabled", _ENGINE, {"ep_enabled": True}),
    Says(
        "no-expert-parallel",
        r"Detected DP deployment with no --enable-expert-parallel",
        _ENGINE,
        {"ep_enabled": False, "all2all_backend": "allgather_reducescatter"},
    ),
    Says("all2all-removed", r"backend has been removed. Falling back to '(?P<all2all_backend>\w+)'", _ENGINE),
    Says("kv-role", r"Using kv_role='(?P<kv_role>\w+)' with", _ENGINE),
    Says(
        "memory-taken",
        r"Free memory on device[^(]{0,20}\([\d.]+/(?P<gpu_memory_gib>\d[\d.]*) GiB\) on startup",
        _DERIVED,
    ),
    Says("gpus-visible", r"number of available GPUs \((?P<gpu_count>\d+)\) in this node", _ENGINE),
    Says("worker-exit", r"died unexpectedly \(exit code: (?P<exit_code>-?\d+)\)", _ENGINE),
    Says("process-exit", r"died with exit code (?P<exit_code>-?\d+)", _ENGINE),
    Says("core-exit", r"Failed core proc\(s\): \{'[^']{1,60}': (?P<exit_code>-?\d+)", _ENGINE),
    Says("context-asked", r"User-specified max_model_len \((?P<max_model_len>\d+)\)", Source.ARGS),
    Says("context-needed", r"model's max seq len \((?P<max_model_len>\d+)\)", Source.ARGS),
    Says("batch-refused", r"max_num_batched_tokens \((?P<max_num_batched_tokens>\d+)\) (?:is|must)", Source.ARGS),
    Says("sequences-refused", r"max_num_seqs \((?P<max_num_seqs>\d+)\) exceeds available", Source.ARGS),
    Says("heads", r"must be divisible by tensor parallel size \((?P<tp_size>\d+)\)", Source.ARGS),
    Says("utilization", r"desired GPU memory utilization \((?P<gpu_memory_utilization>0?\.\d+)", Source.ARGS),
    Says("rocm-fault", r"Memory access fault by GPU node-\d", _ENGINE, {"platform": "rocm"}),
    Says("driver-cuda", r"unsatisfied condition: cuda.{1,40}\(cuda=(?P<driver_cuda_max>\d+\.\d+)\)"),
    Says("flashinfer-mismatch", r"does not match flashinfer version \((?P<flashinfer_version>\d[\w.]*)\)"),
    Says(
        "acceptance",
        r"SpecDecoding metrics: Mean acceptance length: (?P<spec_acceptance_length>\d[\d.]*)",
        _ENGINE,
        anchor=False,
    ),
    Says("python-path", r"/python(?P<python_version>3\.\d{1,2})/(?:dist|site)-packages/", _DERIVED, anchor=False),
)

READERS = (
    *(said.reader() for said in _SAYS),
    Reader("engine-config", r"V1 LLM engine \(v[^)]{1,80}\) with config: ", _config),
    Reader("arguments", r"non-default args: ", _arguments),
    Reader("out-of-memory", r"Tried to allocate \d", _out_of_memory),
    Reader("statistics", r"Avg generation throughput: ", _statistics, anchor=False),
    Reader("moe-backend", r"Using '?\w+'? (?:\w+ ){0,2}MoE backend", lambda c: _normal(c, _MOE, "moe_backend")),
    Reader("all2all", r"Using \w+ all2all manager", lambda c: _normal(c, _ALL2ALL, "all2all_backend")),
    Reader("connector", r"Creating v1 connector with name: ", lambda c: _normal(c, _CONNECTOR, "kv_connector")),
    Reader("old-driver", r"driver on your system is too old \(found version ", _old_driver),
    Reader("capability", r"Minimum capability: \d+\. Current capability: ", _capability),
)
