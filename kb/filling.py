"""The texts of an entry with what the log says in the places that its patterns named."""

from __future__ import annotations

import re

from kb.entry import PLACEHOLDER, Language, LocalText
from kb.library import Library
from kb.matching import Match

_IN_BRACKETS = re.compile(r" ?\([^()]*\)|（[^（）]*）")
_PLAIN_ARGUMENT = re.compile(r"[\w@%+=:,./][\w@%+=:,./-]{0,300}", re.ASCII)


def fill(text: str, match: Match) -> str:
    """A text, with nothing open in it: a place that no line fills becomes an ellipsis."""
    return PLACEHOLDER.sub(lambda found: match.captures.get(found.group(1), "…"), text)


def fill_command(command: str | None, match: Match) -> str | None:
    """A command to copy: what the log says stands in it only where no shell can take it for anything but one word."""

    def value(found: re.Match[str]) -> str:
        said = match.captures.get(found.group(1))
        return said if said is not None and _PLAIN_ARGUMENT.fullmatch(said) else found.group(1).upper()

    return PLACEHOLDER.sub(value, command) if command else None


def fill_title(text: str, match: Match) -> str:
    """A title; a parenthesis that no line fills is left out of it."""

    def value(found: re.Match[str]) -> str:
        wanted = PLACEHOLDER.findall(found.group())
        return found.group() if all(name in match.captures for name in wanted) else ""

    return fill(_IN_BRACKETS.sub(value, text), match)


def title_of(match: Match, library: Library, language: Language) -> str:
    """The title of a match."""
    return fill_title(library.entry(match.rule.id).title.get(language), match)


def local(text: LocalText | None, match: Match, language: Language) -> str | None:
    """A text that may be missing."""
    return fill(text.get(language), match) if text is not None else None
