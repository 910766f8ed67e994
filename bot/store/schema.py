"""The tables. The migrations under `migrations/` make them; a test holds the two together.

Times are seconds since 1970. Texts that came from people are redacted before they get here.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()
_Id = BigInteger().with_variant(Integer, "sqlite")

inbox = Table(
    "inbox",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("key", String(200), nullable=False, unique=True),
    Column("kind", String(40), nullable=False),
    Column("lane", String(120), nullable=False),
    Column("payload", Text, nullable=False),
    Column("state", String(10), nullable=False),  # new | done | failed
    Column("attempts", Integer, nullable=False, default=0),
    Column("starts", Integer, nullable=False, server_default="0"),
    Column("not_before", Float, nullable=False),
    Column("received_at", Float, nullable=False),
    Column("done_at", Float),
    Column("error", String(200)),
)
Index("inbox_open", inbox.c.lane, inbox.c.state, inbox.c.id)
Index("inbox_done", inbox.c.state, inbox.c.done_at)

lanes = Table(
    "lanes",
    metadata,
    Column("lane", String(120), primary_key=True),
    Column("due_at", Float, nullable=False),
    Column("leased_by", String(120)),
    Column("lease_until", Float),
)
Index("lanes_due", lanes.c.due_at)

pastes = Table(
    "pastes",
    metadata,
    Column("channel", String(40), primary_key=True),
    Column("author", String(40), primary_key=True),
    Column("root_ts", String(40), nullable=False),
    Column("last_ts", Float, nullable=False),
)

incidents = Table(
    "incidents",
    metadata,
    Column("id", String(20), primary_key=True),
    Column("team", String(40), nullable=False),
    Column("channel", String(40), nullable=False),
    Column("thread_ts", String(80), nullable=False),
    Column("author", String(40), nullable=False),
    Column("via", String(20), nullable=False),
    Column("language", String(2)),
    Column("language_chosen", Boolean, nullable=False, default=False),
    Column("status", String(10), nullable=False),  # open | resolved | wrong
    Column("status_by", String(40)),
    Column("verdict", Text),
    Column("expanded", Text, nullable=False, default="[]"),
    Column("alternatives", Boolean, nullable=False, default=False),
    Column("changed", Text, nullable=False, default="[]"),
    Column("reports", Text),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    UniqueConstraint("channel", "thread_ts", name="incident_thread"),
)
Index("incidents_updated", incidents.c.updated_at)

evidence = Table(
    "evidence",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("incident", String(20), ForeignKey("incidents.id", ondelete="CASCADE"), nullable=False),
    Column("message_ts", String(80), nullable=False),
    Column("author", String(40), nullable=False),
    Column("log", Text, nullable=False),
    Column("prose", Text, nullable=False),
    Column("files", Text, nullable=False, default="[]"),
    Column("added_at", Float, nullable=False),
    UniqueConstraint("incident", "message_ts", name="evidence_message"),
)

ticks = Table(
    "ticks",
    metadata,
    Column("incident", String(20), ForeignKey("incidents.id", ondelete="CASCADE"), primary_key=True),
    Column("check_id", String(120), primary_key=True),
    Column("user", String(40), nullable=False),
    Column("at", Float, nullable=False),
)

timeline = Table(
    "timeline",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("incident", String(20), ForeignKey("incidents.id", ondelete="CASCADE"), nullable=False),
    Column("at", Float, nullable=False),
    Column("user", String(40)),
    Column("what", String(40), nullable=False),
    Column("detail", Text, nullable=False, default=""),
)
Index("timeline_incident", timeline.c.incident, timeline.c.id)

replies = Table(
    "replies",
    metadata,
    Column("key", String(80), primary_key=True),
    Column("incident", String(20), nullable=False),
    Column("channel", String(40), nullable=False),
    Column("thread_ts", String(80)),
    Column("ts", String(40)),
    Column("digest", String(64)),
    Column("tried_at", Float, nullable=False),
)
Index("replies_incident", replies.c.incident)

channels = Table(
    "channels",
    metadata,
    Column("channel", String(40), primary_key=True),
    Column("heard_at", Float, nullable=False),
)

settings = Table(
    "settings",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
