"""Which diagnosis comes first, how sure it is, and what is only a consequence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kb.domains import Domain
from kb.evidence import Evidence
from kb.failures import Failure, comes_later
from kb.matching import Context, Match
from kb.rules import Rule
from kb.tracebacks import Raised

Confidence = Literal["certain", "likely", "possible"]

_STRENGTH: dict[Confidence, int] = {"certain": 0, "likely": 1, "possible": 2}
_MAX_DIAGNOSES = 5
_WORTH_NAMING = 0.85
"""Share of the first diagnosis' backing that an alternative without a failing line must have."""
_TRACEBACK = 40
"""Lines without a time of their own, so many below a record, may be the traceback that it announces."""
COMPLAINT_THRESHOLD = 0.27
"""From here on the person's words count as a complaint about what an entry describes, beside proof in the log."""


@dataclass(slots=True)
class Diagnosed:
    """One diagnosis before it is put into words."""

    match: Match
    confidence: Confidence
    consequences: list[Match] = field(default_factory=list)


def rank_causes(
    causes: list[Match], consequences: list[Match], root: Failure | None, context: Context
) -> list[Diagnosed]:
    """The diagnoses that the matched causes make, the root cause first; the rest becomes its consequences."""
    causes = [match for match in causes if not is_spoken_for(match, [*causes, *consequences])]
    brought_about = _brought_about(causes, context)
    ordered = sorted(causes, key=lambda match: (match.rule.id in brought_about, *_order(match, root, context)))
    primary = ordered[0]
    first = Diagnosed(primary, _confidence(primary, context), list(consequences))
    diagnoses = [first]
    explained = _explained_by(primary.rule, {m.rule.id: m.rule for m in causes})
    for match in ordered[1:]:
        if match.rule.id in explained or _follows(match, primary, root, context):
            first.consequences.append(match)
            continue
        if (
            _same_failure(match, primary)
            and match.specificity < primary.specificity
            and not _alternatives(match, primary)
        ):
            continue
        if match.failing is None and _backing(match) < _WORTH_NAMING * _backing(primary):
            continue
        if _undecided(match, primary):
            first.confidence = "possible"
        diagnoses.append(Diagnosed(match, _confidence(match, context)))
    most: Confidence = "possible" if first.confidence == "possible" else "likely"
    for other in diagnoses[1:]:  # what is surer than the first diagnosis would have to be the first
        other.confidence = most if _STRENGTH[other.confidence] < _STRENGTH[most] else other.confidence
    return diagnoses[:_MAX_DIAGNOSES]


def _undecided(match: Match, primary: Match) -> bool:
    """Whether nothing but a fact that nobody gave decides between two explanations of one failure."""
    return _same_failure(match, primary) and bool(set(match.unknown) & set(primary.unknown))


def _brought_about(causes: list[Match], context: Context) -> set[str]:
    """Ids of causes that an earlier one among them explains."""
    rules = {match.rule.id: match.rule for match in causes}
    found: set[str] = set()
    for match in causes:
        if match.anchor is None:
            continue
        explained = _explained_by(match.rule, rules)
        found |= {
            other.rule.id
            for other in causes
            if other is not match
            and other.rule.id in explained
            and (other.anchor is None or _before(match, other, context.evidence))
        }
    return found


def _before(match: Match, other: Match, evidence: Evidence) -> bool:
    """Whether what a match tells of came before another: it stands before it, or in the traceback just below it."""
    assert match.anchor is not None
    assert other.anchor is not None
    if _earlier(match.anchor, other.anchor, evidence):
        return True
    one, two = evidence.lines[match.anchor], evidence.lines[other.anchor]
    below = match.anchor - other.anchor
    return match.rule.unique and one.file == two.file and one.time is None and 0 < below <= _TRACEBACK


def is_spoken_for(match: Match, others: list[Match]) -> bool:
    """Whether the match is the general case of a failure that another entry names."""
    if not match.rule.fallback:
        return False
    if match.failing is not None and match.failing.wrapper:
        return True
    return any(other is not match and not other.rule.fallback and _same_failure(other, match) for other in others)


def _alternatives(match: Match, primary: Match) -> bool:
    """Whether only an unknown fact keeps the two apart, so that both must be shown."""
    return bool(primary.unknown or primary.stage_unknown) and bool(match.unknown or match.stage_unknown)


