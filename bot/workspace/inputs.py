"""What a person filled in, in the shape of `state.values` and of an action."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.workspace.errors import PersonError
from bot.workspace.model import Json
from bot.workspace.validation.blocks import elements_of

Key = tuple[str, str]

# type -> (field of the state, field of the element with the value to begin with)
_FIELDS: dict[str, tuple[str, str]] = {
    "checkboxes": ("selected_options", "initial_options"),
    "multi_static_select": ("selected_options", "initial_options"),
    "multi_users_select": ("selected_users", "initial_users"),
    "radio_buttons": ("selected_option", "initial_option"),
    "static_select": ("selected_option", "initial_option"),
    "users_select": ("selected_user", "initial_user"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "channels_select": ("selected_channel", "initial_channel"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "datetimepicker": ("selected_date_time", "initial_date_time"),
    "plain_text_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "file_input": ("files", "initial_files"),
}
LISTS = ("checkboxes", "multi_static_select", "multi_users_select", "file_input")
OPTIONS = ("checkboxes", "multi_static_select", "radio_buttons", "static_select", "overflow")


def find(blocks: Iterable[Json], what: str | Key) -> list[tuple[Json, Json]]:
    """(block, element) pairs whose action_id, block_id, or visible label is `what`; a Key names one exactly."""
    every = [(block, element) for block in blocks for element in elements_of(block)]
    if not isinstance(what, str):
        return [(block, one) for block, one in every if (block["block_id"], one["action_id"]) == tuple(what)]
    for matches in (
        lambda block, element: element.get("action_id") == what,
        lambda block, element: block.get("block_id") == what,
        lambda block, element: what in (_text(element.get("text")), _text(block.get("label"))),
    ):
        found = [(block, element) for block, element in every if matches(block, element)]
        if found:
            return found
    return []


def options_of(element: Json) -> list[Json]:
    """All options of a select, of its groups too."""
    groups: list[Json] = element.get("option_groups") or [{"options": element.get("options") or []}]
    return [option for group in groups for option in group["options"]]


def find_option(element: Json, what: str) -> Json | None:
    """The option whose value or text is `what`."""
    options = options_of(element)
    by_value = [option for option in options if option["value"] == what]
    return next(iter(by_value or [option for option in options if _text(option["text"]) == what]), None)


def initial(element: Json) -> Json | None:
    """The state of an untouched element; None for a button and whatever else has none."""
    fields = _FIELDS.get(element["type"])
    if fields is None:
        return None
    state, beginning = fields
    value = element.get(beginning, [] if element["type"] in LISTS else None)
    return {"type": element["type"], state: value}


def filled(element: Json, value: Any) -> Json:
    """The state of `element` after a person gave `value`: a text, an option's value or text, a list of them, an id."""
    kind = element["type"]
    if kind not in _FIELDS:
        raise PersonError(f"a {kind} takes no value")
    if kind in OPTIONS:
        wanted = list(value) if kind in LISTS else [value]
        chosen = [find_option(element, one) if one is not None else None for one in wanted]
        missing = [one for one, option in zip(wanted, chosen, strict=True) if option is None and one is not None]
        if missing:
            raise PersonError(f"no option {missing[0]!r}; there are {[one['value'] for one in options_of(element)]}")
        order = [option for option in options_of(element) if option in chosen]
        return {"type": kind, _FIELDS[kind][0]: order if kind in LISTS else chosen[0]}
    if kind == "plain_text_input" and isinstance(value, str):
        most = element.get("max_length", 3_000)
        if len(value) > most:
            raise PersonError(f"the field takes at most {most} characters")
    return {"type": kind, _FIELDS[kind][0]: value}


def is_empty(state: Json) -> bool:
    """Whether a required field with this state would stop the form."""
    return not [value for key, value in state.items() if key != "type" and value not in (None, "", [])]


def state_values(blocks: Iterable[Json], given: Mapping[Key, Json]) -> Json:
    """`state.values`: block_id -> action_id -> state, with what was `given` in place of the initial values."""
    values: Json = {}
    for block in blocks:
        for element in elements_of(block):
            state = given.get((block["block_id"], element["action_id"])) or initial(element)
            if state is not None:
                values.setdefault(block["block_id"], {})[element["action_id"]] = state
    return values


def kept(given: Mapping[Key, Json], old: Iterable[Json], new: Iterable[Json]) -> dict[Key, Json]:
    """What stays of the given values when blocks are replaced: elements of the same ids, type and initial value."""
    before, after = _initials(old), _initials(new)
    return {key: value for key, value in given.items() if key in after and before.get(key) == after[key]}


def _initials(blocks: Iterable[Json]) -> dict[Key, Json | None]:
    return {(block["block_id"], one["action_id"]): initial(one) for block in blocks for one in elements_of(block)}


def _text(value: Any) -> str | None:
    return value.get("text") if isinstance(value, dict) else None
