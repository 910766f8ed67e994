"""Which rules match the evidence, on which lines, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from kb.domains import Domain
from kb.evidence import Evidence
from kb.facts import STAGES, Fact, Facts
from kb.failures import Failure, is_of_supervisor
from kb.rules import Rule, Test
from kb.scanner import Scanner

_MAX_ANCHORS = 200


@dataclass(slots=True)
class Match:
    """A rule found in the evidence.

    `anchor` and `lines` are indices of kept lines; the anchor is None where only words speak for the rule.
    """

    rule: Rule
    anchor: int | None
    lines: list[int]
    unknown: list[str] = field(default_factory=list)
    """Facts the signature asks for that the evidence does not tell."""
    captures: dict[str, str] = field(default_factory=dict)
    failing: Failure | None = None
    """The failure the anchor is part of."""
    quoted: bool = False
    """The anchor stands in a person's own words."""
    complaint: float = 0.0
    """How well the person's words fit the symptoms, 0 to 1."""
    fixed: bool = False
    """The running release has the fix."""
    outside: bool = False
    """The running release is outside the range for which the entry is known."""
    version_unknown: bool = False
    stage_unknown: bool = False
    domain: Domain = Domain.SERVING

    @property
    def specificity(self) -> tuple[bool, int, int]:
        """How special the signature is: unique first, then by the number of its conditions."""
        conditions = len(self.rule.all) + (1 if self.rule.any else 0) - len(self.unknown)
        return (self.rule.unique and self.anchor is not None, conditions, -len(self.unknown))


@dataclass(slots=True)
class Context:
    """What rules are held against."""

    evidence: Evidence
    facts: Facts
    scanner: Scanner
    failing: dict[int, Failure]
    """The failure that a kept line is part of."""
    domains: dict[str, Domain]
    complaints: dict[str, float]
    """Entry id -> how well the person's words fit its symptoms, 0 to 1; only those that fit."""


def match_rules(rules: Iterable[Rule], context: Context) -> list[Match]:
    """All rules that match, in no order."""
    hit = context.evidence.hits
    found = []
    for rule in rules:
        if not _may_match(rule, hit):
            continue
        match = _match(rule, context)
        if match is not None:
            found.append(match)
    return found


def _may_match(rule: Rule, hits: dict[int, list[int]]) -> bool:
    """A quick look at the patterns alone: nearly all rules end here."""
    for test in rule.all:
        if test.pattern is not None and test.pattern not in hits:
            return False
    return not rule.any or any(test.pattern is None or test.pattern in hits for test in rule.any)


def _match(rule: Rule, context: Context) -> Match | None:
    if not _holds_here(rule, context):
        return None
    complaint = context.complaints.get(rule.id, 0.0)
    if rule.needs_complaint and not complaint:
        return None
    unknown = _unknown_facts(rule, context)
    if unknown is None or any(test.complaint and complaint for test in rule.none):
        return None
    anchored = _anchor(rule, context, complaint)
    if anchored is None:
        return None
    anchor, lines, stage_unknown = anchored
    if anchor is not None:
        lines = list(dict.fromkeys([*lines, *_fact_lines(rule, context)]))
    match = Match(rule, anchor, lines, unknown, complaint=complaint, stage_unknown=stage_unknown)
    if anchor is not None:
        match.failing = context.failing.get(anchor)
        match.quoted = anchor in context.evidence.quoted
        match.domain = context.domains.get(context.evidence.lines[anchor].file, Domain.NONE)
        if match.quoted and match.domain is Domain.NONE:
            match.domain = Domain.GPU
    if not _in_domain(rule, match) or not _in_release(rule, match, context.facts):
        return None
    for test in rule.all:
        if test.pattern is not None:
            for index in lines:
                match.captures.update(context.scanner.captures(test.pattern, context.evidence.lines[index].text))
    return match


def _unknown_facts(rule: Rule, context: Context) -> list[str] | None:
    """Facts that the signature asks for and the evidence does not tell; None where a fact speaks against the rule."""
    unknown = []
    for test in rule.all:
        if test.fact is None:
            continue
        verdict = fact_verdict(test, context.facts)
        if verdict is False:
            return None
        if verdict is None:
            unknown.append(test.fact)
    if any(test.fact is not None and fact_verdict(test, context.facts) is True for test in rule.none):
        return None
    return unknown


