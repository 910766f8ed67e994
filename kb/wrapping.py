"""Undo hard wrapping: lines that a terminal broke at a fixed column, or a mail program at a word.

It is done only where the paste as a whole shows it, so that a log of lines that happen to be of one length stays as it
is. A line that is put together carries the raw number of its first part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from kb.framing import is_framed
from kb.prose import EXCEPTION, NATIVE, TRACE

_NARROWEST = 40
_WIDEST = 400
_USUAL = (80, 100, 120, 132, 160, 180, 200)
_NEAR = 0.7
"""Lines from this share of the width on are near enough to it to tell something."""
_ALIKE = 4
_MAX_JOINED = 1 << 15

_COLUMNS = re.compile(r"\S {2,}(?=\S)|\S ?\| ?(?=\S)")
_LIST = re.compile(r"(?:[-*•+]|\d{1,3}[.)]) ")
_CODE_FOLLOWS = re.compile(r"\s*File \"")
_VALIDATION = re.compile(r"\d validation errors? for \w+(?:Config|Args|Params|Settings|Request)$")
_TABLE = re.compile(r"[+|][-= ]")
_EMPTY_RECORD = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) [\d:., -]{14,30} \[[^\]\s]{1,120}:\d+\]\s*$")
_TORN = re.compile(r"\w-$")
_SENTENCE = re.compile(r"[A-Z][a-z]* ")
_AT_BLANKS = re.compile(r"[^ ]*")
_AT_HYPHENS = re.compile(r"-{0,2}[^ -]*-?")


class Row(NamedTuple):
    """A line of a paste. `log` says that it is sure to start one of a log, `fixed` that nothing may be joined to it."""

    number: int
    text: str
    log: bool
    fixed: bool


class _Pair(NamedTuple):
    """Two rows of which the second follows the first at once; `rest` says that it may be the rest of the first."""

    one: Row
    two: Row
    rest: bool


_Test = Callable[[_Pair], bool]
_Glue = Callable[[Row], str]


def unwrap(rows: list[Row]) -> list[Row]:
    """The rows with wrapped lines put together."""
    lines = [row for row in rows if not row.fixed and row.text.strip()]
    if len(lines) < 3 or not any(row.log for row in lines):
        return rows
    widths = _candidates(lines)
    if not widths:
        return rows
    pairs = [_pair(one, two) for one, two in pairwise(rows)]
    known = [pair for pair in pairs if pair is not None]
    lengths = [len(pair.one.text) for pair in known if pair.rest]
    widths = [width for width in widths if sum(length > _NEAR * width for length in lengths) >= 2]
    cut = next((width for width in widths if _is_cut(known, width)), None)
    if cut is not None:
        cut += cut + 1 in _USUAL  # where each full line ended in a blank that was trimmed
        return _joined(rows, pairs, lambda pair: _joins_cut(pair, cut), lambda one: " " * max(cut - len(one.text), 0))
    rests = sum(1 for pair in known if pair.rest)
    torn = sum(1 for pair in known if pair.rest and _TORN.search(pair.one.text[-2:]))
    breaks = _AT_HYPHENS if torn > max(1, 0.05 * rests) else _AT_BLANKS
    wrapped = next((width for width in widths if _is_wrapped(known, width, breaks)), None)
    if wrapped is None:
        return rows
    return _joined(rows, pairs, lambda pair: _joins_words(pair, wrapped, breaks), lambda one: _glue_words(one, breaks))


def _pair(one: Row, two: Row) -> _Pair | None:
    """The pair, or None where nothing can be wrapped: a blank line between, a person's words, a part left out."""
    if one.fixed or two.fixed or two.number - one.number > 1 or not one.text.strip() or not two.text.strip():
        return None
    if one.text.endswith(("]", "] ")) and _EMPTY_RECORD.search(
        one.text[-160:]
    ):  # nothing of its message had room beside the framing
        return _Pair(one, two, not two.log or _opens_message(two.text[:400]))
    if "validation error" in one.text[-80:] and _VALIDATION.search(one.text[-80:]):
        return _Pair(one, two, rest=False)
    alike = two.text[:_ALIKE] == one.text[:_ALIKE] and abs(len(two.text) - len(one.text)) <= 2 * _ALIKE
    return _Pair(one, two, not (two.log or alike or _starts_anew(two.text)))


def _opens_message(text: str) -> bool:
    """Whether a line that is sure to be of a log has no framing in front of it."""
    return TRACE.match(text) is not None or EXCEPTION.match(text) is not None


