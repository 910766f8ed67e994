"""What people read instead of internal names, numbers and unfilled titles."""

from __future__ import annotations

import io
import json
import re
from importlib import resources

import pytest
from rich.console import Console

from bot.catalogue import say
from bot.rendering.blocks import answer
from bot.rendering.counted import Counted
from bot.rendering.first_failure import cited_root, quoted
from bot.rendering.html import html
from bot.rendering.markdown import markdown
from bot.rendering.message import AnswerState
from bot.rendering.modals import known_entries
from bot.rendering.names import fact_name, fact_names
from bot.rendering.text import TextRenderer
from bot.rendering.titles import title_of
from kb.entry import LANGUAGES, PLACEHOLDER, Language
from kb.facts.vocabulary import DYNAMIC, FACTS
from kb.library import Library
from kb.report import HEALTHY, Coverage, Report, ReportCheck, ReportDiagnosis, ReportFact, ReportNote, RootException
from kb.yamlfile import load_yaml


def report(language: Language, *, consequences: list[str], unknown_facts: list[str], facts: list[str]) -> Report:
    item = ReportDiagnosis(
        entry="gpu-off-the-bus-xid79",
        layer="hardware",
        title="A title",
        cause="A cause",
        confidence="likely",
        evidence=[],
        consequences=consequences,
        unknown_facts=unknown_facts,
        checklist=[],
        recovery=[],
        avoid=[],
        sources=[],
    )
    return Report(
        outcome="matched",
        language=language,
        layer="hardware",
        stage=None,
        diagnoses=[item],
        root_exception=None,
        notes=[],
        facts={name: ReportFact(value="1", file="a.log", line=1) for name in facts},
        missing_evidence=[],
        coverage=Coverage(bytes_read=1, lines_read=1, files=["a.log"], not_read=[]),
    )


def every_rendering(one: Report, library: Library) -> str:
    """All that people may read of a report."""
    return "\n".join(renderings(one, library))


