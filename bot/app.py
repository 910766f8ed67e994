"""The bot put together: store, inbox, workers, Slack, HTTP; started and stopped in order."""

from __future__ import annotations

import logging
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

from slack_bolt import App
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from bot.cachedir import cache_directory
from bot.config import Settings
from bot.errors import UsageError
from bot.health import HttpServer, Metrics, create_app
from bot.inbox import Inbox
from bot.service.access import Access
from bot.service.actions import Actions
from bot.service.apart import ReaderPool, ReaderSpec
from bot.service.forms import Forms
from bot.service.gathering import Gatherer
from bot.service.intake import Intake
from bot.service.languages import Languages
from bot.service.missed import Missed
from bot.service.parts import Redactors
from bot.service.replying import Replies
from bot.service.telling import Teller
from bot.service.work import Service
from bot.signed import slack_route
from bot.slackio.client import SlackGateway
from bot.slackio.errors import unreachable
from bot.socket_mode import Socket
from bot.store import ChannelStore, Database, IncidentStore, ReplyStore
from bot.worker import Workers
from handlers import register
from kb.library import Library

log = logging.getLogger(__name__)

_PATIENCE = 30
"""Seconds to wait for an answer of Slack."""


@dataclass(frozen=True, slots=True)
class Slack:
    """Where Slack is, and how to be let in."""

    bot_token: str
    app_token: str | None
    signing_secret: str | None
    api_url: str


class Bot:
    """One bot process."""

    def __init__(self, settings: Settings, slack: Slack, library: Library | None = None) -> None:
        """Open the database and ask Slack who we are. Raises BotError."""
        self._settings = settings
        self._slack = slack
        self._pool: ReaderPool | None = None
        if settings.readers:
            self._pool = ReaderPool(_reader_spec(settings, slack), large=settings.readers)
            self._pool.prepare()  # it makes itself ready while we do the same
        self.database = Database(settings.database)
        self.library = library or open_library(settings)
        self.inbox = Inbox(self.database, lease_seconds=settings.lease_seconds)
        self._gone: str | None = None
        # The gateway tries again itself: the SDK would post a second time when the answer to a post is lost.
        client = WebClient(token=slack.bot_token, base_url=slack.api_url, timeout=_PATIENCE, retry_handlers=[])
        self._identity = who_are_we(client)
        store, reply_store = IncidentStore(self.database), ReplyStore(self.database)
        heard = ChannelStore(self.database)
        gateway = SlackGateway(client)
        access = Access(
            teams=settings.teams,
            channels=settings.channels,
            leads=settings.leads,
            group_members=(lambda: _group(client, settings.lead_group)) if settings.lead_group else None,
        )
        redactors = Redactors(self.database.salt())
        bot_user = self._identity["user_id"]
        replies = Replies(gateway, reply_store)
        languages = Languages(self.database, gateway, settings.language)
        teller = Teller(gateway, store, reply_store, languages)
        actions = Actions(
            store=store,
            reply_store=reply_store,
            replies=replies,
            inbox=self.inbox,
            gateway=gateway,
            teller=teller,
            access=access,
            library=self.library,
            languages=languages,
            team_url=str(self._identity.get("url") or ""),
        )
        self.service = Service(
            store=store,
            gateway=gateway,
            replies=replies,
            reader=self._pool or _reader_spec(settings, slack)(),
            gatherer=Gatherer(client, bot_user, join_seconds=settings.join_seconds),
            actions=actions,
            teller=teller,
            redactors=redactors,
            library=self.library,
            languages=languages,
            due_in=self.inbox.due_in,
            answered=self._answered,
            gone=self._set_gone,
        )
        self.workers = Workers(
            self.inbox,
            self.service.work,
            count=settings.workers,
            queue_url=settings.queue_url,
            lease_seconds=settings.lease_seconds,
            give_up=self.service.give_up,
        )
        self.metrics = Metrics(self.inbox, lambda: self.workers.busy)
        self.intake = Intake(
            database=self.database,
            inbox=self.inbox,
            incidents=store,
            heard=heard,
            access=access,
            redactors=redactors,
            bot_user=bot_user,
            wake=self.workers.call,
            settle_seconds=settings.settle_seconds,
            join_seconds=settings.join_seconds,
        )
        self.app = App(
            client=WebClient(token=slack.bot_token, base_url=slack.api_url, timeout=_PATIENCE),
            signing_secret=slack.signing_secret or "unused with Socket Mode",
            token_verification_enabled=False,
            process_before_response=False,
            raise_error_for_unhandled_request=False,
        )
        register(self.app, self.intake, Forms(gateway, store, self.library, languages))
        self._socket: Socket | None = None
        self._stopping = threading.Event()
        self._missed = Missed(
            database=self.database,
            store=store,
            heard=heard,
            gateway=gateway,
            intake=self.intake,
            team=str(self._identity.get("team_id") or ""),
            channels=settings.channels,
            longest=settings.catch_up_hours * 3600,
            listening=lambda: self._gone is None and (self._socket is None or self._socket.is_connected),
            stopping=self._stopping,
        )
        self._watch = threading.Thread(target=self._missed.watch, name="k3-missed", daemon=True)
        self._overtaken = threading.Thread(
            target=self.intake.overtaken.watch,
            args=(self.intake.event, self._stopping),
            name="k3-overtaken",
            daemon=True,
        )
        routes = []
        if settings.slack_mode == "http":
            if not slack.signing_secret:
                raise UsageError("SLACK_SIGNING_SECRET is needed for K3TRIAGE_SLACK_MODE=http; see docs/slack-setup.md")
            route = slack_route(
                self.app,
                slack.signing_secret,
                refused=self.metrics.refused.inc,
                acked=self.metrics.ack.observe,
            )
            routes.append(route)
        self.http = HttpServer(create_app(self.checks, self.metrics, routes), settings.http_host, settings.http_port)

    @property
    def identity(self) -> dict[str, Any]:
        """What auth.test said: user_id, team_id, team, …"""
        return self._identity

    def start(self) -> None:
        """Begin to work and to listen."""
        # Acknowledgements must not wait for workers that compute: give the interpreter away five times as often.
        sys.setswitchinterval(0.001)
        self.http.start()
        if self._settings.slack_mode == "socket":
            self._socket = Socket(self.app, str(self._slack.app_token), self.metrics.ack.observe)
            self._socket.connect()
        # What is delivered from now on is acknowledged; it is worked on once the reader is ready.
        if self._pool is not None:
            self._pool.start()
        self.workers.start()
        self._watch.start()
        self._overtaken.start()
        log.info("ready", extra={"team": self._identity.get("team_id"), "mode": self._settings.slack_mode})

    def stop(self) -> None:
        """Stop listening, finish or return the work, close."""
        self._stopping.set()
        if self._socket is not None:
            self._socket.shut()
        self.http.stop()
        self.workers.stop(self._settings.stop_seconds)
        for thread in (self._watch, self._overtaken):
            if thread.is_alive():
                thread.join(5)
        if self._pool is not None:
            self._pool.close()
        self.database.close()
        log.info("stopped")

    def catch_up(self) -> bool:
        """Read now what may have been missed; False where Slack does not let us read everything yet."""
        return self._missed.look(fresh=True)

    def checks(self) -> dict[str, bool]:
        """What `/readyz` says."""
        return {
            "database": self._database_answers(),
            "slack": self._gone is None,
            "socket": self._socket is None or self._socket.is_connected,
        }

    def _database_answers(self) -> bool:
        try:
            with self.database.read() as connection:
                connection.execute(text("select 1"))
        except SQLAlchemyError:
            return False
        return True

    def _answered(self, seconds: float, outcome: str) -> None:
        self.metrics.answered(seconds, outcome)

    def _set_gone(self, why: str | None) -> None:
        self._gone = why


