"""Names of files and members as people see them and as reports store them."""

from __future__ import annotations

import re
import unicodedata

MAX_NAME = 300
"""Characters of a shown name."""
_TAIL = 119
_READ = 4096
_HIDDEN = ("Cc", "Cf", "Zl", "Zp")  # Cf holds the characters that turn the direction of text, and the invisible ones
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def display_name(name: str) -> str:
    """The name without control and bidirectional characters, at most MAX_NAME characters long.

    Bytes that were no UTF-8 (surrogates, as the file system gives them) become `\\xNN`.
    """
    if not (name.isascii() and name.isprintable()):
        name = "".join(_shown(char) for char in _cut(name, _READ, _READ // 2))
    return _cut(name, MAX_NAME, _TAIL) or "?"


def decode_name(raw: bytes) -> str:
    """A member's name out of its bytes, as os.fsdecode does it.

    Legacy encodings are not guessed: what `display_name` makes of them is ugly and never wrong.
    """
    return raw.decode("utf-8", "surrogateescape")


def member_name(archive: str, name: str) -> str:
    """The name of a member below that of its archive."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    return f"{archive}/{'/'.join(parts)}"


def leads_outside(name: str) -> bool:
    """Whether the member, if it were extracted, might land outside of the directory it is extracted to."""
    return name.startswith(("/", "\\")) or _DRIVE.match(name) is not None or ".." in re.split(r"[\\/]", name)


def is_prose_name(name: str) -> bool:
    """Whether a member is likely to hold a person's own words."""
    name = name.lower()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    return name.endswith((".txt", ".md"))


class UniqueNames:
    """Hands out names so that no two sources share one; a line is cited by the name of its source and its number."""

    def __init__(self) -> None:
        self._given: dict[str, int] = {}

    def take(self, name: str) -> str:
        """The displayed name, with ` (2)` behind it where it was taken before."""
        shown = display_name(name)
        unique = shown
        while unique in self._given:
            self._given[shown] += 1
            suffix = f" ({self._given[shown]})"
            unique = _cut(shown, MAX_NAME - len(suffix), _TAIL) + suffix
        self._given[unique] = 1
        return unique


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) & 0xFF:02x}"
    category = unicodedata.category(char)
    if category == "Zs":
        return " "
    return "" if category in _HIDDEN else "\N{REPLACEMENT CHARACTER}"


def _cut(text: str, limit: int, tail: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - tail - 1]}…{text[-tail:]}"
