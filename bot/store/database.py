"""The connection to the database: one write transaction at a time on SQLite, any number on PostgreSQL."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from bot.errors import StoreError
from bot.store.schema import settings
from bot.store.turns import Turns

_BUSY_MS = 15_000


class Database:
    """An engine with its schema brought up to date."""

    def __init__(self, url: str, *, migrate: bool = True) -> None:
        """Open the database. Raises StoreError with a sentence for a person."""
        self._turns = Turns()
        try:
            self.engine = _engine(url)
            if migrate:
                from bot.store.migrate import upgrade  # noqa: PLC0415

                upgrade(self.engine)
        except (SQLAlchemyError, OSError, ImportError) as error:
            shown = make_url(url).render_as_string(hide_password=True) if "://" in url else url
            reason = str(error).splitlines()[0][:200]
            raise StoreError(f"the database {shown} cannot be opened ({reason}); check K3TRIAGE_DATABASE_URL") from None

    @property
    def is_sqlite(self) -> bool:
        """Whether one write at a time is all there is."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def write(self, *, urgent: bool = False) -> Iterator[Connection]:
        """A transaction that may write; on SQLite it holds the write lock from the start, the `urgent` ones first."""
        with self.engine.connect() as connection:
            if self.is_sqlite:
                # SQLite's own wait for the lock is a sleep that grows; threads of one process queue up here instead.
                with self._turns.take(urgent=urgent):
                    connection.exec_driver_sql("BEGIN IMMEDIATE")
                    try:
                        yield connection
                    except BaseException:
                        connection.exec_driver_sql("ROLLBACK")
                        raise
                    connection.exec_driver_sql("COMMIT")
            else:
                with connection.begin():
                    yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading."""
        with self.engine.connect() as connection:
            yield connection

    def insert(self, table: Any) -> Any:
        """An INSERT of this dialect, which knows ON CONFLICT."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def setting(self, name: str, default: str | None = None) -> str | None:
        """A value that belongs to the installation."""
        with self.read() as connection:
            value = connection.execute(select(settings.c.value).where(settings.c.name == name)).scalar()
        return default if value is None else str(value)

    def put_setting(self, name: str, value: str) -> None:
        """Set a value that belongs to the installation."""
        with self.write() as connection:
            statement = self.insert(settings).values(name=name, value=value)
            connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"value": value}))

    def salt(self) -> str:
        """The secret of this installation that makes replacements of secrets stable; made once."""
        known = self.setting("salt")
        if known is None:
            try:
                with self.write() as connection:
                    connection.execute(insert(settings).values(name="salt", value=secrets.token_hex(16)))
            except IntegrityError:
                pass  # another process made it just now
            known = self.setting("salt")
        return str(known)

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def _engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() == "postgresql":
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        return create_engine(parsed, pool_pre_ping=True, pool_size=12, max_overflow=20, hide_parameters=True)
    if parsed.database and parsed.database != ":memory:":
        path = Path(parsed.database)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)
    engine = create_engine(
        parsed,
        connect_args={"timeout": _BUSY_MS / 1000, "check_same_thread": False},
        pool_size=12,
        max_overflow=20,
        hide_parameters=True,  # errors are logged, evidence is not
    )

    @event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions are begun by `write`
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout={_BUSY_MS}",
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            "secure_delete=ON",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine
