"""Reading in processes of its own: same answers, and a crash costs the guilty one only."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from bot.errors import AnalysisDied, WorkReturned
from bot.lease import Lease
from bot.redaction import Redactor
from bot.service.apart import ReaderPool
from bot.service.reading import Conclusion, NotSmallError
from bot.slackio.errors import SlackRetryLater
from bot.store import Evidence
from kb.library import Library
from tests.e2e.world import DRIVER, fenced, until, world


class _Reader:
    """A reader that does what the log says."""

    def conclude_small(self, items: Any, redactor: Any, lease: Lease, progress: Any = None) -> Conclusion:
        if items[0].log == "more than it looked":
            raise NotSmallError
        return self.conclude_any(items, redactor, lease, progress)

    def conclude_any(self, items: Any, redactor: Any, lease: Lease, progress: Any = None) -> Conclusion:
        order = items[0].log
        if order == "die":
            os._exit(9)
        if order == "later":
            raise SlackRetryLater("busy", 7.0)
        if order == "strange":
            raise ValueError("with a secret")
        if order == "progress":
            progress(1, 2, "a.log")
        if order == "long":
            for _ in range(600):
                time.sleep(0.05)
                lease.check()
        return Conclusion({}, "ko")


class _Lease(Lease):
    def __init__(self, checks: int = 10**9) -> None:
        self.checks = checks

    def check(self) -> None:
        self.checks -= 1
        if self.checks < 0:
            raise WorkReturned


def _item(order: str) -> list[Evidence]:
    return [Evidence("1.0", "U", order, "", ())]


@pytest.fixture(scope="module")
def pool():  # type: ignore[no-untyped-def]
    made = ReaderPool(_Reader)  # type: ignore[arg-type]
    made.start()
    yield made
    made.close()


def test_reading_when_all_is_well_then_the_conclusion_and_progress(pool: ReaderPool) -> None:
    told: list[tuple[Any, ...]] = []
    found = pool.conclude(_item("progress"), Redactor("s"), _Lease(), lambda *given: told.append(given))
    assert found.spoken == "ko"
    assert told == [(1, 2, "a.log")]


def test_reading_when_the_process_dies_then_an_error_and_the_next_one_is_read(pool: ReaderPool) -> None:
    with pytest.raises(AnalysisDied, match="9"):
        pool.conclude(_item("die"), Redactor("s"), _Lease())
    assert pool.conclude(_item("fine"), Redactor("s"), _Lease()).spoken == "ko"


def test_reading_when_it_fails_then_the_error_arrives_without_what_it_may_tell(pool: ReaderPool) -> None:
    with pytest.raises(SlackRetryLater) as caught:
        pool.conclude(_item("later"), Redactor("s"), _Lease())
    assert caught.value.retry_after == 7.0
    with pytest.raises(RuntimeError, match=r"^ValueError in the reader$"):
        pool.conclude(_item("strange"), Redactor("s"), _Lease())


def test_reading_when_the_lease_is_lost_then_it_stops_soon(pool: ReaderPool) -> None:
    process = pool._all[0]._process
    with pytest.raises(WorkReturned):
        pool.conclude(_item("long"), Redactor("s"), _Lease(checks=1))
    assert pool.conclude(_item("fine"), Redactor("s"), _Lease()).spoken == "ko"
    assert pool._all[0]._process is process  # which is killed where it goes on


def test_reading_when_there_is_more_than_it_looked_then_elsewhere_and_the_small_is_free(pool: ReaderPool) -> None:
    assert pool.conclude(_item("more than it looked"), Redactor("s"), _Lease()).spoken == "ko"
    assert pool.conclude(_item("fine"), Redactor("s"), _Lease()).spoken == "ko"


def test_process_when_its_bot_is_gone_then_it_ends() -> None:
    other = ReaderPool(_Reader)  # type: ignore[arg-type]
    other.start()
    process = other._all[0]._process
    connection = other._all[0]._connection
    assert connection is not None
    connection.close()  # as when the bot is killed
    process.join(60)
    assert process.exitcode == 0


def test_answer_when_read_apart_then_as_ever_and_a_death_is_told(tmp_path: Path, library: Library) -> None:
    with world(tmp_path, library, readers=1, join_seconds=0) as own:
        emma = own.workspace.person("emma")
        message = emma.post("general", f"{own.mention}\n{fenced(DRIVER[:3000])}")
        assert "driver" in own.answer(message, 60).text.lower()
        bundle = emma.upload("general", {"vllm.log": DRIVER.encode() + b"nothing here\n" * 30_000}, own.mention)
        assert "driver" in own.answer(bundle, 60).text.lower()
        pool = own.bot._pool
        assert pool is not None

        def die(*_: object) -> Conclusion:
            raise AnalysisDied("gone")

        pool.conclude = die  # type: ignore[method-assign]
        emma.post("general", f"{own.mention}\n{fenced(DRIVER[:2000])}")
        told = until(lambda: [one for one in emma.read(emma.dm) if one.message.user == own.workspace.bot.user_id], 20)
        assert "several times in a row" in told[0].text
        until(lambda: own.bot.inbox.stats().failed == 1)  # the person is told before the row is closed
