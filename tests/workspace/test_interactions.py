import re
import threading

import httpx
import pytest
from slack_sdk.webhook import WebhookClient

from bot.workspace import PersonError, SlackError
from tests.workspace.conftest import error_of

BUTTONS = [
    {
        "type": "section",
        "block_id": "checks",
        "text": {"type": "mrkdwn", "text": "Check"},
        "accessory": {
            "type": "checkboxes",
            "action_id": "ticked",
            "options": [
                {"text": {"type": "mrkdwn", "text": "*driver*"}, "value": "driver"},
                {"text": {"type": "mrkdwn", "text": "peermem"}, "value": "peermem"},
            ],
        },
    },
    {
        "type": "actions",
        "block_id": "verdict",
        "elements": [
            {"type": "button", "action_id": "solved", "text": {"type": "plain_text", "text": "Solved"}, "value": "7"},
            {
                "type": "overflow",
                "action_id": "more",
                "options": [
                    {"text": {"type": "plain_text", "text": "Reopen"}, "value": "reopen"},
                    {"text": {"type": "plain_text", "text": "Export"}, "value": "export"},
                ],
            },
        ],
    },
]
MODAL = {
    "type": "modal",
    "callback_id": "paste",
    "title": {"type": "plain_text", "text": "Diagnose"},
    "submit": {"type": "plain_text", "text": "Go"},
    "private_metadata": "from test",
    "blocks": [
        {
            "type": "input",
            "block_id": "log",
            "label": {"type": "plain_text", "text": "Log"},
            "element": {"type": "plain_text_input", "action_id": "text", "multiline": True},
        }
    ],
}


@pytest.fixture
def posted(client, workspace):
    answer = client.chat_postMessage(channel="k3-incidents", text="Report", blocks=BUTTONS)
    return workspace.log.get(answer["channel"], answer["ts"])


@pytest.fixture
def seen(app):
    """Payloads of every block action, each acknowledged."""
    payloads = []

    @app.action({"type": "block_actions", "action_id": re.compile(".*")})
    def note(ack, body):
        ack()
        payloads.append(body)

    return payloads


def test_button_when_pressed_then_block_actions_with_message_and_state(app, connect, seen, posted, emma, workspace):
    connect(app)
    emma.tick(posted, "driver")
    assert emma.press(posted, "Solved").acked
    workspace.wait_until(lambda: len(seen) == 2)
    body = seen[1]
    assert body["actions"][0] == {
        "type": "button",
        "action_id": "solved",
        "block_id": "verdict",
        "text": {"type": "plain_text", "text": "Solved", "emoji": True},
        "value": "7",
        "action_ts": body["actions"][0]["action_ts"],
    }
    assert body["user"]["id"] == emma.id
    assert body["container"] == {
        "type": "message",
        "message_ts": posted.ts,
        "channel_id": posted.channel,
        "is_ephemeral": False,
    }
    assert body["message"]["text"] == "Report"
    chosen = body["state"]["values"]["checks"]["ticked"]["selected_options"]
    assert [option["value"] for option in chosen] == ["driver"]


def test_checkbox_when_ticked_and_unticked_then_each_time_the_whole_choice(app, connect, seen, posted, emma, workspace):
    connect(app)
    emma.tick(posted, "driver")
    emma.tick(posted, "peermem")
    emma.tick(posted, "driver", on=False)
    workspace.wait_until(lambda: len(seen) == 3)
    chosen = [[one["value"] for one in body["actions"][0]["selected_options"]] for body in seen]
    assert chosen == [["driver"], ["driver", "peermem"], ["peermem"]]


def test_checkbox_when_ticked_then_each_person_has_their_own(app, connect, seen, posted, emma, workspace):
    connect(app)
    emma.tick(posted, "driver")
    ticked = [
        [tick.ticked for tick in workspace.person(name).read("k3-incidents")[0].ticks] for name in ("emma", "wei")
    ]
    assert ticked == [[True, False], [False, False]]


def test_overflow_when_chosen_then_selected_option(app, connect, seen, posted, emma, workspace):
    connect(app)
    emma.choose(posted, "more", "Export")
    workspace.wait_until(lambda: seen)
    assert seen[0]["actions"][0]["selected_option"]["value"] == "export"


def test_button_when_not_there_then_person_error(posted, emma):
    with pytest.raises(PersonError, match="there is no button 'Explode'"):
        emma.press(posted, "Explode")


def test_button_when_no_app_is_connected_then_not_acked(server, posted, emma):
    assert emma.press(posted, "solved").outcome == "not_connected"


