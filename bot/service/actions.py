"""What people do with an answer: tick, resolve, correct, open up, change its language, fetch it, delete it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError

from bot.catalogue import say
from bot.inbox import Inbox
from bot.lease import Lease
from bot.rendering import ids
from bot.rendering.blocks import file_report
from bot.rendering.home import HomeIncident, home
from bot.service.access import Access
from bot.service.languages import Languages
from bot.service.opening import root_message
from bot.service.replying import Replies
from bot.service.telling import Teller
from bot.slackio.client import SlackCannotPost, SlackGateway
from bot.store import Evidence, Incident, IncidentStore, ReplyStore
from kb.entry import Language
from kb.library import Library
from kb.report import Report

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """Applies what people did. Doing it twice is doing it once."""

    store: IncidentStore
    reply_store: ReplyStore
    replies: Replies
    inbox: Inbox
    gateway: SlackGateway
    teller: Teller
    access: Access
    library: Library
    languages: Languages
    team_url: str = ""
    clock: Callable[[], float] = time.time

    def apply(self, payload: Mapping[str, Any], lease: Lease) -> bool:
        """Apply one action; whether the answer has to be shown anew."""
        name, user, values = payload["name"], payload["user"], payload["values"]
        incident = self.store.get(payload["incident"])
        if incident is None:
            self.teller.whisper(payload["channel"], user, "service.stale", thread=values.get("thread_ts"))
            return False
        if name == "report":
            self._report(incident, user, lease)
            return False
        if name == "delete":
            self._delete(incident, user)
            return False
        return self._change_answer(incident, name, user, values)

    def _change_answer(self, incident: Incident, name: str, user: str, values: Mapping[str, Any]) -> bool:
        if name == "tick":
            return self._tick(incident, user, values)
        if name == "resolved":
            return self._status(incident, user, "resolved", None)
        if name == "reopen":
            return incident.status == "open" or self._status(incident, user, "open", None)
        if name == "wrong":
            return self._status(incident, user, "wrong", json.dumps(values, ensure_ascii=False, sort_keys=True))
        if name == "alternatives":
            return self._change(incident, user, name, alternatives=True)
        if name == "language" and values.get("language") in get_args(Language):
            return self._change(incident, user, name, language=values["language"], language_chosen=True)
        if name.startswith("show_more:"):
            section = name.removeprefix("show_more:")
            return self._change(incident, user, name, expanded=incident.expanded | {section})
        return False

    def _change(self, incident: Incident, user: str, what: str, **values: Any) -> bool:
        self.store.change(incident.id, self.clock(), **values)
        self.store.note(incident.id, what, user, self.clock())
        return True

    def _tick(self, incident: Incident, user: str, values: Mapping[str, Any]) -> bool:
        reports = self.store.reports(incident.id) or {}
        known = {
            ids.check_key(one.entry, check.id)
            for report in reports.values()
            for one in report.diagnoses
            for check in one.checklist
        }
        action = {
            "block_id": values["block_id"],
            "selected_options": [{"value": value} for value in values["chosen"]],
        }
        ticked_by = {check: who for check, (who, _) in self.store.ticked(incident.id).items()}
        undone = _undone(self.store.history(incident.id), user)
        on, off = ids.tick_changes(action, values["blocks"], ticked_by, user, undone)
        gone = [check for check in on if check not in known]
        if gone:
            self.teller.whisper(incident.channel, user, "service.stale", incident=incident)
        on = [check for check in on if check in known]
        self.store.tick(incident.id, on, off, user, self.clock())
        if on or off:
            self.store.note(incident.id, "tick", user, self.clock(), json.dumps({"on": on, "off": off}))
        return True

    def _status(self, incident: Incident, user: str, status: str, verdict: str | None) -> bool:
        if incident.status == status and incident.verdict == verdict:
            return True
        self.store.change(incident.id, self.clock(), status=status, status_by=user, verdict=verdict or incident.verdict)
        self.store.note(incident.id, status, user, self.clock(), verdict or "")
        return True

    def _report(self, incident: Incident, user: str, lease: Lease) -> None:
        language = incident.language or self.languages.default
        report = (self.store.reports(incident.id) or {}).get(language)
        if report is None:
            self.teller.whisper(incident.channel, user, "service.stale", incident=incident)
            return
        file = file_report(report, self.library, "md")
        if self.replies.attach(incident, file, lease):
            self.store.note(incident.id, "report", user, self.clock())
        else:
            self.teller.whisper(incident.channel, user, "service.report_above", incident=incident)

    def _delete(self, incident: Incident, user: str) -> None:
        if user != incident.author and not self.access.is_lead(user):
            self.teller.whisper(incident.channel, user, "service.not_yours", incident=incident)
            return
        self.remove(incident)
        self.teller.whisper(incident.channel, user, "service.deleted", thread=incident.thread_ts)

    def remove(self, incident: Incident) -> None:
        """Delete an incident, with the messages that the bot wrote for it."""
        client: WebClient = self.gateway.client
        for reply in self.reply_store.of_incident(incident.id):
            if _is_ts(reply.ts or ""):
                try:
                    client.chat_delete(channel=incident.channel, ts=str(reply.ts))
                except (SlackClientError, OSError) as error:  # what is gone already does not keep the rest
                    log.warning(
                        "cannot delete a message", extra={"incident": incident.id, "error": type(error).__name__}
                    )
        self.store.delete(incident.id)
        self.inbox.forget_lane(incident.lane)
        log.info("deleted", extra={"incident": incident.id})

    def open_thread(self, incident: Incident, item: Evidence, lease: Lease, response_url: str = "") -> Incident:
        """Open a thread for text that is no message, and hand its work over to the thread's lane.

        Where it is not in the channel of the command, that is said there, by its `response_url`.
        """
        if not _is_ts(incident.thread_ts):
            language = incident.language or self.languages.of(incident.author)
            message = root_message(language, incident, item)
            try:
                self.replies.put(f"{incident.id}:root", incident, incident.channel, None, message, lease)
            except SlackCannotPost:
                # The bot is not there: the answer goes to whoever asked, and says where it would have been.
                self.replies.put(f"{incident.id}:root", incident, incident.author, None, message, lease)
            posted = self.reply_store.get(f"{incident.id}:root")
            if posted is not None and posted.ts is not None:
                # Not the person's id, which a command or form may have given, but the direct message: updates need it.
                self.store.change(incident.id, self.clock(), channel=posted.channel, thread_ts=posted.ts)
                if response_url and posted.channel != incident.channel:
                    link = self._link(posted.channel, posted.ts)
                    self.teller.answer_command(response_url, incident.author, "service.answered_directly", link=link)
        moved = self.store.get(incident.id) or incident
        self.inbox.accept(f"refresh:{incident.id}", "refresh", {"incident": incident.id}, lane=moved.lane)
        return moved

    def home(self, payload: Mapping[str, Any]) -> None:
        """Publish the Home tab of a person."""
        user = payload["user"]
        language = self.languages.of(user)
        recent = [(one, self._report_of(one, language)) for one in self.store.recent(payload["team"], user)]
        shown = [
            self._home_incident(one, report, language)
            for one, report in recent
            if report is None or report.outcome != "unrelated"
        ]
        self.gateway.client.views_publish(user_id=user, view=home(language, shown))

    def prefer(self, payload: Mapping[str, Any]) -> None:
        """Remember the language a person chose, and show it."""
        if self.languages.choose(payload["user"], payload["language"]):
            self.home(payload)

    def _link(self, channel: str, ts: str) -> str:
        return f"{self.team_url or 'https://slack.com/'}archives/{channel}/p{ts.replace('.', '')}"

    def _report_of(self, incident: Incident, language: Language) -> Report | None:
        return (self.store.reports(incident.id) or {}).get(language)

    def _home_incident(self, incident: Incident, report: Report | None, language: Language) -> HomeIncident:
        title = "…"  # not read yet
        if report is not None and report.diagnoses:
            title = report.diagnoses[0].title
        elif report is not None:
            first = report.root_exception
            title = first.text.partition("\n")[0] if first else say(language, "outcome.unknown")
        url = None
        if self.team_url and _is_ts(incident.thread_ts):
            url = self._link(incident.channel, incident.thread_ts)
        when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(incident.created_at))
        return HomeIncident(title, incident.status, when, url)  # type: ignore[arg-type]


def _undone(history: Iterable[tuple[float, str | None, str, str]], user: str) -> set[str]:
    """Checks that the person ticked and somebody else unticked since."""
    undone: set[str] = set()
    own: set[str] = set()
    for _, who, what, detail in history:
        if what != "tick":
            continue
        try:
            changes = json.loads(detail)
        except ValueError:  # too long for the timeline
            continue
        if who == user:
            own |= set(changes["on"])
            own -= set(changes["off"])
            undone -= own
        else:
            undone |= own & set(changes["off"])
            own -= set(changes["off"])
    return undone


def _is_ts(value: str) -> bool:
    return value.replace(".", "", 1).isdigit()
