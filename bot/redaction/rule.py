"""A redaction rule: an anchor that is looked for everywhere, and what is done where it is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

Found = tuple[int, int]
"""Where a secret starts and ends."""
Finder = Callable[[bytes, int, int], Iterable[Found]]
"""(data, start and end of the anchor) -> the secrets there. Its cost must not grow with the length of the data."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`anchor` is a Hyperscan expression over bytes that matches a bounded number of them."""

    anchor: bytes
    find: Finder
    caseless: bool = False
