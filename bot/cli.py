"""The command `k3triage`: the composition root. Everything heavy is imported where it is used."""

from __future__ import annotations

import contextlib
import errno
import io
import locale
import os
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

if TYPE_CHECKING:
    from bot.config import Settings
    from kb.entry import Language
    from kb.library import Library

EXIT_CODES = (
    "Exit codes: 0 a known failure was found; 3 a failure that no entry explains; 4 nothing here looks like a failure"
    " of serving; 1 nothing could be read, or a path does not exist; 2 the command was not understood. What was not"
    " read beside what was is named in the report. With --each the lowest of 0, 3, 4 counts."
)


class _Command(TyperCommand):
    """A command whose help and errors speak to people: no types of Python."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                parameter.display_type_rich = lambda ctx: None  # type: ignore[method-assign]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments. Raises BadParameter."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


class _Root(TyperGroup):
    """The whole command: what goes wrong with its output ends it in one line, or quietly."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the arguments, which prints help and version. Raises Exit."""
        with _printing():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises Exit."""
        with _printing():
            return super().invoke(ctx)


@contextlib.contextmanager
def _printing() -> Iterator[None]:
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        _to_nowhere()
        raise typer.Exit(0) from None
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        _to_nowhere()
        typer.echo(f"k3triage: cannot write: {error.strerror}", err=True)
        raise typer.Exit(1) from None


def _to_nowhere() -> None:
    """Let what is still to be printed go nowhere: the interpreter tries once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    name="k3triage",
    cls=_Root,
    help="Finds the failing layer and the root cause in Kimi K3 / vLLM logs, with the lines that prove it.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
kb_app = typer.Typer(help="Look into the knowledge base, and add to it.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(kb_app, name="kb")


class LanguageChoice(StrEnum):
    """Values of --lang."""

    auto = "auto"
    en = "en"
    ko = "ko"
    zh = "zh"
    ru = "ru"


class Format(StrEnum):
    """Values of --format."""

    text = "text"
    json = "json"
    markdown = "markdown"


KbOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--kb",
        metavar="DIR",
        envvar="K3TRIAGE_KB",
        help="Directory of your own entries, laid over the built-in ones. May be given more than once; in the variable"
        " directories are parted by blanks.",
    ),
]
LangOption = Annotated[
    LanguageChoice,
    typer.Option("--lang", help="Language of the answer; auto: that of the words around the log, else the locale's."),
]
KbLangOption = Annotated[LanguageChoice, typer.Option("--lang", help="Language of the texts; auto: the locale's.")]


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version  # noqa: PLC0415

        typer.echo(f"k3triage {version('k3-triage')}")
        raise typer.Exit


@app.callback()
def _root(
    _version_flag: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command(cls=_Command, epilog=EXIT_CODES)
def diagnose(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH", help="Logs, directories and bundles (zip, tar, gz, xz, zst, bz2); - is standard input."
        ),
    ] = None,
    lang: LangOption = LanguageChoice.auto,
    output: Annotated[Format, typer.Option("--format", help="How to print the report.")] = Format.text,
    each: Annotated[bool, typer.Option("--each", help="One report per path, instead of one for all together.")] = False,
    kb: KbOption = None,
) -> None:
    """Diagnose logs: the failing layer and the root cause.

    With the lines that prove it, checks and recovery steps. Without a path standard input is read.
    """
    from bot.diagnose import run_diagnose  # noqa: PLC0415

    given = list(paths or [])
    if "" in given:
        _fail("a path is empty; is a variable not set?", code=2)
    if not given:
        if sys.stdin.isatty():
            from bot.catalogue import say  # noqa: PLC0415

            _fail(say(_locale_language(), "error.no_input"), code=2)
        given = ["-"]
    raise typer.Exit(
        run_diagnose(
            given,
            library=_library(kb),
            language=None if lang is LanguageChoice.auto else _language(lang),
            fallback=_locale_language(),
            output=output.value,
            each=each,
        )
    )


@app.command(cls=_Command)
def schema() -> None:
    """Print the JSON Schema of the report."""
    import json  # noqa: PLC0415

    from kb.report import Report  # noqa: PLC0415

    typer.echo(json.dumps(Report.model_json_schema(by_alias=True), indent=2, ensure_ascii=False))


@app.command(cls=_Command)
def run() -> None:
    """Start the Slack bot, or without tokens a local workspace.

    The local workspace is a page in the browser, open to this machine only, with the bot in it; it is what runs as long
    as SLACK_BOT_TOKEN is not set.
    """
    from bot.logs import configure  # noqa: PLC0415
    from bot.run import run as run_bot  # noqa: PLC0415

    settings = _settings()
    configure(settings.log_level, settings.log_format)
    run_bot(settings, typer.echo)


@app.command(cls=_Command)
def doctor() -> None:
    """Check the set-up of the bot, and say how to mend it.

    Database, knowledge base, both tokens, scopes, socket and port: one line each.
    """
    from bot.doctor import examine  # noqa: PLC0415

    bad = 0
    for finding in examine(_settings()):
        typer.echo(f"{'ok ' if finding.good else 'BAD'}  {finding.what}")
        if not finding.good:
            bad += 1
            if finding.cure:
                typer.echo(f"     → {finding.cure}")
    raise typer.Exit(1 if bad else 0)


