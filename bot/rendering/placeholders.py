"""What stands in commands for something of the reader's own: server.log, CONTAINER."""

from __future__ import annotations

import re

from bot.catalogue import say
from kb.entry import Language
from kb.report import ReportDiagnosis

_SAVED_LOG = re.compile(r"\bserver\.log\b")
_IN_CONTAINER = re.compile(r"\bdocker exec CONTAINER\b")


def hint(language: Language, item: ReportDiagnosis) -> str:
    """How to make the commands of a diagnosis one's own; empty where they can be run as they are."""
    commands = [check.command or "" for check in item.checklist] + [step.command or "" for step in item.recovery]
    wanted = (("saved_log", _SAVED_LOG), ("in_container", _IN_CONTAINER))
    return " ".join(say(language, f"label.{key}") for key, pattern in wanted if any(map(pattern.search, commands)))
