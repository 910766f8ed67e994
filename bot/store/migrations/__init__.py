"""Alembic's directory: one revision a file under `versions/`."""
