"""Alembic's entry: runs on the connection that `bot.store.migrate` holds."""

from alembic import context

from bot.store.schema import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=connection.dialect.name == "sqlite",
    transactional_ddl=False,
)
context.run_migrations()
