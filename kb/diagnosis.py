"""From evidence to ranked diagnoses: root before consequence, and silence where nothing is known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from kb.domains import Domain, domains, other_engine
from kb.evidence import Evidence
from kb.facts import STAGES, Facts, extract_facts
from kb.failures import Failure, find_failures, message_lines, ordered_stops, root_failure
from kb.library import Library
from kb.matching import Context, Match, fits_words, match_rules
from kb.ranking import COMPLAINT_THRESHOLD, Diagnosed, is_spoken_for, rank_causes
from kb.rules import Rule
from kb.subject import Subject, asks_for_help, complains, subject
from kb.symptoms import WordMatch, rank
from kb.tracebacks import find_exceptions

Outcome = Literal["matched", "unknown", "unrelated"]

WORDS_THRESHOLD = 0.315
"""From here on words alone are worth an answer."""
_OPEN_THRESHOLD = 0.32
"""The same where nothing else in the words tells of serving."""
_GENERIC_THRESHOLD = 0.45
"""The same for what happens to any program."""
_ALTERNATIVE = 0.75
"""Share of the best fit that another guess from words must have."""
_SAME_COMPLAINT = 0.7
"""Share of the best fit from which on an entry may be what the person complains about."""
_MAX_GUESSES = 3
_DIFF = re.compile(r"[+-]\s{2,}\S|@@ ")
_CODE = re.compile(
    r"[+-]\s+\S|\s*[rbf]?[\"']|\s*(?:raise|assert|return|def|class|import|from|if|elif|else|for|with)\b|\s*logger\."
)
"""A line of source code or of a diff: it says what a program may print, not that it did."""
_SNIPPET = 12
"""Up to so many lines somebody picked the lines and means them."""
_FEW = 3
"""So many lines at its end are what a log stopped with: a line of a note among them may be a hang."""


@dataclass(slots=True)
class Diagnosis:
    """All that was concluded from one body of evidence."""

    outcome: Outcome
    diagnoses: list[Diagnosed]
    notes: list[Match]
    root: Failure | None
    facts: Facts
    evidence: Evidence
    only_wrappers: bool = False
    """Nothing but lines that repeat an earlier failure is in sight."""
    healthy: Literal["serving", "stopped"] | None = None
    """Nothing failed: the log shows a server that came up, and perhaps was told to stop."""
    engine: str | None = None
    """What failed is another engine, and not vLLM: its name."""


def diagnose_evidence(evidence: Evidence, library: Library) -> Diagnosis:
    """Diagnose evidence that was collected with the library's own scanner."""
    facts = extract_facts(evidence.lines, evidence.prose)
    exceptions = find_exceptions(evidence.lines)
    wrappers = _hit_by(evidence, [rule for rule in library.rules if rule.kind == "consequence"])
    harmless = _hit_by(evidence, [rule for rule in library.rules if rule.kind == "note"])
    harmless |= evidence.quoted
    whose = domains(evidence)
    failures = find_failures(evidence, exceptions, wrappers, harmless)
    root = root_failure(failures, evidence.times)
    words = rank(library.database, evidence.prose) if evidence.prose else []
    context = Context(
        evidence,
        facts,
        library.scanner,
        _failing_lines(evidence, failures),
        whose,
        _complaints(words, evidence),
    )
    matches = match_rules(library.rules, context)
    waits = (
        not is_serving(facts)
        and not ordered_stops(evidence)
        and _waits([m for m in matches if m.rule.kind == "note"], evidence)
    )
    causes = [
        m for m in matches if m.rule.kind == "cause" and _counts(m, evidence, facts, failed=bool(failures) or waits)
    ]
    consequences = [m for m in matches if m.rule.kind == "consequence"]
    notes = [m for m in matches if m.rule.kind == "note"]
    in_trouble = not _has_log(evidence) or complains(evidence.prose)
    engine = other_engine(evidence, whose) if failures else None
    if (
        words
        and in_trouble
        and engine is None
        and not any(m.failing for m in causes)
        and not any(_is_about_serving(f, whose) for f in failures)
    ):
        known = {m.rule.id for m in causes}
        causes += [m for m in _by_words(words, library, context) if m.rule.id not in known]
    if any(not is_spoken_for(match, consequences) for match in causes):
        diagnoses = rank_causes(causes, consequences, root, context)
        return Diagnosis("matched", diagnoses, notes, _shown_root(root, whose), facts, evidence)
    if engine is not None:
        return Diagnosis("unrelated", [], notes, None, facts, evidence, engine=engine)
    told = _notes_by_words(words, library, context)
    return _without_cause(consequences, notes, told, failures, root, context, waits=waits)


