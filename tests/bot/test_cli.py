"""The command as people use it: what it prints, its exit codes, its errors."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from bot import knowledge
from bot.errors import UsageError

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


JUNK = bytes(range(256)) * 400


def test_binary_when_given_then_named_as_not_read(run, tmp_path: Path) -> None:
    file = tmp_path / "core"
    file.write_bytes(JUNK)
    done = run("diagnose", str(file), "--format", "json", "--lang", "en")
    report = json.loads(done.stdout)
    assert [(item["file"], item["reason"]) for item in report["coverage"]["not_read"]] == [(str(file), "not text")]
    assert done.returncode == 1


@pytest.mark.parametrize("output", ["text", "markdown"])
@pytest.mark.parametrize(("content", "reason"), [(JUNK, "not text"), (b"", "empty")])
def test_nothing_when_readable_then_said_and_exit_code_1(
    run, tmp_path: Path, output: str, content: bytes, reason: str
) -> None:
    file = tmp_path / "input"
    file.write_bytes(content)
    done = run("diagnose", str(file), "--format", output, "--lang", "en")
    assert done.returncode == 1
    assert done.stdout == b""  # no word that reads as healthy
    first, second = done.stderr.decode().splitlines()
    assert first == f"k3triage: {file} was not read: {reason}"
    assert second.startswith("k3triage: Nothing to read: ")


def test_stdin_when_empty_then_said_and_exit_code_1(run) -> None:
    done = run("diagnose")
    assert done.returncode == 1
    assert "stdin was not read: empty" in done.stderr.decode()
    assert "docker logs CONTAINER 2>&1 | k3triage diagnose -" in done.stderr.decode()


def test_directory_when_empty_then_said_and_exit_code_1(run, tmp_path: Path) -> None:
    done = run("diagnose", str(tmp_path))
    assert done.returncode == 1
    assert f"{tmp_path} holds no file" in done.stderr.decode()


@pytest.mark.parametrize(("name", "code"), [("tp3", 0), ("runtime_engine_dead", 3), ("healthy_startup_032", 4)])
def test_inputs_when_only_some_are_readable_then_named_and_the_outcome_counts(
    run, tmp_path: Path, name: str, code: int
) -> None:
    junk = tmp_path / "core"
    junk.write_bytes(JUNK)
    done = run("diagnose", str(junk), f"tests/cases/{name}.log", "--lang", "en")
    assert done.returncode == code
    assert f"Not read: {junk}: not text" in done.stdout.decode().replace("\n", " ")


def test_each_when_one_is_unreadable_then_named_and_the_others_count(run, tmp_path: Path) -> None:
    junk = tmp_path / "core"
    junk.write_bytes(JUNK)
    done = run("diagnose", str(junk), "tests/cases/tp3.log", "--each", "--lang", "en")
    assert done.returncode == 0
    assert f"{junk} was not read: not text" in done.stderr.decode()
    assert done.stdout.decode().count("Nothing here looks like") == 0


def test_each_when_a_path_is_missing_then_said_before_the_first_report(run) -> None:
    done = run("diagnose", "tests/cases/tp3.log", "no/such/file.log", "--each")
    assert done.returncode == 1
    assert done.stdout == b""


@pytest.fixture
def shell(cache: Path):
    """Run a line of bash in which $K is the command; returns the finished process."""

    def call(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        env = {**os.environ, "K3TRIAGE_CACHE": str(cache), "LANG": "C.UTF-8", "K": COMMAND, **environment}
        return subprocess.run(["bash", "-c", line], capture_output=True, check=False, env=env, cwd=ROOT)

    return call


@pytest.mark.parametrize(
    "arguments",
    ["diagnose tests/cases/nixl_missing.log", "diagnose tests/cases/tp3.log --format json", "kb list", "--help"],
)
def test_output_when_the_reader_goes_away_then_it_ends_quietly(shell, arguments: str) -> None:
    done = shell(f"$K {arguments} | true; exit ${{PIPESTATUS[0]}}")
    assert done.stderr == b""
    assert done.returncode == 0


@pytest.mark.parametrize("arguments", ["diagnose tests/cases/nixl_missing.log", "kb list", "schema", "--version"])
def test_output_when_the_disk_is_full_then_one_sentence(shell, arguments: str) -> None:
    done = shell(f"$K {arguments} >/dev/full")
    assert done.stderr == b"k3triage: cannot write: No space left on device\n"
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("$K diagnose tests/cases/nixl_missing.log <&-", 0, b""),
        ("$K diagnose - <&-", 1, b"stdin was not read: empty"),
        ("$K diagnose <&-", 1, b"stdin was not read: empty"),
        ("$K diagnose tests/cases/nixl_missing.log >&-", 1, b"standard output is closed"),
        ("$K diagnose no-such-file 2>&-", 1, b""),
    ],
)
def test_stream_when_closed_then_no_traceback(shell, line: str, code: int, words: bytes) -> None:
    done = shell(line)
    assert done.returncode == code
    assert words in done.stderr
    assert b"Traceback" not in done.stdout + done.stderr


def test_output_when_its_encoding_lacks_letters_then_they_are_printed_as_codes(run) -> None:
    done = run("diagnose", "tests/cases/nixl_missing.log", "--lang", "ko", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\uc6d0\\uc778: NixlConnector" in done.stdout


@pytest.mark.parametrize("output", ["text", "markdown", "json"])
def test_each_when_a_name_is_hostile_then_it_is_printed_tame(run, tmp_path: Path, output: str) -> None:
    token = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345"
    name = os.fsencode(tmp_path) + f"/\x1b[31m--> {token} ".encode() + b"\xff.log"
    with open(name, "wb") as file:
        file.write((CASES / "tp3.log").read_bytes())
    done = run("diagnose", "--each", "--format", output, os.fsdecode(name), PYTHONIOENCODING="utf-8:strict")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout
    assert token.encode() not in done.stdout
    first = done.stdout.splitlines()[0]
    assert b"\\xff.log" in first
    if output == "markdown":
        assert first.endswith(b" -->")
        assert first.count(b"-->") == 1


@pytest.mark.parametrize("length", [10, 86, 87, 200])
def test_each_when_a_path_is_longer_than_the_line_then_its_end_is_still_printed(run, tmp_path, length: int) -> None:
    path = tmp_path / ("n" * length + ".log")
    path.write_bytes((CASES / "tp3.log").read_bytes())
    done = run("diagnose", "--each", str(path))
    assert str(path).encode() in done.stdout.splitlines()[0]


def test_path_when_missing_then_no_token_of_its_name_is_shown(run) -> None:
    token = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345"
    done = run("diagnose", f"no/{token}.log")
    assert done.returncode == 1
    assert token.encode() not in done.stderr


def test_path_when_empty_then_the_current_directory_is_not_read(run) -> None:
    done = run("diagnose", "")
    assert done.returncode == 2
    assert done.stderr == b"k3triage: a path is empty; is a variable not set?\n"


@pytest.mark.parametrize("command", [["kb", "search"], ["kb", "show"], ["kb", "lint", "--only"]])
def test_words_when_not_utf8_then_one_sentence(run, command: list[str]) -> None:
    done = run(*command, os.fsdecode(b"\xed\xa0\x80"))
    assert done.returncode == 1
    assert done.stderr.startswith(b"k3triage: ")
    assert done.stderr.count(b"\n") == 1


def test_metric_when_its_value_is_infinite_then_the_log_beside_it_is_diagnosed(run) -> None:
    page = b'DCGM_FI_DEV_XID_ERRORS{gpu="0",Hostname="n1"} +Inf\n'
    done = run("diagnose", "-", stdin=page + (CASES / "tp3.log").read_bytes())
    assert (done.returncode, done.stderr) == (0, b"")


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
        *[[name, "--help"] for name in ("schema", "run", "doctor", "purge")],
        ["kb", "--help"],
        *[["kb", name, "--help"] for name in ("list", "show", "search", "stats", "lint", "new")],
    ],
)
def test_help_when_asked_then_every_command_explains_itself(run, command: list[str]) -> None:
    done = run(*command)
    assert done.returncode == 0
    assert done.stdout.startswith(b"Usage: k3triage")
    assert b"--help" in done.stdout
    assert not re.search(rb"[^\]}]\.\.\.", done.stdout)  # no text is cut
    assert not re.search(rb"(?i)list\[|<str>|<path>|<float", done.stdout)  # no types of Python


def test_option_when_its_value_is_unknown_then_no_word_of_python(run) -> None:
    said = run("diagnose", "-", "--lang", "fr").stderr.decode()
    assert "'fr' is not one of 'auto', 'en', 'ko', 'zh', 'ru'" in said
    assert "Value error" not in said


def test_settings_when_several_are_wrong_then_each_is_named_with_what_it_must_be(run, tmp_path: Path) -> None:
    wrong = {"K3TRIAGE_LANGUAGE": "fr", "K3TRIAGE_WORKERS": "many", "K3TRIAGE_RETENTION_DAYS": "0"}
    done = run("doctor", **wrong)
    assert done.returncode == 1
    said = done.stderr.decode()
    assert "K3TRIAGE_LANGUAGE is 'fr'; it must be one of en, ko, zh or ru" in said
    assert "K3TRIAGE_WORKERS is 'many'; it must be a whole number" in said
    assert "K3TRIAGE_RETENTION_DAYS is '0'; it must be 1 or more" in said


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SLACK_API_URL", "notaurl", "SLACK_API_URL is refused: it must begin with https:// and a host"),
        ("SLACK_BOT_TOKEN", "xoxb-\u1234", "SLACK_BOT_TOKEN is refused: it holds characters that no token has"),
        ("K3TRIAGE_LOG_LEVEL", "SILLY", "K3TRIAGE_LOG_LEVEL is 'SILLY'; it must be one of DEBUG, INFO"),
        ("K3TRIAGE_QUEUE_URL", "ftp://x", "K3TRIAGE_QUEUE_URL is refused: it must begin with memory://"),
    ],
)
def test_setting_when_it_cannot_be_used_then_said_before_anything_runs(run, name: str, value: str, words: str) -> None:
    done = run("doctor", **{name: value})
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().startswith(f"k3triage: {words}")


def test_readme_when_it_shows_the_demo_then_so_it_prints(run) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("lines of traceback:\n\n```\n")[2].partition("\n…\n")[0].strip().splitlines()
    printed = run("diagnose", "tests/cases/nixl_missing.log", "--lang", "en").stdout.decode().splitlines()
    assert shown == printed[: len(shown)]
    assert len(shown) == 3


def test_kb_list_when_a_title_has_a_placeholder_then_it_is_not_shown_raw(run) -> None:
    assert "{" not in run("kb", "list", "--lang", "en").stdout.decode()


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
    problems = lint.stdout.decode().splitlines()
    assert f"{tmp_path}/config/my-entry/entry.yaml:12: fill in title (en, ko, zh, ru)" in problems
    assert f"{tmp_path}/config/my-entry: has no log in match/" in problems
    assert f"{tmp_path}/config/my-entry: has no log in near_miss/" in problems
    assert not [problem for problem in problems if "url" in problem or "command" in problem]  # may stay empty
    assert len(problems) < 15


def test_kb_new_when_not_told_where_then_nothing_is_made(run, tmp_path: Path) -> None:
    done = run("kb", "new", "config", "my-entry")
    assert done.returncode == 1
    assert "--to DIR" in done.stderr.decode()
    assert not (ROOT / "kb" / "entries" / "config" / "my-entry").exists()


def test_kb_new_when_the_variable_names_a_directory_then_there(run, tmp_path: Path) -> None:
    done = run("kb", "new", "config", "my-entry", K3TRIAGE_KB=str(tmp_path))
    assert done.returncode == 0
    assert (tmp_path / "config" / "my-entry" / "entry.yaml").exists()


def test_kb_new_when_told_to_write_into_an_installed_package_then_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = tmp_path / "site-packages" / "kb" / "entries"
    entries.mkdir(parents=True)
    monkeypatch.setattr(knowledge, "builtin_directory", lambda: entries)
    with pytest.raises(UsageError, match="installed package"):
        knowledge.make_skeleton(entries, "config", "my-entry")
    assert list(entries.iterdir()) == []
    (tmp_path / "site-packages" / "pyproject.toml").touch()  # a checkout
    knowledge.make_skeleton(entries, "config", "my-entry")
    assert (entries / "config" / "my-entry" / "entry.yaml").exists()


def test_entry_when_unfinished_then_other_commands_say_so_in_one_line(run, tmp_path: Path) -> None:
    run("kb", "new", "config", "my-entry", "--to", str(tmp_path))
    done = run("diagnose", "tests/cases/tp3.log", "--kb", str(tmp_path))
    assert done.returncode == 0
    (line,) = done.stderr.decode().splitlines()
    command = f"k3triage kb lint --kb {tmp_path} --only my-entry"
    assert line == f"k3triage: config/my-entry is left out; `{command}` shows why"


def test_kb_lint_when_only_is_unknown_then_an_error_that_names_what_is_close(run) -> None:
    done = run("kb", "lint", "--only", "nixl-not-instaled")
    assert done.returncode == 1
    assert "no problems" not in done.stdout.decode()
    assert "nixl-not-installed" in done.stderr.decode()
    assert "--kb DIR" in done.stderr.decode()


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
