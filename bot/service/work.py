"""The work on an incident's rows: apply each, then read the evidence once and show the answer once.

Every step may run again after a crash: evidence, ticks and verdicts are set, not counted, and the answer has a key.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.errors import AnalysisDied, WorkReturned
from bot.inbox import Row
from bot.lease import Lease
from bot.rendering.blocks import AnswerState, answer, progress
from bot.service.actions import Actions
from bot.service.apart import ReaderPool
from bot.service.changes import what_changed
from bot.service.gathering import Gatherer
from bot.service.languages import Languages
from bot.service.parts import Redactors
from bot.service.reading import Reader
from bot.service.replying import Replies
from bot.service.telling import Teller
from bot.slackio.client import SlackCannotPost, SlackGateway, SlackGone, SlackRetryLater
from bot.store import Evidence, Incident, IncidentStore
from bot.worker import Failed, Retry
from kb.library import Library

log = logging.getLogger(__name__)

_ATTEMPTS = 7
_MUST_LOOK = 3
"""Attempts in which looking around must succeed; after that the answer comes without."""
_DEATHS = 3
"""Attempts for what ends the process that reads it."""
_GIVE_UP = 24 * 3600.0
_GONE_DELAY = 120.0
_SOON = 0.25


@dataclass(slots=True)
class _Todo:
    """What the rows of one incident come to."""

    rows: list[Row] = field(default_factory=list)
    diagnose: bool = False
    render: bool = False
    asked: list[str] = field(default_factory=list)


class _TooEarlyError(Exception):
    """The row changes what an earlier one gives, which waits itself: for further parts, or for Slack."""

    def __init__(self, delay: float) -> None:
        super().__init__(f"{delay} s")
        self.delay = delay


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Works off rows. One call at a time per lane, as the leases see to.

    `due_in` tells in how many seconds a delivery with this key is worked on, None where it is not to be any more;
    `answered` is told how long an answer took and its outcome, `gone` why Slack no longer lets us in (None: it does).
    """

    store: IncidentStore
    gateway: SlackGateway
    replies: Replies
    reader: Reader | ReaderPool
    gatherer: Gatherer
    actions: Actions
    teller: Teller
    redactors: Redactors
    library: Library
    languages: Languages
    due_in: Callable[[str], float | None] = lambda key: None
    clock: Callable[[], float] = time.time
    answered: Callable[[float, str], None] = lambda seconds, outcome: None
    gone: Callable[[str | None], None] = lambda why: None

    def work(self, rows: list[Row], lease: Lease) -> dict[int, Retry | Failed]:
        """Work off the due rows of a lane; returns what is not done. Raises WorkReturned."""
        outcomes: dict[int, Retry | Failed] = {}
        todos: dict[str, _Todo] = {}
        for row in rows:
            lease.check()
            try:
                self._apply(row, todos, lease)
            except WorkReturned:
                raise
            except Exception as error:  # noqa: BLE001 - judged, logged, and tried again or given up
                self._judge(row, error, outcomes)
        for incident_id, todo in todos.items():
            lease.check()
            try:
                self._refresh(incident_id, todo, lease)
            except WorkReturned:
                raise
            except Exception as error:  # noqa: BLE001 - as above
                for row in todo.rows:
                    self._judge(row, error, outcomes)
        return outcomes

    def _apply(self, row: Row, todos: dict[str, _Todo], lease: Lease) -> None:
        payload = row.payload
        if row.kind in ("evidence", "typed"):
            self._evidence(row, todos, lease)
        elif row.kind == "refresh":
            self._note(todos, payload["incident"], row, diagnose=True)
        elif row.kind in ("edited", "deleted"):
            self._changed(row, todos)
        elif row.kind == "action":
            if self.actions.apply(payload, lease):
                self._note(todos, payload["incident"], row, render=True)
        elif row.kind == "home":
            self.actions.home(payload)
        elif row.kind == "prefer":
            self.actions.prefer(payload)
        elif row.kind == "tell":
            self.teller.whisper(payload["channel"], payload["user"], payload["text"], thread=payload.get("thread_ts"))
        elif row.kind == "gone":
            self.gone(payload["why"])
            log.error("the app was removed or its token revoked: %s", payload["why"])

    def _changed(self, row: Row, todos: dict[str, _Todo]) -> None:
        payload = row.payload
        owner = self.store.evidence_owner(payload["channel"], payload["ts"])
        if owner is None:
            delay = self.due_in(f"msg:{payload['channel']}:{payload['ts']}")
            if delay is not None:
                raise _TooEarlyError(delay)
            return
        incident_id, author = owner
        if row.kind == "edited":
            if author == payload["author"]:
                changed = self.store.put_evidence(incident_id, _item(payload), self.clock())
                self._note(todos, incident_id, row, diagnose=changed)
        elif self.store.drop_evidence(incident_id, payload["ts"]):
            incident = self.store.get(incident_id)
            if incident is not None and not self.store.evidence(incident_id):
                self.actions.remove(incident)  # an answer would go on quoting what its author took back
            else:
                self._note(todos, incident_id, row, diagnose=True)

    def _evidence(self, row: Row, todos: dict[str, _Todo], lease: Lease) -> None:
        payload = row.payload
        incident = self.store.get(payload["incident"])
        if incident is None:
            return  # deleted meanwhile
        fresh = not self.store.has_reports(incident.id) or self.replies.posted(incident, "answer") is None
        changed = self.store.put_evidence(incident.id, _item(payload), self.clock())
        if row.kind == "typed":
            self.actions.open_thread(incident, _item(payload), lease, str(payload.get("response_url") or ""))
            return  # goes on in the lane of the thread
        if fresh and payload["via"] == "mention":
            redactor = self.redactors.of(incident.channel)
            for item in self.gatherer.around(incident, payload, redactor, must=row.attempts < _MUST_LOOK):
                changed = self.store.put_evidence(incident.id, item, self.clock()) or changed
        if changed:
            self.store.note(incident.id, "evidence", payload["author"], self.clock(), payload["via"])
        self._note(todos, incident.id, row, diagnose=changed or fresh, render=True)
        if payload["spoken"] and not fresh:
            todos[incident.id].asked.append(payload["asked_by"])

    def _note(
        self, todos: dict[str, _Todo], incident: str, row: Row, *, diagnose: bool = False, render: bool = False
    ) -> None:
        todo = todos.setdefault(incident, _Todo())
        todo.rows.append(row)
        todo.diagnose = todo.diagnose or diagnose
        todo.render = todo.render or render or diagnose

    def _refresh(self, incident_id: str, todo: _Todo, lease: Lease) -> None:
        incident = self.store.get(incident_id)
        if incident is None or not (todo.diagnose or todo.render):
            return
        reports = self.store.reports(incident_id)
        news: list[str] = []
        if todo.diagnose or reports is None:
            items = self.store.evidence(incident_id)
            conclusion = self.reader.conclude(
                items, self.redactors.of(incident.channel), lease, self._progress(incident, lease)
            )
            language = incident.language or self.languages.chosen(incident.author) or conclusion.spoken
            language = language or self.languages.of(incident.author)
            old = reports.get(language) if reports else None
            reports = conclusion.reports
            news = what_changed(old, reports[language])
            self.store.put_reports(
                incident_id, reports, self.clock(), language=language, changed=news or incident.changed
            )
            incident = self.store.get(incident_id) or incident
        language = incident.language or self.languages.default
        report = reports[language]
        message = answer(report, self.state(incident), self.library)
        shown = self.replies.show(incident, "answer", message, lease, again=bool(todo.asked))
        if shown:
            self.gone(None)
        for file in message.files:
            self.replies.attach(incident, file, lease)
        if shown and todo.diagnose:
            first = min(row.received_at for row in todo.rows)
            self.answered(self.clock() - first, report.outcome)
            log.info("answered", extra={"incident": incident.id, "outcome": report.outcome, "layer": report.layer})
        if todo.asked and not news:
            for user in dict.fromkeys(todo.asked):
                self.teller.whisper(incident.channel, user, "service.nothing_new", incident=incident)

    def state(self, incident: Incident) -> AnswerState:
        """What the answer shows besides the report."""
        ticked = {
            check: (user, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)))
            for check, (user, at) in self.store.ticked(incident.id).items()
        }
        return AnswerState(
            incident_id=incident.id,
            ticked=ticked,
            expanded=incident.expanded,
            status=incident.status,  # type: ignore[arg-type]
            resolved_by=incident.status_by,
            changed=list(incident.changed),
            alternatives_shown=incident.alternatives,
        )

    def _progress(self, incident: Incident, lease: Lease) -> Callable[[int, int | None, str], None]:
        language = incident.language or self.languages.default

        def report(read: int, total: int | None, file: str) -> None:
            # Only the first answer: what is there already is not replaced by a note.
            if not self.store.has_reports(incident.id):
                self.replies.show(incident, "answer", progress(language, read, total, file), lease)

        return report

    def _judge(self, row: Row, error: Exception, outcomes: dict[int, Retry | Failed]) -> None:
        name = type(error).__name__
        incident = row.payload.get("incident")
        extra = {"incident": incident, "row": row.id, "error": name}
        if isinstance(error, _TooEarlyError):
            outcomes[row.id] = Retry(max(error.delay, _SOON), name)
        elif isinstance(error, SlackGone):
            self.gone(name)
            log.error("Slack refuses the token; the work is kept", extra=extra)
            outcomes[row.id] = Retry(_GONE_DELAY, name)
        elif isinstance(error, SlackCannotPost):
            log.warning("cannot post there", extra=extra)
            self.teller.cannot_post(row.payload, str(error))
        elif isinstance(error, SlackRetryLater) and self.clock() - row.received_at < _GIVE_UP:
            delay = getattr(error, "retry_after", None) or min(300.0, 2.0 ** min(row.attempts, 8))
            outcomes[row.id] = Retry(float(delay), name)
        elif row.attempts + 1 < (_DEATHS if isinstance(error, AnalysisDied) else _ATTEMPTS):
            log.warning("will try again", extra=extra, exc_info=error)
            outcomes[row.id] = Retry(2.0**row.attempts, name)
        else:
            log.error("given up", extra=extra, exc_info=error)
            outcomes[row.id] = Failed(name)
            self.give_up(row)

    def give_up(self, row: Row) -> None:
        """Tell whoever asked that there will be no answer for now."""
        self.teller.failed(row.payload)


def _item(payload: dict[str, object]) -> Evidence:
    files = payload["files"]
    return Evidence(
        str(payload["ts"]),
        str(payload["author"]),
        str(payload["log"]),
        str(payload["prose"]),
        tuple(files) if isinstance(files, list) else (),
    )
