"""`make eval`: how right the answers are on real logs, on every entry's logs, and every entry against all foreign logs.

Prints a table and the list of foreign claims; exits non-zero where a goal is missed or a foreign claim is neither
mended nor justified in `tests/kb/foreign_claims.yaml`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

from kb.engine import diagnose
from kb.evidence import Source
from kb.library import Library
from kb.lint import report_on
from kb.report import Report

TESTS = Path(__file__).parent
CASES = TESTS / "cases"
CLAIMS = TESTS / "kb" / "foreign_claims.yaml"


@dataclass
class Score:
    """Counts over a set of logs with verdicts."""

    logs: int = 0
    failures: int = 0
    layer_at_1: int = 0
    layer_at_3: int = 0
    cited: int = 0
    with_key_lines: int = 0
    confident_errors: int = 0
    quiet: int = 0
    claims_on_quiet: int = 0
    misses: list[str] = field(default_factory=list)


def layers_of(report: Report) -> list[str]:
    """Layers in the order named: `unknown` and `unrelated` stand for themselves."""
    if report.outcome != "matched":
        return [report.outcome]
    return list(dict.fromkeys(item.layer for item in report.diagnoses))


def cites(report: Report, key_lines: list[str]) -> bool:
    """Whether the report cites one of the lines that prove the verdict."""
    cited = [line.text for item in report.diagnoses for line in item.evidence]
    if report.root_exception is not None:
        cited += [report.root_exception.text, f"{report.root_exception.type}: {report.root_exception.text}"]
    return any(_same(text, key) for key in key_lines for text in cited)


def _same(text: str, key: str) -> bool:
    text, key = text.strip(), key.strip()
    return text == key or (len(text) > 12 and text in key) or (len(key) > 12 and key in text)


def judge(score: Score, name: str, report: Report, verdict: dict[str, object]) -> None:
    """Add one log with its verdict (the fields of `tests/cases/README.md`) to the score."""
    accepted = {str(verdict["layer"]), *verdict.get("accept_layers", [])}  # type: ignore[misc]
    named = layers_of(report)
    score.logs += 1
    confident = bool(report.diagnoses) and report.outcome == "matched" and report.diagnoses[0].confidence == "certain"
    if verdict["layer"] == "unrelated":
        score.quiet += 1
        if report.outcome != "unrelated":
            score.claims_on_quiet += 1
            score.misses.append(f"{name}: claims {named} ({report.diagnoses[0].entry if report.diagnoses else '-'})")
        return
    score.failures += 1
    right = named[0] in accepted
    score.layer_at_1 += right
    score.layer_at_3 += any(layer in accepted for layer in named[:3])
    if not right:
        score.misses.append(f"{name}: {named[0]} instead of {verdict['layer']}")
        score.confident_errors += confident
    keys = [str(key) for key in verdict.get("key_lines", [])]  # type: ignore[attr-defined]
    if keys:
        score.with_key_lines += 1
        if cites(report, keys):
            score.cited += 1
        else:
            score.misses.append(f"{name}: cites none of the lines that prove it")


def score_cases(library: Library) -> Score:
    """The shared cases: real logs with verdicts."""
    score = Score()
    for path in sorted(CASES.glob("*.json")):
        log = path.with_suffix(".log")
        report = diagnose([Source(log.name, [log.read_bytes()], paste=True)], library)
        judge(score, path.stem, report, json.loads(path.read_text(encoding="utf-8")))
    return score


def entry_logs(library: Library, kind: str) -> Iterator[tuple[str, Path]]:
    """(entry id, log) for all logs of a kind, `match` or `near_miss`."""
    for rule in library.rules:
        for log in sorted((library.base_of(rule.id) / kind).glob("*.log")):
            yield rule.id, log


def foreign_claims(library: Library) -> list[tuple[str, str, str, bool]]:
    """(claiming entry, entry the log belongs to, log, first): every cause diagnosed on a log of another entry."""
    claims = []
    for owner, log in entry_logs(library, "match"):
        report = report_on(log, library)
        for place, item in enumerate(report.diagnoses):
            if item.entry != owner:
                claims.append((item.entry, owner, f"match/{log.name}", place == 0))
    for owner, log in entry_logs(library, "near_miss"):
        report = report_on(log, library)
        if report.diagnoses and report.diagnoses[0].confidence == "certain":
            claims.append((report.diagnoses[0].entry, owner, f"near_miss/{log.name}", True))
    return claims


def score_entries(library: Library) -> Score:
    """Every entry's own logs."""
    score = Score()
    for owner, log in entry_logs(library, "match"):
        rule = library.by_id[owner]
        if rule.kind != "cause":
            continue
        report = report_on(log, library)
        score.logs += 1
        score.failures += 1
        named = layers_of(report)
        score.layer_at_1 += named[0] == rule.layer
        score.layer_at_3 += rule.layer in named[:3]
        if not report.diagnoses or report.diagnoses[0].entry != owner:
            first = report.diagnoses[0].entry if report.diagnoses else report.outcome
            score.misses.append(f"{owner}/{log.name}: {first}")
            score.confident_errors += bool(report.diagnoses) and report.diagnoses[0].confidence == "certain"
    return score


def justified() -> dict[str, str]:
    """Foreign claims that are right, as `claiming > owner`, each with its reason."""
    if not CLAIMS.exists():
        return {}
    data: dict[str, str] = yaml.safe_load(CLAIMS.read_text(encoding="utf-8")) or {}
    return data


def _row(table: Table, name: str, score: Score) -> None:
    def share(part: int, whole: int) -> str:
        return f"{part}/{whole}" + (f" ({100 * part / whole:.0f} %)" if whole else "")

    table.add_row(
        name,
        str(score.logs),
        share(score.layer_at_1, score.failures),
        share(score.layer_at_3, score.failures),
        share(score.cited, score.with_key_lines),
        str(score.confident_errors),
        share(score.claims_on_quiet, score.quiet),
    )


def main() -> int:
    """Print everything; 0 where all goals are met."""
    library = Library.open()
    cases, entries = score_cases(library), score_entries(library)
    columns = (
        "logs",
        "count",
        "layer at 1",
        "layer at 3",
        "cited line right",
        "confident errors",
        "claims on quiet logs",
    )
    table = Table(*columns)
    _row(table, "real cases", cases)
    _row(table, "entries' own logs", entries)
    console = Console(width=200)
    console.print(table)
    for miss in cases.misses + entries.misses:
        console.print(f"  miss: {miss}", markup=False, highlight=False)
    claims = foreign_claims(library)
    reasons = justified()
    open_claims = 0
    console.print(f"\ncross-matrix: {len(library.rules)} entries, {len(claims)} foreign claims")
    for claimant, owner, log, first in claims:
        reason = reasons.get(f"{claimant} > {owner}") or reasons.get(f"{claimant} > *")
        open_claims += reason is None
        mark = reason or "OPEN: mend it, or say in one line why it is right"
        place = " (first)" if first else ""
        console.print(f"  {claimant} on {owner} {log}{place}: {mark}", markup=False, highlight=False)
    met = (
        cases.layer_at_1 >= 0.95 * cases.failures
        and cases.confident_errors == 0
        and cases.claims_on_quiet == 0
        and not entries.misses
        and open_claims == 0
    )
    console.print(f"\nopen foreign claims: {open_claims}; goals {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
