import gzip
import io
import zipfile
from importlib import resources

import pytest
import yaml

from bot.slackio.errors import SlackGone, SlackRetryLater
from bot.slackio.files import FileFetcher
from kb.evidence import Source

LOG = b"".join(b"ERROR 01-02 03:04:05 core.py:%d NCCL error\n" % number for number in range(9_000))


@pytest.fixture
def upload(emma, workspace, client):
    def do(name="vllm.log", content=LOG):
        message = emma.upload("k3-incidents", {name: content}, "it fails")
        return dict(client.files_info(file=workspace.files_of(message)[0].id)["file"])

    return do


def read(fetcher, file):
    """({name: bytes}, [reason]) of a file."""
    sources, reasons = {}, []
    for item in fetcher.sources(file):
        if isinstance(item, Source):
            sources[item.name] = b"".join(item.chunks)
        else:
            reasons.append(item.reason if item.reason.startswith("files.") else (item.reason, item.detail))
    return sources, reasons


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_file_when_plain_then_its_bytes(fetcher, upload):
    assert read(fetcher, upload()) == ({"vllm.log": LOG}, [])


def test_file_when_only_its_id_is_given_then_slack_is_asked(fetcher, upload):
    assert read(fetcher, {"id": upload()["id"], "name": "a.log"}) == ({"a.log": LOG}, [])


def test_file_when_a_bundle_then_its_members(fetcher, upload):
    file = upload("logs.zip", zipped({"a/one.log": LOG, "b/two.log.gz": gzip.compress(LOG)}))
    assert read(fetcher, file) == ({"logs.zip/a/one.log": LOG, "logs.zip/b/two.log.gz": LOG}, [])


def test_file_when_compressed_then_read_as_a_stream(fetcher, upload):
    assert read(fetcher, upload("vllm.log.gz", gzip.compress(LOG))) == ({"vllm.log.gz": LOG}, [])


def test_file_when_an_html_file_then_it_is_no_login_page(fetcher, upload):
    page = b"<html><title>Slack trace of the run</title></html>"
    assert read(fetcher, upload("trace.html", page)) == ({"trace.html": page}, [])


@pytest.mark.parametrize("name", ["vllm.log", "page.html"])
def test_file_when_slack_gives_its_login_page_then_the_scope_is_missing(fetcher, upload, workspace, name):
    file = upload(name)
    workspace.faults.login_page()
    assert read(fetcher, file) == ({}, ["files.no_scope"])


def test_file_when_the_download_breaks_off_then_it_goes_on_from_there(fetcher, upload, workspace):
    file = upload()
    workspace.faults.cut_download(after=100_000)
    workspace.faults.cut_download(after=0)
    assert read(fetcher, file) == ({"vllm.log": LOG}, [])


def test_bundle_when_the_download_breaks_off_then_it_goes_on_from_there(fetcher, upload, workspace):
    file = upload("logs.zip", zipped({"one.log": LOG}))
    workspace.faults.cut_download(after=2_000)
    assert read(fetcher, file) == ({"logs.zip/one.log": LOG}, [])


@pytest.mark.parametrize("retry_after", ["0", "1", None, "soon"])
def test_file_when_rate_limited_for_a_moment_then_it_is_read(fetcher, upload, workspace, retry_after):
    file = upload()
    workspace.faults.rate_limit("files.download", retry_after)
    assert read(fetcher, file) == ({"vllm.log": LOG}, [])


def test_file_when_rate_limited_for_long_then_later(fetcher, upload, workspace, time):
    file = upload()
    workspace.faults.rate_limit("files.download", "9999")
    with pytest.raises(SlackRetryLater) as later:
        read(fetcher, file)
    assert later.value.retry_after == 120
    assert time.slept == []


def test_file_when_slack_is_down_then_later_and_after_ten_minutes_the_answer_comes_without(
    fetcher, upload, workspace, time
):
    file = upload()
    workspace.faults.fail("files.download", 503, times=99)
    for _ in range(2):
        with pytest.raises(SlackRetryLater):
            read(fetcher, file)
    time.now += 601
    assert read(fetcher, file) == ({}, ["files.failed"])
    workspace.faults.clear()
    assert read(fetcher, file) == ({"vllm.log": LOG}, [])
    workspace.faults.fail("files.download", 503, times=9)
    with pytest.raises(SlackRetryLater):
        read(fetcher, file)


