"""What can be done on the page, by name; each is one step of a Person."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from bot.workspace import posting
from bot.workspace.errors import PersonError, SlackError
from bot.workspace.inputs import Key
from bot.workspace.mentions import with_mentions
from bot.workspace.model import Json, Message, View
from bot.workspace.page.samples import post_samples
from bot.workspace.page.texts import texts
from bot.workspace.person import Person
from bot.workspace.workspace import Workspace


class Doing:
    """Takes what the page's script sends: {"as": user, …}. Raises WorkspaceError with a text for the person."""

    def __init__(self, workspace: Workspace, samples: Path) -> None:
        self._workspace = workspace
        self._samples = samples
        self._known = {
            "post": self._post,
            "act": self._act,
            "submit": self._submit,
            "close": self._close,
            "shortcut": self._shortcut,
            "edit": self._edit,
            "delete": self._delete,
            "react": self._react,
            "home": self._home,
            "locale": self._locale,
            "samples": self._load_samples,
        }

    def do(self, what: str, data: Json) -> Json:
        """Carry it out; what the page should know."""
        if what not in self._known:
            raise PersonError(f"there is nothing called {what}")
        person = self._workspace.person(data["as"])
        try:
            return self._known[what](person, data) or {}
        except SlackError as error:
            raise PersonError(self._say(person, "refused").format(code=error)) from None

    def _post(self, person: Person, data: Json) -> Json | None:
        text, files = with_mentions(self._workspace, str(data.get("text") or "")), list(data.get("files") or ())
        thread = self._message(data, "thread")
        if text.startswith("/") and not files:
            if thread is not None:
                raise PersonError(self._say(person, "no_commands_in_threads"))
            command, _, rest = text.partition(" ")
            if command == "/invite":
                self._invite(person, data["channel"], rest)
            else:
                person.run(data["channel"], str(data["text"]))
            return None
        if files:
            person.share(data["channel"], files, text, thread=thread)
        else:
            person.paste(data["channel"], text, thread=thread, broadcast=bool(data.get("broadcast")))
        return None

    def _act(self, person: Person, data: Json) -> Json | None:
        try:
            surface = self._surface(person, data)
        except SlackError:
            if data.get("view") and not data.get("press"):
                return None  # a field that was left as its form was sent, and with it the field's value
            raise
        key = (str(data["block_id"]), str(data["action_id"]))
        if data.get("press"):
            delivery = person.press(surface, key)
        else:
            chosen = person.choose(surface, key, data.get("value"))
            if chosen is None:
                return None
            delivery = chosen
        if not delivery.acked:
            raise PersonError(self._say(person, "no_ack"))
        return None

    def _submit(self, person: Person, data: Json) -> Json | None:
        values: dict[str | Key, Any] = {(block, action): value for block, action, value in data.get("values", ())}
        person.submit(values)
        return None

    def _close(self, person: Person, data: Json) -> Json | None:
        person.close_modal()
        return None

    def _shortcut(self, person: Person, data: Json) -> Json | None:
        delivery = person.use_shortcut(data["callback_id"], self._message(data, "ts"))
        if not delivery.acked:
            raise PersonError(self._say(person, "no_ack"))
        return None

    def _edit(self, person: Person, data: Json) -> Json | None:
        person.edit(self._required(data), with_mentions(self._workspace, str(data["text"])))
        return None

    def _delete(self, person: Person, data: Json) -> Json | None:
        person.delete(self._required(data))
        return None

    def _react(self, person: Person, data: Json) -> Json | None:
        person.react(self._required(data), str(data["name"]))
        return None

    def _home(self, person: Person, data: Json) -> Json | None:
        person.open_home()
        return None

    def _locale(self, person: Person, data: Json) -> Json | None:
        with self._workspace.changing():
            self._workspace.directory.set_locale(person.id, str(data["locale"]))
        return None

    def _load_samples(self, person: Person, data: Json) -> Json | None:
        posted = post_samples(self._workspace, self._samples, "k3-incidents", person)
        if not posted:
            raise PersonError(self._say(person, "no_samples").format(directory=self._samples))
        return {"posted": len(posted), "at": posted[0].channel}

    def _invite(self, person: Person, channel: str, text: str) -> None:
        """`/invite @Name …`: a command of Slack's own."""
        place = self._workspace.channel(channel)
        if place.kind not in ("channel", "group"):
            raise PersonError(self._say(person, "invite_not_here"))
        users = re.findall(r"<@([UW][A-Z0-9]+)>", text)
        if not users:
            raise PersonError(self._say(person, "invite_whom").format(app=self._workspace.manifest.bot_name))
        if place.members.issuperset(users):
            raise PersonError(self._say(person, "invite_there_already"))
        posting.join(self._workspace, place.id, users)

    def _surface(self, person: Person, data: Json) -> Message | View:
        if data.get("view"):
            return self._workspace.views.get(str(data["view"]))
        return self._required(data)

    def _message(self, data: Json, name: str) -> Message | None:
        ts: Any = data.get(name)
        return self._workspace.log.get(str(data["channel"]), str(ts)) if ts else None

    def _required(self, data: Json) -> Message:
        return self._workspace.log.get(str(data["channel"]), str(data["ts"]))

    def _say(self, person: Person, key: str) -> str:
        return texts(self._workspace.directory.user(person.id).language)[key]