@app.command(cls=_Command)
def purge(
    days: Annotated[
        float | None,
        typer.Option("--days", metavar="DAYS", min=0, help="Age in days; default: K3TRIAGE_RETENTION_DAYS (90)."),
    ] = None,
) -> None:
    """Forget incidents older than the retention.

    With their evidence: incidents that nobody has touched for so many days.
    """
    import time  # noqa: PLC0415

    from bot.inbox import Inbox  # noqa: PLC0415
    from bot.service.purging import purge as forget  # noqa: PLC0415
    from bot.store import Database, IncidentStore  # noqa: PLC0415

    settings = _settings()
    database = Database(settings.database)
    age = settings.retention_days if days is None else days
    purged = forget(IncidentStore(database), Inbox(database), age, time.time())
    database.close()
    typer.echo(f"forgot {purged.incidents} incidents and {purged.deliveries} deliveries older than {age:g} days")


def _settings() -> Settings:
    from pydantic import ValidationError  # noqa: PLC0415

    from bot.config import Settings, settings_problems  # noqa: PLC0415
    from bot.errors import UsageError  # noqa: PLC0415

    try:
        return Settings()
    except ValidationError as error:
        raise UsageError(f"{settings_problems(error)}; deploy/.env.example explains all settings") from None


@kb_app.command("list", cls=_Command)
def kb_list(
    layer: Annotated[str | None, typer.Option("--layer", metavar="LAYER", help="Only entries of this layer.")] = None,
    lang: KbLangOption = LanguageChoice.auto,
    kb: KbOption = None,
) -> None:
    """List the entries: layer, id and title."""
    from bot import knowledge  # noqa: PLC0415

    knowledge.print_list(_library(kb), layer, _language(lang))


@kb_app.command("show", cls=_Command)
def kb_show(
    entry: Annotated[str, typer.Argument(metavar="ID", help="Id of an entry.")],
    lang: KbLangOption = LanguageChoice.auto,
    kb: KbOption = None,
) -> None:
    """Show one entry in full."""
    from bot import knowledge  # noqa: PLC0415

    knowledge.print_entry(_library(kb), entry, _language(lang))


@kb_app.command("search", cls=_Command, context_settings={"ignore_unknown_options": True})
def kb_search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="Words in any of the languages.")],
    lang: KbLangOption = LanguageChoice.auto,
    kb: KbOption = None,
) -> None:
    """Search titles and symptoms."""
    from bot import knowledge  # noqa: PLC0415

    knowledge.print_search(_library(kb), " ".join(words), _language(lang))


@kb_app.command("stats", cls=_Command)
def kb_stats(kb: KbOption = None) -> None:
    """Count entries per layer, kind and confidence."""
    from bot import knowledge  # noqa: PLC0415

    knowledge.print_stats(_library(kb))


@kb_app.command("lint", cls=_Command)
def kb_lint(
    only: Annotated[
        str | None, typer.Option("--only", metavar="LAYER|ID", help="Report only on this layer or entry.")
    ] = None,
    kb: KbOption = None,
) -> None:
    """Say what is wrong with entries.

    Format, languages, patterns, facts, edges, logs, and whether each entry is the answer to its own logs.
    """
    from bot import knowledge  # noqa: PLC0415

    raise typer.Exit(knowledge.print_lint(list(kb or []), only))


@kb_app.command("new", cls=_Command)
def kb_new(
    layer: Annotated[str, typer.Argument(metavar="LAYER", help="Layer of the new entry.")],
    entry: Annotated[str, typer.Argument(metavar="ID", help="Id of the new entry: lower case, hyphens.")],
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="DIR",
            help="Directory of your own entries, made if need be; else the first one of --kb or K3TRIAGE_KB."
            " In a checkout `--to kb/entries` adds to the built-in ones.",
        ),
    ] = None,
    kb: KbOption = None,
) -> None:
    """Make the skeleton of an entry, to be filled in."""
    from bot import knowledge  # noqa: PLC0415

    knowledge.make_skeleton(to or (kb[0] if kb else None), layer, entry)


def _library(directories: list[Path] | None) -> Library:
    from bot.cachedir import cache_directory  # noqa: PLC0415
    from bot.rendering.literal import literal_line  # noqa: PLC0415
    from kb.library import Library  # noqa: PLC0415

    library = Library.open(directories or [], cache_directory())
    for problem in library.problems:
        typer.echo(f"k3triage: {literal_line(problem)}", err=True)
    return library


def _language(choice: LanguageChoice) -> Language:
    from kb.language import language_of_locale  # noqa: PLC0415

    return language_of_locale(choice.value) or _locale_language()


def _locale_language() -> Language:
    from kb.language import language_of_locale  # noqa: PLC0415

    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return language_of_locale(value) or "en"
    return language_of_locale(locale.getlocale()[0] or "") or "en"


def _fail(text: str, code: int = 1) -> None:
    typer.echo(f"k3triage: {text}", err=True)
    raise typer.Exit(code)


def _streams() -> bool:
    """Make the standard streams fit for use; False where there is nowhere to print to."""
    if sys.stdin is None:  # closed by `<&-`
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - for as long as the process runs
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        print("k3triage: standard output is closed", file=sys.stderr)
        return False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what cannot be printed here is printed as its code
    return True


def main() -> None:
    """Entry point of the command."""
    from bot.errors import BotError  # noqa: PLC0415
    from bot.rendering.literal import literal  # noqa: PLC0415
    from kb.errors import KbError  # noqa: PLC0415

    if not _streams():
        sys.exit(1)
    try:
        app()
    except (BotError, KbError) as error:
        typer.echo(f"k3triage: {literal(str(error))}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
