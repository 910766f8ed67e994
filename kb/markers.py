"""Signs that something failed, whatever it is: what makes a line worth keeping out of a huge log.

Text forms: Python tracebacks, vLLM and Python log levels, NCCL 2.30 src/debug.cc, NVIDIA Xid, glibc and the kernel's
OOM killer, Docker and Kubernetes.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Marker(NamedTuple):
    """A sign of failure. `pattern` is RE2 and Hyperscan syntax; a `fatal` one needs no log level to be a failure."""

    name: str
    pattern: str
    fatal: bool = True


MARKERS: tuple[Marker, ...] = (
    Marker("traceback", r"Traceback \(most recent call last\)", fatal=False),
    Marker("error_record", r"(ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d", fatal=False),
    Marker("exception", r"[A-Za-z_]\w*(Error|Exception|Exit|Interrupt): ", fatal=False),
    Marker("error_word", r"(ERROR|FATAL|CRITICAL)[\]:| -]", fatal=False),
    Marker("glog_error", r"\[?[EF]\d{3,4} \d\d:\d\d:\d\d\.\d+ ", fatal=False),
    Marker(
        "tool_error", r"(vllm|vllm serve|docker|python3?|bash|sh|kubectl|uv|pip|ray)[\w .-]{0,20}: (\w+ \d+: )?[Ee]rror"
    ),
    Marker("docker_error", r"Error response from daemon|OCI runtime create failed|error running prestart hook"),
    Marker("container_cli", r"nvidia-container-cli: |unsatisfied condition: cuda"),
    Marker("nccl_warn", r"NCCL WARN "),
    Marker(
        "nvshmem",
        r"nvshmem.{0,200}(: non-zero status: \d|: NULL value )|nvshmem\w* .{0,60}failed, exiting"
        r"|init failed for transport: |ibgda_\w+ .{0,60}failed",
    ),
    Marker("ucx_error", r"UCX  (ERROR|FATAL) "),
    Marker("xid", r"NVRM: Xid \("),
    Marker(
        "disk", r"critical (medium|target) error, dev |I/O error, dev (nvme|sd)|nvme nvme\d+: .{0,120}(timeout|is down)"
    ),
    Marker("port_module", r"Port module event\[error\]: "),
    Marker("segfault", r"[Ss]egmentation fault|SIGSEGV|SIGABRT|SIGBUS|core dumped|corrupted size vs|double free or"),
    Marker("terminate", r"terminate called (after|without)|Fatal Python error|what\(\):  "),
    Marker("oom_killer", r"Out of memory: Killed process|oom-kill|OOMKilled|Memory cgroup out of memory"),
    Marker(
        "kubernetes",
        r"CrashLoopBackOff|ImagePullBackOff|ErrImagePull|Back-off restarting failed container"
        r"|Warning +(Failed\w*|BackOff|OOMKilling|Evicted|NodeNotReady) "
        r"|failed (startup|liveness) probe, will be restarted"
        r"|hostPath type check failed",
    ),
    Marker("cuda", r"CUDA error: |CUDA out of memory|cudaError[A-Z]|hipError[A-Z]|Memory access fault by GPU"),
    Marker("device_printf", r"DeepEP (error|timeout|dispatch|combine|NVLink|Gin)[\w ]*:?"),
    Marker("nvml", r"Failed to initialize NVML|NVIDIA-SMI has failed|No devices were found"),
    Marker("systemd", r"Active: failed|Main process exited, code="),
    Marker("http_error", r'HTTP/[\d.]+" 5\d\d|"object": ?"error"|"error": ?\{"message"'),
)

_FATAL = re.compile("|".join(f"(?:{marker.pattern})" for marker in MARKERS if marker.fatal))


def is_fatal(body: str) -> bool:
    """Whether the message alone, without a log level, says that something failed."""
    return bool(_FATAL.search(body[:4096]))
