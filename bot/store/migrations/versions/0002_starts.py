"""How often a row was begun and came to no end."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("inbox", sa.Column("starts", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    """Take back."""
    op.drop_column("inbox", "starts")
