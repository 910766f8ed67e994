"""The page, without a browser."""

import re

import httpx
import pytest

from bot.workspace import serve
from bot.workspace.page.markup import markdown, mrkdwn
from bot.workspace.page.samples import SAMPLES, load_samples
from bot.workspace.page.texts import LANGUAGES, texts

_LISTS = ("months", "months_short", "weekdays")


@pytest.fixture
def samples(tmp_path):
    (tmp_path / "ko").mkdir()
    (tmp_path / "ko" / "vllm.log").write_bytes(b"ERROR")
    (tmp_path / "ko" / "message.txt").write_text("왜 안 되나요?", encoding="utf-8")
    (tmp_path / "any.log").write_bytes(b"ERROR anywhere")
    return tmp_path


@pytest.fixture
def server(workspace, samples):
    with serve(workspace, samples=samples) as running:
        yield running


@pytest.fixture
def browser(server):
    with httpx.Client(base_url=server.origin, trust_env=False, headers={"X-Workspace": "page"}) as client:
        yield client


@pytest.fixture
def do(browser, workspace):
    def act(what, **data):
        channel = workspace.channel(data.pop("channel", "k3-incidents")).id
        return browser.post(f"/ui/{what}", json={"as": "emma", "channel": channel, **data}).json()

    return act


def part(browser, name, **query):
    return browser.get("/ui/parts", params={"as": "emma", **query}).json()["parts"][name]


@pytest.mark.parametrize(
    ("person", "language", "word"),
    [("emma", "en", "Channels"), ("minjun", "ko", "채널"), ("wei", "zh", "频道"), ("olga", "ru", "Каналы")],
)
def test_page_when_opened_as_someone_then_in_their_language(browser, person, language, word):
    html = browser.get("/", params={"as": person}).text
    assert f'<html lang="{language}">' in html
    assert word in html


def test_page_when_opened_then_it_loads_nothing_from_elsewhere(browser):
    html = browser.get("/").text
    loaded = re.findall(r'(?:src|<link[^>]*href)="([^"]+)"', html)
    assert loaded
    assert all(one.startswith(("/static/", "data:")) for one in loaded)
    assert [browser.get(one).status_code for one in loaded if one.startswith("/")] == [200, 200]


def test_page_when_the_query_is_unknown_then_the_first_person_in_general(browser):
    html = browser.get("/", params={"as": "nobody", "at": "nowhere", "thread": "1.1"}).text
    assert "Emma Hart" in html
    assert "<h1>#general</h1>" in html


def test_post_when_sent_then_shown_and_a_command_runs(browser, do):
    assert do("post", text="it <b>fails</b>")["ok"]
    assert "it &lt;b&gt;fails&lt;/b&gt;" in part(browser, "messages")
    do("post", text="/k3 nodes")
    assert "dispatch_failed" in part(browser, "messages")


def test_post_when_refused_then_the_reason(do, workspace):
    assert do("post", text=" ") == {"ok": False, "error": "there is nothing to send"}
    message = workspace.person("emma").post("k3-incidents", "x")
    assert do("post", text="/k3", thread=message.ts)["error"] == "Commands are not supported in threads."


def test_file_when_staged_and_sent_then_shown_with_its_first_lines(browser, do, workspace):
    staged = browser.post("/ui/stage", params={"as": "emma", "name": "vllm.log"}, content=b"first\n<script>\n").json()
    do("post", text="see", files=[staged["file"]])
    html = part(browser, "messages")
    assert "vllm.log" in html
    assert "first\n&lt;script&gt;" in html
    answer = browser.get(f"/ui/file/{staged['file']}")
    assert answer.content == b"first\n<script>\n"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-security-policy"] == "sandbox"


def test_thread_when_opened_then_root_and_replies(browser, workspace):
    emma = workspace.person("emma")
    root = emma.post("k3-incidents", "the root")
    emma.reply(root, "the reply")
    html = part(browser, "thread", thread=root.ts)
    assert "the root" in html
    assert "the reply" in html
    assert "the reply" not in part(browser, "messages")


def test_permalink_when_followed_then_the_thread(browser, client, workspace):
    message = workspace.person("emma").post("k3-incidents", "x")
    link = client.chat_getPermalink(channel=message.channel, message_ts=message.ts)["permalink"]
    assert browser.get(link).headers["location"] == f"/?at={message.channel}&thread={message.ts}#m{message.ts}"
    location = browser.get(link, params={"as": "wei"}).headers["location"]
    assert location == f"/?as=wei&at={message.channel}&thread={message.ts}#m{message.ts}"


