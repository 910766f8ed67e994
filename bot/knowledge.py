"""`k3triage kb …`: looking into the knowledge base and adding to it."""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
from datetime import date
from pathlib import Path

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot.errors import UsageError
from bot.rendering.literal import literal_line
from bot.rendering.titles import title_of
from kb.entry import LAYERS, Language
from kb.folders import builtin_directory
from kb.library import Library
from kb.symptoms import rank


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command how to end; Rich would end the process with an error."""
        raise BrokenPipeError


def _console() -> Console:
    return _Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 120)


def print_list(library: Library, layer: str | None, language: Language) -> None:
    """Print layer, id and title of all entries, or of one layer."""
    if layer is not None and layer not in LAYERS:
        raise UsageError(f"there is no layer {layer!r}; the layers are {', '.join(LAYERS)}")
    table = Table("layer", "id", "title", box=None, pad_edge=False)
    for rule in library.rules:
        if layer is None or rule.layer == layer:
            table.add_row(rule.layer, rule.id, title_of(library, rule.id, language))
    _console().print(table)


def print_entry(library: Library, entry_id: str, language: Language) -> None:
    """Print one entry in full. Raises UnknownEntryError."""
    entry = library.entry(entry_id)
    console = _console()
    console.print(Text(entry.title.get(language), "bold"))
    console.print(Text(f"{entry.layer} / {entry.id}  ({entry.kind}, {entry.confidence})", "dim"))
    console.print(Text(f"{library.base_of(entry_id)}/entry.yaml", "dim"), soft_wrap=True)
    console.print(Text(entry.cause.get(language)))
    limits = entry.applies_to
    if limits.vllm or limits.fixed_in:
        fixed = f", fixed in {limits.fixed_in}" if limits.fixed_in else ""
        console.print(Text(f"vLLM {limits.vllm or 'any'}{fixed}"))
    console.print(Text("signature", "bold underline"))
    for name in ("all", "any", "none"):
        for condition in getattr(entry.signature, name):
            shown = ", ".join(f"{key}: {value}" for key, value in condition.model_dump(exclude_none=True).items())
            console.print(Text(f"  {name:4} {shown}"), soft_wrap=True)
    for heading, texts in (("symptoms", entry.symptoms), ("avoid", entry.avoid)):
        console.print(Text(heading, "bold underline"))
        for text in texts.get(language):
            console.print(Padding(Text(f"- {text}"), (0, 0, 0, 2)))
    console.print(Text("checklist", "bold underline"))
    for check in entry.checklist:
        console.print(Padding(Text(f"- {check.text.get(language)}"), (0, 0, 0, 2)))
        if check.command:
            console.print(Text(f"    $ {check.command}", "bold"), soft_wrap=True)
    console.print(Text("recovery", "bold underline"))
    for step in entry.recovery:
        console.print(Padding(Text(f"- {step.text.get(language)} [{step.risk}]"), (0, 0, 0, 2)))
        if step.command:
            console.print(Text(f"    $ {step.command}", "bold"), soft_wrap=True)
    console.print(Text("sources", "bold underline"))
    for source in entry.sources:
        console.print(Text(f"  - {source.title}, {source.as_of}  {source.url or ''}"), soft_wrap=True)


def print_search(library: Library, words: str, language: Language) -> None:
    """Print the entries whose titles and symptoms fit the words best. Raises UsageError where none does."""
    words = words.encode("utf-8", "replace").decode()  # of bytes that are no UTF-8 the shell makes half characters
    found = [match for match in rank(library.database, words) if match.score >= 0.15][:12]
    exact = [rule.id for rule in library.rules if words.strip().lower() in rule.id]
    if not found and not exact:
        raise UsageError(f"no entry fits {words!r}; try other words, or `k3triage kb list`")
    table = Table("fit", "layer", "id", "title", box=None, pad_edge=False)
    for entry_id in exact[:5]:
        if entry_id not in {match.entry for match in found}:
            table.add_row("id", library.by_id[entry_id].layer, entry_id, title_of(library, entry_id, language))
    for match in found:
        layer = library.by_id[match.entry].layer
        table.add_row(f"{match.score:.2f}", layer, match.entry, title_of(library, match.entry, language))
    _console().print(table)


def print_stats(library: Library) -> None:
    """Print how many entries there are per layer, kind and confidence of the knowledge."""
    table = Table(
        "layer", "entries", "cause", "consequence", "note", "match logs", "near misses", box=None, pad_edge=False
    )
    totals: Counter[str] = Counter()
    for layer in LAYERS:
        rules = [rule for rule in library.rules if rule.layer == layer]
        kinds = Counter(rule.kind for rule in rules)
        logs = Counter[str]()
        for rule in rules:
            base = library.base_of(rule.id)
            logs["match"] += len(list((base / "match").glob("*.log")))
            logs["near_miss"] += len(list((base / "near_miss").glob("*.log")))
        row = {"entries": len(rules), **{k: kinds[k] for k in ("cause", "consequence", "note")}, **logs}
        totals.update(row)
        table.add_row(layer, *(str(row.get(k, 0)) for k in _COLUMNS))
    table.add_row("all", *(str(totals[k]) for k in _COLUMNS), style="bold")
    _console().print(table)


_COLUMNS = ("entries", "cause", "consequence", "note", "match", "near_miss")


def print_lint(directories: list[Path], only: str | None) -> int:
    """Print the problems of entries; returns the exit code."""
    from kb.lint import lint  # noqa: PLC0415

    count = 0
    for problem in lint(directories, only):
        count += 1
        typer.echo(literal_line(str(problem)))
    if count:
        typer.echo(f"{count} problem{'s' if count > 1 else ''}", err=True)
        return 1
    typer.echo("no problems")
    return 0


def make_skeleton(directory: Path | None, layer: str, entry_id: str) -> None:
    """Make the folder of a new entry with a template and empty log folders. Raises UsageError."""
    if layer not in LAYERS:
        raise UsageError(f"there is no layer {layer!r}; the layers are {', '.join(LAYERS)}")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry_id):
        raise UsageError(f"{entry_id!r} is no id; use lower-case letters, digits and single hyphens")
    if directory is None:
        raise UsageError("say where the entry goes: --to DIR, a directory of your own entries; it is made if need be")
    own = directory.resolve() != builtin_directory().resolve()
    if not own and not _is_checkout():
        raise UsageError(f"{directory} belongs to the installed package; give --to DIR, a directory of your own")
    folder = directory / layer / entry_id
    if folder.exists():
        raise UsageError(f"{folder} exists already; choose another id or edit that entry")
    try:
        for kind in ("match", "near_miss"):
            (folder / kind).mkdir(parents=True)
        text = _TEMPLATE.format(id=entry_id, layer=layer, today=date.today().isoformat())
        (folder / "entry.yaml").write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from None
    typer.echo(f"{folder}/entry.yaml: fill it in, put a log into match/ and one into near_miss/,")
    typer.echo(
        "then run: k3triage kb lint " + (f"--kb {shlex.quote(str(directory))} " if own else "") + f"--only {entry_id}"
    )


def _is_checkout() -> bool:
    """Whether the built-in entries are those of a repository, where they may be added to."""
    return (builtin_directory().parent.parent / "pyproject.toml").is_file()


_TEMPLATE = """\
# docs/writing-entries.md explains every field.
id: {id}
layer: {layer}
kind: cause                  # cause | consequence | note
stage: any                   # startup | serving | any
applies_to: {{}}               # vllm: ">=0.27.0", fixed_in: "0.28.0", platform: [cuda], hardware: [hopper]
signature:
  unique: false              # true only if nothing else prints this
  all:
    - pattern: 'the fixed words of the message that proves the cause'
explains: []
title: {{en: "", ko: "", zh: "", ru: ""}}
cause: {{en: "", ko: "", zh: "", ru: ""}}
symptoms:                    # three or more per language, as people say it who do not know the cause
  en: ["", "", ""]
  ko: ["", "", ""]
  zh: ["", "", ""]
  ru: ["", "", ""]
checklist:                   # one to five
  - id: first-check
    text: {{en: "", ko: "", zh: "", ru: ""}}
    command: ""              # read-only; empty where there is nothing to type
    expect: {{en: "", ko: "", zh: "", ru: ""}}
    scope: this_node         # this_node | every_node | container | client
recovery:                    # in order, the safest that works first
  - text: {{en: "", ko: "", zh: "", ru: ""}}
    command: ""
    risk: restart            # safe | restart | reboot | data
    verify: {{en: "", ko: "", zh: "", ru: ""}}
avoid: {{en: [""], ko: [""], zh: [""], ru: [""]}}
sources:
  - {{title: "", url: "", as_of: {today}}}      # url may stay empty
confidence: medium           # high | medium | low; only with high can an answer be certain
"""
