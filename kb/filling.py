"""The texts of an entry with what the log says in the places that its patterns named."""

from __future__ import annotations

import re

from kb.entry import PLACEHOLDER, Language, LocalText
from kb.library import Library
from kb.matching import Match

_PLAIN_ARGUMENT = re.compile(r"[\w@%+=:,./][\w@%+=:,./-]{0,300}", re.ASCII)


def fill(text: str, match: Match) -> str:
    """A text; a place that no line fills stays as it is."""
    return PLACEHOLDER.sub(lambda found: match.captures.get(found.group(1), found.group(0)), text)


def fill_command(command: str | None, match: Match) -> str | None:
    """A command to copy: what the log says stands in it only where no shell can take it for anything but one word."""

    def value(found: re.Match[str]) -> str:
        said = match.captures.get(found.group(1))
        return said if said is not None and _PLAIN_ARGUMENT.fullmatch(said) else found.group(1).upper()

    return PLACEHOLDER.sub(value, command) if command else None


def title_of(match: Match, library: Library, language: Language) -> str:
    """The title of a match, with nothing open in it."""
    return PLACEHOLDER.sub("…", fill(library.entry(match.rule.id).title.get(language), match))


def local(text: LocalText | None, match: Match, language: Language) -> str | None:
    """A text that may be missing."""
    return fill(text.get(language), match) if text is not None else None