def _without_cause(
    consequences: list[Match],
    notes: list[Match],
    told: list[Match],
    failures: list[Failure],
    root: Failure | None,
    context: Context,
    *,
    waits: bool,
) -> Diagnosis:
    evidence, facts = context.evidence, context.facts
    about_serving = [failure for failure in failures if _is_about_serving(failure, context.domains)]
    if about_serving:
        only_wrappers = all(failure.wrapper for failure in about_serving)
        shown = [Diagnosed(m, "possible") for m in consequences if m.failing is not None][:1] if only_wrappers else []
        if root is None or not _is_about_serving(root, context.domains):
            root = about_serving[0]
        return Diagnosis("unknown", shown, notes, root, facts, evidence, only_wrappers)
    asks = asks_for_help(evidence.prose) and (not _has_log(evidence) or complains(evidence.prose))
    if evidence.prose and asks:
        return Diagnosis("unknown", [], notes or told, None, facts, evidence)
    if _pointed_at(notes, evidence) or waits:
        return Diagnosis("unknown", [], notes, None, facts, evidence)
    return Diagnosis("unrelated", [], notes, None, facts, evidence, healthy=_health(notes, facts, evidence))


def _pointed_at(notes: list[Match], evidence: Evidence) -> bool:
    """Whether somebody means the line of a note: they quote it in their own words, or pasted nothing else."""
    named = _hit_by(evidence, [note.rule for note in notes])
    return bool(named & evidence.quoted) or (bool(named) and named.issuperset(_logged(evidence)))


def _waits(notes: list[Match], evidence: Evidence) -> bool:
    """Whether the log comes to its end in the line of a note that it has printed before: it may hang there."""
    last = set(_logged(evidence)[-_FEW:])
    hits = [_hit_by(evidence, [note.rule]) for note in notes]
    return any(len(found) > 1 and found & last for found in hits)


def _logged(evidence: Evidence) -> list[int]:
    return [at for at, line in enumerate(evidence.lines) if line.text.strip() and at not in evidence.quoted]


def _health(notes: list[Match], facts: Facts, evidence: Evidence) -> Literal["serving", "stopped"] | None:
    ends_with = _hit_by(evidence, [note.rule for note in notes]).intersection(_logged(evidence)[-_FEW:])
    if not is_serving(facts) or ends_with:
        return None
    return "stopped" if ordered_stops(evidence) else "serving"


def is_serving(facts: Facts) -> bool:
    """Whether the log shows a server that came up."""
    return facts.stage is not None and STAGES.index(facts.stage) >= STAGES.index("ready")


def _has_log(evidence: Evidence) -> bool:
    return bool(_logged(evidence))


def _shown_root(root: Failure | None, whose: dict[str, Domain]) -> Failure | None:
    return root if root is not None and _is_about_serving(root, whose) else None


def _is_about_serving(failure: Failure, whose: dict[str, Domain]) -> bool:
    return whose.get(failure.line.file) in (Domain.SERVING, Domain.GPU)


