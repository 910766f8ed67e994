"""The inbox: unique keys, leases, crash, two processes on one database."""

import threading
from concurrent.futures import ThreadPoolExecutor

from bot.inbox import Inbox
from bot.store import Database


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_accept_when_key_is_new_then_true_and_false_after(database: Database) -> None:
    inbox = Inbox(database)
    assert inbox.accept("event:Ev1", "evidence", {"a": 1}, lane="C:1") is True
    assert inbox.accept("event:Ev1", "evidence", {"a": 2}, lane="C:1") is False
    assert [row.payload for row in inbox.rows("C:1")] == [{"a": 1}]


def test_accept_when_the_same_key_comes_from_many_threads_then_one_row(database: Database) -> None:
    inboxes = [Inbox(database) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        took = list(pool.map(lambda n: inboxes[n % 4].accept(f"k{n // 8}", "x", {}, lane=f"L{n % 3}"), range(160)))
    assert sum(took) == 20


def test_accept_when_payload_holds_nul_then_it_is_stored(database: Database) -> None:
    inbox = Inbox(database)
    inbox.accept("k", "x", {"log": "a\x00b\ud800"}, lane="L")
    assert inbox.rows("L")[0].payload["log"].startswith("a")


def test_take_when_lane_is_leased_then_nobody_else_gets_it(database: Database) -> None:
    clock = Clock()
    first, second = Inbox(database, clock=clock), Inbox(database, clock=clock)
    first.accept("k", "x", {}, lane="L")
    assert first.take("L") == "L"
    assert second.take("L") is None
    assert second.take() is None
    first.release("L")
    assert second.take() == "L"


def test_take_when_worker_died_then_lane_is_free_after_the_lease(database: Database) -> None:
    clock = Clock()
    first, second = Inbox(database, clock=clock), Inbox(database, clock=clock)
    first.accept("k", "x", {}, lane="L")
    first.take("L")
    clock.now += 31
    assert second.take() == "L"
    assert first.renew("L") is False
    first.release("L")  # a late worker must not give away what another holds
    assert second.renew("L") is True
    assert [row.key for row in second.rows("L")] == ["k"]


def test_free_dead_when_the_process_is_gone_then_lane_is_free_at_once(database: Database) -> None:
    clock = Clock()
    dead, alive = Inbox(database, clock=clock), Inbox(database, clock=clock)
    dead._owner = f"{dead._host}999999999:abcd"
    dead.accept("k", "x", {}, lane="L")
    dead.take("L")
    assert alive.take() is None
    assert alive.free_dead() == 1
    assert alive.take() == "L"
    assert Inbox(database, clock=clock).free_dead() == 0


def test_release_when_rows_came_meanwhile_then_lane_is_due_again(database: Database) -> None:
    inbox = Inbox(database)
    inbox.accept("k1", "x", {}, lane="L")
    inbox.take("L")
    rows = inbox.rows("L")
    inbox.accept("k2", "x", {}, lane="L")
    inbox.done(*rows)
    inbox.release("L")
    assert inbox.due_lanes() == ["L"]
    assert [row.key for row in inbox.rows("L")] == ["k2"]


def test_done_then_payload_is_gone_and_key_still_known(database: Database) -> None:
    inbox = Inbox(database)
    inbox.accept("k", "x", {"log": "text"}, lane="L")
    inbox.take("L")
    inbox.done(*inbox.rows("L"))
    inbox.release("L")
    assert inbox.due_lanes() == []
    assert inbox.accept("k", "x", {}, lane="L") is False
    assert inbox.stats().open == 0


def test_accept_when_settling_then_earlier_rows_wait_but_not_for_ever(database: Database) -> None:
    clock = Clock()
    inbox = Inbox(database, clock=clock)
    inbox.accept("k0", "e", {}, lane="L", delay=2, settle=["e"])
    for n in range(1, 8):
        clock.now += 1.9
        inbox.accept(f"k{n}", "e", {}, lane="L", delay=2, settle=["e"])
        due = bool(inbox.due_lanes())
        assert due == (n > 6)  # ten seconds at most


def test_accept_when_it_changes_a_row_that_waits_then_both_are_due_together(database: Database) -> None:
    clock = Clock()
    inbox = Inbox(database, clock=clock)
    inbox.accept("first", "e", {}, lane="L", delay=2, settle=["e", "c"])
    clock.now += 1
    inbox.accept("change", "c", {}, lane="L", wait=True)
    assert inbox.due_lanes() == []
    clock.now += 0.5
    inbox.accept("second", "e", {}, lane="L", delay=2, settle=["e", "c"])
    assert inbox.due_in("change") == inbox.due_in("first") == 2
    clock.now += 2
    assert [row.key for row in inbox.rows("L")] == ["first", "change", "second"]
    assert inbox.due_in("change") == 0
    inbox.done(*inbox.rows("L"))
    assert inbox.due_in("change") is None
    assert inbox.lane_of("change") == "L"
    assert inbox.lane_of("other") is None


def test_accept_when_nothing_waits_then_due_at_once(database: Database) -> None:
    inbox = Inbox(database, clock=Clock())
    inbox.accept("change", "c", {}, lane="L", wait=True)
    assert inbox.due_in("change") == 0


def test_retry_then_row_comes_back_later_with_its_count(database: Database) -> None:
    clock = Clock()
    inbox = Inbox(database, clock=clock)
    inbox.accept("k", "x", {}, lane="L")
    inbox.take("L")
    inbox.retry(inbox.rows("L")[0], 60, "SlackRetryLater")
    inbox.release("L")
    assert inbox.due_lanes() == []
    clock.now += 61
    assert inbox.take() == "L"
    assert inbox.rows("L")[0].attempts == 1


def test_take_when_many_workers_of_two_processes_then_each_row_is_worked_on_once(url: str, database: Database) -> None:
    other = Database(url)
    inboxes = [Inbox(database), Inbox(other)]
    for n in range(60):
        inboxes[0].accept(f"k{n}", "x", {}, lane=f"L{n % 20}")
    worked: list[str] = []
    guard = threading.Lock()

    def work(number: int) -> None:
        inbox = inboxes[number % 2]
        while (lane := inbox.take()) is not None:
            rows = inbox.rows(lane)
            with guard:
                worked.extend(row.key for row in rows)
            inbox.done(*rows)
            inbox.release(lane)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert sorted(worked) == sorted(f"k{n}" for n in range(60))
    other.close()


def test_revive_when_rows_were_given_up_then_they_are_due_again(database: Database) -> None:
    clock = Clock()
    inbox = Inbox(database, clock=clock)
    inbox.accept("k", "x", {"log": "kept"}, lane="L")
    inbox.take("L")
    inbox.fail(inbox.rows("L")[0], "ValueError")
    inbox.release("L")
    assert inbox.due_lanes() == []
    assert inbox.stats().failed == 1
    assert inbox.revive(60) == 1
    assert [(row.attempts, row.payload) for row in inbox.rows(str(inbox.take()))] == [(0, {"log": "kept"})]
    clock.now += 100
    assert inbox.revive(60) == 0


def test_forget_then_only_old_finished_rows_go(database: Database) -> None:
    clock = Clock()
    inbox = Inbox(database, clock=clock)
    inbox.accept("old", "x", {}, lane="L")
    inbox.done(*inbox.rows("L"))
    inbox.accept("open", "x", {}, lane="L")
    clock.now += 100
    assert inbox.forget(before=clock.now - 50) == 1
    assert inbox.known("open")
    assert not inbox.known("old")
