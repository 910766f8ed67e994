"""What the bot has posted: a reply is noted before it is posted and completed after, so that a crash leaves a trace."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, select, update

from bot.store.database import Database
from bot.store.schema import replies


@dataclass(frozen=True, slots=True)
class Reply:
    """One message of the bot. `ts` is None from before it is posted until Slack's answer is recorded."""

    key: str
    incident: str
    channel: str
    thread_ts: str | None
    ts: str | None
    digest: str | None
    tried_at: float


class ReplyStore:
    """Replies by their key: incident id and purpose."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> Reply | None:
        """The reply, posted or begun; None where nothing was ever begun."""
        with self._database.read() as connection:
            row = connection.execute(select(replies).where(replies.c.key == key)).first()
        return Reply(**row._mapping) if row is not None else None

    def begin(
        self, key: str, incident: str, channel: str, thread_ts: str | None, now: float, *, digest: str | None = None
    ) -> None:
        """Note that it is about to be posted, for the first time or anew; of a file, `digest` is its id at Slack."""
        with self._database.write() as connection:
            place = {"channel": channel, "thread_ts": thread_ts, "ts": None, "digest": digest, "tried_at": now}
            statement = self._database.insert(replies).values(key=key, incident=incident, **place)
            connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_=place))

    def posted(self, key: str, ts: str, digest: str, channel: str | None = None) -> None:
        """Record where it stands and what it shows; `channel` where it is another than was thought."""
        place = {"channel": channel} if channel else {}
        with self._database.write() as connection:
            connection.execute(update(replies).where(replies.c.key == key).values(ts=ts, digest=digest, **place))

    def of_incident(self, incident: str) -> list[Reply]:
        """All replies of an incident."""
        with self._database.read() as connection:
            rows = connection.execute(select(replies).where(replies.c.incident == incident)).all()
        return [Reply(**row._mapping) for row in rows]

    def forget(self, incident: str) -> None:
        """Forget the replies of an incident."""
        with self._database.write() as connection:
            connection.execute(delete(replies).where(replies.c.incident == incident))
