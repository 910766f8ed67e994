"""The format of knowledge: what an entry is made of, as frozen pydantic models.

`docs/writing-entries.md` explains every field to the people who write entries.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Literal, get_args

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

Language = Literal["en", "ko", "zh", "ru"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

Layer = Literal[
    "hardware",
    "environment",
    "dependencies",
    "config",
    "weights_loading",
    "memory_startup",
    "communication",
    "memory_runtime",
    "engine_crash",
    "prefix_cache",
    "tool_calling",
    "output_quality",
    "performance",
]
LAYERS: tuple[Layer, ...] = get_args(Layer)
"""In the order in which they are ruled out: an earlier layer wins a tie."""

Kind = Literal["cause", "consequence", "note"]
Stage = Literal["startup", "serving", "any"]
Risk = Literal["safe", "restart", "reboot", "data"]
Scope = Literal["this_node", "every_node", "container", "client"]

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2)]
OptionalText = Annotated[Text | None, BeforeValidator(lambda given: None if given == "" else given)]
"""A text that may be left out, or left empty."""
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]

PLACEHOLDER = re.compile(r"(?<![%$])\{([a-z][a-z0-9_]*)\}")
"""`{name}` in a text: the named group `name` of a pattern of the same entry. `%{name}` and `${name}` are not meant."""


def _specifier(value: str) -> str:
    try:
        SpecifierSet(value)
    except InvalidSpecifier as error:
        raise ValueError(f"{value!r} is not a version range such as '>=0.27.0,<0.30.0'") from error
    return value


def _version(value: str) -> str:
    try:
        Version(value)
    except InvalidVersion as error:
        raise ValueError(f"{value!r} is not a version such as '0.28.0'") from error
    return value


VersionRange = Annotated[str, AfterValidator(_specifier)]
ReleaseNumber = Annotated[str, AfterValidator(_version)]


class Model(BaseModel):
    """Frozen, and unknown fields are refused: a misspelt field must not be lost in silence."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LocalText(Model):
    """One text in each language."""

    en: Text
    ko: Text
    zh: Text
    ru: Text

    def get(self, language: Language) -> str:
        """The text in `language`."""
        return str(getattr(self, language))


class LocalList(Model):
    """A list of texts in each language."""

    en: list[Text] = Field(min_length=1)
    ko: list[Text] = Field(min_length=1)
    zh: list[Text] = Field(min_length=1)
    ru: list[Text] = Field(min_length=1)

    def get(self, language: Language) -> list[str]:
        """The texts in `language`."""
        return list(getattr(self, language))


class Condition(Model):
    """One condition of a signature: a pattern on a line, a fact, or a complaint in the person's words."""

    pattern: str | None = None
    within: int | None = Field(default=None, ge=0, le=2000, description="lines from the anchor, in the same process")
    fact: str | None = None
    equals: str | int | float | bool | None = None
    one_of: list[str | int | float] | None = None
    version: VersionRange | None = None
    minimum: float | None = Field(default=None, description="the fact is at least this")
    maximum: float | None = Field(default=None, description="the fact is at most this")
    present: bool | None = None
    complaint: Literal[True] | None = Field(default=None, description="prose of the person matches the symptoms")

    @model_validator(mode="after")
    def _one_subject(self) -> Condition:
        subjects = [self.pattern is not None, self.fact is not None, self.complaint is not None]
        if sum(subjects) != 1:
            raise ValueError("a condition is one of pattern, fact or complaint")
        tests = [self.equals, self.one_of, self.version, self.minimum, self.maximum, self.present]
        if self.fact is not None and all(test is None for test in tests):
            raise ValueError(f"fact {self.fact} needs a test: equals, one_of, version, minimum, maximum or present")
        if self.fact is None and any(test is not None for test in tests):
            raise ValueError("equals, one_of, version, minimum, maximum and present belong to a fact")
        if self.within is not None and self.pattern is None:
            raise ValueError("within belongs to a pattern")
        return self


class Signature(Model):
    """When the entry matches: every condition of `all`, one of `any`, none of `none`."""

    all: list[Condition] = Field(default_factory=list)
    any: list[Condition] = Field(default_factory=list)
    none: list[Condition] = Field(default_factory=list)
    unique: bool = Field(
        default=False, description="nothing but this cause produces the signature; only then may the word be 'certain'"
    )
    fallback: bool = Field(
        default=False, description="speaks only where no other entry names the same failure: the general case"
    )
    generic: bool = Field(
        default=False, description="other programs print the same words; needs a sign of the serving stack"
    )

    @model_validator(mode="after")
    def _has_conditions(self) -> Signature:
        if not self.all and not self.any:
            raise ValueError("a signature needs at least one condition in all or any")
        return self


class AppliesTo(Model):
    """Where the entry holds. An empty field means everywhere."""

    vllm: VersionRange | None = None
    fixed_in: ReleaseNumber | None = None
    platform: list[Literal["cuda", "rocm", "cpu"]] = Field(default_factory=list)
    hardware: list[str] = Field(default_factory=list, description="values of the fact gpu_arch")


class Check(Model):
    """A thing to verify, with the command and what a good answer looks like."""

    id: Slug
    text: LocalText
    command: OptionalText = None
    expect: LocalText | None = None
    scope: Scope = "this_node"


class Step(Model):
    """A recovery step. `risk` says what it costs: nothing, a restart, a reboot, or data."""

    text: LocalText
    command: OptionalText = None
    risk: Risk = "restart"
    verify: LocalText | None = None


class Source(Model):
    """Where a statement comes from, and of what day that is."""

    title: Text
    url: OptionalText = None
    as_of: date


class Entry(Model):
    """One failure pattern of the knowledge base."""

    id: Slug
    layer: Layer
    kind: Kind = "cause"
    stage: Stage = "any"
    applies_to: AppliesTo = Field(default_factory=AppliesTo)
    signature: Signature
    explains: list[Slug] = Field(default_factory=list)
    title: LocalText
    cause: LocalText
    symptoms: LocalList
    checklist: list[Check] = Field(min_length=1)
    recovery: list[Step] = Field(min_length=1)
    avoid: LocalList
    sources: list[Source] = Field(min_length=1)
    confidence: Literal["high", "medium", "low"]


class LayerGuide(Model):
    """What is common to all entries of a layer."""

    name: LocalText
    intro: LocalText
    checks: list[Check] = Field(min_length=1)
    avoid: LocalList
