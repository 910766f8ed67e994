import pytest

from bot.rendering.message import OutgoingFile
from bot.slackio.client import SlackCannotPost, SlackError, SlackGone, SlackMessageGone, SlackRetryLater
from bot.workspace import posting
from tests.slackio.conftest import said


@pytest.fixture
def root(emma):
    return emma.post("k3-incidents", "it does not start")


@pytest.fixture
def replies(emma, root, workspace):
    def read():
        return [one for one in emma.read_thread(root) if one.message.user == workspace.bot.user_id]

    return read


def test_post_when_all_is_well_then_found_by_its_key(gateway, root, replies):
    ts = gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    gateway.post(root.channel, root.ts, said("two"), {"key": "b"})
    assert replies()[0].ts == ts
    assert gateway.find_reply(root.channel, root.ts, "a") == ts
    assert gateway.find_reply(root.channel, root.ts, "c") is None
    assert gateway.find_reply(root.channel, None, "a") is None


def test_post_when_in_the_channel_itself_then_found_in_its_history(gateway, root):
    ts = gateway.post(root.channel, None, said("one"), {"key": "a"})
    assert gateway.find_reply(root.channel, None, "a") == ts


@pytest.mark.parametrize("in_thread", [True, False])
@pytest.mark.parametrize("key", [{"key": "a"}, None])
def test_post_when_its_answer_is_lost_then_it_is_found_and_not_posted_again(gateway, root, workspace, key, in_thread):
    workspace.faults.lose_answer("chat.postMessage")
    ts = gateway.post(root.channel, root.ts if in_thread else None, said("one"), key)
    ours = [one for one in workspace.messages(root.channel) if one.user == workspace.bot.user_id]
    assert [one.ts for one in ours] == [ts]


def test_post_when_a_time_out_hides_its_success_then_it_is_found(gateway, client, root, workspace, replies):
    client.timeout = 1
    workspace.faults.delay("chat.postMessage", 1.5)
    ts = gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    assert [one.ts for one in replies()] == [ts]


def test_post_when_reading_lags_behind_writing_then_it_is_looked_for_twice(
    gateway, root, workspace, replies, monkeypatch
):
    workspace.faults.lose_answer("chat.postMessage")
    looked = []
    find = gateway.find_reply

    def lagging(*arguments):
        looked.append(arguments)
        return None if len(looked) == 1 else find(*arguments)

    monkeypatch.setattr(gateway, "find_reply", lagging)
    gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    assert len(replies()) == 1
    assert len(looked) == 2


def test_post_when_the_request_is_lost_then_it_is_posted_once(gateway, root, workspace, replies):
    workspace.faults.lose_request("chat.postMessage")
    gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    assert len(replies()) == 1


def test_post_when_one_cannot_look_then_it_is_not_posted_again(gateway, root, workspace, replies):
    workspace.faults.lose_answer("chat.postMessage")
    workspace.faults.fail("conversations.replies", 503, times=9)
    with pytest.raises(SlackRetryLater):
        gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    assert len(replies()) == 1


def test_post_when_to_a_person_and_its_answer_is_lost_then_one_message_stays(gateway, emma, workspace):
    workspace.faults.lose_answer("chat.postMessage")
    ts = gateway.post(emma.id, None, said("hello"), {"key": "a"})
    assert [one.ts for one in emma.read(emma.dm)] == [ts]
    gateway.update(emma.id, ts, said("changed"))
    assert [one.text for one in emma.read(emma.dm)] == ["changed"]


@pytest.mark.parametrize(
    ("retry_after", "wait"),
    [("0", 0.1), ("1", 1.0), ("2.5", 2.5), ("-3", 0.1), (None, 0.5), ("soon", 0.5), ("nan", 0.5)],
)
def test_post_when_rate_limited_for_a_moment_then_it_waits_as_long(
    gateway, root, workspace, replies, time, retry_after, wait
):
    workspace.faults.rate_limit("chat.postMessage", retry_after)
    gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    assert time.slept[0] == wait
    assert len(replies()) == 1


@pytest.mark.parametrize(("retry_after", "wait"), [("30", 30.0), ("86400", 120.0), ("inf", 120.0), ("9" * 40, 120.0)])
def test_post_when_rate_limited_for_long_then_the_inbox_waits(gateway, root, workspace, time, retry_after, wait):
    workspace.faults.rate_limit("chat.postMessage", retry_after)
    with pytest.raises(SlackRetryLater) as later:
        gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    assert later.value.retry_after == wait
    assert time.slept == []


def test_post_when_slack_fails_for_a_while_then_it_comes_later(gateway, root, workspace, replies):
    workspace.faults.fail("chat.postMessage", 503, times=2)
    gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    assert len(replies()) == 1


def test_post_when_slack_fails_on_then_retry_later_without_a_word_of_what_was_sent(gateway, root, workspace, replies):
    workspace.faults.fail("chat.postMessage", 500, times=99)
    with pytest.raises(SlackRetryLater) as later:
        gateway.post(root.channel, root.ts, said("secret words"), {"key": "a"})
    assert str(later.value) == "http_500"
    assert later.value.__cause__ is None
    assert later.value.__suppress_context__ or later.value.__context__ is None
    assert replies() == []


