"""Lines of Chinese on a terminal: they break between any two characters, but for punctuation."""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

_HAN = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_CLOSING = "、。，．：；！？）】》」』”’…·"
_OPENING = "（【《「『“‘"
_ANY_HAN = re.compile(f"[{_HAN}]")
_UNIT = re.compile(rf"[{_OPENING}]*(?:[{_HAN}][{_CLOSING}]*|[^\s{_HAN}{_OPENING}]+[{_CLOSING}]*|\s+|[{_OPENING}])")


class Flowing:
    """A text that is wrapped as Chinese is; rich takes a run of Chinese characters for one long word."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self._text
        if not options.no_wrap and _ANY_HAN.search(text.plain):
            text = Text("\n").join(text.divide(_breaks(text.plain, options.max_width)))
        yield text

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._text)


def _breaks(plain: str, width: int) -> list[int]:
    """The places, ascending, at which a line of `width` cells is full."""
    found: list[int] = []
    used = 0
    for unit in _UNIT.finditer(plain):
        said = unit.group()
        if "\n" in said:
            used = 0
            continue
        cells = cell_len(said)
        if used and used + cells > width and not said.isspace():
            found.append(unit.start())
            used = 0
        used += cells
    return found