def _order(match: Match, root: Failure | None, context: Context) -> tuple[float, ...]:
    strength = _STRENGTH[_confidence(match, context)]
    unique, conditions, known = match.specificity
    host_fault = match.rule.layer in ("hardware", "environment") and match.failing is not None and strength < 2
    return (
        0 if match.failing is not None else 1 if match.anchor is not None and not match.quoted else 2,
        1 if match.failing is not None and match.failing.echo else 0,
        0 if host_fault else 1,
        _place(match, root, context),
        strength if match.failing is not None else 0,
        -_backing(match) if match.failing is None else 0.0,
        -float(unique),
        -conditions,
        0.0 if match.failing is not None and match.unknown else -match.complaint,  # words do not stand for a fact
        -known,
        match.rule.layer_order,
        match.anchor if match.anchor is not None else -1,
    )


def _backing(match: Match) -> float:
    """How well words and log together speak for a match that is no part of a failure."""
    proof = 0.0 if match.anchor is None else 0.04 if match.quoted else 0.12
    proof += 0.05 * sum(1 for test in match.rule.all[1:] if test.pattern is not None and match.anchor is not None)
    if match.anchor is None and not match.lines:
        return match.complaint
    told = sum(1 for test in match.rule.all if test.fact is not None) - len(match.unknown)
    return match.complaint + proof + 0.05 * min(told, 2) - 0.05 * len(match.unknown)


def _place(match: Match, root: Failure | None, context: Context) -> int:
    """0: in the first failure or on the way to it; 1: a sign before it; 2: later."""
    if root is None or match.anchor is None:
        return 0
    if match.failing is not None and (match.failing is root or _chained(match.failing.raised, root.raised)):
        return 0
    same = match.failing is not None and root.raised is not None and match.failing.raised is not None
    if same and _same_text(match.failing.raised, root.raised):  # type: ignore[union-attr]
        return 0
    earlier = _earlier(match.anchor, root.index, context.evidence)
    if earlier and match.failing is not None:
        return 0
    near = context.evidence.lines[match.anchor].stream == root.line.stream and 0 <= match.anchor - root.index <= 40
    if near and match.failing is not None:
        return 0
    return 1 if earlier else 2


def _earlier(one: int, other: int, evidence: Evidence) -> bool:
    """Whether a kept line stands before another: by place in one file, by time between files that tell it."""
    if evidence.lines[one].file != evidence.lines[other].file:
        first, second = evidence.times[one], evidence.times[other]
        if first is not None and second is not None:
            return first <= second
        return one <= other
    before, after = min(one, other), max(one, other)
    lines, times = evidence.lines, evidence.times
    swapped = comes_later(lines[before], times[before], lines[after], times[after])
    return (one <= other) != swapped


def _chained(one: Raised | None, other: Raised | None) -> bool:
    if one is None or other is None:
        return False
    return one.root is other.root


def _same_text(one: Raised | None, other: Raised | None) -> bool:
    return one is not None and other is not None and one.type == other.type and one.message[:200] == other.message[:200]


def _same_failure(match: Match, primary: Match) -> bool:
    if match.anchor is None or primary.anchor is None:
        return False
    if match.anchor == primary.anchor:
        return True
    if match.failing is None or primary.failing is None:
        return False
    return match.failing is primary.failing or _same_text(match.failing.raised, primary.failing.raised)


def _follows(match: Match, primary: Match, root: Failure | None, context: Context) -> bool:
    """Whether the match is only what the primary failure brought about: later, and not telling by itself."""
    if match.anchor is None or primary.anchor is None or primary.failing is None:
        return False
    later = not _earlier(match.anchor, primary.anchor, context.evidence)
    if match.failing is not None and match.failing.echo and not primary.failing.echo:
        lines = context.evidence.lines
        # In another file it may be another server's own failure, in words that elsewhere repeat one.
        return lines[match.anchor].file == lines[primary.anchor].file or (later and not match.rule.unique)
    return (
        later
        and not match.rule.unique
        and not _same_failure(match, primary)
        and match.rule.layer_order > primary.rule.layer_order
    )


def _explained_by(rule: Rule, rules: dict[str, Rule]) -> set[str]:
    explained: set[str] = set()
    todo = list(rule.explains)
    while todo:
        current = todo.pop()
        if current in explained:
            continue
        explained.add(current)
        if current in rules:
            todo.extend(rules[current].explains)
    return explained


def _confidence(match: Match, context: Context) -> Confidence:
    if match.anchor is None or match.quoted or match.fixed or match.outside or match.rule.confidence == "low":
        return "possible"
    if (match.stage_unknown and not match.rule.unique) or (match.domain is not Domain.SERVING and match.rule.generic):
        return "possible"
    settled = match.rule.unique and not match.unknown
    if match.rule.needs_complaint:
        likely = match.complaint >= 2 * COMPLAINT_THRESHOLD and not match.unknown
    elif match.failing is None:
        likely = settled
    elif settled and not match.version_unknown and match.rule.confidence == "high":
        return "certain"
    else:
        likely = match.rule.unique or not match.unknown
    return "likely" if likely else "possible"
