"""Titles of entries, also of those that a stored report names and the knowledge base no longer holds."""

from __future__ import annotations

from kb.entry import Entry, Language
from kb.errors import UnknownEntryError
from kb.library import Library


def entry_of(library: Library, entry_id: str) -> Entry | None:
    """The entry; None where it is no longer in the knowledge base."""
    try:
        return library.entry(entry_id)
    except UnknownEntryError:
        return None


def title_of(library: Library, entry_id: str, language: Language) -> str:
    """The title of an entry; its id where it is no longer in the knowledge base."""
    entry = entry_of(library, entry_id)
    return entry.title.get(language) if entry else entry_id
