"""Incidents: one Slack thread each, with its evidence, reports, ticks, verdict and timeline."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from sqlalchemy import Connection, delete, func, insert, select, update

from bot.evidence import Evidence
from bot.store.database import Database
from bot.store.schema import evidence, incidents, pastes, replies, ticks, timeline
from bot.store.texts import storable, to_json
from kb.entry import Language
from kb.report import Report


@dataclass(frozen=True, slots=True)
class Incident:
    """One thread. `language_chosen`: a person chose it, so that words of others do not change it."""

    id: str
    team: str
    channel: str
    thread_ts: str
    author: str
    via: str
    language: Language | None
    language_chosen: bool
    status: str
    status_by: str | None
    verdict: str | None
    expanded: frozenset[str]
    alternatives: bool
    changed: tuple[str, ...]
    created_at: float
    updated_at: float

    @property
    def lane(self) -> str:
        """The lane of the inbox that holds its work."""
        return lane_of(self.channel, self.thread_ts)


def _is_ts(value: str | None) -> bool:
    return value is not None and value[:1].isdigit()


def lane_of(channel: str, thread_ts: str) -> str:
    """The lane of a thread."""
    return f"{channel}:{thread_ts}"


class IncidentStore:
    """Incidents in the database. Texts given to it are redacted already."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open_in(
        self, connection: Connection, *, team: str, channel: str, thread_ts: str, author: str, via: str, now: float
    ) -> str:
        """The id of the thread's incident, made if need be, as part of a transaction."""
        statement = self._database.insert(incidents).values(
            id=secrets.token_hex(6),
            team=team,
            channel=channel,
            thread_ts=thread_ts,
            author=author,
            via=via,
            status="open",
            language_chosen=False,
            expanded="[]",
            alternatives=False,
            changed="[]",
            created_at=now,
            updated_at=now,
        )
        connection.execute(statement.on_conflict_do_nothing(index_elements=["channel", "thread_ts"]))
        query = select(incidents.c.id).where(incidents.c.channel == channel, incidents.c.thread_ts == thread_ts)
        return str(connection.execute(query).scalar_one())

    def id_in(self, connection: Connection, channel: str, thread_ts: str) -> str | None:
        """The id of the thread's incident, if it is one."""
        query = select(incidents.c.id).where(incidents.c.channel == channel, incidents.c.thread_ts == thread_ts)
        return connection.execute(query).scalar()

    def get(self, incident: str) -> Incident | None:
        """The incident, unless it was deleted."""
        with self._database.read() as connection:
            row = connection.execute(select(incidents).where(incidents.c.id == incident)).first()
        return _incident(row) if row is not None else None

    def find(self, channel: str, thread_ts: str) -> Incident | None:
        """The incident of a thread."""
        with self._database.read() as connection:
            found = self.id_in(connection, channel, thread_ts)
        return self.get(found) if found is not None else None

    def recent(self, team: str, author: str, limit: int = 10) -> list[Incident]:
        """The last incidents that a person opened."""
        query = select(incidents).where(incidents.c.team == team, incidents.c.author == author)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(incidents.c.updated_at.desc()).limit(limit)).all()
        return [_incident(row) for row in rows]

    def threads(self, channel: str, since: float, limit: int) -> dict[str, float]:
        """The threads of a channel's incidents that something happened in since then, and since when each is one."""
        first = select(func.min(evidence.c.message_ts)).where(evidence.c.incident == incidents.c.id).scalar_subquery()
        query = select(incidents.c.thread_ts, incidents.c.created_at, first.label("first"))
        query = query.where(incidents.c.channel == channel, incidents.c.updated_at >= since)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(incidents.c.updated_at.desc()).limit(limit)).all()
        # What was typed has no message: until its thread is opened, its place in both columns is held by a name.
        return {
            row.thread_ts: min(row.created_at, float(row.first) if _is_ts(row.first) else row.created_at)
            for row in rows
            if _is_ts(row.thread_ts)
        }

    def change(self, incident: str, now: float, **values: Any) -> None:
        """Set columns; sets and sequences become JSON."""
        plain = {
            name: json.dumps(sorted(value) if isinstance(value, (set, frozenset)) else list(value))
            if isinstance(value, (set, frozenset, list, tuple))
            else value
            for name, value in values.items()
        }
        with self._database.write() as connection:
            connection.execute(update(incidents).where(incidents.c.id == incident).values(updated_at=now, **plain))

    def paste_root(self, connection: Connection, channel: str, author: str, ts: float, window: float) -> str | None:
        """The first message of the paste that a message at `ts` continues, if there is one within `window` seconds."""
        row = connection.execute(select(pastes).where(pastes.c.channel == channel, pastes.c.author == author)).first()
        return str(row.root_ts) if row is not None and abs(ts - row.last_ts) <= window else None

    def note_paste(self, connection: Connection, channel: str, author: str, root_ts: str, ts: float) -> None:
        """Remember the last message of a paste."""
        values = {"root_ts": root_ts, "last_ts": ts}
        statement = self._database.insert(pastes).values(channel=channel, author=author, **values)
        connection.execute(statement.on_conflict_do_update(index_elements=["channel", "author"], set_=values))

    def put_evidence(self, incident: str, item: Evidence, now: float) -> bool:
        """Store what a message gave, in place of what it gave before; False where nothing changed."""
        values = {
            "author": item.author,
            "log": storable(item.log),
            "prose": storable(item.prose),
            "files": to_json(item.files),
        }
        with self._database.write() as connection:
            query = select(evidence).where(evidence.c.incident == incident, evidence.c.message_ts == item.message_ts)
            known = connection.execute(query).first()
            if known is not None and all(known._mapping[name] == value for name, value in values.items()):
                return False
            statement = self._database.insert(evidence).values(
                incident=incident, message_ts=item.message_ts, added_at=now, **values
            )
            connection.execute(statement.on_conflict_do_update(index_elements=["incident", "message_ts"], set_=values))
            return True

    def drop_evidence(self, incident: str, message_ts: str) -> bool:
        """Forget what a message gave."""
        with self._database.write() as connection:
            gone = connection.execute(
                delete(evidence).where(evidence.c.incident == incident, evidence.c.message_ts == message_ts)
            )
            return bool(gone.rowcount)

    def evidence(self, incident: str) -> list[Evidence]:
        """All evidence of an incident, in the order of the messages."""
        query = select(evidence).where(evidence.c.incident == incident)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(evidence.c.message_ts)).all()
        return [Evidence(row.message_ts, row.author, row.log, row.prose, tuple(json.loads(row.files))) for row in rows]

    def evidence_owner(self, channel: str, message_ts: str) -> tuple[str, str] | None:
        """(incident, author) of the evidence that a message of the channel gave."""
        query = (
            select(evidence.c.incident, evidence.c.author)
            .join(incidents, incidents.c.id == evidence.c.incident)
            .where(incidents.c.channel == channel, evidence.c.message_ts == message_ts)
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return (row.incident, row.author) if row is not None else None

    def put_reports(self, incident: str, reports: dict[Language, Report], now: float, **values: Any) -> None:
        """Store the conclusions, in each language, and set other columns."""
        data = {language: report.to_json_dict() for language, report in reports.items()}
        self.change(incident, now, reports=to_json(data), **values)

    def has_reports(self, incident: str) -> bool:
        """Whether there was a conclusion."""
        query = select(incidents.c.id).where(incidents.c.id == incident, incidents.c.reports.is_not(None))
        with self._database.read() as connection:
            return connection.execute(query).first() is not None

    def reports(self, incident: str) -> dict[Language, Report] | None:
        """The last conclusions, in each language; None before the first."""
        with self._database.read() as connection:
            data = connection.execute(select(incidents.c.reports).where(incidents.c.id == incident)).scalar()
        return {key: Report.model_validate(value) for key, value in json.loads(data).items()} if data else None

    def tick(self, incident: str, on: Sequence[str], off: Sequence[str], user: str, now: float) -> None:
        """Tick and untick checks; who ticked first is kept."""
        with self._database.write() as connection:
            for check in on:
                statement = self._database.insert(ticks).values(incident=incident, check_id=check, user=user, at=now)
                connection.execute(statement.on_conflict_do_nothing(index_elements=["incident", "check_id"]))
            if off:
                connection.execute(delete(ticks).where(ticks.c.incident == incident, ticks.c.check_id.in_(list(off))))

    def ticked(self, incident: str) -> dict[str, tuple[str, float]]:
        """Check id -> who ticked it and when."""
        with self._database.read() as connection:
            rows = connection.execute(select(ticks).where(ticks.c.incident == incident)).all()
        return {row.check_id: (row.user, row.at) for row in rows}

    def note(self, incident: str, what: str, user: str | None, now: float, detail: str = "") -> None:
        """Add a line to the timeline."""
        with self._database.write() as connection:
            connection.execute(
                insert(timeline).values(incident=incident, at=now, user=user, what=what, detail=storable(detail[:2000]))
            )

    def history(self, incident: str) -> list[tuple[float, str | None, str, str]]:
        """The timeline: (time, user, what, detail)."""
        query = select(timeline).where(timeline.c.incident == incident).order_by(timeline.c.id)
        with self._database.read() as connection:
            return [(row.at, row.user, row.what, row.detail) for row in connection.execute(query)]

    def delete(self, incident: str) -> None:
        """Delete an incident with everything that belongs to it."""
        with self._database.write() as connection:
            place = connection.execute(
                select(incidents.c.channel, incidents.c.thread_ts).where(incidents.c.id == incident)
            ).first()
            if place is not None:
                connection.execute(
                    delete(pastes).where(pastes.c.channel == place.channel, pastes.c.root_ts == place.thread_ts)
                )
            for table in (evidence, ticks, timeline):
                connection.execute(delete(table).where(table.c.incident == incident))
            connection.execute(delete(replies).where(replies.c.incident == incident))
            connection.execute(delete(incidents).where(incidents.c.id == incident))

    def older_than(self, before: float, limit: int = 500) -> list[str]:
        """Incidents that nobody has touched since."""
        with self._database.read() as connection:
            query = select(incidents.c.id).where(incidents.c.updated_at < before).limit(limit)
            return list(connection.execute(query).scalars())


def _incident(row: Any) -> Incident:
    return Incident(
        id=row.id,
        team=row.team,
        channel=row.channel,
        thread_ts=row.thread_ts,
        author=row.author,
        via=row.via,
        language=row.language if row.language in get_args(Language) else None,
        language_chosen=row.language_chosen,
        status=row.status,
        status_by=row.status_by,
        verdict=row.verdict,
        expanded=frozenset(json.loads(row.expanded)),
        alternatives=row.alternatives,
        changed=tuple(json.loads(row.changed)),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
