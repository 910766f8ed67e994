"""What is quadratic is found, and what is linear passes, however slow it is."""

from __future__ import annotations

import re
import time

import pytest

from tests import growth
from tests.growth import FLOOR, assert_bounded, assert_linear


def _busy(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def _compare_all(items: range) -> int:
    return sum(1 for one in items for other in items if one == other)


def test_call_when_quadratic_then_found() -> None:
    with pytest.raises(AssertionError, match=r"^'pairs': \d+ takes \d\d.* times as long as"):
        assert_linear(_compare_all, range, 2500, "pairs")


def test_call_when_quadratic_behind_a_fixed_cost_then_found() -> None:
    def call(items: range) -> None:
        _compare_all(range(200))
        _compare_all(items)

    with pytest.raises(AssertionError, match="times as long"):
        assert_linear(call, range, 2500)


def test_regular_expression_when_quadratic_then_found() -> None:
    with pytest.raises(AssertionError, match="times as long"):
        assert_linear(re.compile(r"\s+$").search, lambda size: " " * size + "x", 50_000)


def test_regular_expression_when_linear_then_passes() -> None:
    assert_linear(re.compile(r"\S+$").match, lambda size: "x" * size + " ", 1 << 20)


@pytest.mark.parametrize("each", [1e-5, 5e-5])
def test_call_when_linear_then_passes_however_slow(each: float) -> None:
    assert_linear(lambda size: _busy(size * each), int, 4000)


def test_call_when_bounded_then_passes() -> None:
    assert_linear(lambda size: _busy(min(size, 100) * 3e-4), int, 10_000)
    assert_bounded(lambda size: _busy(min(size, 100) * 3e-4), int, 10_000)


def test_call_when_to_be_bounded_and_linear_then_found() -> None:
    with pytest.raises(AssertionError, match="times as long"):
        assert_bounded(lambda size: _busy(size * 1e-5), int, 4000)


def test_call_when_disturbed_once_then_passes() -> None:
    disturbances = [8 * FLOOR]

    def call(size: int) -> None:
        _busy(size * 1e-5)
        if size == 4000 and disturbances:
            _busy(disturbances.pop())

    assert_linear(call, int, 4000)


def test_call_when_below_the_floor_then_passes_though_quadratic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "FLOOR", float("inf"))
    assert_linear(_compare_all, range, 200)
