"""Evidence: small inputs whole, large ones in windows; budgets hold, numbers and hits stay right."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.evidence import SMALL, Collector, Evidence, NotRead, Source, Watch
from kb.scanner import Scanner

PATTERNS = [r"NEEDLE", r"error \d+", r"stats:", r"Traceback \(most recent call last\)"]
WATCHES = [Watch(after=3, before=2), Watch(after=1), Watch(after=0, frequent=True), Watch(after=40, before=5)]
RECORD = "(Worker_TP0 pid=9) INFO 08-11 12:00:00 [a.py:1] step {n:07d} of a long run with many words in it\n"
MIB = 1 << 20
TRACEBACK = "Traceback (most recent call last):"


@pytest.fixture(scope="module")
def scanner() -> Scanner:
    return Scanner(PATTERNS)


def collect(scanner: Scanner, *sources: Source) -> Evidence:
    collector = Collector(scanner, WATCHES)
    for source in sources:
        collector.add(source)
    return collector.finish()


def of(scanner: Scanner, text: str | bytes, *, paste: bool = False) -> Evidence:
    return collect(scanner, Source("f", [text if isinstance(text, bytes) else text.encode()], paste))


def hit_lines(evidence: Evidence, position: int) -> list[int]:
    return [evidence.lines[at].number for at in evidence.hits.get(position, [])]


def long_log(total: int, marks: dict[int, str]) -> Iterator[bytes]:
    """A log of so many bytes with other lines at some numbers, in chunks."""
    size = number = 0
    chunk: list[bytes] = []
    while size < total:
        number += 1
        line = (marks[number] + "\n" if number in marks else RECORD.format(n=number)).encode()
        chunk.append(line)
        size += len(line)
        if len(chunk) == 5000:
            yield b"".join(chunk)
            chunk = []
    yield b"".join(chunk)


# Small inputs


def test_small_file_when_read_then_all_lines_with_their_origin(scanner):
    evidence = of(scanner, "(Worker_TP3 pid=9) ERROR 08-11 12:00:00 [a.py:1] NEEDLE\n\nnode:1:2 [0] NCCL INFO x\n")
    assert [(line.number, line.process, line.host, line.body) for line in evidence.lines] == [
        (1, "Worker_TP3", None, "NEEDLE"),
        (2, None, None, ""),
        (3, None, "node", "NCCL INFO x"),
    ]
    assert (evidence.hits, evidence.files, evidence.lines_read, evidence.not_read) == ({0: [0]}, ["f"], 3, [])


def test_small_file_when_no_paste_then_words_are_no_prose(scanner):
    evidence = of(scanner, "our server dies, why?\nNEEDLE\n")
    assert (evidence.prose, evidence.quoted) == ("", set())


def test_paste_when_it_holds_words_then_they_are_apart(scanner):
    evidence = of(scanner, "our server dies, why?\n(Worker pid=1) ERROR 08-11 12:00:00 [a.py:1] NEEDLE\n", paste=True)
    assert (evidence.prose, evidence.quoted, evidence.hits) == ("our server dies, why?", {0}, {0: [1]})


def test_paste_when_repaired_then_the_line_as_given_is_known(scanner):
    evidence = of(scanner, "&gt; (Worker pid=1) a &lt;b&gt;\n&gt; (Worker pid=1) NEEDLE\nsame\n", paste=True)
    assert [line.text for line in evidence.lines] == ["(Worker pid=1) a <b>", "(Worker pid=1) NEEDLE", "same"]
    assert evidence.given == {0: "&gt; (Worker pid=1) a &lt;b&gt;", 1: "&gt; (Worker pid=1) NEEDLE"}


def test_paste_when_wrapped_then_patterns_match_over_the_break(scanner):
    lines = [
        f"(Worker_TP0 pid=9) ERROR 08-11 12:00:00 [a.py:{n}] {'x' * n} the thing is error {n}0 here"
        for n in range(30, 36)
    ]
    text = "\n".join(line[at : at + 97] for line in lines for at in range(0, len(line), 97))
    evidence = of(scanner, text + "\n", paste=True)
    assert [line.text for line in evidence.lines] == lines
    assert hit_lines(evidence, 1) == [1, 3, 5, 7, 9, 11]
    assert evidence.positions == [1, 2, 3, 4, 5, 6]


def test_paste_when_as_large_as_a_block_then_whole(scanner):
    text = "why does our server die?\n" + "".join(RECORD.format(n=n) for n in range(9000)) + "NEEDLE\n"
    evidence = of(scanner, text, paste=True)
    assert len(evidence.lines) == 9002
    assert evidence.prose == "why does our server die?"


def test_line_when_very_long_then_held_in_part_and_scanned_whole(scanner):
    evidence = of(scanner, "a\n" + "x" * 100_000 + " NEEDLE\nb\n")
    assert [len(line.text) for line in evidence.lines] == [1, 16 << 10, 1]
    assert hit_lines(evidence, 0) == [2]


def test_line_when_longer_than_a_mebibyte_then_cut_and_said(scanner):
    evidence = of(scanner, b"a\n" + b"x" * (MIB + 1) + b"\nNEEDLE\n")
    assert [line.number for line in evidence.lines] == [1, 2, 3]
    assert evidence.not_read == [NotRead("f", "long_line", "2")]
    assert hit_lines(evidence, 0) == [3]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "empty"), (b"\xef\xbb\xbf", "empty"), (bytes(range(256)) * 9, "binary"), (bytes(9), "binary")],
)
def test_file_when_no_text_then_said(scanner, data, reason):
    evidence = of(scanner, data)
    assert (evidence.lines, evidence.not_read, evidence.files) == ([], [NotRead("f", reason)], [])


def test_file_when_some_bytes_are_of_no_encoding_then_said(scanner):
    assert of(scanner, b"caf\xe9\n").not_read == [NotRead("f", "undecodable")]


def test_part_when_skipped_by_the_caller_then_said(scanner):
    collector = Collector(scanner, WATCHES)
    collector.skip("core.dump", "binary", "x")
    assert collector.finish().not_read == [NotRead("core.dump", "binary", "x")]


def test_sources_when_several_then_lines_and_hits_follow_one_another(scanner):
    evidence = collect(scanner, Source("a", [b"x\nNEEDLE\n"]), Source("b", [b"NEEDLE\n"]), Source("c", [b"error 5"]))
    assert [(line.file, line.number) for line in evidence.lines] == [("a", 1), ("a", 2), ("b", 1), ("c", 1)]
    assert (evidence.hits, evidence.bytes_read) == ({0: [1, 2], 1: [3]}, 9 + 7 + 7)


def test_positions_when_of_several_processes_then_counted_apart(scanner):
    evidence = of(scanner, "(A pid=1) x\n(B pid=2) x\n(A pid=1) x\nx\n(B pid=2) x\n")
    assert evidence.positions == [1, 1, 2, 1, 2]


def test_times_when_a_line_has_none_then_that_of_the_line_before(scanner):
    evidence = of(scanner, "x\n2026-08-11T12:00:00Z y\nz\n")
    assert evidence.times == [None, 1786449600.0, 1786449600.0]


def test_json_lines_when_unwrapped_then_several_lines_have_one_number(scanner):
    record = '{"message":"NEEDLE\\nerror 7","time":"2026-08-11T12:00:00Z","level":"ERROR"}\n'
    evidence = of(scanner, "a\n" + record + "b\n")
    assert [line.number for line in evidence.lines] == [1, 2, 2, 3]
    assert (evidence.hits, {line.level for line in evidence.lines[1:3]}) == ({0: [1], 1: [2]}, {"ERROR"})


def test_column_when_found_then_lines_of_pods_are_apart(scanner):
    evidence = of(scanner, "".join(f"k3-{n % 2} vllm (Worker pid=9) x\n" for n in range(6)))
    assert {line.stream for line in evidence.lines} == {("f", "k3-0", 9), ("f", "k3-1", 9)}


def test_file_when_it_cannot_be_read_on_then_the_callers_error(scanner):
    def broken() -> Iterator[bytes]:
        yield b"x\n"
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        collect(scanner, Source("f", broken()))


# Large files


def test_large_file_when_read_then_start_end_and_hits_with_context(scanner):
    marks = {20_000: "a NEEDLE", 20_001: "x", 30_000: "error 5"}
    evidence = collect(scanner, Source("f", long_log(6 * MIB, marks)))
    numbers = [line.number for line in evidence.lines]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 1
    assert numbers[-1] == evidence.lines_read
    assert set(range(19_998, 20_004)) <= set(numbers)
    assert {30_000, 30_001} <= set(numbers)
    assert not {19_997, 20_004, 29_999, 30_002} & set(numbers)
    assert (hit_lines(evidence, 0), hit_lines(evidence, 1)) == ([20_000], [30_000])
    assert sum(len(line.text) + 1 for line in evidence.lines if line.number < 10_000) >= 192 << 10


def test_large_file_when_between_small_and_a_block_then_windows_too(scanner):
    evidence = collect(scanner, Source("f", long_log(SMALL + 300_000, {5000: "NEEDLE"})))
    assert len(evidence.lines) < evidence.lines_read
    assert hit_lines(evidence, 0) == [5000]
    numbers = [line.number for line in evidence.lines]
    assert numbers == sorted(set(numbers))


def test_large_file_when_the_last_block_is_short_then_the_end_is_whole(scanner):
    total = 2 * MIB + 3000
    evidence = collect(scanner, Source("f", long_log(total, {})))
    numbers = [line.number for line in evidence.lines]
    tail = numbers[numbers.index(evidence.lines_read) - 1000 :]
    assert tail == list(range(evidence.lines_read - 1000, evidence.lines_read + 1))


def test_large_file_when_the_last_block_has_hits_then_the_end_is_still_whole(scanner):
    line = len(RECORD.format(n=1))
    last = (2 * MIB + 3000) // line
    evidence = collect(scanner, Source("f", long_log(2 * MIB + 3000, {last - 5: "NEEDLE"})))
    numbers = {line.number for line in evidence.lines}
    assert set(range(evidence.lines_read - 1000, evidence.lines_read + 1)) <= numbers


def test_window_when_it_crosses_a_block_then_whole(scanner):
    line = len(RECORD.format(n=1))
    first_of_second = MIB // line + 1
    for number in (first_of_second - 1, first_of_second, first_of_second + 1, first_of_second + 4):
        evidence = collect(scanner, Source("f", long_log(4 * MIB, {number: "Traceback (most recent call last):"})))
        numbers = {line.number for line in evidence.lines}
        assert set(range(number - 5, number + 41)) <= numbers


def test_hits_when_more_than_are_kept_then_the_first_and_the_last(scanner):
    marks = dict.fromkeys(range(10_000, 120_000, 1000), "NEEDLE")
    evidence = collect(scanner, Source("f", long_log(12 * MIB, marks)))
    numbers = hit_lines(evidence, 0)
    assert numbers[:24] == list(range(10_000, 34_000, 1000))
    assert 100_000 < numbers[-1] <= 119_000
    assert len(numbers) <= 30


def test_frequent_pattern_when_it_hits_everywhere_then_few_are_kept_beside_start_and_end(scanner):
    marks = dict.fromkeys(range(1, 130_000, 10), "stats: x")
    evidence = collect(scanner, Source("f", long_log(12 * MIB, marks)))
    assert len(evidence.lines) < 4500


def test_kept_lines_when_of_a_large_file_then_their_hits_are_those_of_a_plain_search(scanner):
    marks = {number: f"error {number}" for number in range(100, 60_000, 700)}
    evidence = collect(scanner, Source("f", long_log(5 * MIB, marks)))
    expected = [line.number for line in evidence.lines if "error " in line.text]
    assert hit_lines(evidence, 1) == expected


def test_json_file_when_large_then_no_line_twice_and_numbers_right(scanner):
    lines = []
    for n in range(1, 9001):
        text = "NEEDLE" if n in (4000, 8990) else f"step {n} of a long run"
        lines.append(f'{{"log":"{text}\\n","stream":"stderr","time":"2026-08-11T12:00:00.000000000Z"}}\n')
    evidence = of(scanner, "".join(lines))
    numbers = [line.number for line in evidence.lines]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == 9000
    assert hit_lines(evidence, 0) == [4000, 8990]


def test_positions_when_a_gap_was_left_out_then_it_counts(scanner):
    evidence = collect(scanner, Source("f", long_log(6 * MIB, {30_000: "(Worker_TP0 pid=9) NEEDLE"})))
    at = next(at for at, line in enumerate(evidence.lines) if line.number == 30_000)
    assert evidence.positions[at] == 30_000


def test_paste_when_larger_than_a_block_then_its_words_are_still_apart(scanner):
    text = "why does our K3 server die?\nwe use 8x B300\n" + "".join(RECORD.format(n=n) for n in range(30_000))
    evidence = of(scanner, text, paste=True)
    assert evidence.prose == "why does our K3 server die?\nwe use 8x B300"


def test_budget_when_one_file_is_noisy_then_others_keep_their_share(scanner):
    noisy = {number: f"Traceback (most recent call last): {number}" for number in range(3000, 60_000, 50)}
    sources = [Source(f"f{n}", long_log(4 * MIB, noisy)) for n in range(6)]
    evidence = collect(scanner, *sources)
    kept = {name: sum(line.file == name for line in evidence.lines) for name in evidence.files}
    assert min(kept.values()) > 2500
    assert len(evidence.lines) < 90_000


def test_budget_when_there_are_very_many_large_files_then_bounded(scanner):
    data = b"".join(long_log(SMALL + 200_000, {}))
    collector = Collector(scanner, WATCHES)
    for n in range(40):
        collector.add(Source(f"f{n}", [data]))
    assert len(collector.finish().lines) < 40 * 3700


def test_memory_when_200_megabytes_stream_by_then_bounded(scanner):
    block = b"".join(RECORD.format(n=n).encode() for n in range(12_000))
    block += b"NEEDLE error 5 stats: x\n" + b"Traceback (most recent call last):\n"
    count = 200 * MIB // len(block)
    tracemalloc.start()
    evidence = collect(scanner, Source("f", (block for _ in range(count))))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert evidence.bytes_read == count * len(block)
    assert evidence.lines_read == count * 12_002
    assert peak < 60 * MIB


LINES = st.lists(
    st.sampled_from(["NEEDLE", "error 12", "stats: x", TRACEBACK, "", "x", "(Worker pid=1) NEEDLE", "é"]), max_size=60
)


@given(LINES)
@settings(max_examples=150, deadline=None)
def test_hits_when_the_file_is_small_then_those_of_a_plain_search(lines):
    evidence = of(_shared(), "".join(f"{line}\n" for line in [*lines, "."]))
    assert [line.text for line in evidence.lines] == [*lines, "."]
    for position, word in enumerate(["NEEDLE", "error ", "stats:", "Traceback"]):
        expected = [number for number, line in enumerate(lines, 1) if word in line]
        assert hit_lines(evidence, position) == expected


@given(
    st.dictionaries(
        st.integers(1, 14_000),
        st.sampled_from(["NEEDLE", "error 9", TRACEBACK]),
        max_size=30,
    )
)
@settings(max_examples=25, deadline=None)
def test_windows_when_hits_are_anywhere_then_kept_once_in_order_with_all_hits(marks):
    evidence = collect(_shared(), Source("f", long_log(MIB + 400_000, marks)))
    numbers = [line.number for line in evidence.lines]
    assert numbers == sorted(set(numbers))
    known = set(numbers)
    for number, text in marks.items():
        position = ["NEEDLE", "error 9", None, TRACEBACK].index(text)
        rank = sum(text == other for at, other in marks.items() if at <= number)
        if number <= evidence.lines_read and rank <= 24:
            assert number in known
            assert number in hit_lines(evidence, position)
    for line in evidence.lines:
        assert line.text == marks.get(line.number, RECORD.format(n=line.number).rstrip("\n"))


_SCANNERS: list[Scanner] = []


def _shared() -> Scanner:
    if not _SCANNERS:
        _SCANNERS.append(Scanner(PATTERNS))
    return _SCANNERS[0]
