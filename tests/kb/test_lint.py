"""What the knowledge lint refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kb.lint import lint
from tests.kb.conftest import entry_data, error


@pytest.fixture
def problems(tmp_path: Path, write_entry: Callable[..., Path]) -> Callable[..., list[str]]:
    """Problems of one private entry laid over the built-in ones."""

    def run(data: dict[str, object], **logs: str) -> list[str]:
        write_entry(data, **logs)
        return [problem.text for problem in lint([tmp_path / "kb"], only=str(data["id"]))]

    return run


def test_entry_when_complete_then_no_problem(problems: Callable[..., list[str]]) -> None:
    assert problems(entry_data("alpha-private")) == []


def test_language_when_missing_then_refused(problems: Callable[..., list[str]]) -> None:
    data = entry_data("alpha-private")
    data["title"] = {"en": "title", "ko": "제목", "zh": "标题"}
    assert problems(data) == ["title.ru: Field required"]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?=ahead)proof", "RE2 refuses"),
        (r"(a)\1proof", "RE2 refuses"),
        ("^proof of alpha-private", "uses ^ or $"),
        ("(proof of alpha-private)?", "matches an empty line"),
        ("Traceback", "matches an everyday line"),
    ],
)
def test_pattern_when_unfit_then_refused(problems: Callable[..., list[str]], pattern: str, words: str) -> None:
    found = problems(entry_data("alpha-private", signature={"all": [{"pattern": pattern}]}))
    assert any(words in text for text in found), found


def test_fact_when_unknown_then_refused(problems: Callable[..., list[str]]) -> None:
    signature = {"all": [{"pattern": "proof of alpha-private"}, {"fact": "driver", "present": True}]}
    found = problems(entry_data("alpha-private", signature=signature))
    assert any("there is no fact 'driver'" in text for text in found)


def test_layer_when_unknown_then_refused(problems: Callable[..., list[str]]) -> None:
    assert any(text.startswith("layer: ") for text in problems(entry_data("alpha-private", "network")))


def test_explains_when_target_is_missing_then_refused(problems: Callable[..., list[str]]) -> None:
    found = problems(entry_data("alpha-private", explains=["nothing-of-this-name"]))
    assert found == ["explains 'nothing-of-this-name', which does not exist"]


def test_explains_when_circular_then_refused(tmp_path: Path, write_entry: Callable[..., Path]) -> None:
    write_entry(entry_data("alpha-private", explains=["beta-private"]))
    write_entry(entry_data("beta-private", explains=["alpha-private"]))
    texts = [problem.text for problem in lint([tmp_path / "kb"], only="alpha-private")]
    assert texts == ["entries explain each other in a circle: alpha-private -> beta-private -> alpha-private"]


def test_sources_when_none_then_refused(problems: Callable[..., list[str]]) -> None:
    assert any(text.startswith("sources: ") for text in problems(entry_data("alpha-private", sources=[])))


def test_placeholder_when_no_group_has_its_name_then_refused(problems: Callable[..., list[str]]) -> None:
    data = entry_data("alpha-private")
    data["cause"] = dict.fromkeys(("en", "ko", "zh", "ru"), "needs {size} GiB")
    assert problems(data) == ["{size} in a text is no named group of a pattern in all"]


def test_logs_when_none_then_refused(tmp_path: Path, write_entry: Callable[..., Path]) -> None:
    folder = write_entry(entry_data("alpha-private"))
    (folder / "match" / "one.log").unlink()
    (folder / "near_miss" / "one.log").unlink()
    texts = [problem.text for problem in lint([tmp_path / "kb"], only="alpha-private")]
    assert texts == ["has no log in match/", "has no log in near_miss/"]


def test_verdict_when_the_own_log_is_not_diagnosed_then_refused(problems: Callable[..., list[str]]) -> None:
    found = problems(entry_data("alpha-private"), match=error("something else entirely"))
    assert found == ["match/one.log: first diagnosis is 'unknown', not this entry"]


def test_verdict_when_a_near_miss_is_claimed_then_refused(problems: Callable[..., list[str]]) -> None:
    found = problems(entry_data("alpha-private"), near_miss=error("proof of alpha-private"))
    assert found == ["near_miss/one.log: is diagnosed (certain)"]


def test_builtin_entries_when_linted_then_no_problem() -> None:
    assert [str(problem) for problem in lint()] == []
