"""`k3triage doctor`: what is set, what is missing, and the cure; one line a check."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.config import Settings
from bot.errors import BotError
from bot.slackio.errors import unreachable

SCOPES = frozenset(
    {
        "app_mentions:read",
        "channels:history",
        "groups:history",
        "im:history",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "users:read",
        "usergroups:read",
    }
)
"""What deploy/slack-manifest.yaml asks for; a test holds the two together."""

_PATIENCE = 10
"""Seconds to wait for an answer of Slack."""
_NETWORK = "check the network; where a proxy leads out, set HTTPS_PROXY"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. `cure` says what to do where it is not good and `what` does not say so itself."""

    good: bool
    what: str
    cure: str = ""


def examine(settings: Settings) -> Iterator[Finding]:
    """Run all checks, each on its own: one that fails stops no other."""
    yield from _database(settings)
    yield from _knowledge(settings)
    reached = True
    for finding in _bot_token(settings):
        reached = reached and finding.cure is not _NETWORK
        yield finding
    yield from _app_token(settings, ask=reached)
    yield from _http(settings)


def _database(settings: Settings) -> Iterator[Finding]:
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    from bot.store import Database  # noqa: PLC0415
    from bot.store.migrate import head  # noqa: PLC0415

    try:
        database = Database(settings.database)
    except BotError as error:
        yield Finding(False, str(error))
        return
    kind = database.engine.dialect.name
    try:
        database.put_setting("doctor", str(time.time()))
    except SQLAlchemyError as error:
        reason = str(error).splitlines()[0]
        yield Finding(
            False, f"the database cannot be written: {reason}", "give the bot's user the right to write it, and room"
        )
        return
    finally:
        database.close()
    yield Finding(True, f"database: {kind}, can be written, schema {head()}")


def _knowledge(settings: Settings) -> Iterator[Finding]:
    from bot.cachedir import cache_directory  # noqa: PLC0415
    from kb.errors import KbError  # noqa: PLC0415
    from kb.library import Library  # noqa: PLC0415

    try:
        library = Library.open(list(settings.kb), cache_directory())
    except KbError as error:
        yield Finding(False, f"knowledge base: {error}")
        return
    yield Finding(True, f"knowledge base: {len(library.rules)} entries")
    for problem in library.problems:
        yield Finding(False, problem)


def _bot_token(settings: Settings) -> Iterator[Finding]:
    token = settings.bot_token
    if token is None:
        yield Finding(
            False,
            "SLACK_BOT_TOKEN is not set",
            "install the app and copy the token that begins with xoxb- from OAuth & Permissions;"
            " without it `k3triage run` opens a local workspace",
        )
        return
    if not token.startswith("xoxb-"):
        yield Finding(False, "SLACK_BOT_TOKEN does not begin with xoxb-", "copy the Bot User OAuth Token")
    client = _client(settings, token)
    try:
        answer = client.auth_test()
    except SlackApiError as error:
        yield Finding(False, f"SLACK_BOT_TOKEN is refused: {_code(error)}", "install the app again and copy its token")
        return
    except OSError as error:
        yield Finding(False, f"Slack cannot be reached at {_host(settings)}: {unreachable(error, _PATIENCE)}", _NETWORK)
        return
    yield Finding(True, f"bot token: {answer.get('user')} in {answer.get('team')}")
    yield from _scopes(answer.headers)
    if settings.lead_group:
        yield _asked("lead group", lambda: client.usergroups_users_list(usergroup=str(settings.lead_group)))


def _client(settings: Settings, token: str | None = None) -> WebClient:
    # No second attempt: whoever waits in front of a terminal can ask again.
    return WebClient(token=token, base_url=settings.slack_api_url, timeout=_PATIENCE, retry_handlers=[])


def _host(settings: Settings) -> str:
    return urlsplit(settings.slack_api_url).hostname or settings.slack_api_url


def _scopes(headers: dict[str, Any]) -> Iterator[Finding]:
    value = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), None)
    if value is None:
        return
    granted = {scope.strip() for scope in (value[0] if isinstance(value, list) else str(value)).split(",")}
    missing = sorted(SCOPES - granted)
    if missing:
        cure = "update the app from deploy/slack-manifest.yaml and install it again"
        yield Finding(False, f"scopes missing: {', '.join(missing)}", cure)
    else:
        yield Finding(True, f"scopes: all {len(SCOPES)}")


def _app_token(settings: Settings, *, ask: bool) -> Iterator[Finding]:
    if settings.slack_mode == "http":
        good = settings.signing_secret is not None
        cure = "copy the Signing Secret from Basic Information of the app"
        yield Finding(good, "SLACK_SIGNING_SECRET is set" if good else "SLACK_SIGNING_SECRET is not set", cure)
        return
    token = settings.app_token
    if token is None:
        yield Finding(
            False,
            "SLACK_APP_TOKEN is not set",
            "Basic Information → App-Level Tokens → generate one with connections:write; it begins with xapp-",
        )
        return
    if not token.startswith("xapp-"):
        yield Finding(False, "SLACK_APP_TOKEN does not begin with xapp-", "copy the App-Level Token")
    if ask:
        client = _client(settings)
        yield _asked("socket", lambda: client.apps_connections_open(app_token=token))


def _http(settings: Settings) -> Iterator[Finding]:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.http_host, settings.http_port))
        except OSError as error:
            cure = "the bot may be running already; else set K3TRIAGE_HTTP_PORT to a free one"
            where = f"{settings.http_host}:{settings.http_port}"
            yield Finding(False, f"health and metrics: {where} cannot be used: {error.strerror}", cure)
            return
    yield Finding(True, f"health and metrics: {settings.http_host}:{settings.http_port} is free")


_CURES = {
    "invalid_auth": "the token is wrong: copy it anew",
    "not_allowed_token_type": "this call needs the app-level token that begins with xapp-",
    "missing_scope": "a scope is missing: update the app from deploy/slack-manifest.yaml and install it again",
    "no_such_subteam": "K3TRIAGE_LEAD_GROUP must be the id of a user group, S…",
}


def _asked(what: str, call: Callable[[], Any]) -> Finding:
    try:
        call()
    except SlackApiError as error:
        code = _code(error)
        return Finding(False, f"{what}: {code}", _CURES.get(code, "see docs/slack-setup.md"))
    except OSError as error:
        return Finding(False, f"{what}: {unreachable(error, _PATIENCE)}", _NETWORK)
    return Finding(True, f"{what}: answers")


def _code(error: SlackApiError) -> str:
    return str(error.response.get("error", "?")) if error.response is not None else "?"
