"""Lines and damage of all kinds, for tests that mix them."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import strategies as st

CORPUS = [path.read_bytes()[:6000] for path in sorted((Path(__file__).parents[1] / "cases").glob("*.log"))]
"""The starts of real logs."""

LINES = [
    "(EngineCore_DP0 pid=7) ERROR 08-11 12:00:00 [core.py:708] EngineCore failed to start.",
    '(Worker_DP1_PP0_TP3_EP11 pid=9)   File "/vllm/v1/worker.py", line 3, in load',
    "(RayWorkerProc pid=7, ip=10.0.0.1) (Worker_TP2 pid=8) INFO 08-11 12:00:00 [a.py:1] up",
    "[rank3]:[E811 12:00:00.123456789 ProcessGroupNCCL.cpp:685] [Rank 3] Watchdog caught collective operation timeout",
    "[2026-08-11 12:00:00] gpu7:123:456 [5] transport/net_ib.cc:201 (ncclIbInit) NCCL WARN no device",
    "[1786449600.123456] [node-7:123:0]   ucp_context.c:1770 UCX  ERROR no transports",
    "E0811 12:00:00.000000  4242 nixl_agent.cpp:613] func: failed",
    "Aug 11 12:00:00 gpu7 kernel: [   12.345678] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, off the bus",
    "Tue 2026-08-11 12:00:00 UTC gpu7 k3.service[9]: started",
    "<34>1 2026-08-11T12:00:00.003Z gpu7 vllm 321 - - text",
    '[pod/k3-0/vllm] 2026-08-11T12:00:00.1Z INFO:     127.0.0.1:1 - "GET /health HTTP/1.1" 200 OK',
    "2026-08-11T12:00:00.1Z stderr P part of a line ",
    "vllm-1  | Traceback (most recent call last):",
    "k3-7d9f8b-x2x4z vllm ValueError: no room",
    json.dumps({"log": "RuntimeError: x\n", "stream": "stderr", "time": "2026-08-11T12:00:00Z"}),
    json.dumps(
        {"asctime": "08-11 12:00:00", "levelname": "ERROR", "processName": "Worker", "process": 3, "message": "a\nb"}
    ),
    "Loading safetensors checkpoint shards:  50% Completed | 48/96 [00:01<00:01,  1.03s/it]\rLoading:  51%",
    "\x1b[0;36m(APIServer pid=1)\x1b[0;0m \x1b[31mERROR\x1b[0m 08-11 12:00:00 [a.py:1] boom",
    "> &gt; &lt;b&gt; “quoted” <http://core.py:708|core.py:708>",
    "```",
    "{code:bash}",
    "[2:13 AM] Jane Doe: our K3 server dies, why?",
    "From: Jane Doe <jane@example.com>",
    " 12 | numbered line",
    "K3가 켜지다가 메모리 부족으로 죽어요",
    "启动后第一条请求就崩溃了，怎么办",
    "Сервер падает при запуске, помогите",
    "8x B300, after upgrade to 0.30 the cache never hits",
    "The above exception was the direct cause of the following exception:",
    "  + Exception Group Traceback (most recent call last):",
    "| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.64 GiB.",
    "",
]
"""One line of each form, with the damage that forms come with."""


def stacked() -> st.SearchStrategy[str]:
    """Texts of such lines, some behind the framing of another, with any line ends."""
    frames = st.lists(
        st.sampled_from(["", "> ", "(Worker_TP0 pid=9) ", "[pod/a/b] ", "2026-08-11T12:00:00Z ", "12: "]), max_size=3
    )
    line = st.builds(
        lambda front, text: "".join(front) + text, frames, st.one_of(st.sampled_from(LINES), st.text(max_size=20))
    )
    ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\r\n"])
    return st.lists(st.builds(lambda text, end: text + end, line, ends), max_size=25).map("".join)
