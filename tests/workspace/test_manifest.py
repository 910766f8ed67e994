import re

import pytest

from bot.workspace import Manifest, ManifestError
from bot.workspace.events import _SCOPES
from bot.workspace.manifest import default_manifest


def test_manifest_when_read_then_its_surfaces():
    manifest = Manifest.load()
    assert (manifest.app_name, manifest.socket_mode, manifest.interactivity, manifest.home_tab) == (
        "K3 Triage",
        True,
        True,
        True,
    )
    assert [command.name for command in manifest.commands] == ["/k3"]
    assert {shortcut.callback_id: shortcut.kind for shortcut in manifest.shortcuts} == {
        "diagnose_message": "message",
        "diagnose_text": "global",
    }


def test_manifest_when_it_subscribes_to_an_event_then_it_has_the_scope():
    manifest = Manifest.load()
    needed = {_SCOPES[event] for event in manifest.events if event in _SCOPES}
    assert needed <= manifest.scopes


def test_manifest_when_it_asks_for_a_scope_or_event_then_it_says_why():
    text = default_manifest().read_text(encoding="utf-8")
    asked = [line for line in text.splitlines() if re.match(r"\s+- [a-z_.]+(:[a-z.]+)?(\s|$)", line)]
    assert len(asked) == len(Manifest.load().scopes) + len(Manifest.load().events)
    assert [line for line in asked if "#" not in line] == []


def test_manifest_when_it_is_none_then_the_error_says_what_to_do(tmp_path):
    with pytest.raises(ManifestError, match="name it with --manifest"):
        Manifest.load(tmp_path / "missing.yaml")
    (tmp_path / "other.yaml").write_text("name: x")
    with pytest.raises(ManifestError, match="is not a Slack app manifest"):
        Manifest.load(tmp_path / "other.yaml")
