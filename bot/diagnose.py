"""`k3triage diagnose`: from paths to printed reports."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bot.bundles import Limits, display_name, input_size, open_paths
from bot.catalogue import say
from bot.errors import BundleError
from bot.redaction import redact, redact_report
from bot.rendering.literal import literal
from kb.engine import diagnose
from kb.entry import Language
from kb.library import Library
from kb.report import Report

if TYPE_CHECKING:
    from rich.console import Console

EXIT_OF_OUTCOME = {"matched": 0, "unknown": 3, "unrelated": 4}
_NOT_READ = 20
"""Of this many inputs that were not read the names are told."""
_SHOW_PROGRESS_FROM = 200 << 20
"""Bytes of input from which reading takes about a second."""


def run_diagnose(
    paths: Sequence[str],
    *,
    library: Library,
    language: Language | None,
    fallback: Language,
    output: Literal["text", "json", "markdown"],
    each: bool,
) -> int:
    """Diagnose the paths and print the reports; returns the exit code.

    Where nothing could be read, standard error says what and why. Raises BotError.
    """
    try:
        open_paths(_inputs(paths), Limits())  # a path that is misspelt ends it before the first report
    except BundleError as error:
        raise BundleError(redact(str(error))) from None
    groups = [[path] for path in paths] if each else [list(paths)]
    codes = []
    printed = 0
    for group in groups:
        report = diagnose_paths(group, library, language, fallback)
        given = redact(display_name(group[0])) if each else None
        read = report.coverage.lines_read > 0
        if output == "json":
            _print_json(report, given)  # whoever reads it by program finds what was not read in it
        elif read and output == "markdown":
            _print_markdown(report, library, given, first=printed == 0)
        elif read:
            _print_text(report, library, given, first=printed == 0)
        sys.stdout.flush()
        printed += read
        if read:
            codes.append(EXIT_OF_OUTCOME[report.outcome])
        else:
            _say_unread(group, report)
    if not codes:
        print(f"k3triage: {say(language or fallback, 'error.no_input')}", file=sys.stderr)
        return 1
    return min(codes)


def _inputs(paths: Sequence[str]) -> list[Path | Literal["-"]]:
    return ["-" if path == "-" else Path(path) for path in paths]


def _say_unread(paths: Sequence[str], report: Report) -> None:
    """Name what was given and could not be read, on standard error."""
    not_read = report.coverage.not_read
    if not not_read:
        print(f"k3triage: {redact(' '.join(map(display_name, paths)))} holds no file", file=sys.stderr)
    for item in not_read[:_NOT_READ]:
        print(f"k3triage: {literal(item.file)} was not read: {literal(item.reason)}", file=sys.stderr)
    if len(not_read) > _NOT_READ:
        print(f"k3triage: … and {len(not_read) - _NOT_READ} more", file=sys.stderr)


def diagnose_paths(
    paths: Sequence[str], library: Library, language: Language | None, fallback: Language, limits: Limits | None = None
) -> Report:
    """One report on all paths together, without secrets. Raises BundleError for a path that cannot be opened."""
    inputs = _inputs(paths)
    with _Progress(input_size(inputs)) as advance:
        sources = open_paths(inputs, limits or Limits(), stdin=sys.stdin.buffer, progress=advance)
        report = diagnose(sources, library, language, fallback)
    return redact_report(report)


def _print_json(report: Report, path: str | None) -> None:
    data = report.to_json_dict()
    if path is not None:
        data = {"input": path, **data}
        print(json.dumps(data, ensure_ascii=False))
    else:
        print(json.dumps(data, ensure_ascii=False, indent=2))


def _print_markdown(report: Report, library: Library, path: str | None, *, first: bool) -> None:
    from bot.rendering.markdown import markdown  # noqa: PLC0415

    if path is not None:
        print(("" if first else "\n---\n\n") + f"<!-- {_in_comment(path)} -->\n")
    print(markdown(report, library), end="")


def _in_comment(text: str) -> str:
    """The text with a backslash where it would end a comment of HTML."""
    return text.replace("--", "-\\-").removeprefix(">")


def _print_text(report: Report, library: Library, path: str | None, *, first: bool) -> None:
    from rich.console import Console  # noqa: PLC0415

    from bot.rendering.text import TextRenderer  # noqa: PLC0415

    terminal = sys.stdout.isatty()
    text = io.StringIO()
    # On a pipe there is no width to know; 100 columns read well in a ticket.
    console = Console(
        file=None if terminal else text, highlight=False, markup=False, emoji=False, width=None if terminal else 100
    )
    if path is not None:
        if not first:
            console.print()
        _print_heading(console, path)
    TextRenderer(console, library).print(report)
    for line in text.getvalue().splitlines():
        print(line.rstrip())  # rich fills lines with blanks


def _print_heading(console: Console, path: str) -> None:
    """A rule with the path in it. A path too long for that stands above the rule: its end is what tells files apart."""
    from rich.cells import cell_len  # noqa: PLC0415

    if cell_len(path) > console.width - 4:
        console.print(path, soft_wrap=True)
        path = ""
    console.rule(path)


class _Progress:
    """A progress bar on the terminal's error stream, for large inputs only."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._wanted = sys.stderr.isatty() and (total is None or total >= _SHOW_PROGRESS_FROM)
        self._read = 0
        self._bar: object = None

    def __enter__(self) -> Callable[[int], None]:
        return self._advance

    def _advance(self, size: int) -> None:
        self._read += size
        if not self._wanted or (self._total is None and self._read < _SHOW_PROGRESS_FROM):
            return
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

        if self._bar is None:
            bar = Progress(
                BarColumn(), DownloadColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True
            )
            bar.start()
            self._task = bar.add_task("", total=self._total)
            bar.advance(self._task, self._read - size)
            self._bar = bar
        self._bar.advance(self._task, size)  # type: ignore[attr-defined]

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()  # type: ignore[attr-defined]
