"""What the knowledge lint refuses."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.errors import UnknownEntryError
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
    assert problems(data) == ["fill in title (ru)"]


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
    assert any(text.startswith("layer is 'network'") for text in problems(entry_data("alpha-private", "network")))


def test_explains_when_target_is_missing_then_refused(problems: Callable[..., list[str]]) -> None:
    found = problems(entry_data("alpha-private", explains=["nothing-of-this-name"]))
    assert found == ["explains 'nothing-of-this-name', which does not exist"]


def test_explains_when_circular_then_refused(tmp_path: Path, write_entry: Callable[..., Path]) -> None:
    write_entry(entry_data("alpha-private", explains=["beta-private"]))
    write_entry(entry_data("beta-private", explains=["alpha-private"]))
    texts = [problem.text for problem in lint([tmp_path / "kb"], only="alpha-private")]
    assert texts == ["entries explain each other in a circle: alpha-private -> beta-private -> alpha-private"]


def test_sources_when_none_then_refused(problems: Callable[..., list[str]]) -> None:
    assert problems(entry_data("alpha-private", sources=[])) == ["fill in sources"]


def test_symptoms_when_fewer_than_three_differ_then_refused(problems: Callable[..., list[str]]) -> None:
    data = entry_data("alpha-private")
    data["symptoms"]["ko"] = data["symptoms"]["ko"][:2]
    data["symptoms"]["ru"] = data["symptoms"]["ru"][:1] * 3
    assert problems(data) == ["symptoms needs 3 or more, all different, in each language; fewer in ko, ru"]


@pytest.mark.parametrize(("count", "good"), [(1, True), (5, True), (6, False)])
def test_checklist_when_longer_than_the_guide_says_then_refused(
    problems: Callable[..., list[str]], count: int, good: bool
) -> None:
    data = entry_data("alpha-private")
    data["checklist"] = [{**data["checklist"][0], "id": f"check-{number}"} for number in range(count)]
    assert (problems(data) == []) is good


def test_checklist_when_an_id_stands_twice_then_refused(problems: Callable[..., list[str]]) -> None:
    data = entry_data("alpha-private")
    data["checklist"] = data["checklist"] * 2
    assert problems(data) == ["checklist has the id 'check' twice"]


@pytest.mark.parametrize("field", ["command", "url"])
def test_text_when_it_may_be_left_out_then_it_may_be_empty(problems: Callable[..., list[str]], field: str) -> None:
    data = entry_data("alpha-private")
    (data["sources"] if field == "url" else data["checklist"])[0][field] = ""
    assert problems(data) == []


def test_problem_when_in_the_file_then_its_line_is_named(tmp_path: Path, write_entry: Callable[..., Path]) -> None:
    signature = {"all": [{"pattern": "proof of alpha-private"}, {"fact": "driver", "present": True}]}
    folder = write_entry(entry_data("alpha-private", signature=signature))
    lines = (folder / "entry.yaml").read_text(encoding="utf-8").splitlines()
    (problem,) = lint([tmp_path / "kb"], only="config/alpha-private")
    at = next(number for number, line in enumerate(lines, 1) if "fact: driver" in line)
    assert problem.where == f"{folder}/entry.yaml:{at}"


def test_file_when_it_is_no_entry_then_all_is_said_in_one_run_in_plain_words(
    tmp_path: Path, write_entry: Callable[..., Path]
) -> None:
    data = entry_data("alpha-private", kind="reason", explain=[], extra_field_of_mine=1)
    data["title"] = "one text for all"
    data["cause"] = {"en": "", "ko": None, "zh": "原因", "ru": ""}
    data["symptoms"]["en"] = ["one"]
    data["sources"][0]["as_of"] = "lately"
    data["signature"] = {"all": [{"pattern": "a proof", "equals": [3]}, {"fact": "tp_size"}], "unique": "maybe"}
    data["checklist"][0]["expect"] = {"en": "", "ko": "", "zh": "", "ru": ""}
    del data["avoid"]
    folder = write_entry(data)
    (folder / "match" / "one.log").unlink()
    found = list(lint([tmp_path / "kb"], only="alpha-private"))
    texts = {problem.text for problem in found}
    assert texts == {
        "kind is 'reason'; it must be one of cause, consequence or note",
        "there is no field 'explain'; is 'explains' meant?",
        "there is no field 'extra_field_of_mine'",
        "title must be given per language: {en: ..., ko: ..., zh: ..., ru: ...}",
        "fill in cause (en, ko, ru)",
        "symptoms needs 3 or more, all different, in each language; fewer in en",
        "as_of of sources item 1 is 'lately'; it must be a day such as 2026-11-29",
        "equals of signature.all item 1 must be text, a number, true or false",
        "signature.all item 2: fact tp_size needs a test: equals, one_of, version, minimum, maximum or present",
        "signature.unique is 'maybe'; it must be true or false",
        "fill in expect of checklist item 1 (en, ko, zh, ru), or leave it out",
        "avoid is missing",
        "has no log in match/",
    }
    lines = (folder / "entry.yaml").read_text(encoding="utf-8").splitlines()
    of = {problem.text: problem.where for problem in found}
    at = next(number for number, line in enumerate(lines, 1) if line.startswith("kind:"))
    assert of["kind is 'reason'; it must be one of cause, consequence or note"] == f"{folder}/entry.yaml:{at}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("id: alpha-private\ntitle: one: two\n", "entry.yaml:2: is not YAML: mapping values"),
        ("", "holds no entry"),
        ("as_of: 2026-13-45\n", "entry.yaml:1: '2026-13-45' is not a day that the calendar has"),
        ("id: other\n", "fill in|is missing"),
    ],
)
def test_file_when_it_cannot_be_understood_then_one_sentence(
    tmp_path: Path, write_entry: Callable[..., Path], content: str, words: str
) -> None:
    folder = write_entry(entry_data("alpha-private"))
    (folder / "entry.yaml").write_text(content, encoding="utf-8")
    found = [str(problem) for problem in lint([tmp_path / "kb"], only="alpha-private")]
    assert any(re.search(words, problem) for problem in found), found
    assert not [problem for problem in found if "\n" in problem]


def test_file_when_it_is_a_pipe_then_one_sentence_without_waiting(
    tmp_path: Path, write_entry: Callable[..., Path]
) -> None:
    path = write_entry(entry_data("alpha-private")) / "entry.yaml"
    path.unlink()
    os.mkfifo(path)
    found = [str(problem) for problem in lint([tmp_path / "kb"], only="alpha-private")]
    assert found == [f"{path}: is no file"]


def test_id_when_not_that_of_the_folder_then_refused_with_its_line(
    tmp_path: Path, write_entry: Callable[..., Path]
) -> None:
    folder = write_entry(entry_data("alpha-private"))
    folder.rename(folder.parent / "beta-private")
    (problem,) = lint([tmp_path / "kb"], only="beta-private")
    assert "id is 'alpha-private' and the folder 'beta-private'" in problem.text
    assert re.search(r"entry\.yaml:\d+$", problem.where)


@pytest.mark.parametrize("only", ["nosuch", "nixl-not-instaled"])
def test_only_when_nothing_has_the_name_then_an_error(only: str) -> None:
    with pytest.raises(UnknownEntryError, match="kb list") as caught:
        lint(only=only)
    assert ("nixl-not-installed" in str(caught.value)) is (only != "nosuch")


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
