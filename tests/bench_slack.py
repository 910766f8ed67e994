"""Latency of acknowledgements and replies under a steady stream of deliveries; called by `make bench`."""

from __future__ import annotations

import argparse
import re
import socket
import statistics
import tempfile
import time
import urllib.request
from pathlib import Path

from bot.workspace import deliveries
from bot.workspace.model import Json, Message
from bot.workspace.server.running import serve
from bot.workspace.workspace import Workspace
from tests.load import LOGS, Answers, Child, wait


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=50, help="deliveries a second")
    parser.add_argument("--seconds", type=float, default=10)
    given = parser.parse_args()
    acks: list[float] = []
    finish = deliveries.Delivery.finish

    def timed(self: deliveries.Delivery, outcome: deliveries.Outcome, response: Json | None = None) -> None:
        if outcome == "acked" and self.sent_at is not None:
            acks.append(time.time() - self.sent_at)
        finish(self, outcome, response)

    deliveries.Delivery.finish = timed  # type: ignore[method-assign]
    workspace = Workspace(rate_limits=False, events=["app_mention"])
    channels = max(1, round(given.rate * 1.2))
    for number in range(channels):
        everyone = [*workspace.people, workspace.directory.user(workspace.bot.user_id)]
        workspace.directory.add_channel(f"load-{number}", everyone)
    answers = Answers(workspace)
    with tempfile.TemporaryDirectory(prefix="k3bench-") as name, serve(workspace) as server:
        port = _free_port()
        settings = {"K3TRIAGE_SETTLE_SECONDS": "0.2", "K3TRIAGE_JOIN_SECONDS": "0", "K3TRIAGE_HTTP_PORT": str(port)}
        child = Child(workspace, server, Path(name), **settings)
        child.start()
        if not wait(lambda: server.sockets and child.is_at_work, 60):
            raise SystemExit((Path(name) / "bot.log").read_text()[-3000:])
        warm = _post(workspace, 0)
        wait(lambda: answers.of(warm), 30)
        acks.clear()
        sent: list[tuple[Message, float]] = []
        replies: dict[str, float] = {}
        began = time.monotonic()
        for number in range(round(given.rate * given.seconds)):
            time.sleep(max(0.0, began + number / given.rate - time.monotonic()))
            sent.append((_post(workspace, number), time.monotonic()))
        deadline = time.monotonic() + 120
        while len(replies) < len(sent) and time.monotonic() < deadline:
            for message, at in sent:
                if message.ts not in replies and (found := answers.of(message)):
                    replies[message.ts] = float(found[0].ts) - float(message.ts)
                    del at
            time.sleep(0.05)
        within = _within_bot(port)
        child.stop()
    print(f"slack: {len(sent)} deliveries at {given.rate:g}/s, {len(acks)} acknowledged, {len(replies)} answered")
    print(f"  ack:   {_figures(acks, 1000, 'ms')}")
    print(f"  of it within the bot: {within}")
    print(f"  reply: {_figures(list(replies.values()), 1, 's')}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _within_bot(port: int) -> str:
    """From the bot's own metrics: how many acknowledgements took less than so long, from arrival to answer."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    found = re.findall(r'^k3triage_ack_seconds_bucket\{le="([^"]+)"\} ([\d.]+)', text, re.MULTILINE)
    total = float(found[-1][1])
    shown = [f"{100 * float(count) / total:.1f} % < {float(le) * 1000:g} ms" for le, count in found if le != "+Inf"]
    return ", ".join(one for one in shown if one.endswith((" 10 ms", " 50 ms", " 100 ms", " 250 ms")))


def _figures(values: list[float], factor: float, unit: str) -> str:
    if len(values) < 2:
        return "too few"
    cuts = statistics.quantiles(values, n=100)
    return ", ".join(
        f"{label} {value * factor:.2f} {unit}"
        for label, value in (("p50", cuts[49]), ("p95", cuts[94]), ("p99", cuts[98]), ("max", max(values)))
    )


def _post(workspace: Workspace, number: int) -> Message:
    person = workspace.person(workspace.people[number % 4].name)
    log = LOGS[number % len(LOGS)].read_text(errors="replace")[:2_000]
    channels = [channel.name for channel in workspace.directory.channels if channel.name.startswith("load-")]
    return person.post(channels[number % len(channels)], f"<@{workspace.bot.user_id}> run {number}\n```\n{log}\n```")


if __name__ == "__main__":
    main()
