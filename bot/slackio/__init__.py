"""Slack as the bot's services use it: messages out, files in, and what people wrote."""
