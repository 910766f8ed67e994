"""Bring the schema up to date with Alembic; several processes may start at once."""

from __future__ import annotations

import logging
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

_HERE = Path(__file__).parent / "migrations"
_LOCK = 0x6B337472  # any number that is ours


def upgrade(engine: Engine) -> None:
    """Run what is missing. Does nothing, and takes no lock, on a schema that is up to date."""
    logging.getLogger("alembic").setLevel(logging.WARNING)
    with engine.connect() as connection:
        if _current(connection) == head():
            return
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN EXCLUSIVE")
            try:
                _run(connection)
            except BaseException:
                connection.exec_driver_sql("ROLLBACK")
                raise
            connection.exec_driver_sql("COMMIT")
        else:
            with connection.begin():
                connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _LOCK})
                _run(connection)


def head() -> str | None:
    """The revision that this code needs."""
    return ScriptDirectory(str(_HERE)).get_current_head()


def _current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _run(connection: Connection) -> None:
    if _current(connection) == head():
        return
    config = Config()
    config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
