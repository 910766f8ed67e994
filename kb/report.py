"""The report: the JSON contract between the engine and everything that shows or stores its conclusions."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kb.catalogue import message
from kb.diagnosis import Diagnosis, Outcome
from kb.entry import Check, Language, Layer, Step
from kb.evidence import Evidence
from kb.facts import Facts
from kb.failures import message_lines
from kb.filling import fill, fill_command, fill_title, local, title_of
from kb.library import Library
from kb.matching import Match
from kb.missing import missing_keys
from kb.ranking import Confidence, Diagnosed
from kb.tracebacks import Raised

_MAX_PROOF = 6
_MAX_NOTES = 4
_MAX_MISSING = 5


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Cited(_Model):
    """A line of evidence. `line` is its raw number, from 1."""

    file: str
    line: int
    text: str
    process: str | None = None
    host: str | None = None


class ReportCheck(_Model):
    """Something to verify, in the report's language."""

    id: str
    text: str
    command: str | None = None
    expect: str | None = None
    scope: str = "this_node"


class ReportStep(_Model):
    """A recovery step, in the report's language."""

    text: str
    command: str | None = None
    risk: str
    verify: str | None = None


class ReportSource(_Model):
    """Where a statement comes from."""

    title: str
    url: str | None = None
    as_of: str


class ReportDiagnosis(_Model):
    """One entry found in the evidence."""

    entry: str
    layer: Layer
    title: str
    cause: str
    confidence: Confidence
    evidence: list[Cited]
    consequences: list[str]
    consequence_titles: list[str] = Field(default_factory=list, description="one for each of the consequences")
    version_note: str | None = None
    unknown_facts: list[str] = Field(default_factory=list, description="facts that would settle it and are not known")
    checklist: list[ReportCheck]
    recovery: list[ReportStep]
    avoid: list[str]
    sources: list[ReportSource]


HEALTHY = "healthy"
"""In place of an entry's id: the note that nothing failed."""
ELSEWHERE = "elsewhere"
"""In place of an entry's id: the note that another program failed, and which."""


class ReportNote(_Model):
    """Something true and useful that is not the fault."""

    entry: str
    title: str
    text: str
    evidence: list[Cited]


class RootException(_Model):
    """The failure that the others follow from, as far as the evidence shows."""

    type: str
    text: str
    process: str | None
    host: str | None = None
    file: str
    line: int


class ReportFact(_Model):
    """A value read out of the evidence, with the line it came from (none where it follows from others)."""

    value: str | int | float | bool
    file: str
    line: int
    host: str | None = None
    others: list[str] = Field(default_factory=list, description="other values of the same fact, as on mixed nodes")


class MissingEvidence(_Model):
    """What would make the answer surer, and how to get it."""

    what: str
    command: str


class ReportNotRead(_Model):
    """A part of the evidence that was not read."""

    file: str
    reason: str


class Coverage(_Model):
    """How much was read."""

    bytes_read: int
    lines_read: int
    files: list[str]
    not_read: list[ReportNotRead]


