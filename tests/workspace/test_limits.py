"""Slack's limits, one step below and one above."""

import pytest

from bot.workspace import SlackError
from bot.workspace.validation import check_blocks, check_view


def plain(length):
    return {"type": "plain_text", "text": "x" * length}


def mrkdwn(length):
    return {"type": "mrkdwn", "text": "x" * length}


def section(length=1, **more):
    return {"type": "section", "text": mrkdwn(length), **more}


def button(length=1, **more):
    return {"type": "button", "text": plain(length), "action_id": "a", **more}


def actions(*elements):
    return {"type": "actions", "elements": list(elements)}


def option(length=1, value="v"):
    return {"text": plain(length), "value": value}


def options(count):
    return [option(value=str(number)) for number in range(count)]


def checkboxes(count):
    return actions({"type": "checkboxes", "action_id": "a", "options": options(count)})


def overflow(count):
    return actions({"type": "overflow", "action_id": "a", "options": options(count)})


def select(count=1, **more):
    return actions({"type": "static_select", "action_id": "a", "options": options(count), **more})


def text_input(**more):
    element = {"type": "plain_text_input", "action_id": "a", **more}
    return {"type": "input", "label": plain(1), "element": element}


def confirm(**more):
    return button(confirm={"title": plain(1), "text": plain(1), "confirm": plain(1), "deny": plain(1), **more})


TOO_LONG = "must be less than {} characters"
TOO_MANY = "no more than {} items allowed"


@pytest.mark.parametrize(
    ("make", "most", "complaint"),
    [
        (section, 3_000, TOO_LONG),
        (lambda n: {"type": "section", "fields": [mrkdwn(n)]}, 2_000, TOO_LONG),
        (lambda n: {"type": "section", "fields": [mrkdwn(1)] * n}, 10, TOO_MANY),
        (lambda n: {"type": "header", "text": plain(n)}, 150, TOO_LONG),
        (lambda n: {"type": "context", "elements": [mrkdwn(1)] * n}, 10, TOO_MANY),
        (lambda n: actions(*(button(action_id=str(one)) for one in range(n))), 25, TOO_MANY),
        (lambda n: section(block_id="b" * n), 255, TOO_LONG),
        (lambda n: actions(button(action_id="a" * n)), 255, TOO_LONG),
        (lambda n: actions(button(n)), 75, TOO_LONG),
        (lambda n: actions(button(value="v" * n)), 2_000, TOO_LONG),
        (lambda n: actions(button(url="u" * n)), 3_000, TOO_LONG),
        (lambda n: actions(confirm(title=plain(n))), 100, TOO_LONG),
        (lambda n: actions(confirm(text=plain(n))), 300, TOO_LONG),
        (lambda n: actions(confirm(deny=plain(n))), 30, TOO_LONG),
        (checkboxes, 10, TOO_MANY),
        (overflow, 5, TOO_MANY),
        (select, 100, TOO_MANY),
        (lambda n: select(options=[option(n)]), 75, TOO_LONG),
        (lambda n: select(options=[option(value="v" * n)]), 150, TOO_LONG),
        (lambda n: select(placeholder=plain(n)), 150, TOO_LONG),
        (lambda n: {"type": "image", "image_url": "https://x", "alt_text": "x" * n}, 2_000, TOO_LONG),
        (lambda n: {"type": "input", "label": plain(n), "element": text_input()["element"]}, 2_000, TOO_LONG),
        (lambda n: text_input(initial_value="x" * n), 3_000, TOO_LONG),
        (lambda n: {"type": "markdown", "text": "x" * n}, 12_000, TOO_LONG),
        (lambda n: {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * n}, 100, TOO_MANY),
    ],
)
def test_block_when_at_the_limit_then_taken_and_one_more_then_refused(make, most, complaint):
    assert check_blocks([make(most)]) == []
    limit = most + 1 if complaint == TOO_LONG else most
    assert complaint.format(limit) in check_blocks([make(most + 1)])[0]


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        ({"type": "section"}, "missing required field: text or fields [json-pointer:/blocks/0]"),
        (section(0), "must be more than 0 characters [json-pointer:/blocks/0/text/text]"),
        ({"type": "context", "elements": []}, "must provide at least 1 items [json-pointer:/blocks/0/elements]"),
        ({"type": "header", "text": mrkdwn(1)}, "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]"),
        ({"type": "sections"}, "unsupported type: sections [json-pointer:/blocks/0]"),
        (section(colour="red"), "invalid additional property: colour [json-pointer:/blocks/0]"),
        (actions(button(), button()), "action_id already exists: a [json-pointer:/blocks/0]"),
        (actions(button(style="green")), "must be a valid enum value: primary, danger"),
        (actions(text_input()["element"]), "unsupported type: plain_text_input"),
        (section(accessory=text_input()["element"]), "unsupported type: plain_text_input"),
        ({"type": "input", "label": plain(1), "element": button()}, "unsupported type: button"),
        (
            actions({"type": "checkboxes", "options": [option()], "initial_options": [option(value="other")]}),
            "initial option must match one of the options",
        ),
        (select(options=[option(), option()]), "option values must be unique"),
    ],
)
def test_block_when_malformed_then_slacks_complaint(block, complaint):
    assert complaint in " ".join(check_blocks([block]))


