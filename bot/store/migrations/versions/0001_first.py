"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "inbox",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("lane", sa.String(length=120), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Float(), nullable=False),
        sa.Column("received_at", sa.Float(), nullable=False),
        sa.Column("done_at", sa.Float(), nullable=True),
        sa.Column("error", sa.String(length=200), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index("inbox_done", "inbox", ["state", "done_at"], unique=False)
    op.create_index("inbox_open", "inbox", ["lane", "state", "id"], unique=False)
    op.create_table(
        "incidents",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("team", sa.String(length=40), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("thread_ts", sa.String(length=80), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("via", sa.String(length=20), nullable=False),
        sa.Column("language", sa.String(length=2), nullable=True),
        sa.Column("language_chosen", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("status_by", sa.String(length=40), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("expanded", sa.Text(), nullable=False),
        sa.Column("alternatives", sa.Boolean(), nullable=False),
        sa.Column("changed", sa.Text(), nullable=False),
        sa.Column("reports", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("channel", "thread_ts", name="incident_thread"),
    )
    op.create_index("incidents_updated", "incidents", ["updated_at"], unique=False)
    op.create_table(
        "lanes",
        sa.Column("lane", sa.String(length=120), nullable=False),
        sa.Column("due_at", sa.Float(), nullable=False),
        sa.Column("leased_by", sa.String(length=120), nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("lane"),
    )
    op.create_index("lanes_due", "lanes", ["due_at"], unique=False)
    op.create_table(
        "pastes",
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("root_ts", sa.String(length=40), nullable=False),
        sa.Column("last_ts", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "author"),
    )
    op.create_table(
        "replies",
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("incident", sa.String(length=20), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("thread_ts", sa.String(length=80), nullable=True),
        sa.Column("ts", sa.String(length=40), nullable=True),
        sa.Column("digest", sa.String(length=64), nullable=True),
        sa.Column("tried_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("replies_incident", "replies", ["incident"], unique=False)
    op.create_table(
        "settings",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "evidence",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("incident", sa.String(length=20), nullable=False),
        sa.Column("message_ts", sa.String(length=80), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("prose", sa.Text(), nullable=False),
        sa.Column("files", sa.Text(), nullable=False),
        sa.Column("added_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["incident"], ["incidents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("incident", "message_ts", name="evidence_message"),
    )
    op.create_table(
        "ticks",
        sa.Column("incident", sa.String(length=20), nullable=False),
        sa.Column("check_id", sa.String(length=120), nullable=False),
        sa.Column("user", sa.String(length=40), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["incident"], ["incidents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("incident", "check_id"),
    )
    op.create_table(
        "timeline",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("incident", sa.String(length=20), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("user", sa.String(length=40), nullable=True),
        sa.Column("what", sa.String(length=40), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["incident"], ["incidents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("timeline_incident", "timeline", ["incident", "id"], unique=False)