def test_modal_when_open_then_shown_and_submitted_from_the_page(browser, do, app, connect, workspace):
    app.view("paste")(lambda ack: ack(response_action="errors", errors={"log": "This is <no> log"}))
    connect(app)
    label = {"type": "plain_text", "text": "Log"}
    field = {
        "type": "input",
        "block_id": "log",
        "label": label,
        "element": {"type": "plain_text_input", "action_id": "t"},
    }
    body = {"type": "modal", "callback_id": "paste", "title": label, "submit": label, "blocks": [field]}
    workspace.views.open(workspace.person("emma").id, body)
    assert "This is" not in part(browser, "modal")
    assert do("submit", values=[["log", "t", "hello"]])["ok"]
    html = part(browser, "modal")
    assert "This is &lt;no&gt; log" in html
    assert 'value="hello"' in html
    do("close")
    assert part(browser, "modal").strip() == ""


def test_button_when_pressed_on_the_page_then_its_exact_element_acts(do, app, connect, client, workspace):
    pressed = []
    app.action("same")(lambda ack, action: (ack(), pressed.append(action["value"])))
    connect(app)
    blocks = [
        {
            "type": "actions",
            "block_id": value,
            "elements": [
                {"type": "button", "action_id": "same", "value": value, "text": {"type": "plain_text", "text": "Go"}}
            ],
        }
        for value in ("one", "two")
    ]
    ts = client.chat_postMessage(channel="k3-incidents", text="x", blocks=blocks)["ts"]
    assert do("act", ts=ts, block_id="two", action_id="same", press=True)["ok"]
    workspace.wait_until(lambda: pressed == ["two"])


def test_samples_when_loaded_then_everyone_asks_in_their_language(do, workspace):
    assert do("samples")["posted"] == 4
    posted = workspace.messages("k3-incidents")
    assert [workspace.directory.user(one.user).language for one in posted] == ["en", "ko", "zh", "ru"]
    assert posted[1].text.endswith("왜 안 되나요?")
    assert [workspace.files_of(one)[0].name for one in posted] == ["any.log", "vllm.log", "any.log", "any.log"]
    assert all(f"<@{workspace.bot.user_id}>" in one.text for one in posted)


@pytest.mark.parametrize("language", LANGUAGES)
def test_samples_when_shipped_then_a_log_and_a_question_in_every_language(language):
    (sample,) = [one for one in load_samples(SAMPLES) if one.language == language]
    assert sample.text not in {texts(one)["sample_question"] for one in LANGUAGES}
    assert all(b"vllm" in content for content in sample.files.values())


def test_samples_when_nobody_speaks_a_language_then_whoever_loads_them_asks(browser, do, workspace):
    do("locale", locale="ru-RU")
    assert do("samples")["posted"] == 4
    assert workspace.messages("k3-incidents")[0].user == workspace.person("emma").id


def test_samples_when_missing_then_that_is_said(workspace, tmp_path):
    with serve(workspace, samples=tmp_path / "none") as server:
        headers = {"X-Workspace": "page"}
        answer = httpx.post(f"{server.origin}/ui/samples", json={"as": "wei"}, headers=headers, trust_env=False)
    assert answer.json()["error"].startswith(f"{tmp_path / 'none'} 中没有示例日志")


def test_post_when_a_name_is_typed_then_it_is_a_mention(do, workspace):
    do("post", text="@k3 triage, ask @Ольга Смирнова")
    bot, olga = workspace.bot.user_id, workspace.person("olga").id
    assert workspace.messages("k3-incidents")[0].text == f"<@{bot}>, ask <@{olga}>"


def test_edit_when_begun_then_the_text_is_as_it_was_typed(browser, do, workspace):
    do("post", text="@K3 Triage a < b")
    assert 'data-text="@K3 Triage a &lt; b"' in part(browser, "messages")
    message = workspace.messages("k3-incidents")[0]
    do("edit", ts=message.ts, text="@K3 Triage a < c")
    assert workspace.messages("k3-incidents")[0].text == f"<@{workspace.bot.user_id}> a &lt; c"


