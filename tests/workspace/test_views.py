import pytest

from tests.workspace.conftest import error_of

TITLE = {"type": "plain_text", "text": "Title"}


def modal(**more):
    return {"type": "modal", "title": TITLE, "blocks": [{"type": "divider"}], **more}


@pytest.fixture
def trigger(workspace, emma):
    return lambda: workspace.tickets.trigger(emma.id)


def test_update_when_the_hash_is_old_then_hash_conflict(client, trigger):
    view = client.views_open(trigger_id=trigger(), view=modal())["view"]
    newer = client.views_update(view_id=view["id"], hash=view["hash"], view=modal(callback_id="two"))["view"]
    assert newer["hash"] != view["hash"]
    assert error_of(lambda: client.views_update(view_id=view["id"], hash=view["hash"], view=modal())) == "hash_conflict"


def test_update_when_by_external_id_then_found_and_twice_the_same_is_refused(client, trigger):
    client.views_open(trigger_id=trigger(), view=modal(external_id="report"))
    assert client.views_update(external_id="report", view=modal(external_id="report"))["ok"]
    assert error_of(lambda: client.views_open(trigger_id=trigger(), view=modal(external_id="report"))) == (
        "duplicate_external_id"
    )


def test_update_when_the_modal_was_closed_then_not_found(client, trigger, emma):
    view = client.views_open(trigger_id=trigger(), view=modal())["view"]
    emma.close_modal()
    assert error_of(lambda: client.views_update(view_id=view["id"], view=modal())) == "not_found"


def test_push_when_on_top_then_it_knows_what_is_below(client, trigger, emma):
    below = client.views_open(trigger_id=trigger(), view=modal())["view"]
    above = client.views_push(trigger_id=trigger(), view=modal())["view"]
    assert (above["previous_view_id"], above["root_view_id"]) == (below["id"], below["id"])
    assert emma.modal.id == above["id"]
    emma.close_modal()
    assert emma.modal.id == below["id"]


def test_open_when_refused_then_the_trigger_is_still_good(client, trigger):
    trigger_id = trigger()
    assert error_of(lambda: client.views_open(trigger_id=trigger_id, view=modal(blocks=None))) == "invalid_arguments"
    assert client.views_open(trigger_id=trigger_id, view=modal())["ok"]


def test_publish_when_the_hash_is_old_then_hash_conflict(client, emma):
    home = {"type": "home", "blocks": [{"type": "divider"}]}
    first = client.views_publish(user_id=emma.id, view=home)["view"]
    second = client.views_publish(user_id=emma.id, view=home, hash=first["hash"])["view"]
    assert second["id"] == first["id"]
    assert error_of(lambda: client.views_publish(user_id=emma.id, view=home, hash=first["hash"])) == "hash_conflict"


def test_update_when_a_field_stays_then_what_was_typed_stays(client, trigger, emma):
    field = {
        "type": "input",
        "block_id": "b",
        "label": TITLE,
        "element": {"type": "plain_text_input", "action_id": "a"},
    }
    body = modal(blocks=[field], submit=TITLE)
    view = client.views_open(trigger_id=trigger(), view=body)["view"]
    emma.choose(emma.modal, "a", "typed")
    updated = client.views_update(view_id=view["id"], view=body)["view"]
    assert updated["state"]["values"]["b"]["a"]["value"] == "typed"
