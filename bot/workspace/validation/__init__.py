"""Refusing what Slack refuses, in Slack's words."""

from bot.workspace.validation.blocks import check_blocks
from bot.workspace.validation.message import check_content, check_metadata
from bot.workspace.validation.view import check_view

__all__ = ["check_blocks", "check_content", "check_metadata", "check_view"]