def test_composer_when_in_a_channel_then_it_names_the_bot_and_in_a_thread_it_names_no_command(browser, workspace):
    message = workspace.person("emma").post("k3-incidents", "x")
    html = browser.get("/", params={"thread": message.ts}).text
    assert 'placeholder="Write @K3 Triage and your log · #k3-incidents"' in html
    assert 'placeholder="Reply…"' in html
    assert 'data-text="@K3 Triage "' in html


@pytest.mark.parametrize(
    ("person", "words"),
    [
        ("emma", "answers only when mentioned"),
        ("minjun", "멘션될 때만 답변합니다"),
        ("wei", "只有被提及时才会回复"),
        ("olga", "отвечает, только если его упомянуть"),
    ],
)
def test_channel_when_empty_or_unheard_then_it_says_that_the_bot_must_be_mentioned(
    browser, do, workspace, person, words
):
    def shown():
        return browser.get("/ui/parts", params={"as": person, "at": "k3-incidents"}).json()["parts"]["messages"]

    assert words in shown()
    someone = workspace.person(person)
    message = someone.post("k3-incidents", "ERROR a log")
    assert words in shown()
    assert "Diagnose this message" in shown()
    assert "page-hint" not in browser.get("/ui/parts", params={"as": "emma" if person != "emma" else "wei"}).text
    someone.reply(message, "never mind")
    assert words not in shown()


def test_hint_when_the_bot_is_mentioned_in_a_part_of_the_paste_or_it_is_a_direct_message_then_none(browser, workspace):
    emma = workspace.person("emma")
    emma.paste("k3-incidents", f"<@{workspace.bot.user_id}>\n" + "line\n" * 1_000)
    emma.post(emma.dm, "ERROR")
    emma.post("random", "ERROR")
    for place in ("k3-incidents", "dm", "random"):
        assert "page-hint" not in part(browser, "messages", at=place)


def test_invite_when_typed_then_the_bot_is_in_the_channel(browser, do, workspace):
    assert "/invite @K3 Triage" in part(browser, "notice", at="random")
    assert do("post", channel="random", text="/invite") == {"ok": False, "error": "Whom? Try /invite @K3 Triage"}
    assert do("post", channel="random", text="/invite @K3 Triage")["ok"]
    assert workspace.bot.user_id in workspace.channel("random").members
    assert part(browser, "notice", at="random").strip() == ""
    assert "Already a member" in do("post", channel="random", text="/invite @K3 Triage")["error"]
    assert "channels only" in do("post", channel=workspace.person("emma").dm, text="/invite @wei")["error"]


def test_field_when_left_as_its_form_closes_then_nothing_is_complained_about(do):
    assert do("act", view="V1", block_id="b", action_id="a", value="x") == {"ok": True}
    assert do("act", view="V1", block_id="b", action_id="a", press=True)["error"] == "Slack refuses this: not_found"


def test_own_message_when_edited_deleted_or_reacted_to_then_so(do, workspace):
    message = workspace.person("emma").post("k3-incidents", "x")
    do("react", ts=message.ts, name="eyes")
    do("edit", ts=message.ts, text="y")
    changed = workspace.messages("k3-incidents")[0]
    assert (changed.text, changed.reactions[0].name) == ("y", "eyes")
    do("delete", ts=message.ts)
    assert workspace.messages("k3-incidents") == []


def test_language_when_switched_then_the_bot_sees_it(do, client, workspace):
    do("locale", locale="ko-KR")
    assert client.users_info(user=workspace.person("emma").id, include_locale=True)["user"]["locale"] == "ko-KR"


def test_request_when_not_from_the_page_then_403(server):
    answer = httpx.post(f"{server.origin}/ui/post", json={"as": "emma"}, trust_env=False)
    assert answer.status_code == 403
    assert httpx.post(f"{server.origin}/ui/stage", content=b"x", trust_env=False).status_code == 403


