"""`make bench`: speed and memory, measured on this machine, beside ripgrep on the same files and patterns in one run.

Goals (exit 1 where one is missed): a whole diagnose of a 1 GB healthy log at least half as fast as `rg -c -f`; of a log
in which every line is an error at least 100 MB/s; peak memory below 300 MB at 1 GB and at 10 GB; a 40 KB paste in
process below 50 ms at the 99th percentile; each at most 1.5 times slower with 1,000 entries; `--help` below 0.3 s and
a small diagnose below 0.6 s from a cold start. Of the parts: redaction at 100 MB/s, facts in 5 µs a line and 10 ms a
paste, a question ranked in 15 ms (40 ms among 1,000 entries), a plain file read at 1.5 GB/s. Needs `rg` (Debian package
ripgrep); without it the comparison is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

from bot.bundles import Limits, open_paths
from bot.redaction import Redactor
from kb.engine import diagnose
from kb.evidence import Source
from kb.facts import extract_facts
from kb.framing import parse_line
from kb.library import Library
from kb.markers import MARKERS
from kb.symptoms import rank

CASES = Path(__file__).parent / "cases"
QUESTIONS = Path(__file__).parent / "questions.yaml"
GB = 1_000_000_000
BIN = Path(sys.executable).parent
ENTRIES = 1000


def healthy_stream(size: int) -> Iterator[bytes]:
    """A serving log without a failure: access lines with a statistics line among forty."""
    head = (CASES / "healthy_startup_032.log").read_bytes()
    yield head
    left = size - len(head)
    number = 0
    while left > 0:
        lines = []
        for _ in range(4000):
            number += 1
            if number % 40 == 0:
                clock = f"{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}"
                lines.append(
                    f"(APIServer pid=22945) INFO 11-29 {clock} [loggers.py:283] Engine 000: Avg prompt throughput:"
                    f" {number % 900}.4 tokens/s, Avg generation throughput: {number % 700}.7 tokens/s, Running:"
                    f" {number % 30} reqs, Waiting: 0 reqs, GPU KV cache usage: {number % 90}.2%,"
                    " Prefix cache hit rate: 83.1%\n"
                )
            else:
                address = f"10.0.{number % 256}.{number // 256 % 256}:{30000 + number % 20000}"
                lines.append(
                    f'(APIServer pid=22945) INFO:     {address} - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
                )
        chunk = "".join(lines).encode()
        left -= len(chunk)
        yield chunk


def error_stream(size: int) -> Iterator[bytes]:
    """A log in which every line is an error record."""
    lines = [line for line in (CASES / "nixl_missing.log").read_bytes().splitlines(keepends=True) if b" ERROR " in line]
    chunk = b"".join(lines[:60]) * 60
    left = size
    while left > 0:
        left -= len(chunk)
        yield chunk


def _write(path: Path, stream: Iterator[bytes]) -> Path:
    with path.open("wb") as file:
        file.writelines(stream)
    return path


def ripgrep_patterns(library: Library) -> str:
    """The library's patterns in ripgrep's syntax: without group names and needless escapes."""
    needless = set("\"'`_/ =,:<>@%&;!~#")
    out = []
    for pattern in library.scanner.patterns:
        plain = re.sub(r"\(\?P<\w+>", "(?:", pattern)
        out.append(re.sub(r"\\(.)", lambda found: found[1] if found[1] in needless else found[0], plain))
    return "\n".join(out) + "\n"


def thousand_entries(folder: Path, library: Library) -> Path:
    """A directory with as many more entries as make a thousand: those we have, with other words in their patterns."""
    missing = ENTRIES - len(library.rules)
    rules = library.rules
    for number in range(missing):
        rule = rules[number % len(rules)]
        source = library.base_of(rule.id) / "entry.yaml"
        data = yaml.safe_load(source.read_text(encoding="utf-8"))
        data["id"] = f"{data['id'][:50]}-x{number}"
        data["explains"] = []
        for key in ("all", "any", "none"):
            for condition in data["signature"].get(key, []):
                if "pattern" in condition:
                    condition["pattern"] = _other_words(condition["pattern"], number)
        target = folder / data["layer"] / data["id"]
        target.mkdir(parents=True)
        (target / "entry.yaml").write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    return folder


def _other_words(pattern: str, number: int) -> str:
    """The pattern with its long literal words turned round, so that it has the same shape and other text."""
    return re.sub(r"(?<![\\<\[A-Za-z])[A-Za-z]{6,}(?![>\]])", lambda found: f"{found[0][::-1]}{number}", pattern)


def _seconds(run: Callable[[], object], repeat: int = 3) -> float:
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def _command(arguments: list[str], kb: Path | None, stdin: Iterator[bytes] | None = None) -> tuple[float, float]:
    """Run the command; returns seconds and peak memory in MB."""
    # As installed for people: with compiled byte code, which a development shell may have switched off.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    if kb is not None:
        environment["K3TRIAGE_KB"] = str(kb)
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(BIN / "k3triage"), *arguments],
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    if stdin is not None and process.stdin is not None:
        for chunk in stdin:
            process.stdin.write(chunk)
        process.stdin.close()
    _, _, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - start, usage.ru_maxrss / 1024


class Bench:
    """Collects figures with their goals."""

    def __init__(self) -> None:
        self.table = Table("what", "measured", "goal", "")
        self.missed = 0
        self.console = Console(width=130)

    def add(self, what: str, measured: str, goal: str, met: bool) -> None:
        """One row, printed at once as progress."""
        self.missed += not met
        self.table.add_row(what, measured, goal, "met" if met else "MISSED")
        self.console.print(f"{what}: {measured} (goal: {goal}) {'met' if met else 'MISSED'}", highlight=False)


def _paste_times(library: Library) -> float:
    """99th percentile in milliseconds of diagnosing pastes of about 40 KB in process."""
    pastes = []
    for log in sorted(CASES.glob("*.log")):
        text = log.read_bytes()
        if text:
            pastes.append((text * (40_000 // len(text) + 1))[:40_000])
    times = []
    for number in range(300):
        data = pastes[number % len(pastes)]
        start = time.perf_counter()
        diagnose([Source("paste", [data], paste=True)], library)
        times.append(time.perf_counter() - start)
    return sorted(times)[int(len(times) * 0.99) - 1] * 1000


def main() -> int:
    """Print all figures; 0 where all goals are met."""
    bench = Bench()
    library = Library.open()
    entries = len(library.rules)
    patterns = len(library.scanner.patterns)
    bench.console.print(f"{entries} entries, {patterns} patterns ({len(MARKERS)} markers)")
    with tempfile.TemporaryDirectory(prefix="k3triage-bench-") as name:
        folder = Path(name)
        healthy = _write(folder / "healthy.log", healthy_stream(GB))
        errors = _write(folder / "errors.log", error_stream(GB))
        many = thousand_entries(folder / "kb", library)
        speed: dict[tuple[str, bool], float] = {}
        for kb in (None, many):
            label = f"{ENTRIES if kb else entries} entries"
            _command(["diagnose", str(CASES / "tp3.log")], kb)  # the index is made once, at the first use
            for path in (healthy, errors):
                runs = [_command(["diagnose", str(path)], kb) for _ in range(3)]
                seconds, memory = min(runs)[0], max(run[1] for run in runs)
                rate = path.stat().st_size / seconds / 1e6
                speed[path.name, kb is not None] = rate
                if path == healthy:
                    _against_ripgrep(bench, folder, library, path, rate, label, judged=kb is None)
                else:
                    bench.add(f"every line an error, 1 GB, {label}", f"{rate:.0f} MB/s", ">= 100 MB/s", rate >= 100)
                bench.add(f"peak memory, {path.name}, {label}", f"{memory:.0f} MB", "< 300 MB", memory < 300)
        for file in ("healthy.log", "errors.log"):
            ratio = speed[file, False] / speed[file, True]
            bench.add(f"{file}: slower with {ENTRIES} entries", f"{ratio:.2f}x", "<= 1.5x", ratio <= 1.5)
        _, memory = _command(["diagnose", "-"], None, healthy_stream(10 * GB))
        bench.add("peak memory, 10 GB through a pipe", f"{memory:.0f} MB", "< 300 MB", memory < 300)
        big_library = Library.open([many])
        _small_inputs(bench, library, big_library, many)
        _parts(bench, library, big_library, folder)
    bench.console.print(bench.table)
    return 1 if bench.missed else 0


def _against_ripgrep(
    bench: Bench, folder: Path, library: Library, path: Path, rate: float, label: str, *, judged: bool
) -> None:
    what = f"healthy log, 1 GB, {label}"
    if not judged or shutil.which("rg") is None:
        bench.add(what, f"{rate:.0f} MB/s", "- (rg is not installed)" if judged else "-", True)
        return
    patterns = folder / "patterns.txt"
    patterns.write_text(ripgrep_patterns(library), encoding="utf-8")
    command = ["rg", "-c", "-f", str(patterns), str(path)]
    seconds = _seconds(lambda: subprocess.run(command, check=False, stdout=subprocess.DEVNULL))
    ripgrep = path.stat().st_size / seconds / 1e6
    bench.add(what, f"{rate:.0f} MB/s", f">= half of rg's {ripgrep:.0f} MB/s", rate >= ripgrep / 2)


def _small_inputs(bench: Bench, library: Library, big_library: Library, many: Path) -> None:
    small = str(CASES / "tp3.log")
    figures: dict[str, tuple[float, float]] = {}
    figures["40 KB paste in process, p99 (ms)"] = (_paste_times(library), _paste_times(big_library))
    figures["--help, cold start (ms)"] = (
        _seconds(lambda: _command(["--help"], None), 5) * 1000,
        _seconds(lambda: _command(["--help"], many), 5) * 1000,
    )
    figures["small diagnose, cold start (ms)"] = (
        _seconds(lambda: _command(["diagnose", small], None), 5) * 1000,
        _seconds(lambda: _command(["diagnose", small], many), 5) * 1000,
    )
    goals = {"40 KB": 50, "--help": 300, "small": 600}
    for what, (few, thousand) in figures.items():
        goal = next(limit for prefix, limit in goals.items() if what.startswith(prefix))
        bench.add(what, f"{few:.0f} ms", f"< {goal} ms", few < goal)
        ratio = thousand / few
        bench.add(f"{what} with {ENTRIES} entries", f"{thousand:.0f} ms, {ratio:.2f}x", "<= 1.5x", ratio <= 1.5)


def _parts(bench: Bench, library: Library, big_library: Library, folder: Path) -> None:
    logs = b"".join(path.read_bytes() for path in sorted(CASES.glob("*.log")))
    chunks = [(logs * 2)[at : at + (64 << 10)] for at in range(0, len(logs), 1 << 10)]
    redactor = Redactor("bench")
    seconds = _seconds(lambda: sum(map(len, redactor.stream(chunks))))
    rate = sum(map(len, chunks)) / seconds / 1e6
    bench.add("redaction of logs", f"{rate:.0f} MB/s", ">= 100 MB/s", rate >= 100)

    row = 'INFO:     127.0.0.1:34970 - "GET /docs HTTP/1.1" 200 OK and some more words that are nothing'
    lines = [parse_line("x", number, row) for number in range(1, 10_001)]
    each = _seconds(lambda: extract_facts(lines)) / len(lines) * 1e6
    bench.add("facts, ordinary lines", f"{each:.1f} µs a line", "< 5 µs a line", each < 5)
    text = (CASES / "runtime_engine_dead.log").read_text(encoding="utf-8")
    paste = [parse_line("x", number, line) for number, line in enumerate(text.split("\n"), 1)]
    took = _seconds(lambda: extract_facts(paste), 5) * 1000
    bench.add(f"facts, paste of {len(text) / 1000:.0f} KB", f"{took:.1f} ms", "< 10 ms", took < 10)

    for among, count, goal in ((library, len(library.rules), 15), (big_library, ENTRIES, 40)):
        took = _ranking_time(among)
        bench.add(f"question ranked among {count} entries, median", f"{took:.1f} ms", f"< {goal} ms", took < goal)

    plain = _write(folder / "plain.log", healthy_stream(GB // 4))
    rate = plain.stat().st_size / _seconds(lambda: _read(plain), 5) / 1e9
    bench.add("plain file read", f"{rate:.1f} GB/s", ">= 1.5 GB/s", rate >= 1.5)


def _ranking_time(library: Library) -> float:
    """Median in milliseconds over known questions."""
    times = []
    for question in yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))["known"][:60]:
        start = time.perf_counter()
        rank(library.database, question["text"])
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def _read(path: Path) -> int:
    return sum(len(chunk) for item in open_paths([path], Limits()) if isinstance(item, Source) for chunk in item.chunks)


if __name__ == "__main__":
    sys.exit(main())
