"""YAML in, safely, with the fast parser where the platform has it."""

from __future__ import annotations

from typing import Any


def load_yaml(text: str) -> Any:
    """The data of one YAML document: plain types only. Raises yaml.YAMLError."""
    import yaml  # noqa: PLC0415 - costs start-up time

    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe loaders
