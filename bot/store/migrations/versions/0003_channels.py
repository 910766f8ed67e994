"""The channels that the bot has heard of."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply; where incidents are, it has heard something."""
    op.create_table(
        "channels",
        sa.Column("channel", sa.String(40), primary_key=True),
        sa.Column("heard_at", sa.Float(), nullable=False),
    )
    op.execute(
        "insert into channels (channel, heard_at) select channel, max(updated_at) from incidents group by channel"
    )


def downgrade() -> None:
    """Take back."""
    op.drop_table("channels")
