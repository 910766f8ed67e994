"""Whatever is pasted gets an answer: real logs cut, spliced and damaged in every way, and plain bytes."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb.engine import diagnose
from kb.evidence import Source
from kb.library import Library

CASES = [path.read_bytes()[:20_000] for path in sorted((Path(__file__).parent.parent / "cases").glob("*.log"))]
LIBRARY = Library.open()

DAMAGE = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Pieces of real logs with bytes changed, lines swapped and other encodings in between."""
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        log = draw(st.sampled_from(CASES))
        start = draw(st.integers(0, len(log)))
        piece = bytearray(log[start : start + draw(st.integers(0, 6000))])
        for _ in range(draw(st.integers(0, 5))):
            if piece:
                piece[draw(st.integers(0, len(piece) - 1))] = draw(st.integers(0, 255))
        parts.append(bytes(piece))
        between = [b"", b"\n", b"\r", b"\r\n", b"\x00", b"\x1b[31m", "오류가 납니다\n".encode()]
        parts.append(draw(st.sampled_from(between)))
    return b"".join(parts)


@DAMAGE
@given(st.lists(damaged(), min_size=1, max_size=3))
def test_diagnose_when_logs_are_damaged_then_a_report_with_lines_that_exist(texts: list[bytes]) -> None:
    report = diagnose([Source(f"{at}.log", [text], paste=True) for at, text in enumerate(texts)], LIBRARY)
    lines = {f"{at}.log": text.count(b"\n") + text.count(b"\r") + 1 for at, text in enumerate(texts)}
    for item in report.diagnoses:
        for cited in item.evidence:
            assert 1 <= cited.line <= lines[cited.file]
    assert (report.outcome == "matched") == (report.layer is not None)
    assert report.outcome != "matched" or report.diagnoses


@DAMAGE
@given(st.binary(max_size=3000), st.text(max_size=2000))
def test_diagnose_when_given_anything_then_it_answers(data: bytes, text: str) -> None:
    words = text.encode("utf-8", "replace")
    report = diagnose([Source("a", [data], paste=True), Source("b", [words], paste=True)], LIBRARY)
    assert report.outcome in ("matched", "unknown", "unrelated")
    assert all(item.confidence != "certain" for item in report.diagnoses)
