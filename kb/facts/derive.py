"""Facts that follow from others: the architecture of a GPU, the platform, the memory of all GPUs together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kb.facts.model import Fact, Source, Value
from kb.facts.values import gpu_arch, typed

_ON_HOSTS = frozenset(
    {"driver_version", "gpu_model", "gpu_count", "gpu_memory_gib", "weights_gib", "kv_cache_available_gib", "nic_state"}
)
"""Facts whose host is a machine with GPUs, not one that only routes requests."""

_ROCM_ARCHITECTURES = ("cdna3", "cdna4")


def derived(facts: Iterable[Fact]) -> list[Fact]:
    """`facts` with those that follow from them; nothing that is stated is replaced."""
    known = list(facts)
    for step in (_architecture, _torch_cuda, _platform, _hosts, _one_host, _total_memory):
        best: dict[str, Fact] = {}
        for fact in known:
            best.setdefault(fact.name, fact)
        known += [fact for fact in step(best, known) if fact.name not in best]
    return known


def _from(fact: Fact, name: str, value: object) -> Iterator[Fact]:
    result = typed(name, value)
    if result is not None:
        source = min(fact.source, Source.DERIVED)
        yield Fact(name, result, fact.file, fact.line, fact.host, fact.time, fact.text, source)


def _architecture(best: Mapping[str, Fact], known: Iterable[Fact]) -> Iterator[Fact]:
    seen: set[Value] = set()
    for fact in known:
        if fact.name == "gpu_model" and (arch := gpu_arch(str(fact.value))) is not None and arch not in seen:
            seen.add(arch)
            yield from _from(fact, "gpu_arch", arch)


def _platform(best: Mapping[str, Fact], _known: Iterable[Fact]) -> Iterator[Fact]:
    version, arch = best.get("vllm_version"), best.get("gpu_arch")
    local = str(version.value).partition("+")[2] if version else ""
    if version is not None and local.startswith(("rocm", "cpu")):
        yield from _from(version, "platform", "rocm" if local.startswith("rocm") else "cpu")
    elif arch is not None:
        yield from _from(arch, "platform", "rocm" if arch.value in _ROCM_ARCHITECTURES else "cuda")
    elif "rocm_version" in best:
        yield from _from(best["rocm_version"], "platform", "rocm")
    else:
        for name in ("driver_version", "driver_cuda_max", "cuda_runtime", "torch_cuda"):
            if name in best:
                yield from _from(best[name], "platform", "cuda")
                return


def _torch_cuda(best: Mapping[str, Fact], _known: Iterable[Fact]) -> Iterator[Fact]:
    """`2.13.0+cu130`: the wheel is built for CUDA 13.0, which it also brings along."""
    torch = best.get("torch_version")
    local = str(torch.value).partition("+")[2] if torch else ""
    cuda = ""
    if local.startswith("cu") and local[2:].isdecimal() and len(local) >= 5:
        cuda = f"{local[2:-1]}.{local[-1]}"
    if torch is not None and cuda:
        yield from _from(torch, "torch_cuda", cuda)
    stated = best.get("torch_cuda")
    if stated is not None:
        yield from _from(stated, "cuda_runtime", stated.value)
    elif torch is not None and cuda:
        yield from _from(torch, "cuda_runtime", cuda)


def _hosts(best: Mapping[str, Fact], known: Iterable[Fact]) -> Iterator[Fact]:
    if "nnodes" in best:
        yield from _from(best["nnodes"], "host_count", best["nnodes"].value)
        return
    hosts: dict[str, Fact] = {}
    for fact in known:
        if fact.host is not None and fact.name in _ON_HOSTS:
            hosts.setdefault(fact.host, fact)
    if len(hosts) > 1:
        yield from _from(next(iter(hosts.values())), "host_count", len(hosts))


def _one_host(best: Mapping[str, Fact], _known: Iterable[Fact]) -> Iterator[Fact]:
    """A server whose ranks all fit on the GPUs of one host runs on one host."""
    tensor, gpus = best.get("tp_size"), best.get("gpu_count")
    if tensor is None or gpus is None:
        return
    ranks = 1
    for name in ("tp_size", "pp_size", "dp_size"):
        value = best[name].value if name in best else 1
        ranks *= value if isinstance(value, int) else 1
    if isinstance(gpus.value, int) and ranks <= gpus.value:
        yield from _from(gpus, "host_count", 1)


def _total_memory(best: Mapping[str, Fact], _known: Iterable[Fact]) -> Iterator[Fact]:
    values = [best[name].value for name in ("gpu_memory_gib", "gpu_count", "host_count") if name in best]
    if len(values) == 3:
        total = 1.0
        for value in values:
            total *= float(value)
        yield from _from(best["gpu_memory_gib"], "total_gpu_memory_gib", round(total, 1))
