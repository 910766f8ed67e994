"""The part of a person that presses, ticks, chooses and fills in, on messages, modals and the Home tab."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.workspace import interactions
from bot.workspace.deliveries import Delivery
from bot.workspace.errors import PersonError
from bot.workspace.inputs import LISTS, Key, filled, find, find_option, initial, is_empty
from bot.workspace.model import Json, Message, User, View
from bot.workspace.shapes import file_json
from bot.workspace.validation.blocks import elements_of

if TYPE_CHECKING:
    from bot.workspace.workspace import Workspace

REQUIRED = "Please complete this required field."


@dataclass(frozen=True, slots=True)
class Submission:
    """What became of a submitted modal. `errors` are by block_id; "" is Slack's own trouble with the app."""

    delivery: Delivery | None
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        """Whether the app took it."""
        return not self.errors


class Hand:
    """One user in front of buttons and forms. Elements are named by action_id, block_id, label, or (block, action)."""

    def __init__(self, workspace: Workspace, user: User) -> None:
        self.workspace = workspace
        self.id = user.id
        self.name = user.name

    def press(self, where: Message | View, what: str | Key, *, wait: bool = True) -> Delivery:
        """Press the button with this action_id or label."""
        surface, block, element = self._find(where, what, "button")
        return self._act(surface, block, element, {}, wait=wait)

    def tick(self, where: Message | View, option: str, *, on: bool = True, wait: bool = True) -> Delivery | None:
        """Tick (or, with `on` False, untick) the checkbox with this value or label; in a form nothing is sent."""
        surface = self._surface(where)
        for block, element in [(one, two) for one in surface.blocks for two in elements_of(one)]:
            found = find_option(element, option) if element["type"] == "checkboxes" else None
            if found is not None:
                state = self._state(surface, block, element)["selected_options"]
                values = [one["value"] for one in state if one["value"] != found["value"]]
                return self._fill(surface, block, element, values + [found["value"]] * on, wait=wait)
        raise PersonError(f"there is no checkbox {option!r}")

    def choose(self, where: Message | View, what: str | Key, value: Any, *, wait: bool = True) -> Delivery | None:
        """Choose in a select, radio buttons or overflow menu, or give any other element its value."""
        surface, block, element = self._find(where, what)
        if element["type"] == "overflow":
            option = find_option(element, str(value))
            if option is None:
                raise PersonError(f"there is no menu item {value!r}")
            return self._act(surface, block, element, {"selected_option": option}, wait=wait)
        return self._fill(surface, block, element, value, wait=wait)

    @property
    def home(self) -> View | None:
        """The Home tab the app published for this person."""
        return self.workspace.views.home(self.id)

    @property
    def modal(self) -> View | None:
        """The modal this person sees."""
        return self.workspace.views.top(self.id)

    def wait_for_modal(self, seconds: float = 10) -> View:
        """The modal, once there is one. Raises TimeoutError."""
        self.workspace.wait_until(lambda: self.modal, seconds)
        view = self.modal
        if view is None:
            raise PersonError("the modal was closed again")
        return view

    def submit(self, values: Mapping[str | Key, Any] | None = None) -> Submission:
        """Fill in the modal by action_id, block_id or label, and submit it."""
        view = self._open_modal()
        for what, value in (values or {}).items():
            _, block, element = self._find(view, what)
            state = filled(element, self._given(element, value))
            self.workspace.views.fill(view.id, (block["block_id"], element["action_id"]), state)
        view = self._open_modal()
        missing = {
            block["block_id"]: REQUIRED
            for block in view.blocks
            if block["type"] == "input" and not block.get("optional")
            if is_empty(self._state(view, block, block["element"]))
        }
        if missing:
            with self.workspace.changing():
                self.workspace.views.errors[view.id] = missing
            return Submission(None, missing)
        delivery = interactions.submit(self.workspace, view).wait()
        return Submission(delivery, dict(self.workspace.views.errors.get(view.id, {})))

    def close_modal(self, *, everything: bool = False) -> Delivery | None:
        """Cancel the top modal, or all of them."""
        self._open_modal()
        return interactions.dismiss(self.workspace, self.id, everything=everything)

    def _current(self, message: Message) -> Message:
        return self.workspace.log.get(message.channel, message.ts)

    def _open_modal(self) -> View:
        view = self.modal
        if view is None:
            raise PersonError("no modal is open")
        return view

    def _surface(self, where: Message | View) -> Message | View:
        return self._current(where) if isinstance(where, Message) else self.workspace.views.get(where.id)

    def _find(
        self, where: Message | View, what: str | Key, kind: str | None = None
    ) -> tuple[Message | View, Json, Json]:
        surface = self._surface(where)
        found = [(block, one) for block, one in find(surface.blocks, what) if kind in (None, one["type"])]
        if not found:
            raise PersonError(f"there is no {kind or 'element'} {what!r}")
        return surface, *found[0]

    def _state(self, surface: Message | View, block: Json, element: Json) -> Json:
        key: Key = (block["block_id"], element["action_id"])
        values = surface.values if isinstance(surface, View) else self.workspace.log.values(surface, self.id)
        return values.get(key) or initial(element) or {}

    def _fill(self, surface: Message | View, block: Json, element: Json, value: Any, *, wait: bool) -> Delivery | None:
        state = filled(element, self._given(element, value))
        key: Key = (block["block_id"], element["action_id"])
        with self.workspace.changing():
            if isinstance(surface, View):
                surface = self.workspace.views.fill(surface.id, key, state)
            else:
                self.workspace.log.fill(surface, self.id, key, state)
        if block["type"] == "input" and not block.get("dispatch_action"):
            return None
        return self._act(surface, block, element, state, wait=wait)

    def _given(self, element: Json, value: Any) -> Any:
        """One value of a list stands for the list; ids of staged files become what the app sees of them."""
        value = [value] if element["type"] in LISTS and isinstance(value, str) else value
        if element["type"] != "file_input":
            return value
        for file_id in value:
            self.workspace.files.give(file_id)
        return [file_json(self.workspace, self.workspace.files.get(file_id)) for file_id in value]

    def _act(self, surface: Message | View, block: Json, element: Json, did: Json, *, wait: bool) -> Delivery:
        delivery = interactions.act(self.workspace, self.id, surface, block, element, did)
        return waited(delivery, wait)


def waited(delivery: Delivery, wait: bool) -> Delivery:
    """The delivery, once settled if that is wanted."""
    return delivery.wait() if wait else delivery
