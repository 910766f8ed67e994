"""Facts about RDMA devices and their ports: ibstat, ibv_devinfo, ibv_devices, ibdev2netdev, `rdma link`, the kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.facts.model import Source
from kb.facts.reading import Cursor, Found, Reader
from kb.lines import Line

_DEVICE = re.compile(r"\s*(?:CA '([\w-]+)'|hca_id:\s+([\w-]+))")
_PORT = re.compile(
    r"\s*(?:State|state|Physical state):\s+"
    r"(?P<word>Active|LinkUp|Down|Disabled|Polling|Initializing|PORT_ACTIVE|PORT_DOWN)\b.*"
)
_NETDEV = re.compile(r"\s*([\w-]+) port \d+ ==> \S+ \((Up|Down)\)\s*")
_RDMA_LINK = re.compile(r"\s*link ([\w-]+)/\d+ .*?state (\w+)\b")
_UP = frozenset({"active", "linkup", "port_active", "up"})
_WAITING = "initializing"


def _state(word: str, line: Line) -> Iterator[Found]:
    if word.lower() != _WAITING:
        yield Found("nic_state", "up" if word.lower() in _UP else "down", line)


def _devices(cursor: Cursor) -> Iterator[Found]:
    """ibstat or ibv_devinfo: devices with the fields of their ports under each."""
    if _DEVICE.match(cursor.body) is None:
        return
    names: set[str] = set()
    used = 0
    for line in cursor.block(1500):
        body = line.body[:300]
        device, port = _DEVICE.match(body), _PORT.match(body)
        if device:
            name = device[1] or device[2]
            if name in names:
                break
            names.add(name)
        elif port:
            yield from _state(port["word"], line)
        elif body.strip() and ":" not in body and not body.startswith(("\t", " ")):
            break
        used += 1
    cursor.used = max(1, used)
    yield Found("rdma_devices", len(names), cursor.line)


def _rows(cursor: Cursor) -> Iterator[Found]:
    """ibdev2netdev or `rdma link`: one line per port."""
    names: set[str] = set()
    used = 0
    for line in cursor.block(100):
        match = _NETDEV.fullmatch(line.body[:200]) or _RDMA_LINK.match(line.body[:300])
        if match is None:
            break
        used += 1
        names.add(match[1])
        yield from _state(match[2], line)
    if names:
        cursor.used = used
        yield Found("rdma_devices", len(names), cursor.line)


def _list(cursor: Cursor) -> Iterator[Found]:
    """ibv_devices: a table of names and GUIDs."""
    names = 0
    for line in cursor.after(100):
        body = line.body[:200]
        if re.fullmatch(r"\s*[\w-]+\s+[0-9a-f]{16}\s*", body):
            names += 1
        elif not re.fullmatch(r"[\s-]*", body):
            break
    yield Found("rdma_devices", names, cursor.line)


def _kernel_link(cursor: Cursor) -> Iterator[Found]:
    match = re.search(r"mlx5_core .{0,80}Link (up|down)", cursor.body)
    if match:
        yield from _state(match[1], cursor.line)


def _used_by_nccl(cursor: Cursor) -> Iterator[Found]:
    """`NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE`"""
    devices = set(re.findall(r"\[\d+\]([\w-]+):\d+/", cursor.body[:4000]))
    none = "No device found" in cursor.body
    if devices or none:
        yield Found("rdma_devices", len(devices), cursor.line, Source.ENGINE)


READERS = (
    Reader("rdma-nccl", r"NCCL INFO NET/IB : (?:Using \[|No device found)", _used_by_nccl, frequent=True),
    Reader("rdma-devices", r"hca_id:\s+|CA '", _devices, after=1500),
    Reader("rdma-ports", r" port \d+ ==> |link [\w-]+/\d+ .{0,80}state ", _rows, after=100),
    Reader("rdma-list", r"device\s+node GUID", _list, after=100),
    Reader("rdma-link", r"mlx5_core .{0,80}Link (?:up|down)", _kernel_link),
)
