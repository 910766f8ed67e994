"""Facts in environment variables: exported, listed, set by the lines of a script, or named by NCCL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kb.facts.model import Source
from kb.facts.options import is_secret
from kb.facts.reading import Cursor, Found, Reader
from kb.facts.shell import words
from kb.facts.statements import is_bound
from kb.lines import Line

_ENV_FAMILIES = (
    "VLLM|NCCL|RCCL|UCX|CUDA|NVIDIA|PYTORCH|TORCH|TORCHINDUCTOR|HF|HUGGING|TRANSFORMERS|SAFETENSORS|GLOO|FLASHINFER|NVSHMEM"
    "|NIXL|DG|DEEP_?EP|DEEPGEMM|TRITON|RAY|OMP|HIP|HSA|ROCR|ROCM|AITER|LMCACHE|MOONCAKE|MC|MASTER|NVTE|TOKENIZERS|LD"
)
_ENV = rf"(?:(?:{_ENV_FAMILIES})_[A-Z0-9_]+|PYTHONHASHSEED|PYTHONPATH|NO_COLOR)"
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]{0,80})=(.*)", re.DOTALL)
_ENV_LINE = re.compile(
    rf"\s*(?:[$#>+-] *)?(?:export |set |ENV |declare -x |Environment=|- )?['\"]?({_ENV})="
    r"((?:'[^']*'|\"[^\"]*\"|[^\s'\"])*)"
    r"['\"]?,?\s*\\?\s*(?:#.*)?"
)
_TOLD = re.compile(
    rf"(?<![\w-])({_ENV})=(\"[^\"]{{1,200}}\"|'[^']{{1,200}}'|[^\s'\"`,;()。，；）]{{1,200}}(?<![.?!:]))"
)
_REQUIRED_CUDA = re.compile(r"\bNVIDIA_REQUIRE_CUDA=(cuda>=[^\"'\n]*)")
_NCCL_ENV = re.compile(r"((?:NCCL|RCCL)_[A-Z0-9_]+) set by environment to (\S+)")


def environment(name: str, value: str, line: Line, source: Source = Source.LAUNCH) -> Iterator[Found]:
    """An environment variable, and what follows from the few that state a version."""
    yield Found(f"env.{name}", "***" if is_secret(name) else value, line, source)
    if name == "CUDA_VERSION":
        yield Found("cuda_runtime", value, line, source)
    elif name == "VLLM_ATTENTION_BACKEND":
        yield Found("attention_backend", value.upper(), line, source)
    elif name == "VLLM_ALL2ALL_BACKEND":
        yield Found("all2all_backend", value.lower(), line, source)


def assignments(tokens: Sequence[str], line: Line) -> Iterator[Found]:
    """The environment variables among the words of a command."""
    for token in tokens:
        match = _ASSIGNMENT.fullmatch(token)
        if match:
            yield from environment(match[1], match[2], line)


def told(sentence: str, line: Line) -> Iterator[Found]:
    """The environment variables that a sentence names with their values."""
    for match in _TOLD.finditer(sentence):
        if not is_bound(sentence, match.start(), match.end()):
            yield from environment(match[1], match[2].strip("'\""), line, Source.PROSE)


def assigned(statement: str, line: Line) -> Iterator[Found]:
    """The environment variable that a whole line sets; nothing where the line does something else."""
    match = _ENV_LINE.fullmatch(statement[:4000])
    if match:
        yield from environment(match[1], match[2].strip("'\""), line)


def _environment_line(cursor: Cursor) -> Iterator[Found]:
    text = cursor.body[:4000]
    match = _ENV_LINE.fullmatch(text)
    required = _REQUIRED_CUDA.search(text)
    if match:
        yield from environment(match[1], match[2].strip("'\""), cursor.line)
    elif required:
        yield from environment("NVIDIA_REQUIRE_CUDA", required[1], cursor.line)
    elif text.count("=") > 1:
        tokens = [word for word in words(text.rstrip("\\ ")) if word not in ("export", "env", "$", "#", "+")]
        if all(re.match(rf"{_ENV}=", token) for token in tokens):
            yield from assignments(tokens, cursor.line)


def _nccl_environment(cursor: Cursor) -> Iterator[Found]:
    match = _NCCL_ENV.search(cursor.body)
    if match:
        yield from environment(match[1], match[2].rstrip("."), cursor.line, Source.ENGINE)


READERS = (
    Reader("environment", rf"{_ENV}=", _environment_line),
    Reader("nccl-environment", r"(?:NCCL|RCCL)_[A-Z0-9_]+ set by environment to ", _nccl_environment, frequent=True),
)
