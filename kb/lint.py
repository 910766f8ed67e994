"""What is wrong with entries: format, languages, patterns, facts, edges, logs, and the verdict on their own logs."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from kb.engine import diagnose
from kb.entry import LANGUAGES, LAYERS, PLACEHOLDER
from kb.errors import EntryError, UnknownEntryError
from kb.evidence import Source
from kb.facts.vocabulary import fact_type
from kb.folders import Found, builtin_directory, entry_text, find_entries, meant_by, read_entry
from kb.library import Library
from kb.mistakes import Lines, Place
from kb.scanner import PatternError, compile_hyperscan, compile_re2
from kb.yamlfile import load_yaml

if TYPE_CHECKING:
    from kb.entry import Entry, Language
    from kb.report import Report

MIN_SYMPTOMS = 3
"""Per language: a question finds an entry only by the words somebody thought of."""
MAX_CHECKS = 5

_CLASS = re.compile(r"\[(?:\\.|[^\]\\])+\]")
_ANCHOR = re.compile(r"(?<!\\)(?:\\\\)*[\^$]")
_GROUP = re.compile(r"\(\?P<(\w+)>")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to mend, as one sentence, and where: the file with its line, or the folder of the entry."""

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
    judged beside each other. Raises EntryError for a directory and UnknownEntryError for an `only` that does not exist.
    """
    faults: list[EntryError] = []
    found = find_entries([builtin_directory(), *directories], faults)
    if only is not None and not any(_wanted(item.path.parent, only) for item in found.values()) and only not in LAYERS:
        hint = "" if directories else "; entries of your own are seen with --kb DIR or K3TRIAGE_KB"
        meant = meant_by(only.rpartition("/")[2], [*LAYERS, *found])
        raise UnknownEntryError(f"there is no layer or entry {only!r}; {meant}`k3triage kb list` shows all{hint}")
    return _lint(directories, found, faults, only)


def _lint(
    directories: Sequence[Path], found: dict[str, Found], faults: Sequence[EntryError], only: str | None
) -> Iterator[Problem]:
    for fault in faults:
        if only is None or only in Path(fault.where).parts:
            yield from (Problem(fault.where, str(mistake)) for mistake in fault.mistakes)
    judged: list[tuple[Entry, Path]] = []
    for item in found.values():
        folder = item.path.parent
        if not _wanted(folder, only):
            continue
        try:
            judged.append((read_entry(item.path), folder))
        except EntryError as error:
            yield from _broken(item.path, error)
    common = everyday_lines()
    for entry, folder in judged:
        yield from _entry_problems(entry, folder, found.keys(), common)
    if not judged:
        return  # making the index takes seconds
    library = Library.open(directories)
    edges = {rule.id: list(rule.explains) for rule in library.rules}
    yield from (Problem("explains", text) for text in _cycles(edges))
    for entry, folder in judged:
        for text in _verdict_problems(entry, folder, library):
            yield Problem(shown(folder), text)


def _wanted(folder: Path, only: str | None) -> bool:
    return only in (None, folder.name, folder.parent.name, f"{folder.parent.name}/{folder.name}")


def shown(path: Path) -> str:
    """A path as short as it can be given from where the person stands."""
    try:
        short = Path(os.path.realpath(path)).relative_to(Path.cwd())
    except (ValueError, OSError):
        return str(path)
    return str(path if short == Path() else short)


def _broken(path: Path, error: EntryError) -> Iterator[Problem]:
    """The mistakes of a file that is no entry yet, and whatever can be said of its folder already."""
    for mistake in error.mistakes:
        yield Problem(shown(path) + (f":{mistake.line}" if mistake.line else ""), mistake.text)
    try:
        symptoms = load_yaml(entry_text(path))["symptoms"]
        filled: dict[Language, list[str]] = {
            lang: [text for text in symptoms[lang] if isinstance(text, str) and text] for lang in LANGUAGES
        }
    except (EntryError, ValueError, LookupError, TypeError, yaml.YAMLError):
        filled = {}  # told above
    if any(filled.values()) and (text := _too_few(filled)):
        yield Problem(shown(path), text)
    yield from (Problem(shown(path.parent), text) for text in _missing_logs(path.parent))


def _too_few(symptoms: Mapping[Language, Sequence[str]]) -> str:
    """What is wrong with the number of symptoms; nothing where there are enough."""
    few = [language for language, texts in symptoms.items() if len(set(texts)) < MIN_SYMPTOMS]
    if not few:
        return ""
    return f"symptoms needs {MIN_SYMPTOMS} or more, all different, in each language; fewer in {', '.join(few)}"


def _entry_problems(entry: Entry, folder: Path, ids: Collection[str], common: list[str]) -> Iterator[Problem]:
    path = folder / "entry.yaml"
    lines: Lines | None = None
    for place, text in _content_problems(entry, ids, common):
        lines = lines or Lines(path.read_text(encoding="utf-8"))
        yield Problem(f"{shown(path)}:{lines.of(place)}", text)
    yield from (Problem(shown(folder), text) for text in _missing_logs(folder))


def _content_problems(entry: Entry, ids: Collection[str], common: list[str]) -> Iterator[tuple[Place, str]]:
    signature = entry.signature
    for group in ("all", "any", "none"):
        for number, condition in enumerate(getattr(signature, group)):
            place: Place = ("signature", group, number)
            if condition.pattern is not None:
                yield from ((place, text) for text in _pattern_problems(condition.pattern))
            if condition.fact is not None and fact_type(condition.fact) is None:
                yield place, f"there is no fact {condition.fact!r}; docs/writing-entries.md lists all"
    yield from ((("signature",), text) for text in _common_problems(entry, common))
    groups = {name for condition in signature.all if condition.pattern for name in _GROUP.findall(condition.pattern)}
    for field, names in _placeholders(entry).items():
        for name in sorted(names - groups):
            yield (field,), f"{{{name}}} in a text is no named group of a pattern in all"
    for other in entry.explains:
        if other not in ids:
            yield ("explains",), f"explains {other!r}, which does not exist"
    if text := _too_few({language: entry.symptoms.get(language) for language in LANGUAGES}):
        yield ("symptoms",), text
    if len(entry.checklist) > MAX_CHECKS:
        yield ("checklist",), f"checklist has {len(entry.checklist)} items; more than {MAX_CHECKS} are not gone through"
    for number, check in enumerate(entry.checklist):
        if check.id in [other.id for other in entry.checklist[:number]]:
            yield ("checklist", number), f"checklist has the id {check.id!r} twice"


def _missing_logs(folder: Path) -> Iterator[str]:
    for kind in ("match", "near_miss"):
        if not _logs(folder, kind):
            yield f"has no log in {kind}/"


def _logs(folder: Path, kind: str) -> list[Path]:
    return sorted(path for path in (folder / kind).glob("*.log") if path.is_file())


def _placeholders(entry: Entry) -> dict[str, set[str]]:
    """The placeholders in the texts of each field."""
    return {
        field: set(PLACEHOLDER.findall(entry.model_dump_json(include={field}, exclude_none=True)))
        for field in ("title", "cause", "checklist", "recovery", "avoid")
    }


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
        try:
            report = report_on(log, library)
        except OSError as error:
            yield f"match/{log.name}: cannot be read: {error.strerror}"
            continue
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
        try:
            report = report_on(log, library)
        except OSError as error:
            yield f"near_miss/{log.name}: cannot be read: {error.strerror}"
            continue
        claimed = next((item for item in report.diagnoses if item.entry == entry.id), None)
        if claimed is not None and not (claimed.confidence == "possible" and claimed.version_note):
            yield f"near_miss/{log.name}: is diagnosed ({claimed.confidence})"