def fits_words(rule: Rule, complaint: float, context: Context) -> Match | None:
    """The rule as a guess from words alone; None where a fact of the evidence speaks against it."""
    if not _holds_here(rule, context):
        return None
    unknown = _unknown_facts(rule, context)
    if unknown is None:
        return None
    if any(test.pattern is not None and _vetoed(test, None, context) for test in rule.none):
        return None
    match = Match(rule, None, [], unknown, complaint=complaint, domain=Domain.GPU)
    return match if _in_release(rule, match, context.facts) and not match.outside else None


def _holds_here(rule: Rule, context: Context) -> bool:
    if rule.platform and (platform := context.facts.get("platform")) and platform.value not in rule.platform:
        return False
    if rule.hardware:
        seen = {str(fact.value) for fact in context.facts.all("gpu_arch")}
        if seen and not seen & set(rule.hardware):
            return False
    return True


def _in_domain(rule: Rule, match: Match) -> bool:
    """Whether the log the anchor stands in is one that the rule may speak about."""
    if rule.generic and match.domain in (Domain.FOREIGN, Domain.NONE):
        return False
    return match.domain is not Domain.FOREIGN or rule.layer in ("hardware", "environment", "communication")


def _in_release(rule: Rule, match: Match, facts: Facts) -> bool:
    """Set what the release means for the match; False where it rules the match out."""
    if rule.vllm is None and rule.fixed_in is None:
        return True
    fact = facts.get("vllm_version")
    version = _version(fact)
    if version is None:
        match.version_unknown = True
        return True
    if rule.fixed_in is not None and version >= Version(rule.fixed_in):
        match.fixed = True
        return True
    if rule.vllm is not None and not SpecifierSet(rule.vllm).contains(version, prereleases=True):
        match.outside = True
        return rule.unique and match.anchor is not None
    return True


def _version(fact: Fact | None) -> Version | None:
    if fact is None:
        return None
    try:
        return Version(str(fact.value))
    except InvalidVersion:
        return None


def fact_verdict(test: Test, facts: Facts) -> bool | None:
    """Whether the fact passes the test; None where the evidence does not tell."""
    name = test.fact or ""
    known = facts.all(name)
    if not known:
        if test.present is not None and _would_show(name, facts):
            return test.present is False
        return None
    known = tuple(fact for fact in known if fact.source == known[0].source)  # the engine's word, not what was asked for
    if test.present is not None:
        there = any(fact.value is not False and str(fact.value).lower() not in ("false", "") for fact in known)
        if there is not test.present:
            return False
    return any(_passes(test, fact) for fact in known)


def _would_show(name: str, facts: Facts) -> bool:
    """Whether the evidence would show the fact if it held: a launch command shows all its flags."""
    family = name.partition(".")[0]
    return family in ("flag", "env", "module") and any(other.startswith(family + ".") for other in facts.names())


def _passes(test: Test, fact: Fact) -> bool:
    value = fact.value
    if test.equals is not None and not _same(value, test.equals):
        return False
    if test.one_of is not None and not any(_same(value, option) for option in test.one_of):
        return False
    if test.version is not None:
        version = _version(fact)
        if version is None or not SpecifierSet(test.version).contains(version, prereleases=True):
            return False
    if test.minimum is not None or test.maximum is not None:
        try:
            number = float(value)
        except (TypeError, ValueError):
            return False
        if test.minimum is not None and number < test.minimum:
            return False
        if test.maximum is not None and number > test.maximum:
            return False
    return True


def _same(value: str | int | float | bool, wanted: str | int | float | bool) -> bool:
    return value == wanted or str(value).lower() == str(wanted).lower()


def _anchor(rule: Rule, context: Context, complaint: float) -> tuple[int | None, list[int], bool] | None:
    """The anchor, the lines that prove the match, and whether the stage had to be left open."""
    hits = context.evidence.hits
    first = next((test for test in rule.all if test.pattern is not None), None)
    candidates: list[int]
    if first is not None:
        candidates = hits.get(first.pattern or 0, [])
    else:
        candidates = sorted({at for test in rule.any if test.pattern is not None for at in hits.get(test.pattern, [])})
    if not candidates:
        if first is not None:
            return None
        # No pattern at all, or only alternatives that are facts or words.
        if rule.any and not _any_without_patterns(rule, context, complaint):
            return None
        if any(_vetoed(test, None, context) for test in rule.none if test.pattern is not None):
            return None
        return None, _fact_lines(rule, context), False
    best: tuple[tuple[int, ...], int, list[int], bool] | None = None
    for anchor in _spread(candidates):
        proof = _proof(rule, first, anchor, context, complaint)
        if proof is None:
            continue
        fits, stage_unknown = _stage_fits(rule, anchor, context)
        if not fits:
            continue
        failure = context.failing.get(anchor)
        rank = (
            0 if failure is not None and not failure.echo else 1 if failure is not None else 2,
            1 if anchor in context.evidence.quoted else 0,
            1 if stage_unknown else 0,
        )
        if best is None or rank < best[0]:
            best = (rank, anchor, proof, stage_unknown)
            if rank == (0, 0, 0):
                break
    return None if best is None else (best[1], best[2], best[3])


