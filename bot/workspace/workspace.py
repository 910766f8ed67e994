"""The workspace: one team, one app, and all that happens between them, in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.workspace import posting
from bot.workspace.clock import Clock, SystemClock
from bot.workspace.deliveries import Delivery, Dispatcher
from bot.workspace.directory import Directory
from bot.workspace.errors import SlackError
from bot.workspace.events import emit
from bot.workspace.faults import Faults
from bot.workspace.files import Files
from bot.workspace.ids import Ids
from bot.workspace.manifest import Manifest
from bot.workspace.messages import Messages
from bot.workspace.model import Channel, File, Message, User
from bot.workspace.rates import Rates
from bot.workspace.tickets import Tickets
from bot.workspace.views import Views

if TYPE_CHECKING:
    from bot.workspace.integration import Integration
    from bot.workspace.person import Person

# (name, real name, locale, timezone)
_PEOPLE = (
    ("emma", "Emma Hart", "en-US", "America/New_York"),
    ("minjun", "김민준", "ko-KR", "Asia/Seoul"),
    ("wei", "王伟", "zh-CN", "Asia/Shanghai"),
    ("olga", "Ольга Смирнова", "ru-RU", "Europe/Moscow"),
)


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """What the app is to Slack, and the secrets it was given."""

    user_id: str
    bot_id: str
    app_id: str
    bot_token: str = "xoxb-local-workspace-bot"  # noqa: S105 - opens nothing but this process
    app_token: str = "xapp-local-workspace-app"  # noqa: S105
    signing_secret: str = "local-workspace-signing-secret"  # noqa: S105
    verification_token: str = "local-workspace-verification"  # noqa: S105


class Workspace:
    """State of a team. Every change happens inside `changing()`; `wait_until` waits for one.

    People: emma (en, a team lead), minjun (ko), wei (zh), olga (ru). Channels: #general and #k3-incidents, where the
    bot is, #random, where it is not, and the private #k3-leads. `scopes` and `events` default to the manifest's.
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        manifest: Manifest | None = None,
        scopes: Iterable[str] | None = None,
        events: Iterable[str] | None = None,
        rate_limits: bool = True,
    ) -> None:
        self.clock = clock or SystemClock()
        self.manifest = manifest or Manifest.load()
        self.scopes = set(self.manifest.scopes if scopes is None else scopes)
        self.events = set(self.manifest.events if events is None else events)
        self.origin = "http://127.0.0.1"
        self.created = int(self.clock.now())
        self.revoked = ""
        self.revision = 0
        self.ids = Ids()
        self.team_id = self.ids.next("T")
        self.team_domain = "k3-local"
        self.lock = threading.Condition(threading.RLock())
        self.directory = Directory(self.ids, self.created)
        self.log = Messages()
        self.files = Files(self.clock, self.ids)
        self.views = Views(self.ids)
        self.tickets = Tickets(self.clock, self.ids, self.team_id)
        self.rates = Rates(self.clock)
        self.rates.enabled = rate_limits
        self.faults = Faults()
        self.dispatcher = Dispatcher(self.clock, self.ids, self.faults, self.lock)
        self.bot = self._populate()

    def _populate(self) -> BotIdentity:
        directory = self.directory
        name = self.manifest.bot_name
        bot = directory.add_user(name.lower().replace(" ", "-"), name, bot=True)
        people = [directory.add_user(*person[:2], locale=person[2], timezone=person[3]) for person in _PEOPLE]
        directory.add_channel("general", [*people, bot])
        directory.add_channel("k3-incidents", [*people, bot])
        directory.add_channel("random", people)
        directory.add_channel("k3-leads", [people[0], bot], kind="group")
        directory.add_group("k3-leads", "K3 team leads", people[:1])
        return BotIdentity(bot.id, str(bot.bot_id), self.ids.next("A"))

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the workspace for a change, and wake whoever waits for one."""
        with self.lock:
            yield
            self.revision += 1
            self.lock.notify_all()

    def wait_until(self, condition: Callable[[], object], seconds: float = 30) -> None:
        """Wait (in real time) for something to become true. Raises TimeoutError."""
        with self.lock:
            if not self.lock.wait_for(condition, seconds):
                raise TimeoutError(f"still not so after {seconds} s")

    def settle(self, seconds: float = 30) -> None:
        """Wait until nothing is on its way to the app. Raises TimeoutError."""
        self.wait_until(lambda: not self.dispatcher.open, seconds)

    def person(self, name: str) -> Person:
        """Someone to act as, by name or id. Raises SlackError user_not_found."""
        from bot.workspace.person import Person  # noqa: PLC0415 - a person needs the workspace

        return Person(self, self.directory.user(name))

    def integration(self, name: str) -> Integration:
        """Another bot that posts into channels, as a monitoring system does."""
        from bot.workspace.integration import Integration  # noqa: PLC0415 - an integration needs the workspace

        known = {user.real_name: user for user in self.directory.users if user.bot_id}
        return Integration(self, known.get(name) or self.directory.add_user(name.lower(), name, bot=True))

    @property
    def people(self) -> list[User]:
        """Everyone but bots."""
        return [user for user in self.directory.users if not user.bot_id]

    def channel(self, what: str) -> Channel:
        """By name or id. Raises SlackError channel_not_found."""
        return self.directory.channel(what)

    def messages(self, channel: str) -> list[Message]:
        """Everything in a channel that all members see, replies too, oldest first."""
        return self.log.visible(self.channel(channel).id)

    def files_of(self, message: Message) -> list[File]:
        """The files of a message that have not been deleted."""
        found = []
        for file_id in message.files:
            try:
                found.append(self.files.get(file_id))
            except SlackError:
                continue
        return found

    def deliveries(self, kind: str | None = None) -> list[Delivery]:
        """All that was sent to the app: of a kind ("interactive"), or an event type ("app_mention"), oldest first."""
        return [one for one in self.dispatcher.log if kind in (None, one.kind, one.event.get("type"))]

    # What an administrator can do to the app

    def invite_bot(self, channel: str) -> None:
        """Add the bot to a channel."""
        posting.join(self, self.channel(channel).id, [self.bot.user_id])

    def remove_bot(self, channel: str) -> None:
        """Take the bot out of a channel."""
        posting.leave(self, self.channel(channel).id, self.bot.user_id)

    def archive(self, channel: str) -> None:
        """Archive a channel."""
        posting.archive(self, self.channel(channel).id)

    def revoke_token(self, code: str = "token_revoked") -> None:
        """Every further call is refused with `code`; "account_inactive" is what an uninstalled app gets."""
        with self.changing():
            emit(self, "tokens_revoked", {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [self.bot.user_id]}})
            self.revoked = code

    def uninstall(self) -> None:
        """Remove the app: both events come, and Slack promises no order."""
        with self.changing():
            emit(self, "app_uninstalled", {"type": "app_uninstalled"})
            self.revoke_token("account_inactive")