def test_interaction_when_not_acknowledged_in_3_seconds_then_given_up_and_not_redelivered(
    app, connect, posted, emma, workspace
):
    called, release = threading.Event(), threading.Event()

    @app.action("solved")
    def slow(ack):
        called.set()
        release.wait(10)
        ack()

    connect(app)
    delivery = emma.press(posted, "solved", wait=False)
    assert called.wait(10)
    workspace.clock.advance(3)
    delivery.wait()
    release.set()
    assert (delivery.outcome, delivery.attempts) == ("timed_out", 1)


def test_slash_command_when_acked_with_text_then_only_the_caller_reads_it(app, connect, emma, workspace):
    bodies = []

    @app.command("/k3")
    def nodes(ack, body):
        ack("all well")
        bodies.append(body)

    connect(app)
    emma.run("k3-incidents", "/k3 nodes all")
    assert [(one.text, one.ephemeral) for one in emma.read("k3-incidents")] == [("all well", True)]
    assert workspace.person("wei").read("k3-incidents") == []
    assert {key: bodies[0][key] for key in ("command", "text", "user_name", "channel_name")} == {
        "command": "/k3",
        "text": "nodes all",
        "user_name": "emma",
        "channel_name": "k3-incidents",
    }


def test_slash_command_when_acked_in_channel_then_everyone_reads_it(app, connect, emma, workspace):
    app.command("/k3")(lambda ack: ack(text="all well", response_type="in_channel"))
    connect(app)
    emma.run("k3-incidents", "/k3")
    assert [one.text for one in workspace.person("wei").read("k3-incidents")] == ["all well"]


def test_slash_command_when_nobody_answers_then_slackbot_says_so(server, emma):
    assert emma.run("k3-incidents", "/k3").outcome == "not_connected"
    assert emma.read("k3-incidents")[0].text == '/k3 failed with the error "dispatch_failed"'


def test_slash_command_when_not_in_the_manifest_then_person_error(emma):
    with pytest.raises(PersonError, match="/reboot is not a valid command"):
        emma.run("k3-incidents", "/reboot all")


def test_global_shortcut_when_used_then_a_modal_opens_and_its_submission_arrives(app, connect, emma, workspace):
    submitted = []
    app.shortcut("diagnose_text")(
        lambda ack, body, client: (ack(), client.views_open(trigger_id=body["trigger_id"], view=MODAL))
    )
    app.view("paste")(lambda ack, body: (ack(), submitted.append(body)))
    connect(app)
    emma.use_shortcut("diagnose_text")
    view = emma.wait_for_modal()
    assert view.body["title"]["text"] == "Diagnose"
    assert emma.submit({"Log": "Traceback"}).accepted
    assert emma.modal is None
    workspace.wait_until(lambda: submitted)
    sent = submitted[0]["view"]
    assert sent["state"]["values"] == {"log": {"text": {"type": "plain_text_input", "value": "Traceback"}}}
    assert (sent["private_metadata"], sent["callback_id"], sent["id"]) == ("from test", "paste", view.id)


def test_message_shortcut_when_used_then_the_message_and_its_files_come_along(app, connect, emma, workspace):
    bodies = []
    app.shortcut("diagnose_message")(lambda ack, body: (ack(), bodies.append(body)))
    connect(app)
    message = emma.upload("random", {"crash.log": b"NCCL error"}, "look")
    emma.use_shortcut("Diagnose this message", message)
    workspace.wait_until(lambda: bodies)
    assert bodies[0]["type"] == "message_action"
    assert bodies[0]["message"]["files"][0]["name"] == "crash.log"
    assert bodies[0]["channel"] == {"id": message.channel, "name": "random"}
    assert bodies[0]["message_ts"] == message.ts


def test_shortcut_when_not_in_the_manifest_then_person_error(emma):
    with pytest.raises(PersonError, match="the app has no global shortcut 'diagnose_message'"):
        emma.use_shortcut("diagnose_message")


def open_modal(workspace, emma, view=MODAL):
    workspace.views.open(emma.id, view)


def test_submission_when_answered_with_errors_then_the_modal_stays(app, connect, emma, workspace):
    app.view("paste")(lambda ack: ack(response_action="errors", errors={"log": "This is no log"}))
    connect(app)
    open_modal(workspace, emma)
    result = emma.submit({"log": "hello"})
    assert result.errors == {"log": "This is no log"}
    assert emma.modal is not None


