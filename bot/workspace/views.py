"""Modals and Home tabs: who sees which, stacked how, with what filled in."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from bot.workspace import limits
from bot.workspace.errors import SlackError
from bot.workspace.ids import Ids
from bot.workspace.inputs import Key, kept
from bot.workspace.model import Json, View
from bot.workspace.normalize import normalize_blocks
from bot.workspace.validation import check_view

_DEFAULTS: Json = {
    "submit": None,
    "close": None,
    "private_metadata": "",
    "callback_id": "",
    "external_id": "",
    "clear_on_close": False,
    "notify_on_close": False,
}


class Views:
    """The views of everyone; `errors` holds what the app said is wrong with a submitted one, by view id."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._views: dict[str, View] = {}
        self._stacks: dict[str, list[str]] = {}
        self._homes: dict[str, str] = {}
        self.errors: dict[str, dict[str, str]] = {}

    def open(self, user: str, body: Json) -> View:
        """Show a modal in place of any other. Raises SlackError."""
        check_view(body, "modal")
        self._unique(body)
        self._stacks[user] = []
        return self._show(user, body)

    def push(self, user: str, body: Json) -> View:
        """Show a modal on top. Raises SlackError push_limit_reached at the fourth."""
        check_view(body, "modal")
        self._unique(body)
        if len(self._stacks.get(user, ())) >= limits.VIEW_STACK:
            raise SlackError("push_limit_reached")
        return self._show(user, body)

    def update(self, body: Json, *, view_id: str | None, external_id: str | None, hash_: str | None) -> View:
        """Replace a shown modal. Raises SlackError not_found, or hash_conflict when it changed meanwhile."""
        check_view(body, "modal")
        old = self._find(view_id, external_id)
        if hash_ is not None and hash_ != old.hash:
            raise SlackError("hash_conflict")
        self.errors.pop(old.id, None)
        return self._replace(old, body)

    def publish(self, user: str, body: Json, hash_: str | None = None) -> View:
        """Set the Home tab of one person. Raises SlackError."""
        check_view(body, "home")
        old = self.home(user)
        if old is None:
            view_id = self._ids.next("V")
            view = self._put(View(view_id, user, self._complete(body), self._hash(body), view_id))
            self._homes[user] = view_id  # last: whoever looks meanwhile finds no half of it
            return view
        if hash_ is not None and hash_ != old.hash:
            raise SlackError("hash_conflict")
        return self._replace(old, body)

    def top(self, user: str) -> View | None:
        """The modal the person sees."""
        stack = self._stacks.get(user)
        return self._views[stack[-1]] if stack else None

    def home(self, user: str) -> View | None:
        """The person's Home tab."""
        view_id = self._homes.get(user)
        return self._views[view_id] if view_id else None

    def get(self, view_id: str) -> View:
        """Raises SlackError not_found."""
        return self._find(view_id, None)

    def close(self, user: str, *, everything: bool = False) -> list[View]:
        """Take the top modal away, or all of them; what was closed, topmost first."""
        stack = self._stacks.get(user, [])
        closed = [self._views.pop(stack.pop()) for _ in (list(stack) if everything else stack[-1:])]
        for view in closed:
            self.errors.pop(view.id, None)
        return closed

    def fill(self, view_id: str, key: Key, state: Json) -> View:
        """Note what the person filled in."""
        view = self.get(view_id)
        return self._put(replace(view, values={**view.values, key: state}))

    def _show(self, user: str, body: Json) -> View:
        stack = self._stacks.setdefault(user, [])
        view_id = self._ids.next("V")
        previous = stack[-1] if stack else None
        root = self._views[previous].root_id if previous else view_id
        view = self._put(View(view_id, user, self._complete(body), self._hash(body), root, previous))
        stack.append(view_id)
        return view

    def _replace(self, old: View, body: Json) -> View:
        complete = self._complete(body)
        values = kept(old.values, old.blocks, complete["blocks"])
        return self._put(replace(old, body=complete, hash=self._hash(body), values=values))

    def _complete(self, body: Json) -> Json:
        given = {key: value for key, value in body.items() if value is not None}
        return {**_DEFAULTS, **given, "blocks": normalize_blocks(self._ids, body["blocks"])}

    def _hash(self, body: Json) -> str:
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:8]
        return f"{self._ids.next('')}.{digest}"

    def _unique(self, body: Json) -> None:
        external_id = body.get("external_id")
        if external_id and any(view.body["external_id"] == external_id for view in self._views.values()):
            raise SlackError("duplicate_external_id")

    def _find(self, view_id: str | None, external_id: str | None) -> View:
        for view in self._views.values():
            if view_id == view.id or (external_id and external_id == view.body["external_id"]):
                return view
        raise SlackError("not_found")

    def _put(self, view: View) -> View:
        self._views[view.id] = view
        return view
