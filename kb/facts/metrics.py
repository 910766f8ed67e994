"""Facts in a `/metrics` page of vLLM or of NVIDIA's dcgm-exporter.

Counters are summed over engines. A page may be cut off or filtered by grep, so every line is parsed by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import NamedTuple

from kb.facts.gpu_tools import gpu_facts
from kb.facts.reading import Cursor, Found, Reader
from kb.lines import Line

_SUMS = {
    "vllm:prefix_cache_queries_total": "prefix_cache_queries",
    "vllm:prefix_cache_hits_total": "prefix_cache_hits",
    "vllm:num_preemptions_total": "preemptions",
    "vllm:corrupted_requests_total": "corrupted_requests",
    "vllm:nixl_num_failed_transfers_total": "nixl_failed_transfers",
    "vllm:nixl_num_kv_expired_reqs_total": "nixl_expired_requests",
    "vllm:spec_decode_num_drafts_total": "drafts",
    "vllm:spec_decode_num_accepted_tokens_total": "accepted",
}
_USAGE = "vllm:kv_cache_usage_perc"
_CONFIG = "vllm:cache_config_info"
_LABELS = {
    "block_size": "block_size",
    "enable_prefix_caching": "prefix_caching",
    "cache_dtype": "kv_cache_dtype",
    "gpu_memory_utilization": "gpu_memory_utilization",
    "mamba_cache_mode": "mamba_cache_mode",
}
_WANTED = (*_SUMS, _USAGE, _CONFIG)
_DCGM = ("DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_GPU_UTIL")
_LONGEST_PAGE = 20_000


class _Sample(NamedTuple):
    name: str
    labels: Mapping[str, str]
    value: float
    line: Line


def _samples(line: Line) -> Iterator[_Sample]:
    """The sample on one line; none where the line is cut off."""
    from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415  slow to import

    try:
        for family in text_string_to_metric_families(line.body[:16_000].strip() + "\n"):
            for sample in family.samples:
                if isfinite(sample.value):
                    yield _Sample(sample.name, sample.labels, float(sample.value), line)
    except Exception:  # noqa: BLE001  the parser raises whatever its string handling meets
        return


def _page(cursor: Cursor) -> Iterator[Found]:
    """One page: up to the first series that is seen again, or to what is not Prometheus text."""
    series: dict[tuple[object, ...], _Sample] = {}
    used = 0
    for line in cursor.block(_LONGEST_PAGE):
        body = line.body.lstrip()[:64]
        if body.startswith(_WANTED):
            for sample in _samples(line):
                key = (sample.name, *sorted(sample.labels.items()))
                if key in series:
                    cursor.used = max(1, used)
                    yield from _vllm(list(series.values()))
                    return
                series[key] = sample
        elif body and not body.startswith(("#", "vllm:")) and not _is_sample(line.body):
            break
        used += 1
    cursor.used = max(1, used)
    yield from _vllm(list(series.values()))


def _is_sample(body: str) -> bool:
    head = body[:80].lstrip()
    name = head.partition("{")[0].partition(" ")[0]
    return name.replace(":", "_").isidentifier() and ("{" in head or body.rstrip()[-1:].isdecimal())


def _vllm(samples: list[_Sample]) -> Iterator[Found]:
    totals: dict[str, float] = {}
    where: dict[str, Line] = {}
    for sample in samples:
        name = _SUMS.get(sample.name)
        if name:
            totals[name] = totals.get(name, 0.0) + sample.value
            where.setdefault(name, sample.line)
        elif sample.name == _USAGE:
            yield Found("kv_cache_usage", round(sample.value * 100, 3), sample.line)
        elif sample.name == _CONFIG:
            for label, fact in _LABELS.items():
                if sample.labels.get(label) not in (None, "None", ""):
                    yield Found(fact, sample.labels[label], sample.line)
    drafts, accepted = totals.pop("drafts", 0.0), totals.pop("accepted", 0.0)
    for name, total in totals.items():
        yield Found(name, total, where[name])
    queries = totals.get("prefix_cache_queries", 0.0)
    if queries > 0 and "prefix_cache_hits" in totals:
        rate = round(100 * totals["prefix_cache_hits"] / queries, 2)
        yield Found("prefix_cache_hit_rate", rate, where["prefix_cache_hits"])
    if drafts > 0:
        yield Found("spec_acceptance_length", round(1 + accepted / drafts, 3), where["drafts"])


def _dcgm(cursor: Cursor) -> Iterator[Found]:
    """dcgm-exporter: the driver is a label on every series, and each GPU has a series of its own."""
    memory: dict[str, dict[str, float]] = {}
    host: str | None = None
    used = 0
    for line in cursor.block(_LONGEST_PAGE):
        body = line.body.lstrip()[:64]
        if body.startswith(_DCGM):
            for sample in _samples(line):
                name = sample.labels.get("Hostname", sample.labels.get("hostname", ""))
                if host is not None and name != host:
                    cursor.used = max(1, used)
                    yield from _memory(memory, cursor.line)
                    return
                host = name
                yield from _device(sample)
                memory.setdefault(sample.labels.get("gpu", "?"), {})[sample.name] = sample.value
        elif body and not body.startswith(("#", "DCGM_")) and not _is_sample(line.body):
            break
        used += 1
    cursor.used = max(1, used)
    yield from _memory(memory, cursor.line)


def _device(sample: _Sample) -> Iterator[Found]:
    line = sample.line
    if "DCGM_FI_DRIVER_VERSION" in sample.labels:
        yield Found("driver_version", sample.labels["DCGM_FI_DRIVER_VERSION"], line)
    if "modelName" in sample.labels:
        yield from gpu_facts(sample.labels["modelName"], line)
    if sample.name == "DCGM_FI_DEV_XID_ERRORS" and sample.value > 0:
        yield Found("xid", int(sample.value), line)


def _memory(gpus: Mapping[str, Mapping[str, float]], line: Line) -> Iterator[Found]:
    if gpus and sorted(gpus) == sorted(str(index) for index in range(len(gpus))):
        yield Found("gpu_count", len(gpus), line)
    used = [gpu["DCGM_FI_DEV_FB_USED"] for gpu in gpus.values() if "DCGM_FI_DEV_FB_USED" in gpu]
    totals = [
        gpu["DCGM_FI_DEV_FB_USED"] + gpu["DCGM_FI_DEV_FB_FREE"]
        for gpu in gpus.values()
        if "DCGM_FI_DEV_FB_USED" in gpu and "DCGM_FI_DEV_FB_FREE" in gpu
    ]
    if used:
        yield Found("gpu_memory_used_gib", round(max(used) / 1024, 3), line)
    if totals:
        yield Found("gpu_memory_gib", round(min(totals) / 1024, 3), line)


_NAMES = "|".join(sorted(name.removeprefix("vllm:") for name in _WANTED))

READERS = (
    Reader("metrics", rf"vllm:(?:{_NAMES})[{{ ]", _page, after=800),
    Reader("dcgm", rf"(?:{'|'.join(_DCGM)})\{{", _dcgm, after=500),
)