class Report(_Model):
    """Everything the engine concluded from one body of evidence."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_version: Literal[1] = Field(default=1, alias="schema")
    outcome: Outcome
    language: Language
    layer: Layer | None = Field(description="the failing layer; null where the outcome is unknown or unrelated")
    stage: str | None = Field(description="how far the server came")
    diagnoses: list[ReportDiagnosis]
    root_exception: RootException | None
    notes: list[ReportNote]
    facts: dict[str, ReportFact]
    missing_evidence: list[MissingEvidence]
    coverage: Coverage

    def to_json_dict(self) -> dict[str, Any]:
        """The report as JSON values, under the names of the contract."""
        return self.model_dump(mode="json", by_alias=True)


def build_report(diagnosis: Diagnosis, library: Library, language: Language) -> Report:
    """Put a diagnosis into words."""
    evidence = diagnosis.evidence
    diagnoses = [_diagnosis(item, diagnosis, library, language) for item in diagnosis.diagnoses]
    return Report(
        outcome=diagnosis.outcome,
        language=language,
        layer=diagnoses[0].layer if diagnosis.outcome == "matched" else None,
        stage=diagnosis.facts.stage,
        diagnoses=diagnoses,
        root_exception=_root(diagnosis),
        notes=[
            *_healthy(diagnosis, language),
            *(_note(match, evidence, library, language) for match in diagnosis.notes[:_MAX_NOTES]),
        ],
        facts=_facts(diagnosis.facts),
        missing_evidence=_missing(diagnosis, language),
        coverage=Coverage(
            bytes_read=evidence.bytes_read,
            lines_read=evidence.lines_read,
            files=evidence.files[:200],
            not_read=[
                ReportNotRead(file=item.file, reason=reason_text(item.reason, item.detail, language))
                for item in evidence.not_read
            ],
        ),
    )


def reason_text(reason: str, detail: str, language: Language) -> str:
    """A reason for not reading something, in words; a reason that is no key of the catalogue is already words."""
    try:
        return message(language, f"not_read.{reason}", detail=detail)
    except KeyError:
        return reason


def _cite(evidence: Evidence, at: int) -> Cited:
    """A kept line as it was given: what the person sees in the file is what is cited."""
    line = evidence.lines[at]
    text = evidence.given.get(at, line.text)
    return Cited(file=line.file, line=line.number, text=text, process=line.process, host=line.host)


def _proof(item: Diagnosed, diagnosis: Diagnosis) -> list[Cited]:
    match = item.match
    evidence = diagnosis.evidence
    indices = list(match.lines)
    first = next((test.pattern for test in (*match.rule.all, *match.rule.any) if test.pattern is not None), None)
    if match.anchor is not None and first is not None:
        # The record that announces a failure and the exception itself often share their words: show the exception.
        exception = next(
            (at for at in evidence.hits.get(first, []) if at != match.anchor and _is_exception(at, diagnosis)), None
        )
        if exception is not None:
            indices.insert(1, exception)
    if match.failing is not None and match.failing.raised is not None:
        indices.append(match.failing.raised.root.index)
        indices += message_lines(evidence, match.failing.raised.root)[1:][-1:]  # the reason often ends the message
    told: dict[str, int] = {}
    for at in indices:
        told.setdefault(evidence.lines[at].body.strip()[:400], at)  # several ranks often say the same
    return [_cite(evidence, at) for at in told.values()][:_MAX_PROOF]


def _is_exception(at: int, diagnosis: Diagnosis) -> bool:
    return bool(re.match(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b", diagnosis.evidence.lines[at].body))


def _check(check: Check, match: Match, language: Language) -> ReportCheck:
    return ReportCheck(
        id=check.id,
        text=fill(check.text.get(language), match),
        command=fill_command(check.command, match),
        expect=local(check.expect, match, language),
        scope=check.scope,
    )


def _step(step: Step, match: Match, language: Language) -> ReportStep:
    return ReportStep(
        text=fill(step.text.get(language), match),
        command=fill_command(step.command, match),
        risk=step.risk,
        verify=local(step.verify, match, language),
    )


def _diagnosis(item: Diagnosed, diagnosis: Diagnosis, library: Library, language: Language) -> ReportDiagnosis:
    match = item.match
    entry = library.entry(match.rule.id)
    return ReportDiagnosis(
        entry=entry.id,
        layer=entry.layer,
        title=fill_title(entry.title.get(language), match),
        cause=fill(entry.cause.get(language), match),
        confidence=item.confidence,
        evidence=_proof(item, diagnosis),
        consequences=[echo.rule.id for echo in item.consequences],
        consequence_titles=[title_of(echo, library, language) for echo in item.consequences],
        version_note=_version_note(match, diagnosis.facts, language),
        unknown_facts=match.unknown,
        checklist=[_check(check, match, language) for check in entry.checklist],
        recovery=[_step(step, match, language) for step in entry.recovery],
        avoid=[fill(text, match) for text in entry.avoid.get(language)],
        sources=[ReportSource(title=s.title, url=s.url, as_of=s.as_of.isoformat()) for s in entry.sources],
    )


def _version_note(match: Match, facts: Facts, language: Language) -> str | None:
    fact = facts.get("vllm_version")
    values = {
        "version": fact.value if fact else "?",
        "fixed_in": match.rule.fixed_in or "?",
        "range": match.rule.vllm or (f"<{match.rule.fixed_in}" if match.rule.fixed_in else "?"),
    }
    if match.fixed:
        return message(language, "version.fixed", **values)
    if match.outside:
        return message(language, "version.outside", **values)
    if match.version_unknown:
        key = "version.unknown" if match.rule.vllm else "version.unknown_fixed"
        return message(language, key, **values)
    return None


def _note(match: Match, evidence: Evidence, library: Library, language: Language) -> ReportNote:
    entry = library.entry(match.rule.id)
    return ReportNote(
        entry=entry.id,
        title=fill_title(entry.title.get(language), match),
        text=fill(entry.cause.get(language), match),
        evidence=[_cite(evidence, at) for at in match.lines[:2]],
    )


def _healthy(diagnosis: Diagnosis, language: Language) -> list[ReportNote]:
    """That nothing failed, with the line that shows how far the server came; or that another engine failed."""
    if diagnosis.engine is not None:
        title = message(language, "elsewhere.title", engine=diagnosis.engine)
        return [ReportNote(entry=ELSEWHERE, title=title, text=message(language, "elsewhere.text"), evidence=[])]
    if diagnosis.healthy is None:
        return []
    lines = diagnosis.evidence.lines
    fact = diagnosis.facts.get("stage")
    place = (fact.file, fact.line) if fact is not None else None
    shown = [at for at, line in enumerate(lines) if (line.file, line.number) == place][:1]
    key = "alarming" if diagnosis.notes else "text"
    return [
        ReportNote(
            entry=HEALTHY,
            title=message(language, f"healthy.{diagnosis.healthy}"),
            text=message(language, f"healthy.{key}"),
            evidence=[_cite(diagnosis.evidence, at) for at in shown],
        )
    ]


_NATIVE_KIND = re.compile(
    r"NCCL WARN|UCX  (?:ERROR|FATAL)|NVRM: Xid|Segmentation fault|Fatal Python error|oom-kill|OOMKilled|Killed process"
)


def _root(diagnosis: Diagnosis) -> RootException | None:
    failure = diagnosis.root
    if failure is None:
        return None
    if failure.raised is not None:
        raised = failure.raised.root
        line = raised.line
        return RootException(
            type=raised.type,
            text=raised.message or _place_of(raised),
            process=line.process,
            host=line.host,
            file=line.file,
            line=line.number,
        )
    line = failure.line
    native = _NATIVE_KIND.search(line.body)
    kind = native.group(0) if native else line.level or "message"
    return RootException(
        type=kind, text=line.body.strip(), process=line.process, host=line.host, file=line.file, line=line.number
    )


def _place_of(raised: Raised) -> str:
    """Where an exception without a message was raised."""
    if not raised.frames:
        return raised.type
    path, function = raised.frames[-1]
    return f"in {function} ({path.rpartition('/')[2]})" if function else f"in {path.rpartition('/')[2]}"


def _facts(facts: Facts) -> dict[str, ReportFact]:
    out = {}
    for name in sorted(facts.names()):
        fact = facts.get(name)
        if fact is None:
            continue
        others = sorted({str(other.value) for other in facts.all(name)} - {str(fact.value)})
        out[name] = ReportFact(value=fact.value, file=fact.file, line=fact.line, host=fact.host, others=others[:8])
    return out


def _missing(diagnosis: Diagnosis, language: Language) -> list[MissingEvidence]:
    if diagnosis.outcome == "unrelated":
        return []
    keys = list(dict.fromkeys(missing_keys(diagnosis)))[:_MAX_MISSING]
    out = []
    for key in keys:
        name, _, fact = key.partition(":")
        what = message(language, f"missing.{name}.what", fact=fact)
        command = message(language, f"missing.{name}.command")
        out.append(MissingEvidence(what=what, command=command))
    return out
