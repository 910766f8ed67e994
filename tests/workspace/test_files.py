import http.client

import httpx
import pytest

from tests.workspace.conftest import error_of

LOG = b"ERROR 01-02 03:04:05 core.py: NCCL error\n" * 100


@pytest.fixture
def download(server):
    def get(url, token=server.workspace.bot.bot_token, **headers):
        return httpx.get(url, headers={"Authorization": f"Bearer {token}", **headers}, trust_env=False)

    return get


@pytest.fixture
def file(emma, workspace):
    message = emma.upload("k3-incidents", {"vllm.log": LOG}, "it fails")
    return workspace.files_of(message)[0]


def test_upload_when_by_the_clients_own_helper_then_posted_in_the_thread(client, emma):
    root = emma.post("k3-incidents", "root")
    answer = client.files_upload_v2(
        channel=root.channel, thread_ts=root.ts, content="a report", filename="report.md", initial_comment="Here"
    )
    shown = emma.wait_for_reply(root)[0]
    assert (shown.text, shown.files) == ("Here", ("report.md",))
    assert answer["files"][0]["shares"]["public"][root.channel][0]["thread_ts"] == root.ts


def test_upload_when_the_length_is_not_as_announced_then_refused(client):
    announced = client.files_getUploadURLExternal(filename="a.log", length=5)
    assert httpx.post(announced["upload_url"], content=b"123456", trust_env=False).status_code == 400
    assert (
        error_of(lambda: client.files_completeUploadExternal(files=[{"id": announced["file_id"]}])) == "file_not_found"
    )


def test_upload_when_done_by_hand_then_the_answer_says_ok(client):
    announced = client.files_getUploadURLExternal(filename="a.log", length=5)
    assert httpx.post(announced["upload_url"], content=b"12345", trust_env=False).text == "OK - 5"
    done = client.files_completeUploadExternal(files=[{"id": announced["file_id"], "title": "A"}])
    assert (done["files"][0]["title"], done["files"][0]["shares"]) == ("A", {})


def test_upload_when_to_a_channel_without_the_bot_then_not_in_channel(client, workspace):
    announced = client.files_getUploadURLExternal(filename="a.log", length=1)
    httpx.post(announced["upload_url"], content=b"1", trust_env=False)
    random = workspace.channel("random").id
    call = {"files": [{"id": announced["file_id"]}], "channel_id": random}
    assert error_of(lambda: client.files_completeUploadExternal(**call)) == "not_in_channel"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"filename": "a", "length": 0}, "invalid_arguments"),
        ({"filename": "a", "length": 2_000_000, "snippet_type": "text"}, "snippet_too_large"),
        ({"filename": "a", "length": 2_000_000_000}, "file_upload_size_restricted"),
    ],
)
def test_upload_url_when_the_size_is_wrong_then_slacks_error(client, arguments, error):
    assert error_of(lambda: client.files_getUploadURLExternal(**arguments)) == error


def test_old_upload_when_used_then_method_deprecated(client):
    assert error_of(lambda: client.api_call("files.upload", params={"content": "x"})) == "method_deprecated"


def test_info_when_asked_then_type_size_and_url(client, file):
    info = client.files_info(file=file.id)["file"]
    assert (info["name"], info["mimetype"], info["filetype"], info["size"]) == (
        "vllm.log",
        "text/plain",
        "text",
        len(LOG),
    )
    assert info["url_private_download"].endswith(f"-{file.id}/download/vllm.log")


def test_list_when_of_a_channel_then_its_files(client, file, workspace):
    found = client.files_list(channel=workspace.channel("k3-incidents").id)["files"]
    assert [one["id"] for one in found] == [file.id]
    assert client.files_list(channel=workspace.channel("general").id)["files"] == []


def test_download_when_with_the_bots_token_then_the_bytes(client, download, file):
    answer = download(client.files_info(file=file.id)["file"]["url_private_download"])
    assert answer.content == LOG
    assert answer.headers["content-type"].startswith("text/plain")


def test_download_when_from_a_position_then_the_rest(client, download, file):
    url = client.files_info(file=file.id)["file"]["url_private_download"]
    answer = download(url, Range="bytes=4000-")
    assert (answer.status_code, answer.content) == (206, LOG[4000:])
    assert download(url, Range="bytes=99999-").status_code == 416


def login_page(answer):
    return (
        answer.status_code == 200
        and answer.headers["content-type"].startswith("text/html")
        and "Sign in" in answer.text
    )


def test_download_when_the_token_is_wrong_or_the_scope_missing_then_200_with_the_login_page(
    client, download, file, workspace
):
    url = client.files_info(file=file.id)["file"]["url_private_download"]
    assert login_page(download(url, token="xoxb-other"))
    assert login_page(httpx.get(url, trust_env=False))
    workspace.scopes.discard("files:read")
    assert login_page(download(url))


def test_file_when_shared_only_where_the_bot_is_not_then_hidden(client, download, emma, workspace):
    file = workspace.files_of(emma.upload("random", {"a.log": b"x"}))[0]
    assert error_of(lambda: client.files_info(file=file.id)) == "file_not_found"
    url = f"{workspace.origin}/files-pri/{workspace.team_id}-{file.id}/download/a.log"
    assert login_page(download(url))


def test_download_when_told_to_be_cut_then_the_connection_breaks(client, download, file, workspace):
    url = client.files_info(file=file.id)["file"]["url_private_download"]
    workspace.faults.cut_download(after=100)
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        download(url)
    assert download(url).content == LOG


def test_file_when_not_ready_then_no_url_and_404_and_later_both(client, download, file, workspace):
    url = client.files_info(file=file.id)["file"]["url_private_download"]
    workspace.faults.file_not_ready(2)
    assert "url_private_download" not in client.files_info(file=file.id)["file"]
    assert download(url).status_code == 404
    assert download(url).content == LOG


def test_download_when_told_to_fail_then_so(client, download, file, workspace):
    url = client.files_info(file=file.id)["file"]["url_private_download"]
    workspace.faults.login_page()
    workspace.faults.fail("files.download", 502)
    workspace.faults.rate_limit("files.download", "7")
    assert login_page(download(url))
    assert download(url).status_code == 502
    limited = download(url)
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "7")


def test_delete_when_own_then_gone_and_of_others_then_refused(client, emma, file, workspace):
    assert error_of(lambda: client.files_delete(file=file.id)) == "cant_delete_file"
    emma.delete_file(file.id)
    assert error_of(lambda: client.files_info(file=file.id)) == "file_not_found"
    assert workspace.files_of(workspace.messages("k3-incidents")[0]) == []


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example"])
def test_page_of_a_foreign_site_when_it_reaches_for_the_workspace_then_refused(server, origin):
    answer = httpx.post(f"{server.origin}/api/auth.test", headers={"Origin": origin}, trust_env=False)
    assert answer.status_code == 403
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    answer = httpx.get(f"{server.origin}/link/", headers={**upgrade, **key, "Origin": origin}, trust_env=False)
    assert answer.status_code == 403


def test_host_when_not_this_machine_then_403(server):
    connection = http.client.HTTPConnection("127.0.0.1", int(server.origin.rpartition(":")[2]))
    connection.request("GET", "/", headers={"Host": "evil.example"})
    assert connection.getresponse().status == 403
    connection.close()
