"""Facts in what nvidia-smi prints: the table, `-L`, `-q`, `--query-gpu --format=csv` and `topo -m`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kb.facts.model import Source
from kb.facts.reading import Cursor, Found, Reader
from kb.facts.values import arch_of_capability, gib, gpu, whole
from kb.lines import Line

_HEADER = re.compile(
    r"NVIDIA-SMI +(?P<smi>\S+)(?: +(?:Driver|KMD) Version: +(?P<driver>\d+(?:\.\d+)+))?"
    r"(?: +CUDA (?:UMD )?Version: +(?P<cuda>\d+\.\d+))?"
)
_ROW = re.compile(r"\| +(?P<index>\d+) +(?P<name>[A-Z][^|]*?) +(?:On|Off|N/A) +\| +[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:")
_MEMORY = re.compile(r" (?P<used>\d+)MiB */ *(?P<total>\d+)MiB")
_LISTED = re.compile(r"\s*GPU (?P<index>\d+): (?P<name>[^(]{3,80}?)\s*(?:\(UUID: GPU-.*)?")
_QUERIED = re.compile(r"--query-gpu=([\w.,]+)")
_FIELDS = {
    "name": "name",
    "gpu_name": "name",
    "driver_version": "driver",
    "memory.total": "total",
    "memory.used": "used",
    "compute_cap": "capability",
    "index": "index",
    "uuid": "uuid",
    "gpu_uuid": "uuid",
    "memory.free": "free",
    "pci.bus_id": "bus",
    "count": "count",
}
_TOPO_ROW = re.compile(r"\s*GPU\d+\s+(.*)")


def gpu_facts(name: str, line: Line) -> Iterator[Found]:
    """The model of a GPU by its product name; the architecture follows from it."""
    model = gpu(name)
    if model is not None:
        yield Found("gpu_model", model, line)


def _memory(used: Sequence[tuple[float, Line]], totals: Sequence[tuple[float, Line]]) -> Iterator[Found]:
    if totals:
        amount, line = min(totals, key=lambda pair: pair[0])
        yield Found("gpu_memory_gib", amount, line)
    if used:
        amount, line = max(used, key=lambda pair: pair[0])
        yield Found("gpu_memory_used_gib", amount, line)


def _count(indices: Sequence[int], line: Line) -> Iterator[Found]:
    """The number of GPUs, if the list is whole as far as one can see: it starts at 0 and misses none."""
    if indices and list(indices) == list(range(len(indices))):
        yield Found("gpu_count", len(indices), line)


def _table(cursor: Cursor) -> Iterator[Found]:
    header = _HEADER.search(cursor.body[:400])
    if header is None:
        return
    if header["driver"]:
        yield Found("driver_version", header["driver"], cursor.line)
    if header["cuda"]:
        yield Found("driver_cuda_max", header["cuda"], cursor.line)
    indices: list[int] = []
    used: list[tuple[float, Line]] = []
    totals: list[tuple[float, Line]] = []
    first: Line | None = None
    for line in cursor.after(160):
        text = line.body[:300].strip()
        if not text.startswith(("|", "+")) or "Processes:" in text or "NVIDIA-SMI" in text:
            if not text:
                continue
            break
        row, memory = _ROW.match(text), _MEMORY.search(text)
        if row:
            indices.append(int(row["index"]))
            first = first or line
            yield from gpu_facts(row["name"], line)
        elif memory and indices and len(totals) < len(indices):
            used.append((gib(memory["used"], "MiB") or 0.0, line))
            totals.append((gib(memory["total"], "MiB") or 0.0, line))
    yield from _memory(used, totals)
    if first is not None:
        yield from _count(indices, first)


def _list(cursor: Cursor) -> Iterator[Found]:
    indices: list[int] = []
    for line in cursor.block(64):
        match = _LISTED.fullmatch(line.body[:200])
        if match is None or gpu(match["name"]) is None:
            if line.body.lstrip().startswith("MIG "):
                continue
            break
        if int(match["index"]) in indices:
            break
        indices.append(int(match["index"]))
        yield from gpu_facts(match["name"], line)
    cursor.used = max(1, len(indices))
    if len(indices) > 1:  # one line alone is often shown for all
        yield from _count(indices, cursor.line)


def _csv(cursor: Cursor) -> Iterator[Found]:
    """Rows under a header of known fields, or after the command that names the fields."""
    body = cursor.body[:1000]
    command = _QUERIED.search(body)
    names = command[1].split(",") if command else re.sub(r" \[[^\]]*\]", "", body).split(", ")
    columns = [_FIELDS.get(name.strip()) for name in names]
    if not any(columns) or (not command and None in columns and len(columns) - columns.count(None) < 2):
        return
    rows: list[tuple[dict[str, str], Line]] = []
    for line in cursor.after(130):
        cells = [cell.strip() for cell in line.body[:1000].strip().split(",")]
        if command and not rows and cells[0].split(" [")[0] == names[0]:
            continue  # the header that the command prints
        values = {column: cell for column, cell in zip(columns, cells, strict=False) if column}
        if len(cells) != len(columns) or not _is_row(values):
            break
        rows.append((values, line))
    cursor.used = len(rows) + 1
    yield from _rows(rows)


def _is_row(values: dict[str, str]) -> bool:
    driver, capability = values.get("driver"), values.get("capability")
    return (
        (driver is None or re.fullmatch(r"\d{3}\.\d+(?:\.\d+)?", driver) is not None)
        and (capability is None or re.fullmatch(r"\d{1,2}\.\d", capability) is not None)
        and all(re.fullmatch(r"\d+(?: MiB)?", values[key]) for key in ("total", "used", "free") if key in values)
        and ("name" not in values or gpu(values["name"]) is not None)
    )


def _rows(rows: Sequence[tuple[dict[str, str], Line]]) -> Iterator[Found]:
    used: list[tuple[float, Line]] = []
    totals: list[tuple[float, Line]] = []
    for values, line in rows:
        if "driver" in values:
            yield Found("driver_version", values["driver"], line)
        if "name" in values:
            yield from gpu_facts(values["name"], line)
        if "capability" in values:
            yield Found("gpu_arch", arch_of_capability(values["capability"]), line)
        for key, amounts in (("total", totals), ("used", used)):
            if key in values:
                amounts.append((gib(values[key].removesuffix(" MiB"), "MiB") or 0.0, line))
    yield from _memory(used, totals)
    if rows:
        yield from _count_of_rows(rows)


def _count_of_rows(rows: Sequence[tuple[dict[str, str], Line]]) -> Iterator[Found]:
    """The number of GPUs, where each row names one; other columns often went through `uniq`, `sort -u` or `head`."""
    columns, line = rows[0]
    if "index" in columns:
        yield from _count([index for values, _ in rows if (index := whole(values["index"])) is not None], line)
        return
    name = next((column for column in ("uuid", "bus") if column in columns), None)
    if name is not None:
        yield Found("gpu_count", len({values[name] for values, _ in rows}), line)
    elif columns.get("count", "").isdecimal():
        yield Found("gpu_count", columns["count"], line)


def _details(cursor: Cursor) -> Iterator[Found]:
    """One field of `nvidia-smi -q`, which prints `Name      : value`."""
    key, _, value = (part.strip() for part in cursor.body[:300].partition(" : "))
    if key in ("Driver Version", "KMD Version") and re.fullmatch(r"\d{3}\.\d+(?:\.\d+)?", value):
        yield Found("driver_version", value, cursor.line)
    elif key == "CUDA Version" and re.fullmatch(r"\d+\.\d+", value):
        yield Found("driver_cuda_max", value, cursor.line)
    elif key == "Attached GPUs" and value.isdecimal():
        yield Found("gpu_count", value, cursor.line)
    elif key == "Product Name":
        yield from gpu_facts(value, cursor.line)
    elif key == "FB Memory Usage":
        for line in cursor.after(5):
            name, _, amount = (part.strip() for part in line.body[:200].partition(" : "))
            number, _, unit = amount.partition(" ")
            wanted = {"Total": "gpu_memory_gib", "Used": "gpu_memory_used_gib"}.get(name)
            if wanted and unit == "MiB":
                yield Found(wanted, gib(number, unit), line)


def _topology(cursor: Cursor) -> Iterator[Found]:
    """The matrix of `nvidia-smi topo -m`: NVLink where every pair of GPUs has one."""
    names = cursor.body[:2000].split()
    gpus = [name for name in names if re.fullmatch(r"GPU\d+", name)]
    if len(gpus) < 2 or names[0] != gpus[0]:
        return
    nvlink, pairs, nics = 0, 0, 0
    for line in cursor.after(90):
        if "GPU0" in line.body and "GPU1" in line.body:
            break  # the next matrix
        row = _TOPO_ROW.match(line.body[:2000])
        if row:
            links = [cell for cell in row[1].split()[: len(gpus)] if cell != "X"]
            pairs += len(links)
            nvlink += sum(cell.startswith("NV") for cell in links)
        elif re.match(r"\s*NIC\d+: ", line.body):
            nics += 1
    if pairs:
        yield Found("topology", "nvlink" if nvlink == pairs else "pcie", cursor.line)
        yield Found("gpu_count", len(gpus), cursor.line, Source.TOOL)
    if nics:
        yield Found("rdma_devices", nics, cursor.line)


def _mixed(cursor: Cursor) -> Iterator[Found]:
    """`Detected different devices in the system: A, B.`"""
    for name in cursor.body[:600].partition("in the system: ")[2].partition(". ")[0].split(", "):
        yield from gpu_facts(name, cursor.line)


READERS = (
    Reader("different-devices", r"Detected different devices in the system: ", _mixed),
    Reader("nvidia-smi", r"NVIDIA-SMI +\d", _table, after=160),
    Reader("nvidia-smi-list", r"GPU \d+: (?:NVIDIA|Tesla|GRID|AMD|H\d|B\d)", _list, after=64),
    Reader("nvidia-smi-query", r"--query-gpu=", _csv, after=130),
    Reader(
        "nvidia-smi-csv",
        r"(?:index|name|driver_version|uuid|count|pci\.bus_id|memory\.(?:total|used|free) \[MiB\]), [a-z_.]+"
        r"|(?:driver_version|compute_cap|memory\.total \[MiB\])",
        _csv,
        after=130,
    ),
    Reader(
        "nvidia-smi-details",
        r"(?:Driver Version|KMD Version|CUDA Version|Attached GPUs|Product Name) +: |FB Memory Usage",
        _details,
        after=5,
    ),
    Reader("nvidia-smi-topo", r"GPU0\s+GPU1", _topology, after=90),
)