def test_blocks_when_of_every_kind_then_all_shown(browser, client):
    def word(kind, **more):
        return {"type": kind, **more}

    plain = {"type": "plain_text", "text": ":eyes: plain"}
    option = {"text": plain, "value": "v", "description": plain}
    rich = [
        word(
            "rich_text_section", elements=[word("text", text="bold", style={"bold": True}), word("emoji", name="eyes")]
        ),
        word(
            "rich_text_list", style="ordered", elements=[word("rich_text_section", elements=[word("text", text="1st")])]
        ),
        word("rich_text_quote", elements=[word("link", url="https://x.y", text="quoted")]),
        word("rich_text_preformatted", elements=[word("text", text="<code>")]),
    ]
    elements = [
        word("button", action_id="a", text=plain, url="https://x.y", style="danger"),
        word("static_select", action_id="b", options=[option], initial_option=option),
        word("multi_static_select", action_id="c", option_groups=[{"label": plain, "options": [option]}]),
        word("users_select", action_id="d", initial_user="U0000000002"),
        word("multi_users_select", action_id="e", initial_users=["U0000000003"]),
        word("channels_select", action_id="f", initial_channel="C0000000001"),
        word("datepicker", action_id="g", initial_date="2026-11-29"),
        word("radio_buttons", action_id="h", options=[option], initial_option=option),
        word("overflow", action_id="i", options=[{"text": plain, "value": "v"}]),
    ]
    blocks = [
        {"type": "rich_text", "elements": rich},
        {"type": "actions", "elements": elements},
        {"type": "image", "image_url": "https://x.y/i.png", "alt_text": "a graph", "title": plain},
        {"type": "context", "elements": [word("image", image_url="https://x.y/i.png", alt_text="icon"), plain]},
        {
            "type": "table",
            "rows": [[{"type": "raw_text", "text": "cell"}, {"type": "rich_text", "elements": rich[:1]}]],
        },
        {"type": "input", "label": plain, "hint": plain, "element": word("plain_text_input", multiline=True)},
    ]
    client.chat_postMessage(channel="k3-incidents", text="x", blocks=blocks)
    html = part(browser, "messages")
    for expected in (
        "<b>bold</b>👀",
        "<ol><li><p>1st</p></li></ol>",
        "<blockquote><a href",
        "<pre>&lt;code&gt;</pre>",
        "👀 plain",
        '<optgroup label=":eyes: plain">',
        '<option value="U0000000002" selected>Emma Hart',
        '<option value="U0000000003" selected>',
        'value="2026-11-29"',
        'alt="a graph"',
        "<td>cell</td>",
        "<textarea rows",
    ):
        assert expected in html


def test_home_when_opened_then_what_the_app_published(browser, do, client, workspace):
    assert "has not published anything" in part(browser, "messages", at="home")
    home = {"type": "home", "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "Open incidents"}}]}
    client.views_publish(user_id=workspace.person("emma").id, view=home)
    assert do("home")["ok"]
    assert "Open incidents" in part(browser, "messages", at="home")


def test_shortcut_when_nobody_answers_then_the_person_is_told(do, workspace):
    assert do("shortcut", callback_id="diagnose_text")["error"] == "The app did not answer within three seconds."
    assert do("fly")["error"] == "there is nothing called fly"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("*bold* _it_ ~s~ `a*b*`", "<b>bold</b> <i>it</i> <s>s</s> <code>a*b*</code>"),
        ("max_model_len 2*3*4", "max_model_len 2*3*4"),
        ("&lt;script&gt;", "&lt;script&gt;"),
        ("> quoted\nplain", "<blockquote>quoted</blockquote>plain"),
        ("```a <b>\n&lt;x```", "<pre>a b\n&lt;x</pre>"),
        ("<javascript:alert(1)|x>", "x"),
        (
            "<https://x.y/?a=1&amp;b=2|here>",
            '<a href="https://x.y/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">here</a>',
        ),
        ('<https://x.y/"onmouseover="x>', "onmouseover=&#34;x"),
        ("<@U0000000002> :eyes: 12:34:56", '<span class="mention">@Emma Hart</span> 👀 12:34:56'),
    ],
)
def test_mrkdwn_when_rendered_then_styled_and_escaped(workspace, text, html):
    assert html in str(mrkdwn(workspace, text))


def test_markdown_when_it_holds_html_then_escaped():
    assert "<script>" not in markdown("<script>alert(1)</script> [x](javascript:alert(1))")
    assert "javascript:" not in re.findall(r'href="[^"]*', markdown("[x](javascript:alert(1))"))


def test_texts_when_compared_then_every_language_has_the_same_keys_and_placeholders():
    english = texts("en")
    for language in LANGUAGES:
        found = texts(language)
        assert found.keys() == english.keys()
        for key, text in found.items():
            assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", english[key])), (language, key)
            assert key not in _LISTS or len(text.split()) == len(english[key].split()), (language, key)
