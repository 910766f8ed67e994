"""What is wrong with entries: format, languages, patterns, facts, edges, logs, and the verdict on their own logs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from kb.engine import diagnose
from kb.entry import PLACEHOLDER
from kb.errors import EntryError
from kb.evidence import Source
from kb.facts.vocabulary import fact_type
from kb.library import Library, builtin_directory, find_entries, read_entry
from kb.scanner import PatternError, compile_hyperscan, compile_re2

if TYPE_CHECKING:
    from kb.entry import Entry
    from kb.report import Report

_CLASS = re.compile(r"\[(?:\\.|[^\]\\])+\]")
_ANCHOR = re.compile(r"(?<!\\)(?:\\\\)*[\^$]")
_GROUP = re.compile(r"\(\?P<(\w+)>")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to mend, as one sentence, and where."""

    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def everyday_lines() -> list[str]:
    """Lines that every healthy log is full of."""
    return resources.files("kb").joinpath("everyday.log").read_text(encoding="utf-8").splitlines()


def lint(directories: Sequence[Path] = (), only: str | None = None) -> Iterator[Problem]:
    """All problems of the built-in entries and those of `directories`, as they are found.

    `only` restricts the report to a layer or an entry; the whole library is loaded all the same, since entries are also
    judged beside each other.
    """
    every = [builtin_directory(), *directories]
    entries: dict[str, tuple[Entry, Path]] = {}
    for entry_id, found in find_entries(every).items():
        try:
            entries[entry_id] = (read_entry(found.path), found.path.parent)
        except EntryError as error:
            if _wanted(found.path.parent, only):
                for problem in error.problems:
                    yield Problem(f"{found.path.parent.parent.name}/{entry_id}", problem)
    common = everyday_lines()
    for entry, folder in entries.values():
        if _wanted(folder, only):
            for text in _entry_problems(entry, folder, set(entries), common):
                yield Problem(f"{entry.layer}/{entry.id}", text)
    yield from (Problem("explains", text) for text in _cycles({e.id: list(e.explains) for e, _ in entries.values()}))
    library = Library.open(directories)
    for entry, folder in entries.values():
        if _wanted(folder, only):
            for text in _verdict_problems(entry, folder, library):
                yield Problem(f"{entry.layer}/{entry.id}", text)


def _wanted(folder: Path, only: str | None) -> bool:
    return only is None or only in (folder.name, folder.parent.name)


def _entry_problems(entry: Entry, folder: Path, ids: set[str], common: list[str]) -> Iterator[str]:
    signature = entry.signature
    conditions = [*signature.all, *signature.any, *signature.none]
    for condition in conditions:
        if condition.pattern is not None:
            yield from _pattern_problems(condition.pattern)
        if condition.fact is not None and fact_type(condition.fact) is None:
            yield f"there is no fact {condition.fact!r}; docs/writing-entries.md lists all"
    yield from _common_problems(entry, common)
    groups = {name for condition in signature.all if condition.pattern for name in _GROUP.findall(condition.pattern)}
    for name in sorted(_placeholders(entry) - groups):
        yield f"{{{name}}} in a text is no named group of a pattern in all"
    for other in entry.explains:
        if other not in ids:
            yield f"explains {other!r}, which does not exist"
    for kind in ("match", "near_miss"):
        logs = _logs(folder, kind)
        if not logs:
            yield f"has no log in {kind}/"


def _logs(folder: Path, kind: str) -> list[Path]:
    return sorted((folder / kind).glob("*.log"))


def _placeholders(entry: Entry) -> set[str]:
    texts = entry.model_dump_json(exclude={"signature", "symptoms", "sources"}, exclude_none=True)
    return set(PLACEHOLDER.findall(texts))


def _pattern_problems(pattern: str) -> Iterator[str]:
    if _ANCHOR.search(_CLASS.sub("", pattern)):
        yield f"pattern {pattern!r} uses ^ or $, but framing stands in front of the text and may follow it"
    try:
        if compile_re2(pattern).search(b"") is not None:
            yield f"pattern {pattern!r} matches an empty line"
            return
        compile_hyperscan([pattern])
    except PatternError as error:
        yield str(error)


def _common_problems(entry: Entry, common: list[str]) -> Iterator[str]:
    signature = entry.signature
    if any(condition.complaint for condition in signature.all):
        return  # the person's words guard it
    anchors = [c for c in signature.all if c.pattern is not None][:1] or [
        c for c in signature.any if c.pattern is not None
    ]
    for condition in anchors:
        try:
            program = compile_re2(condition.pattern or "")
        except PatternError:
            continue
        hit = next((line for line in common if program.search(line.encode())), None)
        if hit is not None:
            yield f"pattern {condition.pattern!r} matches an everyday line: {hit[:100]!r}"


def _cycles(edges: dict[str, list[str]]) -> Iterator[str]:
    done: set[str] = set()
    for start in sorted(edges):
        path: list[str] = []
        yield from _walk(start, edges, path, done)


def _walk(node: str, edges: dict[str, list[str]], path: list[str], done: set[str]) -> Iterator[str]:
    if node in path:
        yield "entries explain each other in a circle: " + " -> ".join([*path[path.index(node) :], node])
        return
    if node in done:
        return
    path.append(node)
    for following in edges.get(node, []):
        yield from _walk(following, edges, path, done)
    path.pop()
    done.add(node)


def report_on(log: Path, library: Library) -> Report:
    """The report on one log file of an entry."""
    return diagnose([Source(log.name, [log.read_bytes()], paste=True)], library)


def _verdict_problems(entry: Entry, folder: Path, library: Library) -> Iterator[str]:
    for log in _logs(folder, "match"):
        report = report_on(log, library)
        named = [item.entry for item in report.diagnoses]
        if entry.kind == "note":
            if entry.id not in [note.entry for note in report.notes] and report.outcome != "unrelated":
                yield f"match/{log.name}: the note is not shown"
            if entry.id in named:
                yield f"match/{log.name}: a note must not be a diagnosis"
        elif not named or named[0] != entry.id:
            yield f"match/{log.name}: first diagnosis is {named[0] if named else report.outcome!r}, not this entry"
        elif entry.kind == "cause" and report.outcome != "matched":
            yield f"match/{log.name}: outcome is {report.outcome}"
    for log in _logs(folder, "near_miss"):
        report = report_on(log, library)
        claimed = next((item for item in report.diagnoses if item.entry == entry.id), None)
        if claimed is not None and not (claimed.confidence == "possible" and claimed.version_note):
            yield f"near_miss/{log.name}: is diagnosed ({claimed.confidence})"
