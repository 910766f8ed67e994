"""Entries as the engine uses them: only what matching needs, with patterns replaced by their place in the scanner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

from kb.entry import LAYERS, Condition, Entry, Kind, Layer, Stage


@dataclass(frozen=True, slots=True)
class Test:
    """One condition. `pattern` is a place in the scanner; the other fields are those of `kb.entry.Condition`."""

    pattern: int | None = None
    within: int | None = None
    fact: str | None = None
    equals: str | int | float | bool | None = None
    one_of: tuple[str | int | float, ...] | None = None
    version: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    present: bool | None = None
    complaint: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry for matching."""

    id: str
    layer: Layer
    kind: Kind
    stage: Stage
    vllm: str | None
    fixed_in: str | None
    platform: tuple[str, ...]
    hardware: tuple[str, ...]
    all: tuple[Test, ...]
    any: tuple[Test, ...]
    none: tuple[Test, ...]
    unique: bool
    fallback: bool
    generic: bool
    explains: tuple[str, ...]
    confidence: str

    @property
    def layer_order(self) -> int:
        """Place of the layer in the order in which layers are ruled out."""
        return LAYERS.index(self.layer)

    @property
    def needs_complaint(self) -> bool:
        """Whether the rule speaks only where a person complained in words."""
        return any(test.complaint for test in self.all)


class PatternTable:
    """Gives each distinct pattern its place."""

    def __init__(self, first: Iterable[str] = ()) -> None:
        self.patterns: list[str] = []
        self._places: dict[str, int] = {}
        for pattern in first:
            self.place(pattern)

    def place(self, pattern: str) -> int:
        """The place of the pattern, a new one where it has none."""
        if pattern not in self._places:
            self._places[pattern] = len(self.patterns)
            self.patterns.append(pattern)
        return self._places[pattern]


def _test(condition: Condition, table: PatternTable) -> Test:
    return Test(
        pattern=table.place(condition.pattern) if condition.pattern is not None else None,
        within=condition.within,
        fact=condition.fact,
        equals=condition.equals,
        one_of=tuple(condition.one_of) if condition.one_of is not None else None,
        version=condition.version,
        minimum=condition.minimum,
        maximum=condition.maximum,
        present=condition.present,
        complaint=bool(condition.complaint),
    )


def rule_of(entry: Entry, table: PatternTable) -> Rule:
    """The rule of an entry; its patterns get places in `table`."""
    signature = entry.signature
    return Rule(
        id=entry.id,
        layer=entry.layer,
        kind=entry.kind,
        stage=entry.stage,
        vllm=entry.applies_to.vllm,
        fixed_in=entry.applies_to.fixed_in,
        platform=tuple(entry.applies_to.platform),
        hardware=tuple(entry.applies_to.hardware),
        all=tuple(_test(condition, table) for condition in signature.all),
        any=tuple(_test(condition, table) for condition in signature.any),
        none=tuple(_test(condition, table) for condition in signature.none),
        unique=signature.unique,
        fallback=signature.fallback,
        generic=signature.generic,
        explains=tuple(entry.explains),
        confidence=entry.confidence,
    )


_DEFAULTS = {f.name: f.default for f in fields(Test)}


def rule_to_json(rule: Rule) -> dict[str, Any]:
    """The rule as JSON values; tests without their defaults, since a thousand rules are read at every start."""
    data = asdict(rule)
    for key in ("all", "any", "none"):
        data[key] = [{k: v for k, v in test.items() if v != _DEFAULTS[k]} for test in data[key]]
    return data


def rule_from_json(data: dict[str, Any]) -> Rule:
    """The rule that `rule_to_json` wrote."""
    for key in ("all", "any", "none"):
        data[key] = tuple(
            Test(**{**test, "one_of": tuple(test["one_of"])} if "one_of" in test else test) for test in data[key]
        )
    for key in ("platform", "hardware", "explains"):
        data[key] = tuple(data[key])
    return Rule(**data)