OPTION = {"text": {"type": "plain_text", "text": "x"}, "value": "v"}


@pytest.mark.parametrize(
    "element",
    [
        {"type": "radio_buttons", "options": [OPTION], "initial_option": OPTION},
        {"type": "multi_static_select", "option_groups": [{"label": plain(75), "options": [OPTION]}]},
        {"type": "users_select", "initial_user": "U1", "placeholder": plain(1)},
        {"type": "multi_users_select", "max_selected_items": 2},
        {"type": "conversations_select", "default_to_current_conversation": True},
        {"type": "channels_select"},
        {"type": "datepicker", "initial_date": "2026-11-29"},
        {"type": "timepicker"},
        {"type": "datetimepicker"},
        {"type": "plain_text_input", "min_length": 1, "max_length": 3_000},
        {"type": "email_text_input"},
        {"type": "url_text_input"},
        {"type": "number_input", "is_decimal_allowed": False, "max_value": "8"},
        {"type": "file_input", "filetypes": ["log"], "max_files": 10},
    ],
)
def test_element_when_well_formed_then_taken_by_an_input_block(element):
    assert check_blocks([{"type": "input", "label": plain(1), "element": element}], "modal") == []


@pytest.mark.parametrize(
    ("element", "complaint"),
    [
        ({"type": "number_input"}, "missing required field: is_decimal_allowed"),
        ({"type": "plain_text_input", "max_length": 3_001}, "must be a number between 0 and 3000"),
        ({"type": "file_input", "max_files": 11}, "must be a number between 1 and 10"),
        ({"type": "external_select"}, "unsupported type: external_select"),
        ({"type": "checkboxes"}, "must provide an array"),
        ({"type": "checkboxes", "options": ["x"]}, "must provide an object"),
        ({"type": "radio_buttons", "options": [{"value": "x"}]}, "missing required field: text"),
        ({"type": "radio_buttons", "options": [OPTION], "initial_option": option(2)}, "initial option must match"),
        ({"type": "datepicker", "colour": "red"}, "invalid additional property: colour"),
    ],
)
def test_element_when_malformed_then_slacks_complaint(element, complaint):
    block = {"type": "input", "label": plain(1), "element": element}
    assert complaint in " ".join(check_blocks([block], "modal"))


def test_rich_text_when_well_formed_then_taken_and_else_not():
    word = {"type": "text", "text": "x"}
    section = {"type": "rich_text_section", "elements": [word]}
    assert check_blocks([{"type": "rich_text", "elements": [section]}]) == []
    assert "unsupported type" in check_blocks([{"type": "rich_text", "elements": [word]}])[0]


def test_blocks_when_two_tables_then_refused():
    table = {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}
    assert check_blocks([table, table]) == ["only one table block is allowed per message [json-pointer:/blocks]"]


def test_blocks_when_51_in_a_message_then_refused_but_100_in_a_view_are_fine():
    assert check_blocks([{"type": "divider"}] * 50) == []
    assert check_blocks([{"type": "divider"}] * 51) == ["no more than 50 items allowed [json-pointer:/blocks]"]
    assert check_blocks([{"type": "divider"}] * 100, "modal") == []
    assert check_blocks([{"type": "divider"}] * 101, "modal") != []


def test_blocks_when_a_block_id_repeats_then_refused():
    assert "block_id already exists: b" in check_blocks([section(block_id="b"), section(block_id="b")])[0]


def view(**more):
    return {"type": "modal", "title": plain(1), "blocks": [section()], **more}


@pytest.mark.parametrize(
    ("name", "make", "most"),
    [
        ("title", plain, 24),
        ("submit", plain, 24),
        ("close", plain, 24),
        ("private_metadata", lambda n: "x" * n, 3_000),
        ("callback_id", lambda n: "x" * n, 255),
        ("external_id", lambda n: "x" * n, 255),
    ],
)
def test_view_when_at_the_limit_then_taken_and_one_more_then_refused(name, make, most):
    check_view(view(**{name: make(most)}), "modal")
    with pytest.raises(SlackError, match="invalid_arguments"):
        check_view(view(**{name: make(most + 1)}), "modal")


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"blocks": [text_input()]}, "must define `submit` to use an `input` block in modals"),
        ({"title": None}, "missing required field: title"),
        ({"blocks": [{"type": "markdown", "text": "x"}]}, "unsupported type: markdown"),
        ({"type": "home"}, "must be modal, found home"),
        ({"size": "big"}, "invalid additional property: size"),
    ],
)
def test_view_when_malformed_then_slacks_complaint(wrong, complaint):
    with pytest.raises(SlackError, match=complaint):
        check_view(view(**wrong), "modal")


def test_view_when_over_250_kilobytes_then_view_too_large():
    fields = [{"type": "section", "fields": [mrkdwn(2_000)] * 10}]
    with pytest.raises(SlackError, match="view_too_large"):
        check_view(view(blocks=fields * 13), "modal")
