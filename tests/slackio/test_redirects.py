"""Redirects and half answers, from a server of a few lines."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from slack_sdk import WebClient

from bot.slackio.errors import SlackRetryLater
from bot.slackio.files import FileFetcher
from bot.slackio.reasons import in_words
from kb.evidence import Source
from kb.report import Coverage, Report, ReportNotRead


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.seen.append((self.path, self.headers.get("Authorization")))  # type: ignore[attr-defined]
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()  # no length: the end of the connection is the end of the file
        self.wfile.write(b"line\n" * 10)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def read(web, path, **more):
    base = f"http://127.0.0.1:{web.server_port}"
    fetcher = FileFetcher(WebClient("xoxb", base_url=f"{base}/api/"), "xoxb", sleep=lambda _: None)
    file = {"id": "F1", "name": "a.log", "url_private": f"{base}{path}", **more}
    return _all(fetcher, file)


def _all(fetcher, file):
    return [b"".join(one.chunks) if isinstance(one, Source) else one.reason for one in fetcher.sources(file)]


def test_redirect_when_on_the_same_host_then_followed(web):
    assert read(web, "/to//file") == [b"line\n" * 10]


def test_redirect_when_to_another_host_then_not_followed(web):
    assert read(web, "/to/https://evil.example/x") == ["files.redirected|evil.example"]
    assert read(web, f"/to/http://localhost:{web.server_port}/x") == ["files.redirected|localhost"]
    assert len(web.seen) == 2


def test_redirect_when_it_never_ends_then_given_up(web):
    assert read(web, "/to//to//to//to//to//to//file")[0].startswith("files.redirected|")


def test_download_when_nothing_but_the_size_tells_that_it_was_cut_then_the_rest_is_asked_for(web):
    with pytest.raises(SlackRetryLater):
        read(web, "/file", size=60)
    assert [path for path, _ in web.seen] == ["/file"] * 4
    assert read(web, "/file", size=50) == [b"line\n" * 10]


def test_download_when_it_breaks_off_for_good_then_what_came_is_read(web):
    base = f"http://127.0.0.1:{web.server_port}"
    now = [0.0]
    fetcher = FileFetcher(
        WebClient("xoxb", base_url=f"{base}/api/"), "xoxb", clock=lambda: now[0], sleep=lambda _: None
    )
    file = {"id": "F1", "name": "a.log", "url_private": f"{base}/file", "size": 60}
    with pytest.raises(SlackRetryLater):
        _all(fetcher, file)
    now[0] = 601.0
    assert _all(fetcher, file) == [b"line\n" * 10, "files.cut|50 B"]


def test_reasons_when_in_a_report_then_in_its_language():
    coverage = Coverage(
        bytes_read=0,
        lines_read=0,
        files=[],
        not_read=[
            ReportNotRead(file="a", reason="files.too_large|1 GiB"),
            ReportNotRead(file="b", reason="not text"),
            ReportNotRead(file="c", reason="files.something_new"),
        ],
    )
    report = Report.model_construct(language="ru", coverage=coverage)
    reasons = [one.reason for one in in_words(report).coverage.not_read]
    assert "1 GiB" in reasons[0]
    assert reasons[0].startswith("прочитаны")
    assert reasons[1:] == ["not text", "files.something_new"]