def test_file_when_not_ready_then_it_is_waited_for(fetcher, upload, workspace):
    file = upload()
    workspace.faults.file_not_ready(3)
    assert read(fetcher, {"id": file["id"], "name": "vllm.log"}) == ({"vllm.log": LOG}, [])


def test_file_when_never_ready_then_later_and_in_the_end_said(fetcher, upload, workspace, time):
    file = upload()
    workspace.faults.file_not_ready(99)
    with pytest.raises(SlackRetryLater) as later:
        read(fetcher, {"id": file["id"]})
    assert later.value.retry_after
    time.now += 601
    assert read(fetcher, {"id": file["id"]}) == ({}, ["files.not_ready"])


def test_file_when_too_large_then_its_beginning_whatever_its_header_says(client, workspace, upload, time):
    fetcher = FileFetcher(client, workspace.bot.bot_token, 100_000, clock=time.clock, sleep=time.sleep)
    file = upload()
    for size in (file["size"], 5, None):
        assert read(fetcher, {**file, "size": size}) == ({"vllm.log": LOG[:100_000]}, ["files.too_large|97.7 KiB"])


def test_bundle_when_too_large_then_said(client, workspace, upload, time):
    fetcher = FileFetcher(client, workspace.bot.bot_token, 1_000, clock=time.clock, sleep=time.sleep)
    file = upload("logs.zip", zipped({"one.log": LOG}))
    assert read(fetcher, file) == ({}, ["files.too_large|1000 B"])
    assert "files.too_large|1000 B" in read(fetcher, {**file, "size": 5})[1]


def test_file_when_deleted_then_said(fetcher, upload, emma):
    file = upload()
    emma.delete_file(file["id"])
    assert read(fetcher, {"id": file["id"]}) == ({}, ["files.deleted"])
    assert read(fetcher, {"id": file["id"], "mode": "tombstone"}) == ({}, ["files.deleted"])


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"is_external": True, "external_type": "gdrive", "mode": "external"}, "files.external|gdrive"),
        ({"mode": "hidden_by_limit"}, "files.hidden"),
        ({"mode": "space", "filetype": "quip"}, "files.canvas"),
        (
            {"url_private_download": "https://files.slack.com.evil.example/x"},
            "files.other_host|files.slack.com.evil.example",
        ),
        ({"url_private_download": "http://files.slack.com/x"}, "files.other_host|files.slack.com"),
        ({"url_private_download": "https://files.slack.com@evil.example/x"}, "files.other_host|evil.example"),
        ({"url_private_download": "https://169.254.169.254/latest"}, "files.other_host|169.254.169.254"),
        ({"url_private_download": "https://notslack.com/x"}, "files.other_host|notslack.com"),
        ({"url_private_download": "http://127.0.0.1:1/x"}, "files.other_host|127.0.0.1"),
        ({"url_private_download": "https://files.slack.com:8443/x"}, "files.other_host|files.slack.com"),
        ({"url_private_download": "file:///etc/passwd"}, "files.other_host"),
    ],
)
def test_file_when_not_to_be_fetched_then_why(fetcher, upload, more, reason):
    assert read(fetcher, {**upload(), **more}) == ({}, [reason])


def test_file_of_another_workspace_when_slack_does_not_show_it_then_said(fetcher, workspace, upload):
    file = {"id": upload()["id"], "file_access": "check_file_info"}
    assert read(fetcher, file)[0]
    workspace.faults.error("files.info", "file_not_found")
    assert read(fetcher, file) == ({}, ["files.connect"])


def test_file_when_the_token_is_revoked_then_raised(fetcher, workspace, upload):
    file = {"id": upload()["id"]}
    workspace.faults.error("files.info", "token_revoked")
    with pytest.raises(SlackGone):
        read(fetcher, file)


def test_file_when_the_scope_is_missing_then_said(fetcher, workspace, upload):
    file = {"id": upload()["id"]}
    workspace.faults.error("files.info", "missing_scope")
    assert read(fetcher, file) == ({}, ["files.no_scope"])


@pytest.mark.parametrize("language", ["en", "ko", "zh", "ru"])
def test_reason_when_given_then_each_language_has_words_for_it(language):
    texts = yaml.safe_load(resources.files("bot").joinpath(f"messages/{language}.yaml").read_text("utf-8"))["files"]
    detailed = {"too_large", "external", "cut", "redirected", "other_host", "refused"}
    assert {key for key, text in texts.items() if "{detail}" in text} == detailed
