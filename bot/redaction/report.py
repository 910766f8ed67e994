"""A report without secrets."""

from __future__ import annotations

import re
from typing import Any

from bot.redaction.redactor import Redactor
from bot.redaction.values import is_harmless
from kb.report import Report

_SECRET_FACT = re.compile(r"(?i)(?:^|[._])(?:\w*(?:token|secret|password|passwd|api_?key|credential)\w*)$")
_COUNTS = re.compile(r"(?i)max_\w*tokens?$|num_\w*tokens?$|\w+_tokens$|tokenizer|token_(?:ids?|budget|count)|per_token")
_NO_TEXT = frozenset({"schema", "outcome", "language", "layer", "entry", "id", "confidence", "stage", "risk", "scope"})


def redact_in(report: Report, redactor: Redactor) -> Report:
    """The report with every text redacted, and with stand-ins for the values of secret flags and variables."""
    data = report.to_json_dict()
    facts = data.pop("facts")
    data = _redacted(data, redactor)
    data["facts"] = {name: _fact(name, fact, redactor) for name, fact in facts.items()}
    return Report.model_validate(data)


def _redacted(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return redactor.redact(value)
    if isinstance(value, dict):
        return {key: item if key in _NO_TEXT else _redacted(item, redactor) for key, item in value.items()}
    return [_redacted(item, redactor) for item in value] if isinstance(value, list) else value


def _fact(name: str, fact: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    fact = {**fact, "file": redactor.redact(fact["file"])}
    secret = bool(_SECRET_FACT.search(name)) and not _COUNTS.search(name)
    fact["value"] = _value(fact["value"], redactor, secret=secret)
    fact["others"] = [_value(other, redactor, secret=secret) for other in fact["others"]]
    return fact


def _value(value: Any, redactor: Redactor, *, secret: bool) -> Any:
    if isinstance(value, bool) or (not secret and not isinstance(value, str)):
        return value
    text = str(value)
    if secret and not is_harmless(text.encode("utf-8", "surrogatepass")):
        return redactor.stand_in(text)
    return redactor.redact(text) if isinstance(value, str) else value
