"""Who writes first."""

import threading
import time

from bot.store.turns import Turns


def test_turns_when_many_wait_then_the_urgent_go_first() -> None:
    turns = Turns()
    order: list[str] = []

    def write(name: str, urgent: bool) -> None:
        with turns.take(urgent=urgent):
            order.append(name)

    threads = []
    with turns.take():
        for name, urgent in (("a", False), ("b", False), ("x", True), ("c", False), ("y", True)):
            threads.append(threading.Thread(target=write, args=(name, urgent)))
            threads[-1].start()
            time.sleep(0.02)
    for thread in threads:
        thread.join(5)
    assert order == ["x", "y", "a", "b", "c"]


def test_turns_when_many_threads_take_them_then_one_at_a_time_and_all_get_one() -> None:
    turns = Turns()
    inside: list[int] = []
    done: list[int] = []

    def write(number: int) -> None:
        for _ in range(200):
            with turns.take(urgent=number % 3 == 0):
                inside.append(number)
                assert len(inside) == 1
                inside.pop()
        done.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(done) == 9
