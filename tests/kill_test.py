"""Kill the bot at random moments under load, start it again, and count what was lost or said twice.

`make kill-test RUNS=200`. Prints its figures last and exits with 1 unless 0 events were lost and 0 replies doubled.
Redeliveries of the workspace come sooner than Slack's (at once, after one and after five minutes), so that a run takes
seconds; as with Slack there are three of them, and then the event is given up. A bot that is killed all the time misses
some of them altogether, and has to find those in the history.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from bot.workspace import limits
from bot.workspace.errors import PersonError, SlackError
from bot.workspace.model import Message
from bot.workspace.server.running import serve
from bot.workspace.workspace import Workspace
from tests.load import LOGS, Answers, Child, wait

_CHANNELS = 40
_PATIENCE = 90.0


class Figures(NamedTuple):
    """What came out."""

    kills: int
    at_work: int
    """How many of the kills came in the middle of work on a thread; -1 where that is not known."""
    events: int
    lost: int
    doubled: int
    given_up: int
    """Of these, events of which no delivery was ever acknowledged."""
    ticks: int
    ticks_lost: int

    @property
    def good(self) -> bool:
        """Whether the promise was kept."""
        return self.lost == 0 and self.doubled == 0 and self.ticks_lost == 0 and self.events > 0


def kill_test(runs: int, seed: int, database: str | None = None) -> Figures:
    """Run it."""
    with mock.patch.object(limits, "RETRY_AFTER", (0.0, 2.0, 4.0)):
        return _kill_test(runs, seed, database)


def _kill_test(runs: int, seed: int, database: str | None) -> Figures:
    chance = random.Random(seed)
    workspace = Workspace(rate_limits=False)
    people = workspace.people
    for number in range(_CHANNELS):
        workspace.directory.add_channel(f"load-{number}", [*people, workspace.directory.user(workspace.bot.user_id)])
    answers = Answers(workspace)
    messages: list[Message] = []
    ticked: list[tuple[Message, str]] = []
    kills = at_work = 0
    settings = {"K3TRIAGE_SETTLE_SECONDS": "0.2", "K3TRIAGE_JOIN_SECONDS": "0", "K3TRIAGE_LEASE_SECONDS": "5"}
    if database is not None:
        settings["K3TRIAGE_DATABASE_URL"] = database
    with tempfile.TemporaryDirectory(prefix="k3kill-") as name, serve(workspace) as server:
        child = Child(workspace, server, Path(name), **settings)
        child.start()
        if not wait(lambda: server.sockets, 60):
            raise SystemExit("the bot did not start")
        for number in range(_CHANNELS):  # what was never heard of cannot be read after an absence
            workspace.person(people[0].name).post(f"load-{number}", "Hello")
        wait(lambda: not workspace.dispatcher.open, 60)
        for run in range(runs):
            if not wait(lambda: server.sockets, 60) or child.ended:
                sys.stderr.write((Path(name) / "bot.log").read_text()[-4000:])
                raise SystemExit("the bot did not start")
            if chance.random() < 0.7:  # else it is killed while it starts
                wait(lambda: child.is_at_work, 30)
            began = time.monotonic()
            until = chance.uniform(0.0, 1.5)
            while time.monotonic() - began < until:
                messages.append(_post(workspace, chance, len(messages)))
                _tick(workspace, answers, chance, messages, ticked)
                time.sleep(chance.uniform(0.0, 0.12))
            child.kill()
            kills += 1
            at_work += _is_at_work(Path(name)) if database is None else 0
            if chance.random() < 0.5:  # while nobody listens
                if run > 20 and chance.random() < 0.5:
                    workspace.faults.give_up(2)  # it is two events: a mention and a message
                messages.append(_post(workspace, chance, len(messages)))
            child.start()
            _say_progress(run + 1, runs, len(messages))
        _wait_for_answers(answers, messages)
        wait(lambda: not workspace.dispatcher.open, 30)
        time.sleep(2)
        counts = Counter(len(answers.of(message)) for message in messages)
        told = {one.event.get("ts") for one in workspace.deliveries() if one.acked}
        given_up = sum(message.ts not in told for message in messages)
        lost_ticks = sum(not _shows(answers, message, check) for message, check in ticked)
        child.stop()
        for message in messages:
            if not answers.of(message):
                _explain(workspace, message, Path(name))
    doubled = sum(count for times, count in counts.items() if times > 1)
    return Figures(
        kills=kills,
        at_work=at_work if database is None else -1,
        events=len(messages),
        lost=counts[0],
        doubled=doubled,
        given_up=given_up,
        ticks=len(ticked),
        ticks_lost=lost_ticks,
    )


def _say_progress(run: int, runs: int, messages: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{run}/{runs} runs, {messages} messages ")
    elif run % 20 == 0:
        sys.stderr.write(f"{run}/{runs} runs, {messages} messages\n")


def _wait_for_answers(answers: Answers, messages: list[Message]) -> None:
    """Wait until all are answered, or until nothing was answered for `_PATIENCE` seconds."""
    progress, left = time.monotonic(), messages
    while left and time.monotonic() - progress < _PATIENCE:
        time.sleep(1)
        still = [message for message in left if not answers.of(message)]
        progress = time.monotonic() if len(still) < len(left) else progress
        left = still


def _is_at_work(directory: Path) -> bool:
    """Whether the killed process had a thread in hand."""
    with contextlib.closing(sqlite3.connect(directory / "k3triage.sqlite")) as database:
        return database.execute("select 1 from lanes where leased_by is not null limit 1").fetchone() is not None


def _explain(workspace: Workspace, message: Message, directory: Path) -> None:
    """Say on stderr what is known of a lost message."""
    mine = [one for one in workspace.deliveries() if one.event.get("ts") == message.ts]
    told = [(one.event["type"], one.outcome, one.attempts) for one in mine]
    sys.stderr.write(f"lost: {message.channel} {message.ts}: deliveries {told}\n")
    path = directory / "k3triage.sqlite"
    if path.exists():
        database = sqlite3.connect(path)
        query = "select kind, state, attempts, error from inbox where key = ?"
        sys.stderr.write(f"  inbox {database.execute(query, [f'msg:{message.channel}:{message.ts}']).fetchall()}\n")
        query = "select key, ts, tried_at from replies where thread_ts = ?"
        sys.stderr.write(f"  replies {database.execute(query, [message.ts]).fetchall()}\n")
        database.close()
    with (directory / "bot.log").open() as lines:
        problems = [line for line in lines if '"level": "INFO"' not in line][-30:]
    sys.stderr.write("  " + "  ".join(problems)[-6_000:] + "\n")


def _post(workspace: Workspace, chance: random.Random, number: int) -> Message:
    person = workspace.person(chance.choice(workspace.people).name)
    log = chance.choice(LOGS).read_text(errors="replace")[:2_000]
    mention = f"<@{workspace.bot.user_id}>"
    return person.post(f"load-{number % _CHANNELS}", f"{mention} run {number}\n```\n{log}\n```")


def _tick(
    workspace: Workspace,
    answers: Answers,
    chance: random.Random,
    messages: list[Message],
    ticked: list[tuple[Message, str]],
) -> None:
    """Tick a box of an answer that nobody has ticked; what Slack was told it got must be kept."""
    known = {message.ts for message, _ in ticked}
    for message in chance.sample(messages, min(40, len(messages))):
        found = answers.of(message)
        if found and message.ts not in known and chance.random() < 0.4:
            person = workspace.person(chance.choice(workspace.people).name)
            shown = next((one for one in person.read_thread(message) if one.ts == found[0].ts), None)
            if shown is None or not shown.ticks:
                continue
            try:
                delivery = person.tick(shown.message, shown.ticks[0].value, wait=False)
            except (PersonError, SlackError):
                return
            if delivery is not None and wait(lambda one=delivery: one.outcome != "open", 0.3) and delivery.acked:
                ticked.append((message, shown.ticks[0].value))
            return


def _shows(answers: Answers, message: Message, check: str) -> bool:
    for answer in answers.of(message):
        for block in answer.blocks:
            for element in block.get("elements") or ():
                initial = element.get("initial_options") or () if isinstance(element, dict) else ()
                if any(option.get("value") == check for option in initial):
                    return True
    return False


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--database", help="a database URL in place of SQLite")
    given = parser.parse_args()
    began = time.monotonic()
    figures = kill_test(given.runs, given.seed, given.database)
    seconds = time.monotonic() - began
    print(
        f"kill test: {figures.kills} kills, {figures.at_work} in the middle of work; {figures.events} events,"
        f" {figures.given_up} of them given up by Slack, {figures.lost} lost, {figures.doubled} doubled;"
        f" {figures.ticks} acknowledged ticks, {figures.ticks_lost} lost; seed {given.seed}; {seconds:.0f} s"
    )
    raise SystemExit(0 if figures.good else 1)


if __name__ == "__main__":
    main()