def _hit_by(evidence: Evidence, rules: list[Rule]) -> set[int]:
    """Indices of the lines that prove one of the rules."""
    found: set[int] = set()
    for rule in rules:
        anchors = [test.pattern for test in rule.all if test.pattern is not None][:1]
        for pattern in anchors or [test.pattern for test in rule.any if test.pattern is not None]:
            found.update(evidence.hits.get(pattern, []))
    return found


def _failing_lines(evidence: Evidence, failures: list[Failure]) -> dict[int, Failure]:
    """Each line that is part of a failure: of its traceback, its exception line, or the rest of its message."""
    part_of: dict[int, Failure] = {}
    for failure in failures:
        part_of.setdefault(failure.index, failure)
        if failure.raised is None:
            continue
        stream = evidence.lines[failure.raised.start].stream
        for at in range(failure.raised.start, failure.index):
            if evidence.lines[at].stream == stream:
                part_of.setdefault(at, failure)
        for at in message_lines(evidence, failure.raised):
            part_of.setdefault(at, failure)
    return part_of


def _counts(match: Match, evidence: Evidence, facts: Facts, *, failed: bool) -> bool:
    """Whether a matched cause is worth saying.

    It is where something `failed` or hangs, where the person complains or points at the line, and where a server that
    never became ready warns of it.
    """
    if match.failing is None and match.anchor is not None and _DIFF.match(evidence.lines[match.anchor].text):
        return False
    if match.failing is not None or match.rule.needs_complaint or match.quoted or match.complaint:
        return True
    if failed:
        return True
    if not match.rule.unique or match.anchor is None or _CODE.match(evidence.lines[match.anchor].body):
        return False
    never_ready = facts.stage is not None and not is_serving(facts)
    if never_ready and evidence.lines[match.anchor].level == "WARNING":
        return True
    return sum(1 for line in evidence.lines if line.text.strip()) <= _SNIPPET


def _enough(evidence: Evidence) -> float:
    """The score from which on the words are worth an answer; more than any where they are about another matter."""
    if _has_log(evidence):
        return WORDS_THRESHOLD
    return {Subject.ELSEWHERE: 2.0, Subject.OPEN: _OPEN_THRESHOLD}.get(subject(evidence.prose), WORDS_THRESHOLD)


def _complaints(words: list[WordMatch], evidence: Evidence) -> dict[str, float]:
    """Entries whose symptoms the person's words fit. With nothing but words they must fit as well as for an answer."""
    if not words:
        return {}
    least = COMPLAINT_THRESHOLD if _has_log(evidence) else _enough(evidence)
    least = max(least, _SAME_COMPLAINT * words[0].score)
    return {word.entry: word.score for word in words if word.score >= least}


def _by_words(words: list[WordMatch], library: Library, context: Context) -> list[Match]:
    """Causes that the person's words alone suggest."""
    found: list[Match] = []
    logged = _has_log(context.evidence)
    least = _enough(context.evidence)
    for_generic = _GENERIC_THRESHOLD if not logged and subject(context.evidence.prose) is Subject.OPEN else 0.0
    for word in words:
        if word.score < least or len(found) == _MAX_GUESSES:
            break
        rule = library.by_id.get(word.entry)
        if rule is None or rule.kind != "cause" or (rule.needs_complaint and logged):
            continue  # a rule of words and log was held against the log already
        if rule.generic and word.score < for_generic:
            continue
        match = fits_words(rule, word.score, context)
        if match is not None:
            found.append(match)
            least = max(least, _ALTERNATIVE * match.complaint) if len(found) == 1 else least
    return found


def _notes_by_words(words: list[WordMatch], library: Library, context: Context) -> list[Match]:
    """The note that answers a question better than any cause does, if there is one."""
    if not words or words[0].score < _enough(context.evidence):
        return []
    rule = library.by_id.get(words[0].entry)
    match = fits_words(rule, words[0].score, context) if rule is not None and rule.kind == "note" else None
    return [match] if match is not None else []
