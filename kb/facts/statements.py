"""What makes a number in a sentence a statement about the machine, and not a requirement or a bound."""

from __future__ import annotations

import re
from dataclasses import dataclass

TIMES = "[xX×*✕хХ]"
"""The sign between a count and what is counted."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A form in which a fact is told; its first group is the value."""

    fact: str
    pattern: re.Pattern[str]


def statement(fact: str, pattern: str) -> Statement:
    """The statement of `fact` by `pattern`."""
    return Statement(fact, re.compile(pattern, re.IGNORECASE))


_BOUND_AFTER = re.compile(
    r"\s*(?:\+|이상|이하|부터|까지|미만|及以上|以上|以下|之前|之后|起(?![不来动])|或更高"
    r"|(?:or|and) (?:later|newer|higher|above|greater|older|earlier)"
    r"|и (?:выше|новее|старше|ниже)|или (?:выше|новее)|이?\s*필요|이?어야|에서만|has|fixes|fixed|must"
    r"|\s*(?:or|이나|或|или)\s*\d)",
    re.IGNORECASE,
)
_BOUND_BEFORE = re.compile(
    r"(?:>=?|<=?|≥|≤|~=|needs?|requires?|required|at least|minimum|min|since|until|before|below|under|than|from|up to"
    r"|not|no longer|supports?|recommends?|should (?:be|use|i use)|upgrade to|try"
    r"|требу\w+|нуж\w+|не ниже|миниму\w+|начиная с|с версии|до"
    r"|最低|至少|需要|要求|不低于|低于|从|최소|요구\w*|필요\w*)"
    rf"(?:\s+(?:a|an|the|host|nvidia|версии?|хост\w*|\d+(?:\s?{TIMES})?))*\s*$",
    re.IGNORECASE,
)


def is_bound(sentence: str, start: int, end: int) -> bool:
    """Whether the words around a value make it a requirement or a bound."""
    after = sentence[end : end + 24]
    return bool(_BOUND_AFTER.match(after) or _BOUND_BEFORE.search(sentence[max(0, start - 40) : start]))