def _reader_spec(settings: Settings, slack: Slack) -> ReaderSpec:
    return ReaderSpec(
        kb=settings.kb,
        cache=cache_directory(),
        api_url=slack.api_url,
        token=slack.bot_token,
        max_bytes=settings.max_file_bytes,
        progress_bytes=settings.progress_bytes,
    )


def open_library(settings: Settings) -> Library:
    """The knowledge base of the settings."""
    library = Library.open(list(settings.kb), cache_directory())
    for problem in library.problems:
        log.warning("an entry is left out", extra={"problem": problem})
    return library


def who_are_we(client: WebClient, attempts: int = 5) -> dict[str, Any]:
    """auth.test. Raises UsageError where Slack refuses the token, or does not answer."""
    why = ""
    for attempt in range(attempts):
        try:
            return dict(client.auth_test().data)  # type: ignore[arg-type]
        except SlackApiError as refused:
            code = refused.response.get("error", "") if refused.response is not None else ""
            if code in ("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"):
                raise UsageError(
                    f"Slack refuses SLACK_BOT_TOKEN ({code}); copy it anew from OAuth & Permissions of the app"
                ) from None
            why = f"it answers {code!r}" if code else "it answers with an error"
        except OSError as error:
            why = unreachable(error, _PATIENCE)
        time.sleep(min(2.0**attempt, 10))
    raise UsageError(f"Slack cannot be reached ({why}); check the network; where a proxy leads out, set HTTPS_PROXY")


def _group(client: WebClient, group: str | None) -> list[str]:
    try:
        return list(client.usergroups_users_list(usergroup=str(group)).get("users") or [])
    except (SlackApiError, OSError) as error:
        log.warning("cannot read the group of leads", extra={"error": type(error).__name__})
        return []
