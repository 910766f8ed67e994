"""Everything the bot remembers: SQLAlchemy Core over SQLite (WAL) or PostgreSQL."""

from bot.evidence import Evidence
from bot.store.channels import ChannelStore
from bot.store.database import Database
from bot.store.incidents import Incident, IncidentStore
from bot.store.replies import Reply, ReplyStore

__all__ = ["ChannelStore", "Database", "Evidence", "Incident", "IncidentStore", "Reply", "ReplyStore"]