def _spread(candidates: list[int]) -> list[int]:
    """All candidates, or the first and the last of very many."""
    if len(candidates) <= _MAX_ANCHORS:
        return candidates
    half = _MAX_ANCHORS // 2
    return candidates[:half] + candidates[-half:]


def _any_without_patterns(rule: Rule, context: Context, complaint: float) -> bool:
    return any(
        (test.fact is not None and fact_verdict(test, context.facts) is True) or (test.complaint and complaint > 0)
        for test in rule.any
    )


def _proof(rule: Rule, first: Test | None, anchor: int, context: Context, complaint: float) -> list[int] | None:
    lines = [anchor]
    for test in rule.all:
        if test.pattern is None or test is first:
            continue
        near = _nearest(test, anchor, context)
        if near is None:
            return None
        lines.append(near)
    if rule.any and first is not None:
        near = None
        for test in rule.any:
            if test.pattern is not None and (near := _nearest(test, anchor, context)) is not None:
                lines.append(near)
                break
        if near is None and not _any_without_patterns(rule, context, complaint):
            return None
    if any(_vetoed(test, anchor, context) for test in rule.none if test.pattern is not None):
        return None
    if first is None:
        lines += _beside(rule, anchor, context)
    return list(dict.fromkeys(lines))


def _beside(rule: Rule, anchor: int, context: Context) -> list[int]:
    """Lines of the same failure that prove it in other words."""
    failure = context.failing.get(anchor)
    if failure is None:
        return []
    return [
        at
        for test in rule.any
        if test.pattern is not None
        for at in context.evidence.hits.get(test.pattern, [])
        if at != anchor and context.failing.get(at) is failure
    ][:2]


def _nearest(test: Test, anchor: int, context: Context) -> int | None:
    hits = context.evidence.hits.get(test.pattern or 0, [])
    if not hits:
        return None
    if test.within is None:
        return min(
            hits,
            key=lambda at: (context.evidence.lines[at].file != context.evidence.lines[anchor].file, abs(at - anchor)),
        )
    near = [at for at in hits if _distance(at, anchor, context.evidence) <= test.within]
    return min(near, key=lambda at: abs(at - anchor)) if near else None


def _vetoed(test: Test, anchor: int | None, context: Context) -> bool:
    hits = context.evidence.hits.get(test.pattern or 0, [])
    if not hits:
        return False
    if test.within is None or anchor is None:
        return True
    return any(_distance(at, anchor, context.evidence) <= (test.within or 0) for at in hits)


def _distance(one: int, other: int, evidence: Evidence) -> float:
    """Lines between two kept lines of one process. Native lines that name no process are measured in raw lines."""
    a, b = evidence.lines[one], evidence.lines[other]
    if a.file != b.file:
        return float("inf")
    if a.stream == b.stream:
        return abs(evidence.positions[one] - evidence.positions[other])
    if a.stream[1] != b.stream[1] or (a.stream[2] is not None and b.stream[2] is not None):
        return float("inf")
    return abs(a.number - b.number)


def _stage_fits(rule: Rule, anchor: int, context: Context) -> tuple[bool, bool]:
    """Whether the rule's stage is that of the anchor, and whether the stage is unknown."""
    if rule.stage == "any":
        return True, False
    line = context.evidence.lines[anchor]
    stage = context.facts.stage_at(line)
    if stage is None and is_of_supervisor(line):
        # Kernel and orchestrator tell of the end of a run, wherever their words were pasted: as far as it came.
        stage = context.facts.stage
    if stage is None:
        return True, True
    serving = STAGES.index(stage) >= STAGES.index("ready")
    return serving == (rule.stage == "serving"), False


def _fact_lines(rule: Rule, context: Context) -> list[int]:
    """Kept lines that the facts of a rule without patterns come from."""
    wanted = {
        (fact.file, fact.line)
        for test in (*rule.all, *rule.any)
        if test.fact is not None and (fact := context.facts.get(test.fact)) is not None
    }
    if not wanted:
        return []
    return [at for at, line in enumerate(context.evidence.lines) if (line.file, line.number) in wanted][:6]
