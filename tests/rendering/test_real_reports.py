"""Reports as the engine makes them, in every language, folded and unfolded."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.rendering.blocks import AnswerState, answer
from bot.rendering.ids import SECTIONS
from kb.diagnosis import diagnose_evidence
from kb.entry import LANGUAGES
from kb.evidence import Collector, Source
from kb.folders import builtin_directory
from kb.library import Library
from kb.report import build_report
from tests.rendering.slack_limits import assert_within_limits

CASES = sorted(Path(__file__).parent.parent.joinpath("cases").glob("*.log"))
ENTRIES = sorted(builtin_directory().glob("*/*/match"))
CHOSEN = [sorted(folder.glob("*.log"))[0] for folder in ENTRIES[:: max(1, len(ENTRIES) // 40)][:40]]


@pytest.mark.parametrize("path", [*CASES, *CHOSEN], ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_a_real_report_fits_in_every_language_with_nothing_left_to_the_file(path: Path, library: Library) -> None:
    collector = Collector(library.scanner, library.watches)
    collector.add(Source(path.name, [path.read_bytes()]))
    diagnosis = diagnose_evidence(collector.finish(), library)
    for language in LANGUAGES:
        report = build_report(diagnosis, library, language)
        for state in (
            AnswerState("abcabcabcabc"),
            AnswerState("abcabcabcabc", expanded=frozenset(SECTIONS), alternatives_shown=True),
        ):
            message = answer(report, state, library)
            assert_within_limits(message)
            assert message.files == []
