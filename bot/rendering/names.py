"""The names under which people know facts."""

from __future__ import annotations

from collections.abc import Iterable

from kb.catalogue import message
from kb.entry import Language

_FAMILIES = ("flag", "env", "module")


def fact_name(language: Language, fact: str) -> str:
    """What a fact is called: `--kv-transfer-config` for `flag.kv_transfer_config`. An unknown one is shown as it is."""
    family, dot, rest = fact.partition(".")
    if dot and family in _FAMILIES:
        name = "--" + rest.replace("_", "-") if family == "flag" else rest
        return message(language, f"fact.{family}", name=name)
    try:
        return message(language, f"fact.{fact}") if not dot else fact
    except KeyError:
        return fact


def fact_names(language: Language, facts: Iterable[str]) -> str:
    """The names of several facts, each once."""
    comma = "、" if language == "zh" else ", "
    return comma.join(dict.fromkeys(fact_name(language, fact) for fact in facts))
