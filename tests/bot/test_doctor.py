"""`k3triage doctor` without a Slack: what it says of a set-up that is not right."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from urllib.error import URLError

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.config import Settings
from bot.doctor import examine
from bot.slackio.errors import unreachable
from kb.library import Library


@pytest.fixture(autouse=True)
def of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings but those of the test."""
    monkeypatch.chdir(tmp_path)
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("K3TRIAGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("K3TRIAGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("K3TRIAGE_HTTP_PORT", "0")


def bad(**values: object) -> list[tuple[str, str]]:
    return [(item.what, item.cure) for item in examine(Settings(_env_file=None, **values)) if not item.good]  # type: ignore[arg-type]


def nowhere() -> str:
    """An address at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/"


def test_doctor_when_several_things_are_wrong_then_all_are_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    database = f"sqlite:///{tmp_path}/taken/db.sqlite"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = [what for what, _ in bad(database_url=database, kb="/no/such/dir", http_port=port)]
    assert len(found) == 5
    assert "cannot be opened" in found[0]
    assert "/no/such/dir" in found[1]
    assert found[2:4] == ["SLACK_BOT_TOKEN is not set", "SLACK_APP_TOKEN is not set"]
    assert f"127.0.0.1:{port} cannot be used" in found[4]


def test_doctor_when_slack_is_out_of_reach_then_the_reason_once_and_the_rest_too() -> None:
    tokens = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "wrong"}
    found = bad(slack_api_url=nowhere(), **tokens)
    assert [what for what, _ in found] == [
        "Slack cannot be reached at 127.0.0.1: the connection is refused",
        "SLACK_APP_TOKEN does not begin with xapp-",
    ]
    assert "HTTPS_PROXY" in found[0][1]


def test_doctor_when_an_entry_is_unfinished_then_it_says_what_to_type(tmp_path: Path) -> None:
    entry = tmp_path / "kb" / "config" / "mine"
    entry.mkdir(parents=True)
    (entry / "entry.yaml").write_text("id: mine\n", encoding="utf-8")
    command = f"k3triage kb lint --kb {tmp_path}/kb --only mine"
    assert (f"config/mine is left out; `{command}` shows why", "") in bad(kb=str(tmp_path / "kb"))


def test_doctor_when_printed_then_a_line_per_check_and_the_cure_below(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    said = CliRunner().invoke(app, ["doctor"], env={"K3TRIAGE_DATABASE_URL": f"sqlite:///{tmp_path}/taken/db.sqlite"})
    assert said.exit_code == 1
    lines = said.stdout.splitlines()
    assert lines[0].startswith("BAD  the database sqlite://")
    assert lines[1].startswith("ok   knowledge base: ")
    assert lines[2] == "BAD  SLACK_BOT_TOKEN is not set"
    assert lines[3].startswith("     → install the app")


def test_doctor_when_the_index_is_there_then_it_is_not_made_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Library.open([], tmp_path / "cache")
    monkeypatch.setattr("kb.library._build", lambda *_: pytest.fail("the index was made anew"))
    assert [what for what, _ in bad()] == ["SLACK_BOT_TOKEN is not set", "SLACK_APP_TOKEN is not set"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (URLError(socket.gaierror(-2, "Name or service not known")), "its name is not known"),
        (URLError(ConnectionRefusedError(111, "Connection refused")), "the connection is refused"),
        (TimeoutError("timed out"), "no answer within"),
        (URLError(ssl.SSLCertVerificationError("certificate verify failed")), "its certificate is not trusted"),
        (URLError(OSError("Tunnel connection failed: 407 Proxy Authentication Required")), "407 Proxy Authentication"),
        (URLError(OSError(113, "No route to host")), "No route to host"),
    ],
)
def test_network_when_it_fails_then_the_reason_is_in_words(error: OSError, words: str) -> None:
    assert words in unreachable(error, 10)
    assert "Error" not in unreachable(error, 10)
