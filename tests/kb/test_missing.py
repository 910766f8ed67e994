"""What is asked for fits the failure and the way the server runs."""

from __future__ import annotations

from importlib import resources
from typing import Any

import pytest

from kb import missing
from kb.engine import diagnose
from kb.entry import LANGUAGES
from kb.evidence import Source
from kb.facts.vocabulary import FACTS
from kb.library import Library
from kb.report import Report
from kb.yamlfile import load_yaml

WHO = "(EngineCore pid=640) ERROR 11-27 22:11:02 [core.py:1]"
TRACEBACK = f"""{WHO} Traceback (most recent call last):
{WHO}   File "/venv/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 9, in run
{WHO}     step()
{WHO}   File "PATH", line 212, in reserve
{WHO}     raise QuotaDriftError("epoch 17")
{WHO} QuotaDriftError: epoch 17 behind fence 19
"""


@pytest.fixture(scope="module")
def library() -> Library:
    return Library.open()


def catalogue(language: str) -> dict[str, Any]:
    texts: dict[str, Any] = load_yaml(
        resources.files("kb").joinpath(f"messages/{language}.yaml").read_text(encoding="utf-8")
    )
    found: dict[str, Any] = texts["missing"]
    return found


def raised_in(path: str) -> str:
    return TRACEBACK.replace("PATH", path)


def report(library: Library, text: str) -> Report:
    return diagnose([Source("a.log", [text.encode()], paste=True)], library, "en")


def asked(library: Library, text: str) -> str:
    return "\n".join(f"{one.what}\n{one.command}" for one in report(library, text).missing_evidence)


def test_every_fact_has_a_source_that_the_catalogue_knows() -> None:
    known = catalogue("en")
    assert {fact for fact in [*FACTS, "flag.x", "env.X", "module.x"] if missing.source_of(fact) not in known} == set()
    assert {fact for fact in FACTS if missing.source_of(fact) == "any_log"} == set()


def test_what_differs_on_a_platform_stands_in_the_catalogue_for_it() -> None:
    known = catalogue("en")
    assert set(known["on_kubernetes"]) == missing.ON_KUBERNETES
    assert set(known["on_rocm"]) == missing.ON_ROCM


@pytest.mark.parametrize("path", ["/opt/acme/quota/ledger.py", "/venv/lib/python3.12/site-packages/acme/ledger.py"])
def test_an_exception_of_somebody_elses_code_names_the_file(library: Library, path: str) -> None:
    assert f"What the owner of {path} says" in asked(library, raised_in(path))


@pytest.mark.parametrize(
    "path",
    [
        "/venv/lib/python3.12/site-packages/torch/nn/module.py",
        "/usr/lib/python3.12/asyncio/tasks.py",
        "/src/vllm/vllm/v1/engine/core.py",
        "<string>",
        "/var/cache/torchinductor_root/ab/cabc.py",
    ],
)
def test_an_exception_of_vllm_or_its_libraries_accuses_nobody(library: Library, path: str) -> None:
    assert "What the owner of" not in asked(library, raised_in(path))


def test_an_unknown_failure_asks_for_the_uncut_log_the_other_ranks_and_what_changed(library: Library) -> None:
    told = report(library, raised_in("/opt/acme/ledger.py"))
    assert told.outcome == "unknown"
    whats = [one.what for one in told.missing_evidence]
    assert [" ".join(what.split()[:3]) for what in whats[:4]] == [
        "What the owner",
        "The log around",
        "What the other",
        "What changed before",
    ]


def test_on_kubernetes_the_commands_are_those_of_kubectl(library: Library) -> None:
    event = "  Warning  BackOff  kubelet  Back-off restarting failed container vllm in pod k3-0\n"
    told = asked(library, raised_in("/opt/acme/ledger.py") + event)
    assert "kubectl logs POD" in told
    assert "docker" not in told


def test_where_nothing_tells_how_the_server_runs_both_ways_are_given(library: Library) -> None:
    told = asked(library, raised_in("/opt/acme/ledger.py"))
    assert "kubectl logs POD" in told
    assert "docker logs CONTAINER" in told


def test_on_amd_the_kernel_log_is_searched_for_amd(library: Library) -> None:
    fault = (
        "(Worker_TP0 pid=7) Memory access fault by GPU node-4 (Agent handle: 0x5) on address 0x7. Reason: Unknown.\n"
    )
    told = asked(library, f"our 8x MI355X server with vLLM crashes\n{fault}")
    assert "amdgpu" in told
    assert "NVRM" not in told


def test_a_kernel_log_that_is_there_is_not_asked_for(library: Library) -> None:
    fault = "(Worker_TP0 pid=7) ERROR 08-19 03:02:19 [x.py:1] RuntimeError: CUDA error: an illegal memory access\n"
    xid = "[Wed Aug 19 03:02:19 2026] NVRM: Xid (PCI:0000:1b:00): 31, pid=7, name=VLLM::Worker_TP, MMU Fault\n"
    assert "dmesg" in asked(library, fault)
    assert "dmesg" not in asked(library, fault + xid)


def test_a_question_is_not_asked_for_the_launch_command_twice(library: Library) -> None:
    told = asked(library, "prefix cache hit rate of vLLM with Kimi K3 stays at 0, what is wrong?\n")
    assert "the launch command" in told
    assert "docker inspect" not in told


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_the_command_differs_the_question_is_the_same(language: str) -> None:
    known = catalogue(language)
    for group in ("on_kubernetes", "on_rocm"):
        assert {key: one["what"] for key, one in known[group].items()} == {
            key: known[key]["what"] for key in known[group]
        }