def test_post_when_nobody_listens_then_retry_later(gateway, client, root):
    client.base_url = "http://127.0.0.1:9/api/"
    with pytest.raises(SlackRetryLater) as later:
        gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    assert not later.value.unsure


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        *((code, SlackGone) for code in ("token_revoked", "account_inactive", "invalid_auth")),
        *((code, SlackCannotPost) for code in ("not_in_channel", "is_archived", "channel_not_found")),
        ("restricted_action_read_only_channel", SlackCannotPost),
        ("message_limit_exceeded", SlackRetryLater),
        ("internal_error", SlackRetryLater),
        ("invalid_blocks", SlackError),
    ],
)
def test_post_when_slack_refuses_then_the_error_says_what_kind(gateway, root, workspace, code, kind):
    workspace.faults.error("chat.postMessage", code, times=9)
    with pytest.raises(SlackError) as refusal:
        gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    assert type(refusal.value) is kind
    assert str(refusal.value) == code


def test_post_when_many_go_to_one_channel_then_one_a_second(gateway, root, time, workspace):
    for number in range(3):
        gateway.post(root.channel, root.ts, said(str(number)), {"key": str(number)})
    assert time.slept == [1.0, 1.0]
    gateway.post(workspace.channel("general").id, None, said("elsewhere"), {"key": "z"})
    assert time.slept == [1.0, 1.0]


def test_post_when_very_many_wait_for_a_channel_then_retry_later(gateway, root, time):
    time.sleep = lambda seconds: None
    gateway._pace._sleep = time.sleep
    for number in range(11):
        gateway.post(root.channel, root.ts, said(str(number)), {"key": str(number)})
    with pytest.raises(SlackRetryLater) as later:
        gateway.post(root.channel, root.ts, said("one more"), {"key": "more"})
    assert later.value.retry_after == 11.0


def test_find_when_the_thread_has_many_pages_then_all_are_looked_through(gateway, root, emma, client, monkeypatch):
    for number in range(12):
        emma.reply(root, str(number))
    ts = gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    whole = client.conversations_replies
    monkeypatch.setattr(client, "conversations_replies", lambda **given: whole(**{**given, "limit": 5}))
    assert gateway.find_reply(root.channel, root.ts, "a") == ts


def test_find_when_the_thread_is_gone_then_none(gateway, root):
    assert gateway.find_reply(root.channel, "1234567890.000001", "a") is None


def test_direct_channel_when_something_was_posted_then_known(gateway, emma):
    assert gateway.direct_channel(emma.id) is None
    gateway.post(emma.id, None, said("hello"))
    assert gateway.direct_channel(emma.id) == emma.dm


def test_update_when_the_message_was_deleted_then_an_error_of_its_own(gateway, root, workspace):
    ts = gateway.post(root.channel, root.ts, said("hello"))
    posting.delete(workspace, workspace.log.get(root.channel, ts))
    with pytest.raises(SlackMessageGone):
        gateway.update(root.channel, ts, said("again"))


def test_update_when_its_answer_is_lost_then_it_is_updated(gateway, root, workspace, replies):
    ts = gateway.post(root.channel, root.ts, said("one"), {"key": "a"})
    workspace.faults.lose_answer("chat.update")
    gateway.update(root.channel, ts, said("two"), {"key": "a"})
    assert [one.text for one in replies()] == ["two"]
    assert gateway.find_reply(root.channel, root.ts, "a") == ts


def test_ephemeral_when_its_answer_is_lost_then_it_is_not_sent_again(gateway, root, emma, workspace):
    workspace.faults.lose_answer("chat.postEphemeral")
    with pytest.raises(SlackRetryLater):
        gateway.post_ephemeral(root.channel, emma.id, said("psst"), root.ts)
    assert [one.text for one in emma.read_thread(root) if one.ephemeral] == ["psst"]


def test_upload_when_all_is_well_then_it_is_in_the_thread(gateway, root, replies, workspace):
    gateway.share(root.channel, root.ts, gateway.upload(OutgoingFile("report.md", "Report", b"# hi")), "Report")
    assert [one.files for one in replies()] == [("report.md",)]
    assert workspace.files_of(replies()[0].message)[0].content == b"# hi"


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "files.upload", "files.completeUploadExternal"])
@pytest.mark.parametrize("fault", ["lose_answer", "lose_request", "fail"])
def test_upload_when_a_step_goes_wrong_then_one_file(gateway, root, replies, workspace, step, fault):
    getattr(workspace.faults, fault)(step)
    gateway.share(root.channel, root.ts, gateway.upload(OutgoingFile("report.md", "Report", b"# hi")), "Report")
    assert [one.files for one in replies()] == [("report.md",)]


def test_share_when_it_may_have_been_done_before_then_one_file(gateway, root, replies):
    file_id = gateway.upload(OutgoingFile("report.md", "Report", b"# hi"))
    for _ in range(2):
        gateway.share(root.channel, root.ts, file_id, "Report", again=True)
    assert [one.files for one in replies()] == [("report.md",)]


def test_locale_when_asked_twice_then_slack_is_asked_once(gateway, workspace):
    minjun = workspace.person("minjun")
    assert gateway.user_locale(minjun.id) == "ko-KR"
    workspace.faults.error("users.info", "internal_error", times=9)
    assert gateway.user_locale(minjun.id) == "ko-KR"


def test_view_when_slack_is_busy_then_no_waiting(gateway, workspace, time):
    workspace.faults.rate_limit("views.open", "1", times=9)
    with pytest.raises(SlackRetryLater):
        gateway.open_view("1.2.3", {"type": "modal"})
    assert time.slept == []
