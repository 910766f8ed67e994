"""Facts in what rocm-smi, amd-smi and rocminfo print."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.facts.gpu_tools import gpu_facts
from kb.facts.reading import Cursor, Found, Reader, Says
from kb.facts.values import arch_of_gfx, gib

_ROCM = {"platform": "rocm"}
_SERIES = re.compile(r"GPU\[(\d+)\]\s*:\s*Card [Ss](?:eries|KU):\s*(.+?)\s*")
_VRAM = re.compile(r"GPU\[(\d+)\]\s*:\s*VRAM Total (Used )?Memory \(B\):\s*(\d+)\s*")
_TABLE_NAME = re.compile(r"\| [0-9a-f]{4}:[0-9a-f]{2}:.*?(AMD Instinct \w+|MI3\w+)")
_TABLE_MEMORY = re.compile(r"\|\s+(\d+)\s+\d+\s.* (\d+)/(\d+) MB +\|")


def _series(cursor: Cursor) -> Iterator[Found]:
    """rocm-smi --showproductname: one line per GPU."""
    indices: set[str] = set()
    for line in cursor.block(200):
        match = _SERIES.fullmatch(line.body[:200])
        if match:
            indices.add(match[1])
            yield from gpu_facts(match[2], line)
        elif not line.body.startswith(("GPU[", "=")):
            break
        cursor.used += 1
    if indices:
        yield Found("gpu_count", len(indices), cursor.line)
        yield Found("platform", "rocm", cursor.line)


def _vram(cursor: Cursor) -> Iterator[Found]:
    match = _VRAM.fullmatch(cursor.body[:200])
    if match:
        name = "gpu_memory_used_gib" if match[2] else "gpu_memory_gib"
        yield Found(name, gib(match[3], "bytes"), cursor.line)


def _table(cursor: Cursor) -> Iterator[Found]:
    """The table of amd-smi since ROCm 7: two lines per GPU."""
    indices, used = set(), []
    for line in cursor.after(120):
        text = line.body[:200]
        if not text.startswith(("|", "+")):
            break
        name, memory = _TABLE_NAME.match(text), _TABLE_MEMORY.match(text)
        if name:
            yield from gpu_facts(name[1], line)
        elif memory:
            indices.add(memory[1])
            used.append((gib(memory[2], "MB") or 0.0, line))
            yield Found("gpu_memory_gib", gib(memory[3], "MB"), line)
    if indices:
        yield Found("gpu_count", len(indices), cursor.line)
        highest, line = max(used, key=lambda pair: pair[0])
        yield Found("gpu_memory_used_gib", highest, line)


def _target(cursor: Cursor) -> Iterator[Found]:
    match = re.search(r"\b(gfx9\d\w)\b", cursor.body[:300])
    if match:
        yield Found("gpu_arch", arch_of_gfx(match[1]), cursor.line)
        yield Found("platform", "rocm", cursor.line)


def _market_name(cursor: Cursor) -> Iterator[Found]:
    yield from gpu_facts(cursor.body[:200], cursor.line)
    yield Found("platform", "rocm", cursor.line)


READERS = (
    Says("amd-smi", r"ROCm version: +(?P<rocm_version>\d+\.\d+[\w.]*)", also=_ROCM).reader(),
    Says("rocm-smi", r"ROCm System Management Interface", also=_ROCM).reader(),
    Reader("amd-smi-table", r"AMD-SMI \d", _table, after=120),
    Reader("rocm-smi-series", r"GPU\[\d+\]\s*:\s*Card [Ss]eries:", _series, after=200),
    Reader("rocm-smi-memory", r"VRAM Total (?:Used )?Memory \(B\):", _vram),
    Reader("amd-name", r"(?:MARKET_NAME|Marketing Name|PRODUCT_NAME):\s+AMD Instinct", _market_name),
    Reader("amd-target", r"(?:GFX Version|Name|TARGET_GRAPHICS_VERSION|gcnArchName|Gfx Version):?\s+gfx9", _target),
)
