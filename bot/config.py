"""Settings of the bot, from the environment and `.env`. Names and meanings: deploy/.env.example."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from kb.entry import Language

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

GIB = 1 << 30


def _data_dir() -> Path:
    return Path(platformdirs.user_data_dir("k3triage"))


Names = Annotated[frozenset[str], NoDecode]


class Settings(BaseSettings):
    """What a person may set. Secrets never show in a `repr`."""

    model_config = SettingsConfigDict(
        env_prefix="K3TRIAGE_",
        env_file=".env",
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
        populate_by_name=True,
    )

    slack_bot_token: SecretStr | None = Field(default=None, validation_alias="SLACK_BOT_TOKEN")
    slack_app_token: SecretStr | None = Field(default=None, validation_alias="SLACK_APP_TOKEN")
    slack_signing_secret: SecretStr | None = Field(default=None, validation_alias="SLACK_SIGNING_SECRET")
    slack_api_url: str = Field(default="https://slack.com/api/", validation_alias="SLACK_API_URL")
    slack_mode: Literal["socket", "http"] = "socket"
    http_host: str = "127.0.0.1"
    http_port: int = 8030
    data_dir: Path = Field(default_factory=_data_dir)
    database_url: str | None = None
    queue_url: str = "memory://"
    workers: int = Field(default=4, ge=1, le=64)
    readers: int = Field(default=1, ge=0, le=16)
    kb: Annotated[tuple[Path, ...], NoDecode] = ()
    language: Language = "en"
    teams: Names = frozenset()
    channels: Names = frozenset()
    leads: Names = frozenset()
    lead_group: str | None = None
    retention_days: int = Field(default=90, ge=1)
    max_file_bytes: int = Field(default=GIB, ge=1)
    settle_seconds: float = Field(default=2.0, ge=0)
    join_seconds: float = Field(default=5.0, ge=0)
    lease_seconds: float = Field(default=30.0, gt=0)
    progress_bytes: int = Field(default=8 << 20, ge=0)
    stop_seconds: float = Field(default=20.0, ge=0)
    catch_up_hours: float = Field(default=24.0, ge=0)
    workspace_port: int = 8031
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = "INFO"
    log_format: Literal["json", "text"] = "json"

    @field_validator("teams", "channels", "leads", mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        return frozenset(value.replace(",", " ").split()) if isinstance(value, str) else value

    @field_validator("kb", mode="before")
    @classmethod
    def _paths(cls, value: Any) -> Any:
        return tuple(value.split()) if isinstance(value, str) else value

    @field_validator("log_level", mode="before")
    @classmethod
    def _capitals(cls, value: Any) -> Any:
        return value.upper() if isinstance(value, str) else value

    @field_validator("slack_api_url")
    @classmethod
    def _slash(cls, value: str) -> str:
        if not re.match(r"https?://[^/\s]", value):
            raise ValueError("it must begin with https:// and a host")
        return value.rstrip("/") + "/"

    @field_validator("queue_url")
    @classmethod
    def _queue(cls, value: str) -> str:
        if not re.match(r"(?:memory|sqlite|rediss?|postgres\w*)://", value):
            raise ValueError("it must begin with memory://, sqlite:///, redis:// or postgresql://")
        return value

    @field_validator("slack_bot_token", "slack_app_token")
    @classmethod
    def _token(cls, value: SecretStr | None) -> SecretStr | None:
        text = value.get_secret_value() if value is not None else ""
        if not (text.isascii() and text.isprintable()):
            raise ValueError("it holds characters that no token has; copy it anew")
        return value

    @property
    def database(self) -> str:
        """The database as an SQLAlchemy URL; SQLite in the data directory where none is set."""
        return self.database_url or f"sqlite:///{self.data_dir / 'k3triage.sqlite'}"

    @property
    def bot_token(self) -> str | None:
        """The bot token itself."""
        return self.slack_bot_token.get_secret_value() if self.slack_bot_token else None

    @property
    def app_token(self) -> str | None:
        """The app-level token itself."""
        return self.slack_app_token.get_secret_value() if self.slack_app_token else None

    @property
    def signing_secret(self) -> str | None:
        """The signing secret itself."""
        return self.slack_signing_secret.get_secret_value() if self.slack_signing_secret else None


def settings_problems(error: ValidationError) -> str:
    """Every setting that is wrong, by its name in the environment, and what it is to be."""
    return "; ".join(_problem(item) for item in error.errors())


_EXPECTED = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "literal_error": "one of {expected}",
    "greater_than_equal": "{ge} or more",
    "greater_than": "more than {gt}",
    "less_than_equal": "{le} or less",
}


def _problem(item: ErrorDetails) -> str:
    field = str(item["loc"][0])
    name = field if field.isupper() else f"K3TRIAGE_{field.upper()}"
    wanted = _EXPECTED.get(item["type"])
    if wanted is None:
        return f"{name} is refused: {item['msg'].removeprefix('Value error, ')}"
    return f"{name} is {str(item['input'])!r}; it must be {wanted.format(**item.get('ctx', {})).replace(chr(39), '')}"
