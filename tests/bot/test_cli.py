"""The command as people use it: what it prints, its exit codes, its errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parent.parent.parent
CASES = ROOT / "tests" / "cases"
COMMAND = str(Path(sys.executable).parent / "k3triage")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of the index for all runs of the command."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def run(cache: Path):
    """Run the command; returns the finished process."""

    def call(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
        env = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "K3TRIAGE"))}
        env |= {"K3TRIAGE_CACHE": str(cache), "LANG": "C.UTF-8", **environment}
        return subprocess.run([COMMAND, *arguments], input=stdin, capture_output=True, check=False, env=env, cwd=ROOT)

    return call


def test_diagnose_when_a_known_failure_then_layer_and_cause_stand_in_the_first_three_lines(run) -> None:
    done = run("diagnose", "tests/cases/nixl_missing.log", "--lang", "en")
    lines = done.stdout.decode().split("\n")
    assert done.returncode == 0
    assert "(dependencies)" in lines[0]
    assert "[certain]" in lines[1]
    assert lines[2].startswith("Read from the log: vLLM 0.32.0")
    assert "tests/cases/nixl_missing.log:106" in done.stdout.decode()
    assert b"\x1b" not in done.stdout  # colour only on a terminal


@pytest.mark.parametrize(
    ("name", "code"), [("tp3", 0), ("runtime_engine_dead", 3), ("healthy_startup_032", 4), ("metrics_warm", 4)]
)
def test_diagnose_when_finished_then_exit_code_tells_the_outcome(run, name: str, code: int) -> None:
    assert run("diagnose", f"tests/cases/{name}.log").returncode == code


def test_json_when_printed_then_it_fits_the_published_schema(run) -> None:
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))
    for log in sorted(CASES.glob("*.log")):
        report = json.loads(run("diagnose", str(log), "--format", "json").stdout)
        jsonschema.validate(report, schema)
        assert report["schema"] == 1


def test_schema_when_printed_then_it_is_the_published_one(run) -> None:
    printed = json.loads(run("schema").stdout)
    assert printed == json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))


def test_each_when_json_then_one_line_per_path_with_its_input(run) -> None:
    paths = ["tests/cases/tp3.log", "tests/cases/healthy_startup_032.log"]
    done = run("diagnose", *paths, "--each", "--format", "json")
    reports = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert [report["input"] for report in reports] == paths
    assert [report["outcome"] for report in reports] == ["matched", "unrelated"]
    assert done.returncode == 0


def test_together_when_two_files_then_one_report_on_both(run) -> None:
    done = run("diagnose", "tests/cases/tp3.log", "tests/cases/healthy_startup_032.log", "--format", "json")
    report = json.loads(done.stdout)
    assert report["coverage"]["files"] == ["tests/cases/tp3.log", "tests/cases/healthy_startup_032.log"]


def test_stdin_when_piped_then_read_and_named_so(run) -> None:
    done = run("diagnose", "-", "--format", "json", stdin=(CASES / "tp3.log").read_bytes())
    assert json.loads(done.stdout)["diagnoses"][0]["evidence"][0]["file"] == "stdin"


@pytest.mark.parametrize(
    ("locale", "language"),
    [("ko_KR.UTF-8", "ko"), ("zh_CN.UTF-8", "zh"), ("ru_RU.UTF-8", "ru"), ("fr_FR.UTF-8", "en")],
)
def test_language_when_no_words_then_that_of_the_locale(run, locale: str, language: str) -> None:
    report = json.loads(run("diagnose", "tests/cases/tp3.log", "--format", "json", LANG=locale).stdout)
    assert report["language"] == language


def test_language_when_given_then_it_wins(run) -> None:
    words = "서버가 죽습니다. 로그입니다:\n".encode() + (CASES / "tp3.log").read_bytes()
    assert json.loads(run("diagnose", "-", "--format", "json", stdin=words).stdout)["language"] == "ko"
    assert json.loads(run("diagnose", "-", "--lang", "ru", "--format", "json", stdin=words).stdout)["language"] == "ru"


@pytest.mark.parametrize("lang", ["en", "ko", "zh", "ru"])
def test_markdown_when_printed_then_log_text_is_fenced(run, lang: str) -> None:
    text = run("diagnose", "tests/cases/nixl_missing.log", "--format", "markdown", "--lang", lang).stdout.decode()
    assert text.startswith("# ")
    assert (
        "\n```\n(Worker pid=28228) ERROR 11-29 12:10:43 [multiproc_executor.py:1063] RuntimeError: NIXL is not" in text
    )


def test_path_when_missing_then_one_sentence_and_a_next_step(run) -> None:
    done = run("diagnose", "no/such/file.log")
    assert done.returncode == 1
    assert done.stderr.decode().startswith("k3triage: ")
    assert "no/such/file.log" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_kb_directory_when_missing_then_said(run) -> None:
    done = run("diagnose", "tests/cases/tp3.log", "--kb", "/no/such/dir")
    assert done.returncode == 1
    assert "K3TRIAGE_KB" in done.stderr.decode()


def test_format_when_unknown_then_usage(run) -> None:
    assert run("diagnose", "tests/cases/tp3.log", "--format", "xml").returncode == 2


def test_binary_when_given_then_named_as_not_read(run, tmp_path: Path) -> None:
    file = tmp_path / "core"
    file.write_bytes(bytes(range(256)) * 400)
    report = json.loads(run("diagnose", str(file), "--format", "json", "--lang", "en").stdout)
    assert report["outcome"] == "unrelated"
    assert [(item["file"], item["reason"]) for item in report["coverage"]["not_read"]] == [(str(file), "not text")]


def test_output_when_the_reader_goes_away_then_no_traceback(cache: Path) -> None:
    command = f"{COMMAND} diagnose tests/cases/nixl_missing.log | head -n 1"
    env = {**os.environ, "K3TRIAGE_CACHE": str(cache)}
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, env=env, cwd=ROOT)
    assert b"Traceback" not in done.stderr


def test_secret_when_in_the_launch_command_then_it_is_in_no_output(run) -> None:
    token = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345"
    log = f"$ docker run -e HF_TOKEN={token} vllm/vllm-openai --api-key {token[3:]} --tensor-parallel-size 3\n".encode()
    for output in ("json", "text", "markdown"):
        done = run("diagnose", "-", "--format", output, stdin=log + (CASES / "tp3.log").read_bytes())
        assert token.encode() not in done.stdout
        assert token[3:].encode() not in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["diagnose", "--help"],
        ["schema", "--help"],
        ["kb", "--help"],
        *[["kb", name, "--help"] for name in ("list", "show", "search", "stats", "lint", "new")],
    ],
)
def test_help_when_asked_then_every_command_explains_itself(run, command: list[str]) -> None:
    done = run(*command)
    assert done.returncode == 0
    assert done.stdout.startswith(b"Usage: k3triage")
    assert b"--help" in done.stdout


def test_kb_list_when_a_layer_is_given_then_only_its_entries(run) -> None:
    text = run("kb", "list", "--layer", "hardware", "--lang", "en").stdout.decode()
    assert "gpu-off-the-bus-xid79" in text
    assert "communication" not in text


def test_kb_show_when_an_entry_is_given_then_its_texts_in_the_language(run) -> None:
    text = run("kb", "show", "nixl-not-installed", "--lang", "ko").stdout.decode()
    assert "NIXL" in text
    assert "dependencies / nixl-not-installed" in text


def test_kb_show_when_unknown_then_says_how_to_list(run) -> None:
    done = run("kb", "show", "nothing")
    assert done.returncode == 1
    assert "kb list" in done.stderr.decode()


@pytest.mark.parametrize("words", ["dmabuf 524", "캐시 히트", "缓存命中", "кэш префиксов", "--kv-cache-dtype"])
def test_kb_search_when_words_of_any_language_then_entries_are_found(run, words: str) -> None:
    done = run("kb", "search", words)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.decode().splitlines()) >= 2


def test_kb_stats_when_printed_then_every_layer_has_entries(run) -> None:
    lines = run("kb", "stats").stdout.decode().splitlines()
    assert len(lines) == 15
    assert all(int(line.split()[1]) > 0 for line in lines[1:])


def test_kb_new_when_made_then_lint_names_what_is_missing(run, tmp_path: Path) -> None:
    done = run("kb", "new", "config", "my-entry", "--to", str(tmp_path))
    assert done.returncode == 0
    assert (tmp_path / "config" / "my-entry" / "entry.yaml").exists()
    lint = run("kb", "lint", "--kb", str(tmp_path), "--only", "my-entry")
    assert lint.returncode == 1
    assert "title.en" in lint.stdout.decode()


def test_kb_new_when_the_entry_exists_then_nothing_is_overwritten(run, tmp_path: Path) -> None:
    run("kb", "new", "config", "my-entry", "--to", str(tmp_path))
    entry = tmp_path / "config" / "my-entry" / "entry.yaml"
    entry.write_text("mine", encoding="utf-8")
    done = run("kb", "new", "config", "my-entry", "--to", str(tmp_path))
    assert done.returncode == 1
    assert entry.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(("layer", "entry"), [("nowhere", "fine"), ("config", "../escape"), ("config", "Upper")])
def test_kb_new_when_names_are_wrong_then_refused(run, tmp_path: Path, layer: str, entry: str) -> None:
    done = run("kb", "new", layer, entry, "--to", str(tmp_path))
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []
