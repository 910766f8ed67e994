"""No input makes the intake raise, hang, or take more than linear time."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.blocks import Reading, UnreadableError, read_blocks
from kb.columns import Column, find_column
from kb.evidence import Collector, Evidence, Source, Watch
from kb.framing import parse_line
from kb.language import detect_language
from kb.prose import is_prose
from kb.repair import repair
from kb.scanner import Scanner
from kb.tracebacks import find_exceptions
from tests.growth import assert_linear, seconds
from tests.kb.intake import CORPUS, LINES, stacked

MODULES = [
    importlib.import_module(f"kb.{name}")
    for name in (
        "blocks",
        "encodings",
        "records",
        "framing",
        "forms",
        "moments",
        "columns",
        "terminal",
        "repair",
        "decoration",
        "prose",
        "wrapping",
        "tracebacks",
        "scanner",
        "evidence",
        "windows",
        "language",
    )
]
REPEATED = [
    "a",
    "A",
    "0",
    " ",
    "\t",
    "(",
    "[",
    "<",
    "&",
    "`",
    "'",
    '"',
    "{",
    "|",
    "+",
    "-",
    ".",
    "_",
    "/",
    ":",
    "=",
    ",",
    "a.",
    "A.",
    "a-",
    "a_",
    "a b",
    "a  b",
    "a=b,",
    "a=1",
    "0:",
    "00:",
    "[0",
    "(a",
    "a(",
    "<a",
    "<http://a|",
    "<http://",
    "&lt",
    "{code",
    "[code",
    "```",
    "\x1b[",
    "\x1b]",
    "[31m",
    "^[[",
    "a: ",
    "a:b ",
    'File "',
    '  File "a", line 1',
    "Traceback ",
    "| ",
    "> ",
    "12 ",
    "1:",
    "1-",
    "Error",
    "AError: ",
    "a.AError",
    "[pod/a",
    "2026-08-11 ",
    "2026-08-11T12:00:00Z ",
    "Aug 11 12:00:00 a ",
    "[E811 ",
    "E0811 12:00:00.0 ",
    "h:1:2 [0] ",
    "(a pid=1",
    "pid=",
    "INFO ",
    "INFO: ",
    "INFO 08-11 12:00:00 [a.py:1] ",
    "[rank1]: ",
    "I we ",
    "가",
    "я",
    "é",
    "\u2588",
    "50%|",
    "a\n",
    "\n",
    "\r",
    "a\r",
    '{"a":',
    '"log":',
    "?",
    "ray::",
    "On a wrote",
    "From: ",
    "A, [1.1.2026 1:1]",
    "[1:1 AM] A",
]
MIB = 1 << 20


def patterns() -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes], list[Callable[..., object]]]]:
    """Every regular expression of the intake, with the ways in which its module uses it."""
    source = "\n".join(inspect.getsource(module) for module in MODULES)
    for module in MODULES:
        for name, value in vars(module).items():
            if not isinstance(value, re.Pattern):
                continue
            used = set(re.findall(rf"\b{name}\.(\w+)\(", source)) or {"match"}
            ways: list[Callable[..., object]] = []
            if used & {"search", "sub", "findall", "finditer", "split"}:
                ways.append(lambda text, pattern=value: sum(1 for _ in pattern.finditer(text)))
            if used & {"match", "fullmatch"}:
                ways.append(value.match)
            yield f"{module.__name__}.{name}", value, ways
    for column in Column:
        yield f"kb.columns.{column.name}", column.value, [column.value.match]


def repeated(unit: str, size: int, pattern: re.Pattern[str] | re.Pattern[bytes]) -> str | bytes:
    text = (unit * (size // len(unit) + 1))[:size] + "!\0"
    return text.encode() if isinstance(pattern.pattern, bytes) else text


@pytest.mark.parametrize(("name", "pattern", "ways"), [pytest.param(*item, id=item[0]) for item in patterns()])
def test_regular_expression_when_given_much_of_the_same_then_linear(name, pattern, ways):
    for way in ways:
        worst = max(REPEATED, key=lambda unit: seconds(way, repeated(unit, 4096, pattern)))
        assert_linear(way, lambda size, unit=worst: repeated(unit, size, pattern), MIB // 2, worst, steps=3)


WAYS: dict[str, Callable[[str], object]] = {
    "parse_line": lambda text: [parse_line("f", 1, line) for line in text.split("\n")],
    "columns": lambda text: find_column(text.split("\n")),
    "repair": lambda text: repair(list(enumerate(text.split("\n"), 1))),
    "prose": lambda text: [is_prose(line) for line in text.split("\n")],
    "language": detect_language,
    "blocks": lambda text: list(_blocks(text.encode())),
    "tracebacks": lambda text: find_exceptions(
        [parse_line("f", n, line) for n, line in enumerate(text.split("\n"), 1)]
    ),
}


def _blocks(data: bytes) -> Iterator[object]:
    try:
        yield from read_blocks([data], Reading())
    except UnreadableError:
        return


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_function_when_given_much_of_the_same_then_linear(way):
    for unit in REPEATED:
        line = (unit * 70)[:70].replace("\n", "x") + "\n"
        assert_linear(way, lambda size, unit=unit: (unit * size)[:size] + "!\n", 40_000, unit)
        assert_linear(way, lambda size, line=line: line * (size // len(line)), 40_000, line)


def test_carriage_returns_when_many_before_a_line_feed_then_linear():
    assert_linear(WAYS["blocks"], lambda size: "\r" * size + "\n", 30_000)


def test_line_when_a_mebibyte_long_then_linear():
    for unit in ("a", "a.", "(a pid=1) ", "a b ", '{"log":"a",', "<http://a|", "  ", "가 "):
        assert_linear(_line_of, lambda size, unit=unit: (unit * (size // len(unit))).encode(), MIB, unit, steps=3)


def _line_of(data: bytes) -> None:
    assert _collected(data).lines


_SHARED: list[Scanner] = []


def _collected(*data: bytes, paste: bool = True) -> Evidence:
    if not _SHARED:
        _SHARED.append(Scanner([r"ERROR", r"Traceback \(most", r"a{3}b"]))
    collector = Collector(_SHARED[0], [Watch(after=5, before=3)] * 3)
    for n, part in enumerate(data):
        collector.add(Source(f"f{n}", [part], paste))
    evidence = collector.finish()
    find_exceptions(evidence.lines)
    return evidence


def _sound(evidence: Evidence) -> None:
    count = len(evidence.lines)
    assert len(evidence.positions) == len(evidence.times) == count
    assert all(0 <= at < count for indices in evidence.hits.values() for at in indices)
    assert all(indices == sorted(set(indices)) for indices in evidence.hits.values())
    assert evidence.quoted <= set(range(count))
    for line in evidence.lines:
        assert line.text.endswith(line.body)
        assert line.number >= 1
        line.text.encode("utf-8")


@given(st.binary(max_size=2000), st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_bytes_when_collected_then_sound(data, paste):
    _sound(_collected(data, paste=paste))


@given(st.text(max_size=800), st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_text_when_collected_then_sound(text, paste):
    _sound(_collected(text.encode("utf-8", "surrogatepass"), paste=paste))


@given(
    stacked(),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp949", "gb18030", "cp1251", "koi8-r"]),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_any_mixture_of_real_lines_and_damage_when_collected_then_sound(text, encoding, paste):
    evidence = _collected(text.encode(encoding, "replace"), text.encode(), paste=paste)
    _sound(evidence)
    raw = text.count("\n") + text.count("\r") + 1
    assert all(line.number <= raw for line in evidence.lines)


@given(st.binary(max_size=400), st.sampled_from(CORPUS))
@settings(max_examples=150, deadline=None)
def test_real_log_when_bytes_are_strewn_in_then_sound(noise, log):
    middle = len(log) // 2
    _sound(_collected(log[:middle] + noise + log[middle:]))


@pytest.mark.parametrize("line", LINES)
def test_line_when_cut_anywhere_then_parsed(line):
    for end in range(len(line) + 1):
        parsed = parse_line("f", 1, line[:end])
        assert line[:end].endswith(parsed.body)
        parse_line("f", 1, line[end:])
