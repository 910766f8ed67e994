"""Every reason for not reading something is in the catalogue of each language, with a place for its detail."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest
import yaml

import bot.bundles

WITH_DETAIL = {
    *("file_limit", "left_out", "left_out_counted", "memory", "method", "nested_zip", "ratio", "too_deep"),
    *("too_many_members", "too_many_members_counted", "total_limit", "unknown_archive", "unreadable"),
}
WITHOUT = {
    *(
        "checksum",
        "corrupt",
        "empty",
        "encrypted",
        "headers_disagree",
        "large_header",
        "link",
        "no_directory",
        "overlap",
    ),
    *("permission", "special", "trailing", "truncated", "unsafe_name", "vanished"),
}


def test_reason_when_the_code_gives_it_then_listed_here() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in Path(bot.bundles.__file__).parent.glob("*.py"))
    given = set(re.findall(r'(?:Unread\(|NotRead\([^"]*, |else )"([a-z_]+)"', source)) - {"file", "x"}
    assert given <= WITH_DETAIL | WITHOUT
    assert len(given) > 20


@pytest.mark.parametrize("language", ["en", "ko", "zh", "ru"])
def test_reason_when_given_then_each_language_has_words_for_it(language: str) -> None:
    text = resources.files("kb").joinpath(f"messages/{language}.yaml").read_text(encoding="utf-8")
    catalogue = yaml.safe_load(text)["not_read"]
    assert {reason for reason in WITH_DETAIL if catalogue[reason].count("{detail}") != 1} == set()
    assert {reason for reason in WITHOUT if not catalogue[reason] or "{" in catalogue[reason]} == set()