def _candidates(lines: list[Row]) -> list[int]:
    """Widths that may be the one: the longest lines, but for a few that come from elsewhere, or hold no blank."""
    lengths = Counter(len(row.text) for row in lines if " " in row.text.strip())
    beyond = 0
    found: list[int] = []
    for length in sorted(lengths, reverse=True):
        if length < _NARROWEST or len(found) == 6:
            break
        if length <= _WIDEST:
            found.append(length)
        beyond += lengths[length]
        if beyond > 2 + len(lines) // 50:
            break
    return found


def _starts_anew(text: str) -> bool:
    """Whether the line is no rest of the one before: indented, of a table or list, a command, or an exception."""
    if text[:1] in "\t|+>$#" or text[:2] == "  ":
        return True
    head = text[:400]
    if NATIVE.match(head) or len(_COLUMNS.findall(head)) > 2:
        return True
    return _opens_message(head) or _LIST.match(head) is not None


def _is_cut(pairs: list[_Pair], width: int) -> bool:
    """Whether lines were broken at exactly `width` columns: full lines go on in the next, and hardly any others do."""
    full = [pair for pair in _distinct(pairs) if len(pair.one.text) == width]
    rests = [pair.two.text for pair in full if pair.rest]
    if len(rests) < 2 or len(rests) < 0.7 * len(full) or _looks_tabular(rests):
        return False
    others = sum(1 for pair in pairs if pair.rest and _NEAR * width < len(pair.one.text) < width - 1)
    longer = sum(1 for pair in pairs if len(pair.one.text) > width)
    return others <= 0.5 * len(rests) and longer <= 0.2 * len(rests)


def _distinct(pairs: list[_Pair]) -> list[_Pair]:
    """The pairs without those whose first line has been there before: what is printed again tells nothing new."""
    return list({pair.one.text: pair for pair in reversed(pairs)}.values())[::-1]


def _looks_tabular(rests: list[str]) -> bool:
    """Whether the lines are rows of a table or list of equal length: they begin alike."""
    starts = Counter(re.split(r"[\s:=({\[]", text[:40], maxsplit=1)[0][:6].rstrip("0123456789") for text in rests)
    return len(rests) > 3 and starts.most_common(1)[0][1] > 0.6 * len(rests)


def _joins_cut(pair: _Pair, width: int) -> bool:
    one, two, rest = pair
    if len(one.text) == width:  # a line that ends just there is rare, so its rest may begin with anything
        if two.text.startswith("  ") and (_CODE_FOLLOWS.match(one.text) or _VALIDATION.search(one.text)):
            return False
        return not (_TABLE.match(two.text) or TRACE.match(two.text[:400]) or (two.log and is_framed(two.text[:400])))
    # A blank at the last column is lost where the terminal trims lines.
    return rest and len(one.text) == width - 1


def _is_wrapped(pairs: list[_Pair], width: int, breaks: re.Pattern[str]) -> bool:
    """Whether lines were broken at words before `width` columns: no rest's first word would have had room."""
    rests = whole = fits = of_log = longer = 0
    seen: set[str] = set()
    before: Row | None = None
    log = False  # whether the line that `one` is a rest of, at any distance, is a log's
    for one, two, rest in pairs:
        log = one.log or one.text.startswith("  ") or (log and one is before)
        before = two if rest else None
        if len(one.text) <= _NEAR * width or one.text in seen:
            continue
        seen.add(one.text)
        if len(one.text) > width and " " in one.text.strip():
            longer += 1
            continue
        room = len(one.text) + _first_word(two.text, breaks) < width
        if not rest or (one.text[-1] in ".!?})" and _SENTENCE.match(two.text)):
            whole += not room
        elif room:
            fits += 1
        else:
            rests += 1
            of_log += log
    return rests >= max(2, whole, 3 * fits, 5 * longer) and of_log >= 2 and (of_log >= 5 or of_log >= 0.4 * rests)


def _first_word(text: str, breaks: re.Pattern[str]) -> int:
    found = breaks.match(text)
    return found.end() if found else 0


def _joins_words(pair: _Pair, width: int, breaks: re.Pattern[str]) -> bool:
    return pair.rest and len(pair.one.text) + _first_word(pair.two.text, breaks) >= width


def _glue_words(one: Row, breaks: re.Pattern[str]) -> str:
    return "" if one.text.endswith(" ") or (breaks is _AT_HYPHENS and one.text.endswith("-")) else " "


def _joined(rows: list[Row], pairs: list[_Pair | None], joins: _Test, glue: _Glue) -> list[Row]:
    out = rows[:1]
    for row, pair in zip(rows[1:], pairs, strict=True):
        if pair is not None and len(out[-1].text) < _MAX_JOINED and joins(pair):
            out[-1] = out[-1]._replace(text=out[-1].text + glue(pair.one) + row.text)
        else:
            out.append(row)
    return out