def test_submission_when_errors_name_an_unknown_block_then_slack_shows_trouble(app, connect, emma, workspace):
    app.view("paste")(lambda ack: ack(response_action="errors", errors={"nowhere": "?"}))
    connect(app)
    open_modal(workspace, emma)
    assert emma.submit({"log": "hello"}).errors == {"": "We had some trouble connecting. Try again?"}


def test_submission_when_a_required_field_is_empty_then_the_app_hears_nothing(app, connect, emma, workspace):
    connect(app)
    open_modal(workspace, emma)
    result = emma.submit()
    assert (result.delivery, result.errors) == (None, {"log": "Please complete this required field."})


@pytest.mark.parametrize("action", ["update", "push"])
def test_submission_when_answered_with_a_view_then_it_is_shown(app, connect, emma, workspace, action):
    other = MODAL | {"title": {"type": "plain_text", "text": "Result"}}
    app.view("paste")(lambda ack: ack(response_action=action, view=other))
    connect(app)
    open_modal(workspace, emma)
    first = emma.modal
    assert emma.submit({"log": "x"}).accepted
    assert emma.modal.body["title"]["text"] == "Result"
    assert (emma.modal.id == first.id) is (action == "update")
    assert emma.modal.previous_id == (None if action == "update" else first.id)


def test_submission_when_cleared_then_all_modals_close(app, connect, emma, workspace):
    app.view("paste")(lambda ack: ack(response_action="clear"))
    connect(app)
    open_modal(workspace, emma)
    workspace.views.push(emma.id, MODAL)
    emma.submit({"log": "x"})
    assert emma.modal is None


def test_modal_when_cancelled_then_view_closed_arrives_if_asked_for(app, connect, emma, workspace):
    bodies = []
    app.view_closed("paste")(lambda ack, body: (ack(), bodies.append(body)))
    connect(app)
    open_modal(workspace, emma, MODAL | {"notify_on_close": True})
    assert emma.close_modal().wait().acked
    workspace.wait_until(lambda: bodies)
    assert bodies[0]["is_cleared"] is False


def test_trigger_id_when_used_twice_or_late_then_refused(app, connect, emma, client, workspace):
    held = []

    @app.shortcut("diagnose_text")
    def keep(ack, body):
        ack()
        held.append(body["trigger_id"])

    connect(app)
    emma.use_shortcut("diagnose_text")
    emma.use_shortcut("diagnose_text")
    workspace.wait_until(lambda: len(held) == 2)
    client.views_open(trigger_id=held[0], view=MODAL)
    workspace.clock.advance(3.1)
    errors = [error_of(lambda t=trigger: client.views_open(trigger_id=t, view=MODAL)) for trigger in (*held, "none")]
    assert errors == ["exchanged_trigger_id", "expired_trigger_id", "invalid_trigger_id"]


@pytest.fixture
def response_url(app, connect, seen, posted, emma, workspace):
    connect(app)
    emma.press(posted, "solved")
    workspace.wait_until(lambda: seen)
    return seen[0]["response_url"]


def test_response_url_when_posted_to_then_only_that_person_reads_it(response_url, emma, workspace):
    assert WebhookClient(response_url).send(text="noted").status_code == 200
    assert emma.read("k3-incidents")[-1].text == "noted"
    assert len(workspace.person("wei").read("k3-incidents")) == 1


def test_response_url_when_replacing_then_the_original_changes(response_url, emma):
    WebhookClient(response_url).send(text="replaced", replace_original=True)
    assert [one.text for one in emma.read("k3-incidents")] == ["replaced"]


def test_response_url_when_deleting_then_the_original_goes(response_url, emma):
    WebhookClient(response_url).send(delete_original=True)
    assert emma.read("k3-incidents") == []


def test_response_url_when_used_six_times_then_used_url(response_url):
    answers = [WebhookClient(response_url).send(text="x") for _ in range(6)]
    assert [one.status_code for one in answers] == [200] * 5 + [404]
    assert "used_url" in answers[-1].body


def test_response_url_when_30_minutes_old_then_expired_url(response_url, workspace):
    workspace.clock.advance(30 * 60 + 1)
    answer = WebhookClient(response_url).send(text="x")
    assert (answer.status_code, "expired_url" in answer.body) == (404, True)


def test_response_url_when_blocks_are_wrong_then_400(response_url):
    answer = httpx.post(response_url, json={"blocks": [{"type": "section"}]}, trust_env=False)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_blocks")


