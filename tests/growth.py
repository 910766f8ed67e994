"""How the time of a call grows with its input, measured on one machine in one moment: how fast it is does not count."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

FACTOR = 8
FLOOR = 0.02  # seconds; below, noise is as large as what is measured
TRIES = 5


def seconds(call: Callable[[T], object], given: T) -> float:
    """CPU time of one call. That of other threads and of collecting what other tests left behind is not in it."""
    collects = gc.isenabled()
    gc.disable()
    try:
        before = time.thread_time()
        call(given)
        return time.thread_time() - before
    finally:
        if collects:
            gc.enable()


def assert_linear(
    call: Callable[[T], object], make: Callable[[int], T], size: int, what: object = "", *, steps: int = 2
) -> None:
    """Fail where FACTOR times the input takes nearer FACTOR² than FACTOR times the time, in `steps` up to `make(size)`.

    The smaller steps find what is quadratic without the minutes that the last would take. The first one should be some
    times larger than what a call may look at together: within that it may well be quadratic.
    """
    for step in reversed(range(steps)):
        _assert_growth(call, make, size // FACTOR**step, FACTOR**1.5, what)


def assert_bounded(call: Callable[[T], object], make: Callable[[int], T], size: int, what: object = "") -> None:
    """Fail where FACTOR times the input, `make(size)`, takes nearer FACTOR times the time than the same."""
    _assert_growth(call, make, size, FACTOR**0.5, what)


def _assert_growth(
    call: Callable[[T], object], make: Callable[[int], T], size: int, limit: float, what: object
) -> None:
    small, large = make(size // FACTOR), make(size)
    ratio = 0.0
    for _ in range(TRIES):
        took = seconds(call, large)
        if took < FLOOR:
            return
        ratio = took / min(seconds(call, small) for _ in range(3))
        if ratio < limit:
            return
    raise AssertionError(
        f"{what!r}: {size} takes {ratio:.1f} times as long as {size // FACTOR}, at most {limit:.1f} wanted"
    )
