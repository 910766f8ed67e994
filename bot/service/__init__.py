"""What the bot does with what Slack delivers: take it in, keep the incident, answer once, keep the answer current."""
