"""Facts about the host: kernel, kernel modules, NVIDIA driver, Xid, CUDA toolkit, exit codes of containers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.facts.model import Source
from kb.facts.reading import Cursor, Found, Reader, Says
from kb.facts.values import signal_code, version

_KERNEL = r"\d+\.\d+\.\d+[\w.+~-]*"
_UNAME = re.compile(rf"\s*Linux \S+ ({_KERNEL}) #")
_UNAME_COMMAND = re.compile(r"(?:^|[$#] +)uname -(?:r|sr)\s*")
_PROC_VERSION = re.compile(rf"Linux version ({_KERNEL}) \(")

_MODULE = re.compile(
    r"\s*([a-z][a-z0-9_]{1,40})\s+(\d{3,})\s+(-?\d+)(?:\s+(?:[\w,]+|-)(?:\s+Live \S+)?)?\s*(?:\(.{1,8}\))?"
)
_MODULE_FAMILY = re.compile(
    r"nvidia|nv_|mlx|ib_|rdma|gdr|amdgpu|iw_|irdma|bnxt|efa|ionic|nouveau|vfio|peermem|knem|xpmem"
)
_EXPECTED_MODULES = (
    "nvidia",
    "nvidia_uvm",
    "nvidia_peermem",
    "nv_peer_mem",
    "nvidia_fs",
    "gdrdrv",
    "ib_umad",
    "ib_uverbs",
    "mlx5_core",
    "mlx5_ib",
    "amdgpu",
)
_GREPPED = re.compile(r"lsmod\s*\|\s*e?grep(?: -\w+)* +(?:-e +)?(['\"]?)([\w|\\ -]+?)\1(?:\s|$)")

_NVRM = re.compile(
    r"NVRM version: +.{0,120}?\s(\d{3}\.\d+(?:\.\d+)?)\s|NVRM: loading .{0,120}?\s(\d{3}\.\d+(?:\.\d+)?)\s"
)
_MISMATCH = re.compile(r"kernel module has (?:the )?version (\d{3}\.\d+(?:\.\d+)?)")


def _kernel(cursor: Cursor) -> Iterator[Found]:
    body = cursor.body[:1000]
    match = _UNAME.match(body) or _PROC_VERSION.search(body)
    if match:
        yield Found("kernel_version", match[1], cursor.line)
    elif _UNAME_COMMAND.search(body):
        following = next(cursor.after(1), None)
        answer = re.fullmatch(rf"(?:Linux )?({_KERNEL})\s*", following.body[:200]) if following else None
        if following and answer:
            yield Found("kernel_version", answer[1], following)


def _modules(cursor: Cursor) -> Iterator[Found]:
    """A whole `lsmod`: what it does not list is not loaded."""
    if re.match(r"\s*Module\s+Size\s+Used by", cursor.body) is None:
        return
    loaded: set[str] = set()
    rows = 0
    for line in cursor.after(1200):
        match = _MODULE.fullmatch(line.body[:400])
        if match is None:
            break
        rows += 1
        loaded.add(match[1])
        if _MODULE_FAMILY.match(match[1]):
            yield Found(f"module.{match[1]}", True, line)
    cursor.used = rows + 1
    if rows >= 10:  # fewer rows are a part of the list
        for name in _EXPECTED_MODULES:
            if name not in loaded:
                yield Found(f"module.{name}", False, cursor.line)


def _grepped_modules(cursor: Cursor) -> Iterator[Found]:
    """`lsmod | grep NAME` with its answer; no answer before the next line of something else means not loaded."""
    command = _GREPPED.search(cursor.body[:600])
    if command is None:
        return
    wanted = [name for name in re.split(r"\\?\||\s", command[2].replace("-", "_")) if name]
    following = list(cursor.after(40))
    loaded: set[str] = set()
    for line in following:
        match = _MODULE.fullmatch(line.body[:400])
        if match is None:
            break
        loaded.add(match[1])
        yield Found(f"module.{match[1]}", True, line)
    if following:
        for name in wanted:
            if not any(name in module for module in loaded) and re.fullmatch(r"[a-z][a-z0-9_]+", name):
                yield Found(f"module.{name}", False, cursor.line)


def _module_row(cursor: Cursor) -> Iterator[Found]:
    """A row of `lsmod` or `/proc/modules` that stands alone."""
    match = _MODULE.fullmatch(cursor.body[:400])
    if match:
        yield Found(f"module.{match[1]}", True, cursor.line)


def _driver(cursor: Cursor) -> Iterator[Found]:
    match = _MISMATCH.search(cursor.body) or _NVRM.search(cursor.body[:600] + " ")
    if match:
        yield Found("driver_version", match[1] or match[2], cursor.line)


def _exit_code(cursor: Cursor) -> Iterator[Found]:
    match = re.search(r"(?:exited with code |Exited \(|exitCode[\"=: ]+|exit status:? )(\d{1,3})\b", cursor.body)
    if match and int(match[1]):
        yield Found("exit_code", signal_code(int(match[1])), cursor.line)


def _module_info(cursor: Cursor) -> Iterator[Found]:
    """`modinfo`: the version follows the file name of the module."""
    name = re.search(r"/(nvidia|mlx5_core)\.ko", cursor.body)
    for line in cursor.after(4):
        match = re.fullmatch(r"version:\s+(\S+)\s*", line.body[:200])
        if match and name:
            fact = "driver_version" if name[1] == "nvidia" else "ofed_version"
            if fact == "ofed_version" or version(match[1]):
                yield Found(fact, match[1], line)
            return


def _toolkit(cursor: Cursor) -> Iterator[Found]:
    """The banner of NVIDIA's CUDA images."""
    match = re.fullmatch(r"\s*CUDA Version (\d+\.\d+(?:\.\d+)?)\s*", cursor.body[:100])
    if match:
        yield Found("cuda_runtime", match[1], cursor.line)


READERS = (
    Reader("kernel", r"Linux version \d|Linux \S+ \d+\.\d+\.\d+\S* #|uname -(?:r|sr)", _kernel, after=1),
    Reader("lsmod", r"Module +Size +Used by", _modules, after=600),
    Reader("lsmod-grep", r"lsmod *\| *e?grep", _grepped_modules, after=40),
    Reader(
        "lsmod-row",
        r"(?:nvidia|nvidia_\w+|nv_peer_mem|gdrdrv|ib_umad|ib_uverbs|mlx5_core|mlx5_ib|amdgpu)\s+\d{4,}\s+\d+",
        _module_row,
    ),
    Reader("driver-loaded", r"NVRM version: |NVRM: loading |kernel module has (?:the )?version ", _driver),
    Reader("module-info", r"filename: +\S+/(?:nvidia|mlx5_core)\.ko", _module_info, after=4),
    Reader("cuda-image", r"CUDA Version \d+\.\d+\.\d+", _toolkit),
    Reader("container-exit", r"exited with code \d|Exited \(\d|exitCode\W{1,4}\d", _exit_code),
    Says("xid", r"NVRM: Xid \([^)]{1,60}\): (?P<xid>\d{1,3})", also={"platform": "cuda"}).reader(),
    Says("nvcc", r"Cuda compilation tools, release (?P<cuda_runtime>\d+\.\d+)", Source.DERIVED).reader(),
    Says("ofed", r"(?P<ofed_version>(?:MLNX_OFED_LINUX|OFED-internal)-\d[\d.-]*\d)").reader(),
)
