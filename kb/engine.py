"""Diagnose: sources in, a report out. The one way in for every caller."""

from __future__ import annotations

from collections.abc import Iterable

from kb.diagnosis import diagnose_evidence
from kb.entry import Language
from kb.evidence import Collector, NotRead, Source
from kb.language import detect_language
from kb.library import Library
from kb.report import Report, build_report


def diagnose(
    sources: Iterable[Source | NotRead], library: Library, language: Language | None = None, fallback: Language = "en"
) -> Report:
    """Read the sources as one body of evidence and report on it.

    Without a `language` the report is in the language of the person's words, else in `fallback`. Never raises for what
    the sources hold; errors of the streams themselves (OSError) are the caller's.
    """
    collector = Collector(library.scanner, library.watches)
    for source in sources:
        if isinstance(source, NotRead):
            collector.skip(source.file, source.reason, source.detail)
        else:
            collector.add(source)
    evidence = collector.finish()
    diagnosis = diagnose_evidence(evidence, library)
    return build_report(diagnosis, library, language or detect_language(evidence.prose) or fallback)
