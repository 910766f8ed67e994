"""YAML in, safely, with the fast parser where the platform has it."""

from __future__ import annotations

from typing import Any

UNUSABLE = (ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
"""What the constructors of PyYAML raise for such a value; they check nothing themselves."""


class UnusableValueError(ValueError):
    """A value of a document is not of the kind that it is written as: a day no calendar has, an endless number."""


def load_yaml(text: str) -> Any:
    """The data of one YAML document: plain types only. Raises yaml.YAMLError and UnusableValueError."""
    import yaml  # noqa: PLC0415 - costs start-up time

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    except UNUSABLE as error:
        raise UnusableValueError(str(error)) from error
