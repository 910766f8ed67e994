"""What the app asks of Slack, read from the same manifest an administrator gives to Slack."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.workspace.errors import ManifestError
from kb.yamlfile import load_yaml


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command."""

    name: str
    description: str
    usage_hint: str


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A shortcut; `kind` is "message" or "global"."""

    kind: str
    name: str
    callback_id: str
    description: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of an app manifest that change what Slack does."""

    app_name: str
    bot_name: str
    scopes: frozenset[str]
    events: frozenset[str]
    commands: tuple[Command, ...]
    shortcuts: tuple[Shortcut, ...]
    socket_mode: bool
    interactivity: bool
    home_tab: bool

    @classmethod
    def load(cls, path: Path | None = None) -> Manifest:
        """Read `path`, or `deploy/slack-manifest.yaml` of this checkout. Raises ManifestError."""
        path = path or default_manifest()
        try:
            data = load_yaml(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ManifestError(f"cannot read the manifest {path}: {error.strerror}; name it with --manifest") from None
        try:
            return cls.parse(data)
        except (KeyError, TypeError, AttributeError) as error:
            raise ManifestError(f"{path} is not a Slack app manifest: {error!r} is missing or wrong") from None

    @classmethod
    def parse(cls, data: dict[str, Any]) -> Manifest:
        """From a manifest's content, see docs.slack.dev/reference/app-manifest."""
        features = data.get("features", {})
        settings = data.get("settings", {})
        app_name = str(data["display_information"]["name"])
        return cls(
            app_name=app_name,
            bot_name=str(features.get("bot_user", {}).get("display_name", app_name)),
            scopes=frozenset(data.get("oauth_config", {}).get("scopes", {}).get("bot", ())),
            events=frozenset(settings.get("event_subscriptions", {}).get("bot_events", ())),
            commands=tuple(
                Command(item["command"], item.get("description", ""), item.get("usage_hint", ""))
                for item in features.get("slash_commands", ())
            ),
            shortcuts=tuple(
                Shortcut(item["type"], item["name"], item["callback_id"], item.get("description", ""))
                for item in features.get("shortcuts", ())
            ),
            socket_mode=bool(settings.get("socket_mode_enabled")),
            interactivity=bool(settings.get("interactivity", {}).get("is_enabled")),
            home_tab=bool(features.get("app_home", {}).get("home_tab_enabled")),
        )


def default_manifest() -> Path:
    """`deploy/slack-manifest.yaml` of the checkout, or the copy that an installed package carries beside this file."""
    checkout = Path(__file__).parents[2] / "deploy" / "slack-manifest.yaml"
    packaged = Path(__file__).parent / "slack-manifest.yaml"
    return packaged if packaged.exists() and not checkout.exists() else checkout
