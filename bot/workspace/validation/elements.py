"""Checks of block elements: buttons, selects, checkboxes, inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.workspace import limits
from bot.workspace.validation.problems import Problems

Check = Callable[[Problems, dict[str, Any], str], None]

COMMON = ("type", "action_id")
SELECTABLE = ("placeholder", "confirm", "focus_on_load")


def check_element(problems: Problems, element: Any, at: str, allowed: frozenset[str]) -> None:
    """Complain of what is wrong with `element`, which must be of one of the `allowed` types."""
    kind = element.get("type") if isinstance(element, dict) else None
    if kind not in allowed or kind not in _CHECKS:
        problems.add(at, f"unsupported type: {kind}")
        return
    problems.string(element.get("action_id"), f"{at}/action_id", limits.ID, least=1)
    _CHECKS[str(kind)](problems, element, at)


def _confirm(problems: Problems, value: Any, at: str) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        problems.add(at, "must provide an object")
        return
    problems.known_keys(value, at, ("title", "text", "confirm", "deny", "style"))
    problems.required(value, at, "text")
    problems.plain(value.get("title"), f"{at}/title", limits.CONFIRM_TITLE)
    problems.text(value.get("text"), f"{at}/text", limits.CONFIRM_TEXT)
    problems.plain(value.get("confirm"), f"{at}/confirm", limits.CONFIRM_BUTTON)
    problems.plain(value.get("deny"), f"{at}/deny", limits.CONFIRM_BUTTON)
    problems.one_of(value.get("style"), f"{at}/style", ("primary", "danger"))


def _button(problems: Problems, element: dict[str, Any], at: str) -> None:
    problems.known_keys(element, at, (*COMMON, "text", "url", "value", "style", "confirm", "accessibility_label"))
    problems.required(element, at, "text")
    problems.plain(element.get("text"), f"{at}/text", limits.BUTTON_TEXT)
    problems.string(element.get("url"), f"{at}/url", limits.URL, least=1)
    problems.string(element.get("value"), f"{at}/value", limits.BUTTON_VALUE, least=1)
    problems.string(element.get("accessibility_label"), f"{at}/accessibility_label", limits.BUTTON_TEXT)
    problems.one_of(element.get("style"), f"{at}/style", ("primary", "danger"))
    _confirm(problems, element.get("confirm"), f"{at}/confirm")


def _option(problems: Problems, option: Any, at: str, *, mrkdwn: bool, url: bool) -> None:
    if not isinstance(option, dict):
        problems.add(at, "must provide an object")
        return
    problems.known_keys(option, at, ("text", "value", "description", *(("url",) if url else ())))
    if problems.required(option, at, "text", "value"):
        types = ("plain_text", "mrkdwn") if mrkdwn else ("plain_text",)
        problems.text(option["text"], f"{at}/text", limits.OPTION_TEXT, types)
        problems.string(option["value"], f"{at}/value", limits.OPTION_VALUE, least=1)
        problems.text(option.get("description"), f"{at}/description", limits.OPTION_TEXT, types)


def _options(
    problems: Problems, element: dict[str, Any], at: str, most: int, *, mrkdwn: bool = False, url: bool = False
) -> None:
    options = element.get("options")
    if not problems.items(options, f"{at}/options", most):
        return
    for number, option in enumerate(options or ()):
        _option(problems, option, f"{at}/options/{number}", mrkdwn=mrkdwn, url=url)
    values = [option.get("value") for option in options or () if isinstance(option, dict)]
    if len(values) != len(set(map(str, values))):
        problems.add(f"{at}/options", "option values must be unique")
    _initial(problems, element, at, options or [])


def _initial(problems: Problems, element: dict[str, Any], at: str, options: list[Any]) -> None:
    chosen = element.get("initial_options")
    if chosen is not None and problems.items(chosen, f"{at}/initial_options", len(options)):
        for number, option in enumerate(chosen):
            if option not in options:
                problems.add(f"{at}/initial_options/{number}", "initial option must match one of the options")
    one = element.get("initial_option")
    if one is not None and one not in options:
        problems.add(f"{at}/initial_option", "initial option must match one of the options")


def _checkboxes(problems: Problems, element: dict[str, Any], at: str) -> None:
    problems.known_keys(element, at, (*COMMON, "options", "initial_options", "confirm", "focus_on_load"))
    _options(problems, element, at, limits.CHECKBOX_OPTIONS, mrkdwn=True)
    _confirm(problems, element.get("confirm"), f"{at}/confirm")


def _radio(problems: Problems, element: dict[str, Any], at: str) -> None:
    problems.known_keys(element, at, (*COMMON, "options", "initial_option", "confirm", "focus_on_load"))
    _options(problems, element, at, limits.CHECKBOX_OPTIONS, mrkdwn=True)
    _confirm(problems, element.get("confirm"), f"{at}/confirm")


def _overflow(problems: Problems, element: dict[str, Any], at: str) -> None:
    problems.known_keys(element, at, (*COMMON, "options", "confirm"))
    _options(problems, element, at, limits.OVERFLOW_OPTIONS, url=True)
    _confirm(problems, element.get("confirm"), f"{at}/confirm")


def _static_select(problems: Problems, element: dict[str, Any], at: str) -> None:
    extra = ("options", "option_groups", "initial_option", "initial_options", "max_selected_items")
    problems.known_keys(element, at, (*COMMON, *SELECTABLE, *extra))
    problems.plain(element.get("placeholder"), f"{at}/placeholder", limits.PLACEHOLDER)
    _confirm(problems, element.get("confirm"), f"{at}/confirm")
    groups = element.get("option_groups")
    if groups is None:
        _options(problems, element, at, limits.OPTIONS)
    elif problems.items(groups, f"{at}/option_groups", limits.OPTIONS):
        every: list[Any] = []
        for number, group in enumerate(groups):
            place = f"{at}/option_groups/{number}"
            problems.plain(group.get("label"), f"{place}/label", limits.OPTION_TEXT)
            _options(problems, {"options": group.get("options")}, place, limits.OPTIONS)
            every += group.get("options") or []
        _initial(problems, element, at, every)


def _picker(*fields: str) -> Check:
    def check(problems: Problems, element: dict[str, Any], at: str) -> None:
        problems.known_keys(element, at, (*COMMON, *SELECTABLE, *fields))
        problems.plain(element.get("placeholder"), f"{at}/placeholder", limits.PLACEHOLDER)
        _confirm(problems, element.get("confirm"), f"{at}/confirm")

    return check


def _text_input(*fields: str) -> Check:
    def check(problems: Problems, element: dict[str, Any], at: str) -> None:
        known = ("placeholder", "initial_value", "dispatch_action_config", "focus_on_load")
        problems.known_keys(element, at, (*COMMON, *known, *fields))
        problems.plain(element.get("placeholder"), f"{at}/placeholder", limits.PLACEHOLDER)
        problems.string(element.get("initial_value"), f"{at}/initial_value", limits.INPUT_VALUE)
        if "is_decimal_allowed" in fields:
            problems.required(element, at, "is_decimal_allowed")
            return
        for name in ("min_length", "max_length"):
            size = element.get(name)
            if size is not None and not (isinstance(size, int) and 0 <= size <= limits.INPUT_VALUE):
                problems.add(f"{at}/{name}", f"must be a number between 0 and {limits.INPUT_VALUE}")

    return check


def _file_input(problems: Problems, element: dict[str, Any], at: str) -> None:
    problems.known_keys(element, at, (*COMMON, "filetypes", "max_files"))
    most = element.get("max_files", 10)
    if not (isinstance(most, int) and 1 <= most <= 10):
        problems.add(f"{at}/max_files", "must be a number between 1 and 10")


def _image(problems: Problems, element: dict[str, Any], at: str) -> None:
    problems.known_keys(element, at, ("type", "image_url", "alt_text", "slack_file"))
    problems.required(element, at, "alt_text", *(() if element.get("slack_file") else ("image_url",)))
    problems.string(element.get("image_url"), f"{at}/image_url", limits.IMAGE_URL, least=1)
    problems.string(element.get("alt_text"), f"{at}/alt_text", limits.IMAGE_ALT, least=1)


_TARGET = ("response_url_enabled", "filter", "max_selected_items", "default_to_current_conversation")
_CHECKS: dict[str, Check] = {
    "button": _button,
    "checkboxes": _checkboxes,
    "radio_buttons": _radio,
    "overflow": _overflow,
    "static_select": _static_select,
    "multi_static_select": _static_select,
    "users_select": _picker("initial_user"),
    "multi_users_select": _picker("initial_users", "max_selected_items"),
    "conversations_select": _picker("initial_conversation", *_TARGET),
    "channels_select": _picker("initial_channel", *_TARGET),
    "datepicker": _picker("initial_date"),
    "timepicker": _picker("initial_time", "timezone"),
    "datetimepicker": _picker("initial_date_time"),
    "plain_text_input": _text_input("multiline", "min_length", "max_length"),
    "email_text_input": _text_input(),
    "url_text_input": _text_input(),
    "number_input": _text_input("is_decimal_allowed", "min_value", "max_value"),
    "file_input": _file_input,
    "image": _image,
}

SELECTS = frozenset(
    {
        *("static_select", "multi_static_select", "users_select", "multi_users_select"),
        *("conversations_select", "channels_select", "datepicker", "timepicker", "datetimepicker"),
    }
)
INTERACTIVE = SELECTS | {"button", "checkboxes", "radio_buttons", "overflow"}
IN_SECTION = INTERACTIVE | {"image"}
IN_INPUT = SELECTS | {
    *("checkboxes", "radio_buttons", "plain_text_input", "email_text_input", "url_text_input", "number_input"),
    "file_input",
}
