"""Titles of entries, also of those that a stored report names and the knowledge base no longer holds."""

from __future__ import annotations

from kb.entry import PLACEHOLDER, Language
from kb.library import Library
from kb.report import ReportDiagnosis


def title_of(library: Library, entry_id: str, language: Language) -> str:
    """The title of an entry where no line of a log fills its placeholders; the id of one that is gone."""
    entry = library.find(entry_id)
    return PLACEHOLDER.sub("…", entry.title.get(language)) if entry else entry_id


def consequence_titles(library: Library, item: ReportDiagnosis, language: Language) -> list[str]:
    """The titles of what only followed; a stored report of an older release has only the ids."""
    if len(item.consequence_titles) == len(item.consequences):
        return item.consequence_titles
    return [title_of(library, entry_id, language) for entry_id in item.consequences]
