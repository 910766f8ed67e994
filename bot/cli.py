"""The command `k3triage`: the composition root. Everything heavy is imported where it is used."""

from __future__ import annotations

import locale
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bot.config import Settings
    from kb.entry import Language
    from kb.library import Library

EXIT_CODES = (
    "Exit codes: 0 a known failure was found; 3 a failure that no entry explains; 4 nothing here looks like a failure"
    " of serving; 1 something could not be read or written; 2 the command was not understood. With --each"
    " the lowest of 0, 3, 4 counts."
)

app = typer.Typer(
    name="k3triage",
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
        envvar="K3TRIAGE_KB",
        help="Directory of private entries laid over the built-in ones; may be repeated (in the variable: by blanks).",
    ),
]
LangOption = Annotated[
    LanguageChoice,
    typer.Option("--lang", help="Language of the answer; auto: that of the words around the log, else the locale's."),
]


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


@app.command(epilog=EXIT_CODES)
def diagnose(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH …|-]", help="Logs, directories and bundles (zip, tar, gz, xz, zst, bz2); - is stdin."
        ),
    ] = None,
    lang: LangOption = LanguageChoice.auto,
    output: Annotated[Format, typer.Option("--format", help="How to print the report.")] = Format.text,
    each: Annotated[bool, typer.Option("--each", help="One report per path, instead of one for all together.")] = False,
    kb: KbOption = None,
) -> None:
    """Diagnose logs: the failing layer, the root cause with its lines, checks and recovery."""
    from bot.diagnose import run_diagnose  # noqa: PLC0415

    given = list(paths or [])
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


@app.command()
def schema() -> None:
    """Print the JSON Schema of the report."""
    import json  # noqa: PLC0415

    from kb.report import Report  # noqa: PLC0415

    typer.echo(json.dumps(Report.model_json_schema(by_alias=True), indent=2, ensure_ascii=False))


@app.command()
def run() -> None:
    """Start the Slack bot; without SLACK_BOT_TOKEN with a workspace of its own, on this machine only."""
    from bot.logs import configure  # noqa: PLC0415
    from bot.run import run as run_bot  # noqa: PLC0415

    settings = _settings()
    configure(settings.log_level, settings.log_format)
    run_bot(settings, typer.echo)


@app.command()
def doctor() -> None:
    """Check tokens, scopes, socket, database and knowledge base; say what is missing and how to mend it."""
    from bot.doctor import examine  # noqa: PLC0415

    bad = 0
    for finding in examine(_settings()):
        typer.echo(f"{'ok  ' if finding.good else 'BAD '} {finding.what}")
        if not finding.good:
            bad += 1
            typer.echo(f"     → {finding.cure}")
    raise typer.Exit(1 if bad else 0)


@app.command()
def purge(
    days: Annotated[
        float | None, typer.Option("--days", min=0, help="Age in days; default: K3TRIAGE_RETENTION_DAYS (90).")
    ] = None,
) -> None:
    """Forget incidents and their evidence that nobody has touched for so many days."""
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

    from bot.config import Settings  # noqa: PLC0415
    from bot.errors import UsageError  # noqa: PLC0415

    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "_".join(str(part) for part in first["loc"])
        raise UsageError(f"setting {name}: {first['msg']}; see deploy/.env.example") from None


@kb_app.command("list")
def kb_list(
    layer: Annotated[str | None, typer.Option("--layer", help="Only entries of this layer.")] = None,
    lang: LangOption = LanguageChoice.auto,
    kb: KbOption = None,
) -> None:
    """List the entries: layer, id and title."""
    from bot import knowledge  # noqa: PLC0415

    knowledge.print_list(_library(kb), layer, _language(lang))


@kb_app.command("show")
def kb_show(
    entry: Annotated[str, typer.Argument(metavar="ID", help="Id of an entry.")],
    lang: LangOption = LanguageChoice.auto,
    kb: KbOption = None,
) -> None:
    """Show one entry in full."""
    from bot import knowledge  # noqa: PLC0415

    knowledge.print_entry(_library(kb), entry, _language(lang))


@kb_app.command("search", context_settings={"ignore_unknown_options": True})
def kb_search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="Words in any of the languages.")],
    lang: LangOption = LanguageChoice.auto,
    kb: KbOption = None,
) -> None:
    """Search titles and symptoms."""
    from bot import knowledge  # noqa: PLC0415

    knowledge.print_search(_library(kb), " ".join(words), _language(lang))


@kb_app.command("stats")
def kb_stats(kb: KbOption = None) -> None:
    """Count entries per layer, kind and confidence."""
    from bot import knowledge  # noqa: PLC0415

    knowledge.print_stats(_library(kb))


@kb_app.command("lint")
def kb_lint(
    only: Annotated[str | None, typer.Option("--only", help="Report only on this layer or entry.")] = None,
    kb: KbOption = None,
) -> None:
    """Refuse what is wrong with entries: format, languages, patterns, edges, logs and verdicts."""
    from bot import knowledge  # noqa: PLC0415

    raise typer.Exit(knowledge.print_lint(list(kb or []), only))


@kb_app.command("new")
def kb_new(
    layer: Annotated[str, typer.Argument(metavar="LAYER", help="Layer of the new entry.")],
    entry: Annotated[str, typer.Argument(metavar="ID", help="Id of the new entry: lower case, hyphens.")],
    to: Annotated[
        Path | None, typer.Option("--to", help="Directory of entries; default: the first --kb directory.")
    ] = None,
    kb: KbOption = None,
) -> None:
    """Make the skeleton of an entry, to be filled in."""
    from bot import knowledge  # noqa: PLC0415

    knowledge.make_skeleton(to or (kb[0] if kb else None), layer, entry)


def _library(directories: list[Path] | None) -> Library:
    from bot.cachedir import cache_directory  # noqa: PLC0415
    from kb.library import Library  # noqa: PLC0415

    library = Library.open(directories or [], cache_directory())
    for problem in library.problems:
        typer.echo(f"k3triage: left out: {problem}", err=True)
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


def main() -> None:
    """Entry point of the command."""
    from bot.errors import BotError  # noqa: PLC0415
    from kb.errors import KbError  # noqa: PLC0415

    try:
        app()
    except (BotError, KbError) as error:
        typer.echo(f"k3triage: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        # The reader of our output went away, as `| head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
