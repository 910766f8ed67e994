"""Work that ends its process natively: counted before it begins, given up after a while, and nobody else suffers."""

import subprocess
import sys
import threading
from pathlib import Path

from bot.inbox import Inbox, Row
from bot.lease import Lease
from bot.store import Database
from bot.worker import Workers

_PROCESS = """
import os, sys, time
import bot.worker
from bot.inbox import Inbox
from bot.store import Database
from bot.worker import Workers

def work(rows, lease):
    for row in rows:
        if row.payload.get("poison"):
            time.sleep(0.05)
            os._exit(9)
        time.sleep(0.02)
    return {}

def tell(row):
    with open(sys.argv[2], "a") as told:
        told.write(row.key + "\\n")

bot.worker._STARTS = 2
database = Database(sys.argv[1])
inbox = Inbox(database)
workers = Workers(inbox, work, count=3, give_up=tell)
workers.start()
while inbox.stats().open:
    time.sleep(0.02)
workers.stop(5)
"""


def test_work_when_it_ends_the_process_then_it_is_given_up_and_the_rest_is_done(url: str, tmp_path: Path) -> None:
    database = Database(url)
    inbox = Inbox(database)
    for number in range(12):
        inbox.accept(f"k{number}", "x", {"poison": number == 3}, lane=f"L{number % 6}")
    told = tmp_path / "told"
    codes = []
    for _ in range(6):
        command = [sys.executable, "-c", _PROCESS, database.engine.url.render_as_string(False), str(told)]
        codes.append(subprocess.run(command, timeout=60, check=False, cwd=Path(__file__).parents[2]).returncode)
        if codes[-1] == 0:
            break
    assert codes[-1] == 0
    assert codes == [9, 9, 0]
    assert told.read_text().split() == ["k3"]
    stats = inbox.stats()
    assert (stats.open, stats.failed) == (0, 1)
    assert inbox.revive(3600) == 0  # it would end the next process too
    database.close()


def test_work_when_returned_then_it_does_not_count(database: Database) -> None:
    inbox = Inbox(database)
    inbox.accept("k", "x", {}, lane="L")
    row = inbox.rows("L")[0]
    inbox.begin(row)
    assert inbox.rows("L")[0].starts == 1
    inbox.put_back(row)
    assert inbox.rows("L")[0].starts == 0


def test_row_when_its_process_died_again_and_again_then_it_waits_ever_longer(database: Database) -> None:
    now = [1000.0]
    inbox = Inbox(database, clock=lambda: now[0])
    inbox.accept("k", "x", {}, lane="L")
    waited = []
    for _ in range(8):
        begun = now[0]
        inbox.begin(inbox.rows("L")[0])  # and the process dies
        while not inbox.rows("L"):
            now[0] += 1
        waited.append(now[0] - begun)
    assert waited == [0, 0, 4, 8, 16, 32, 60, 60]


def test_row_when_unlucky_and_returned_then_it_is_due_at_once(database: Database) -> None:
    inbox = Inbox(database, clock=lambda: 1000.0)
    inbox.accept("k", "x", {}, lane="L")
    for _ in range(2):
        inbox.begin(inbox.rows("L")[0])
    row = inbox.rows("L")[0]
    inbox.begin(row)
    assert inbox.rows("L") == []
    inbox.put_back(row)
    assert [one.starts for one in inbox.rows("L")] == [2]


def test_work_when_it_is_to_be_tried_again_then_deaths_are_forgotten(database: Database) -> None:
    inbox = Inbox(database)
    inbox.accept("k", "x", {}, lane="L")
    inbox.begin(inbox.rows("L")[0])
    inbox.retry(inbox.rows("L")[0], 0, "SlackRetryLater")
    assert [(row.attempts, row.starts) for row in inbox.rows("L")] == [(1, 0)]


def test_work_when_suspect_then_one_at_a_time(database: Database) -> None:
    inbox = Inbox(database)
    for number in range(4):
        inbox.accept(f"k{number}", "x", {}, lane=f"L{number}")
        inbox.begin(inbox.rows(f"L{number}")[0])
    busy: list[int] = []
    most: list[int] = []
    done = threading.Event()

    def work(rows: list[Row], lease: Lease) -> dict[int, object]:
        busy.append(1)
        most.append(len(busy))
        done.wait(0.05)
        busy.pop()
        return {}

    workers = Workers(inbox, work, count=4)  # type: ignore[arg-type]
    workers.start()
    for _ in range(200):
        if inbox.stats().open == 0:
            break
        done.wait(0.05)
    workers.stop(5)
    assert most == [1, 1, 1, 1]
