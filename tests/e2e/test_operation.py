"""Running it: doctor, purge, the kill test in short."""

import re
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.config import Settings
from bot.doctor import SCOPES, examine
from bot.inbox import Inbox
from bot.service.purging import purge
from bot.store import Database, Evidence, IncidentStore
from bot.workspace.manifest import Manifest
from bot.workspace.server.running import serve
from bot.workspace.workspace import Workspace
from tests.kill_test import kill_test

DEPLOY = Path(__file__).parents[2] / "deploy"


def _settings(directory: Path, **values: object) -> Settings:
    return Settings(_env_file=None, data_dir=directory, http_port=0, **values)  # type: ignore[arg-type]


def test_doctor_when_nothing_is_set_then_it_says_what_to_do(tmp_path: Path) -> None:
    findings = list(examine(_settings(tmp_path)))
    bad = [finding for finding in findings if not finding.good]
    assert [finding.what for finding in bad] == ["SLACK_BOT_TOKEN is not set", "SLACK_APP_TOKEN is not set"]
    assert "OAuth" in bad[0].cure


def test_doctor_when_a_scope_is_missing_then_it_names_it(tmp_path: Path) -> None:
    workspace = Workspace(scopes=SCOPES - {"files:read"})
    with serve(workspace) as server:
        tokens = {"SLACK_BOT_TOKEN": workspace.bot.bot_token, "SLACK_APP_TOKEN": workspace.bot.app_token}
        settings = _settings(tmp_path, slack_api_url=server.api_url, **tokens)
        bad = [finding for finding in examine(settings) if not finding.good]
    assert [finding.what for finding in bad] == ["scopes missing: files:read"]


def test_doctor_when_all_is_well_then_no_complaint(tmp_path: Path) -> None:
    workspace = Workspace()
    with serve(workspace) as server:
        tokens = {"SLACK_BOT_TOKEN": workspace.bot.bot_token, "SLACK_APP_TOKEN": workspace.bot.app_token}
        settings = _settings(tmp_path, slack_api_url=server.api_url, **tokens)
        assert [finding.what for finding in examine(settings) if not finding.good] == []


def test_doctor_when_tokens_are_wrong_then_it_says_which(tmp_path: Path) -> None:
    with serve(Workspace()) as server:
        tokens = {"SLACK_BOT_TOKEN": "xoxb-wrong", "SLACK_APP_TOKEN": "xapp-wrong"}
        settings = _settings(tmp_path, slack_api_url=server.api_url, **tokens)
        bad = [finding for finding in examine(settings) if not finding.good]
    assert "SLACK_BOT_TOKEN is refused" in bad[0].what
    assert bad[1].what.startswith("socket: ")


def test_scopes_when_compared_with_the_manifest_then_the_same() -> None:
    assert set(Manifest.load().scopes) == SCOPES


def test_env_example_when_compared_with_the_settings_then_every_setting_is_explained() -> None:
    text = (DEPLOY / ".env.example").read_text()
    named = set(re.findall(r"^#? ?((?:K3TRIAGE|SLACK)_\w+)=", text, re.MULTILINE))
    known = {str(field.validation_alias or f"K3TRIAGE_{name.upper()}") for name, field in Settings.model_fields.items()}
    assert named == known


def test_purge_when_old_then_forgotten_and_the_young_stay(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'db.sqlite'}")
    store, inbox = IncidentStore(database), Inbox(database)
    now = time.time()
    for thread, age in (("1.0", 100), ("2.0", 10)):
        with database.write() as connection:
            incident = store.open_in(
                connection, team="T", channel="C", thread_ts=thread, author="U", via="dm", now=now - age * 86_400
            )
        store.put_evidence(incident, Evidence(thread, "U", "log", "", ()), now)
    assert purge(store, inbox, 90, now).incidents == 1
    assert store.find("C", "1.0") is None
    assert store.find("C", "2.0") is not None
    database.close()


def test_purge_command_when_run_then_it_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K3TRIAGE_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(app, ["purge", "--days", "30"])
    assert said.exit_code == 0
    assert "forgot 0 incidents" in said.output


def test_settings_when_wrong_then_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K3TRIAGE_WORKERS", "many")
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(app, ["doctor"])
    assert said.exit_code != 0
    assert "K3TRIAGE" in str(said.exception) or "workers" in str(said.exception)


def test_kill_when_done_twice_then_nothing_is_lost_or_doubled() -> None:
    figures = kill_test(2, seed=7)
    assert figures.good, figures