def test_ephemeral_button_when_pressed_then_the_container_says_so(app, connect, seen, client, emma, workspace):
    connect(app)
    client.chat_postEphemeral(channel="k3-incidents", user=emma.id, text="x", blocks=BUTTONS)
    emma.press(emma.read("k3-incidents")[0].message, "solved")
    workspace.wait_until(lambda: seen)
    assert seen[0]["container"]["is_ephemeral"] is True
    assert "message" not in seen[0]
    WebhookClient(seen[0]["response_url"]).send(text="done", replace_original=True)
    assert [(one.text, one.ephemeral) for one in emma.read("k3-incidents")] == [("done", True)]


def test_update_when_the_checkbox_stays_then_what_was_ticked_stays(app, connect, seen, posted, emma, client):
    connect(app)
    emma.tick(posted, "driver")
    client.chat_update(channel=posted.channel, ts=posted.ts, text="Report", blocks=BUTTONS)
    assert [tick.ticked for tick in emma.read("k3-incidents")[0].ticks] == [True, False]


def test_update_when_the_initial_choice_changes_then_it_counts(app, connect, seen, posted, emma, client):
    connect(app)
    emma.tick(posted, "driver")
    checkboxes = BUTTONS[0]["accessory"]
    changed = BUTTONS[0] | {"accessory": checkboxes | {"initial_options": checkboxes["options"][1:]}}
    client.chat_update(channel=posted.channel, ts=posted.ts, text="Report", blocks=[changed])
    assert [tick.ticked for tick in emma.read("k3-incidents")[0].ticks] == [False, True]


def test_modal_button_when_pressed_then_the_view_comes_with_what_is_filled_in(app, connect, seen, emma, workspace):
    connect(app)
    open_modal(workspace, emma, MODAL | {"blocks": [*MODAL["blocks"], BUTTONS[1]]})
    assert emma.choose(emma.modal, "text", "half a log") is None
    emma.press(emma.modal, "solved")
    workspace.wait_until(lambda: seen)
    assert seen[0]["container"] == {"type": "view", "view_id": emma.modal.id}
    assert seen[0]["view"]["state"]["values"]["log"]["text"]["value"] == "half a log"
    assert "response_url" not in seen[0]


def test_home_when_opened_then_the_app_publishes_it(app, connect, client, emma, workspace):
    home = {"type": "home", "blocks": BUTTONS}
    app.event("app_home_opened")(lambda event, client: client.views_publish(user_id=event["user"], view=home))
    connect(app)
    assert emma.open_home() is None
    workspace.wait_until(lambda: emma.home)
    assert emma.home.blocks[1]["block_id"] == "verdict"


def test_push_when_three_modals_are_open_then_push_limit_reached(emma, workspace):
    for _ in range(3):
        workspace.views.push(emma.id, MODAL)
    with pytest.raises(SlackError, match="push_limit_reached"):
        workspace.views.push(emma.id, MODAL)


def test_form_when_files_are_put_in_then_the_app_can_download_them(app, connect, client, emma, workspace):
    submitted = []
    app.view("paste")(lambda ack, view: (ack(), submitted.append(view)))
    connect(app)
    label = {"type": "plain_text", "text": "Files"}
    field = {"type": "input", "block_id": "f", "label": label, "element": {"type": "file_input", "action_id": "files"}}
    open_modal(workspace, emma, MODAL | {"blocks": [field]})
    assert emma.submit({"Files": [emma.stage("vllm.log", b"ERROR")]}).accepted
    workspace.wait_until(lambda: submitted)
    file = submitted[0]["state"]["values"]["f"]["files"]["files"][0]
    token = {"Authorization": f"Bearer {client.token}"}
    assert httpx.get(file["url_private_download"], headers=token, trust_env=False).content == b"ERROR"


def test_select_when_chosen_then_selected_option_and_wrong_ones_are_refused(
    app, connect, seen, client, emma, workspace
):
    connect(app)
    select = {"type": "static_select", "action_id": "language", "options": BUTTONS[1]["elements"][1]["options"]}
    people = {"type": "users_select", "action_id": "owner"}
    client.chat_postMessage(
        channel="k3-incidents", text="x", blocks=[{"type": "actions", "elements": [select, people]}]
    )
    message = emma.read("k3-incidents")[0].message
    emma.choose(message, "language", "Export")
    emma.choose(message, "owner", emma.id)
    workspace.wait_until(lambda: len(seen) == 2)
    assert seen[0]["actions"][0]["selected_option"]["value"] == "export"
    assert seen[1]["actions"][0]["selected_user"] == emma.id
    with pytest.raises(PersonError, match="no option 'fly'"):
        emma.choose(message, "language", "fly")