def renderings(one: Report, library: Library) -> list[str]:
    """The forms of a report, without the style sheet and Markdown's escapes."""
    out = io.StringIO()
    TextRenderer(Console(file=out, width=2000, highlight=False, markup=False, emoji=False), library).print(one)
    message = answer(one, AnswerState("abc", expanded=frozenset({"consequences"})), library)
    page = re.sub(r"(?s)<style>.*</style>", "", html(one, library))
    blocks = json.dumps(message.blocks, ensure_ascii=False)
    return [out.getvalue(), markdown(one, library).replace("\\", ""), page, f"{message.text}\n{blocks}"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_title_of_any_entry_shows_a_placeholder(library: Library, language: Language) -> None:
    ids = [rule.id for rule in library.rules]
    assert not [title for title in (title_of(library, one, language) for one in ids) if PLACEHOLDER.search(title)]
    assert not PLACEHOLDER.search(str(known_entries(library, language)))
    for start in range(0, len(ids), 25):
        one = report(language, consequences=ids[start : start + 25], unknown_facts=[], facts=[])
        assert not PLACEHOLDER.search(every_rendering(one, library))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fact_has_a_name_for_people(language: Language) -> None:
    catalogue = load_yaml(resources.files("kb").joinpath(f"messages/{language}.yaml").read_text(encoding="utf-8"))
    assert list(catalogue["fact"]) == [*FACTS, *DYNAMIC]
    for name in FACTS:
        assert "_" not in fact_name(language, name) or name == "kv_role"


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_rendering_shows_the_internal_name_of_a_fact(library: Library, language: Language) -> None:
    internal = [name for name in FACTS if "_" in name and name != "kv_role"]
    internal += ["flag.kv_transfer_config", "env.NCCL_DMABUF_ENABLE", "module.nvidia_peermem"]
    for start in range(0, len(internal), 8):
        names = internal[start : start + 8]
        told = every_rendering(report(language, consequences=[], unknown_facts=names, facts=names), library)
        assert not [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", told)]


def test_a_fact_of_a_family_is_named_as_people_write_it() -> None:
    assert fact_name("en", "flag.kv_transfer_config") == "--kv-transfer-config"
    assert fact_name("ru", "env.NCCL_DMABUF_ENABLE") == "NCCL_DMABUF_ENABLE"
    assert fact_name("ru", "module.nvidia_peermem") == "модуль ядра Linux nvidia_peermem"
    assert fact_name("en", "of.another.release") == "of.another.release"
    assert fact_name("en", "unheard_of") == "unheard_of"
    assert fact_names("en", ["xid", "xid", "model"]) == "Xid number, model"


@pytest.mark.parametrize(
    ("number", "english", "russian"),
    [
        (0, "0 lines in 0 files", "0 строк в 0 файлах"),
        (1, "1 line in 1 file", "1 строка в 1 файле"),
        (2, "2 lines in 2 files", "2 строки в 2 файлах"),
        (5, "5 lines in 5 files", "5 строк в 5 файлах"),
        (11, "11 lines in 11 files", "11 строк в 11 файлах"),
        (14, "14 lines in 14 files", "14 строк в 14 файлах"),
        (21, "21 lines in 21 files", "21 строка в 21 файле"),
        (112, "112 lines in 112 files", "112 строк в 112 файлах"),
        (1004, "1004 lines in 1004 files", "1004 строки в 1004 файлах"),
    ],
)
def test_a_counted_word_stands_in_its_right_form(number: int, english: str, russian: str) -> None:
    def read(language: Language) -> str:
        count = Counted(number, language)
        return say(language, "label.read", lines=count, files=count, size="1 B")

    assert read("en") == f"Read {english} (1 B)"
    assert read("ru") == f"Прочитано: {russian} (1 B)"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("package", ["bot", "kb"])
def test_a_counted_word_has_all_forms_of_its_language(language: Language, package: str) -> None:
    text = resources.files(package).joinpath(f"messages/{language}.yaml").read_text(encoding="utf-8")
    forms = {len(spec.split("|")) for spec in re.findall(r"\{[a-z]+:([^{}]*\|[^{}]*)\}", text)}
    assert forms <= {{"en": 2, "ru": 3}.get(language, 0)}


def root(type_: str, text: str) -> RootException:
    return RootException(type=type_, text=text, process="EngineCore", host=None, file="a.log", line=7)


@pytest.mark.parametrize(
    ("type_", "text", "line"),
    [
        ("RuntimeError", "no luck", "RuntimeError: no luck"),
        ("acme.errors.DriftError", "epoch 17", "acme.errors.DriftError: epoch 17"),
        ("AssertionError", "in schedule (scheduler.py)", "AssertionError"),
        ("AssertionError", "AssertionError", "AssertionError"),
        ("ERROR", "EngineCore failed to start.", "EngineCore failed to start."),
        ("message", "vllm.service: Main process exited", "vllm.service: Main process exited"),
        ("NVRM: Xid", "NVRM: Xid (PCI:0000:c8:00): 79", "NVRM: Xid (PCI:0000:c8:00): 79"),
        ("OOMKilled", "Reason: OOMKilled", "Reason: OOMKilled"),
    ],
)
def test_the_first_failure_is_quoted_as_it_was_printed(type_: str, text: str, line: str) -> None:
    assert quoted(root(type_, text)) == line


def test_the_place_of_an_exception_without_a_message_is_told_beside_the_line() -> None:
    cited = cited_root(root("AssertionError", "in schedule (scheduler.py)"))
    assert (cited.text, cited.process) == ("AssertionError", "EngineCore, in schedule (scheduler.py)")


@pytest.mark.parametrize("language", LANGUAGES)
def test_commands_on_things_of_the_readers_own_are_explained(library: Library, language: Language) -> None:
    one = report(language, consequences=[], unknown_facts=[], facts=[])
    assert "server.log" not in every_rendering(one, library)
    reads = ReportCheck(id="log", text="Look", command="docker exec CONTAINER grep x server.log")
    item = one.diagnoses[0].model_copy(update={"checklist": [reads]})
    told = every_rendering(one.model_copy(update={"diagnoses": [item]}), library)
    assert told.count("kubectl logs POD") == 4
    assert told.count("kubectl exec POD --") == 4


@pytest.mark.parametrize("language", LANGUAGES)
def test_healthy_log_when_shown_then_its_own_headline_and_no_other(library: Library, language: Language) -> None:
    notes = [
        ReportNote(entry=HEALTHY, title="HEADLINE-OF-IT", text="MORE-OF-IT", evidence=[]),
        ReportNote(entry="shm-broadcast-wait-note", title="HARMLESS-LINE", text="why", evidence=[]),
    ]
    one = report(language, consequences=[], unknown_facts=[], facts=[])
    one = one.model_copy(update={"outcome": "unrelated", "layer": None, "diagnoses": [], "notes": notes})
    for told in renderings(one, library):
        assert "HEADLINE-OF-IT" in told
        assert told.count("MORE-OF-IT") == 1
        assert say(language, "outcome.unrelated") not in told
        assert "HARMLESS-LINE" in told


def test_cause_when_just_called_wrong_then_not_offered_again(library: Library) -> None:
    offered = {entry for _, entries in known_entries(library, "en") for entry, _ in entries}
    left = {entry for _, entries in known_entries(library, "en", "nixl-not-installed") for entry, _ in entries}
    assert offered - left == {"nixl-not-installed"}
