"""The lines that show how far a server has come.

Order of a healthy start of vLLM 0.27-0.33: arguments, architecture, engine, weights, profiling, KV cache, CUDA graphs,
API server. `Found("stage", ...)` carries the kind of mark, see `kb.facts.stages.Mark`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.facts.reading import Cursor, Found, Read, Reader

_MARKS = (
    # (name, pattern, kind, may a healthy log be full of it)
    ("banner", r"█ +version \d|vLLM (?:API )?server version \d", "banner", False),
    ("arguments", r"non-default args: ", "arguments", False),
    ("usage", r"usage: vllm |vllm(?: serve)?: error: ", "import", False),
    ("architecture", r"Resolved architecture: ", "import", False),
    ("engine", r"Initializing a V1 LLM engine \(v", "engine_start", False),
    ("distributed", r"vLLM is using nccl==| is assigned as DP rank ", "engine_start", False),
    ("load", r"Starting to load model |Loading \w+(?: using \w+)? (?:checkpoint shards|loader)", "weights", True),
    ("loaded", r"Model loading took |Warming up model for the compilation", "profiling", False),
    ("compile", r"Dynamo bytecode transform time|torch\.compile takes |Memory profiling takes ", "profiling", False),
    ("profiled", r"Initial profiling/warmup run took |Estimated CUDA graph memory: ", "profiling", False),
    (
        "kv-memory",
        r"Available KV cache memory: |GiB for KV cache on node|Overriding num_gpu_blocks=",
        "kv_cache",
        False,
    ),
    ("kv-size", r"KV cache size: [\d,]+ tokens|# GPU blocks: \d", "kv_cache", False),
    ("graphs", r"Capturing CUDA graph|Graph capturing finished in ", "graph_capture", True),
    ("engine-ready", r"init engine \(profile, create kv cache, warmup model\) took ", "graph_capture", False),
    (
        "ready",
        r"Application startup complete|Starting vLLM (?:API )?server (?:\d+ )?on |Uvicorn running on ",
        "ready",
        False,
    ),
    ("dump", r"Dumping input data for V1 LLM engine", "first_request", False),
)
_QUIET_MARKS = (
    ("access", r'"(?:GET|POST) /(?:health|metrics|version|ping|v1/)[^ "]* HTTP/1\.[01]" \d', "answering"),
    (
        "failed-request",
        r'"POST /v1/(?:chat/)?(?:completions|responses|messages|embeddings)[^ "]* HTTP/1\.[01]" [45]\d\d',
        "refused",
    ),
    ("statistics", r"Engine \d+: Avg prompt throughput: |Engines Aggregated: Avg prompt throughput: ", "serving"),
)
_IMPORT = r'(?:bin/vllm|vllm/entrypoints/cli/main\.py|vllm/__init__\.py)", line \d+, in '


def _mark(kind: str) -> Read:
    def read(cursor: Cursor) -> Iterator[Found]:
        yield Found("stage", kind, cursor.line)

    return read


def _import_traceback(cursor: Cursor) -> Iterator[Found]:
    """A frame of the command itself that is importing: the server's own modules could not be loaded."""
    following = next(cursor.after(1), None)
    statement = following.body.lstrip() if following is not None else ""
    modules = any("in <module>" in line.body and "/vllm/" in line.body for line in cursor.after(8))
    package = "__init__.py" in cursor.body or ('bin/vllm"' in cursor.body and modules)
    if package or statement.startswith(("import ", "from ")):
        yield Found("stage", "import_traceback", cursor.line)


READERS = (
    *(Reader(f"stage-{name}", pattern, _mark(kind), frequent=frequent) for name, pattern, kind, frequent in _MARKS),
    *(Reader(f"stage-{name}", pattern, _mark(kind), anchor=False) for name, pattern, kind in _QUIET_MARKS),
    Reader(
        "stage-request",
        r'"POST /v1/(?:chat/)?(?:completions|responses|messages|embeddings)[^ "]* HTTP/1\.[01]" 200',
        _mark("request"),
        frequent=True,
    ),
    Reader("stage-import", _IMPORT, _import_traceback, after=8),
)
