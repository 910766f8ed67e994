"""Patterns in one pass: what Hyperscan announces RE2 finds, on the same lines, in any script, from any thread."""

from __future__ import annotations

import re
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.scanner import PatternError, Scanner, compile_hyperscan, compile_re2

PATTERNS = [
    r"NCCL WARN (?P<text>.*)",
    r"CUDA out of memory",
    r"errno[ :=]*(?P<number>\d+)",
    r"(?i)illegal memory",
    r"메모리|память",
    r"(?i)мусор",
    r"a[бв]{2}c",
    r"начало.{0,6}конец",
]


@pytest.fixture(scope="module")
def scanner() -> Scanner:
    return Scanner(PATTERNS)


def plain(pattern: str, data: bytes) -> list[int]:
    """Starts of the first match of each line that matches, with Python's engine."""
    program = re.compile(pattern)
    found = []
    at = 0
    for line in data.decode().split("\n"):
        match = program.search(line)
        if match is not None:
            found.append(at + len(line[: match.start()].encode()))
        at += len(line.encode()) + 1
    return found


TEXT = (
    "x errno 524\nNCCL WARN one\n\nNCCL WARN two NCCL WARN three\nIllegal MEMORY access\n메모리 부족\n"
    "Мусор в ответе\naбвc\nначало сере конец\nlast CUDA out of memory"
)


def test_present_when_scanned_then_positions_in_order(scanner):
    assert scanner.present(TEXT.encode()) == list(range(8))
    assert scanner.present(b"nothing here\n") == []
    assert scanner.present(b"") == []


@pytest.mark.parametrize("position", range(len(PATTERNS)))
def test_offsets_when_asked_then_one_for_each_line_that_matches(scanner, position):
    assert list(scanner.offsets(position, TEXT.encode())) == plain(PATTERNS[position], TEXT.encode())


def test_offsets_when_limited_then_the_first_ones_from_there_on(scanner):
    data = b"errno 1\nerrno 2\nerrno 3\nerrno 4\n"
    assert list(scanner.offsets(2, data, 2)) == [0, 8]
    assert list(scanner.offsets(2, data, 2, 9)) == [16, 24]
    assert list(scanner.offsets(2, data, 0)) == []


def test_first_ends_when_scanned_then_where_the_first_match_ends(scanner):
    assert dict(scanner.first_ends(b"abc\nxx CUDA out of memory\nCUDA out of memory\n"))[1] == 4 + 3 + 18


def test_match_when_it_would_cross_a_line_end_then_none():
    scanner = Scanner([r"a\s+b", r"x[^q]*y"])
    assert list(scanner.offsets(0, b"a\nb\na b\n")) == [4]
    assert list(scanner.offsets(1, b"x\ny\nx1y\n")) == [4]


def test_captures_when_named_then_only_those_that_took_part(scanner):
    assert scanner.captures(0, "NCCL WARN пусто") == {"text": "пусто"}
    assert scanner.captures(0, "nothing") == {}
    assert Scanner([r"(?P<a>x)|(?P<b>y)"]).captures(0, "y") == {"b": "y"}


@pytest.mark.parametrize("pattern", ["(", "[a", "*a", r"(?P<a>x", "a{2"])
def test_pattern_when_not_valid_then_both_engines_say_which(pattern):
    if pattern == "a{2":
        pytest.skip("a literal brace for RE2")
    with pytest.raises(PatternError, match=re.escape(repr(pattern))):
        compile_re2(pattern)
    with pytest.raises(PatternError, match="Hyperscan refuses"):
        compile_hyperscan(["fine", pattern])


def test_pattern_when_of_look_around_then_refused():
    with pytest.raises(PatternError, match="RE2 refuses"):
        compile_re2("(?<=a)b")


def test_scanner_when_without_patterns_then_finds_nothing():
    assert Scanner([]).present(b"text") == []


def test_database_when_given_back_then_finds_the_same(scanner):
    assert Scanner(PATTERNS, scanner.database).present(TEXT.encode()) == list(range(8))


def test_scanner_when_shared_by_threads_then_each_finds_the_same(scanner):
    data = TEXT.encode() * 200
    found: list[list[int]] = []

    def work() -> None:
        found.extend(scanner.present(data) for _ in range(30))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [list(range(8))] * 180


@given(
    st.lists(st.sampled_from([*TEXT.split("\n"), "", "a", "б", "errno", " 5", "\n", "\n\n"]), max_size=20).map("".join)
)
@settings(max_examples=200, deadline=None)
def test_any_text_when_scanned_then_as_a_plain_search_line_by_line(text):
    scanner = _shared()
    data = text.encode()
    present = set(scanner.present(data))
    for position, pattern in enumerate(PATTERNS):
        expected = plain(pattern, data)
        assert list(scanner.offsets(position, data)) == expected
        assert position in present or not expected


_SCANNERS: list[Scanner] = []


def _shared() -> Scanner:
    if not _SCANNERS:
        _SCANNERS.append(Scanner(PATTERNS))
    return _SCANNERS[0]
