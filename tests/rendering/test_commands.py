"""Commands that people are asked to run and to paste: none of them prints a secret of the server."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest

from kb.entry import LANGUAGES
from kb.library import Library
from kb.yamlfile import load_yaml

CANARY = "xCANARYx"
ENVIRONMENT = [
    f"HF_TOKEN=hf_{CANARY}",
    f"HUGGING_FACE_HUB_TOKEN=hf_{CANARY}",
    f"VLLM_API_KEY=sk-{CANARY}",
    f"OPENAI_API_KEY=sk-{CANARY}",
    f"AWS_SECRET_ACCESS_KEY={CANARY}",
    f"LMCACHE_REDIS_PASSWORD={CANARY}",
    f"MOONCAKE_STORE_PASSWORD={CANARY}",
    f"NCCL_HOST_SECRET={CANARY}",
    f"https_proxy=http://u:{CANARY}@proxy:3128",
    f"HTTPS_PROXY=http://u:{CANARY}@proxy:3128",
    f"PIP_INDEX_URL=https://u:{CANARY}@index/simple",
    f"NVIDIA_API_KEY=nvapi-{CANARY}",
    "VLLM_USE_V2_MODEL_RUNNER=1",
]
ARGUMENTS = ["vllm", "serve", "moonshotai/Kimi-K3", "--api-key", f"sk-{CANARY}", f"--hf-token=hf_{CANARY}", "--nnodes"]
LINES = "\n".join(ENVIRONMENT)
RUNNING = " ".join(ARGUMENTS)
POD = (
    f"spec:\n  containers:\n  - args: {json.dumps(ARGUMENTS)}\n    env:\n    - name: HF_TOKEN\n      value: {CANARY}\n"
)

SOURCES: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"^(?:env|printenv|set|export(?: -p)?)$"), LINES),
    (re.compile(r"^(?:docker|nerdctl|podman)\b.* exec \S+ (?:env|printenv)$"), LINES),
    (re.compile(r"^(?:docker|podman) exec \S+ (?:env|printenv)$"), LINES),
    (re.compile(r"^kubectl exec .*-- (?:env|printenv)$"), LINES),
    (re.compile(r"/environ\b"), LINES.replace("\n", "\0")),
    (re.compile(r"/cmdline\b"), RUNNING),
    (re.compile(r"^(?:docker|podman)\b.*inspect\b.*json \.Config\.Env"), json.dumps(ENVIRONMENT)),
    (re.compile(r"^(?:docker|podman)\b.*inspect\b.*(?:\.Config\.Env|json \.Config\}|json \.\})"), LINES),
    (re.compile(r"^(?:docker|podman)\b.*inspect\b.*\.(?:Args|Cmd)\b"), json.dumps(ARGUMENTS)),
    (re.compile(r"^(?:docker|podman) (?:container )?inspect (?!.*(?:-f|--format))"), f"{LINES}\n{RUNNING}"),
    (re.compile(r"^kubectl get .*-o ?(?:yaml|json)\b(?!path)"), POD),
    (re.compile(r"^kubectl get .*jsonpath=.*\.env\b"), LINES),
    (re.compile(r"^kubectl get .*jsonpath=.*\.(?:args|command)\b"), json.dumps(ARGUMENTS)),
    (re.compile(r"^kubectl describe pods?\b"), f"Environment:\n  HF_TOKEN: {CANARY}\nArgs:\n  {RUNNING}"),
    (re.compile(r"^kubectl get secret|^helm get|^docker compose config"), f"password: {CANARY}"),
    (re.compile(r"^ps\b.*\b(?:args|command|cmd)\b|^ps (?:aux|-ef)"), f"7 {RUNNING}\n8 VLLM::Worker_TP0"),
    (re.compile(r"^systemctl (?:show|cat)\b.*(?:Environment|cat)"), "Environment=" + " ".join(ENVIRONMENT)),
]
FILTERS = {"grep", "sed", "sort", "tr", "head", "tail", "cut", "awk", "uniq", "wc"}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "command":
                yield item
            else:
                yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def commands() -> dict[str, str]:
    """Every command that is shown, and where it stands."""
    found: dict[str, str] = {}
    library = Library.open()
    for rule in library.rules:
        for command in texts(library.entry(rule.id).model_dump()):
            found.setdefault(command or "", rule.id)
    for name in ["layers.yaml", *(f"messages/{language}.yaml" for language in LANGUAGES)]:
        for command in texts(load_yaml(resources.files("kb").joinpath(name).read_text(encoding="utf-8"))):
            found.setdefault(command, name)
    return found


def split(command: str, at: str) -> list[str]:
    """The parts between separators that stand outside of quotes."""
    parts, start, quote = [], 0, ""
    position = 0
    while position < len(command):
        char = command[position]
        if quote:
            if char == "\\" and quote == '"':
                position += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif found := re.compile(at).match(command, position):
            parts.append(command[start:position])
            position = start = found.end()
            continue
        position += 1
    return [part.strip() for part in [*parts, command[start:]] if part.strip()]


def pipelines(command: str) -> Iterator[list[str]]:
    for part in split(command, r";|&&|\|\||\n"):
        inner = re.search(r"""\bsh -c (?:'([^']*)'|"((?:\\.|[^"\\])*)")""", part)
        if inner:
            yield from pipelines(inner.group(1) or inner.group(2).replace('\\"', '"'))
        yield split(part, r"\|")


def printed(stages: list[str], source: str) -> str:
    """What is left of `source` behind the filters of the pipeline."""
    filters = [stage for stage in stages[1:] if stage.split()[0] in FILTERS]
    if not filters:
        return source
    shell = " | ".join(filters)
    return subprocess.run(["sh", "-c", shell], input=source, capture_output=True, text=True, check=False).stdout


COMMANDS = commands()


def leaks(command: str) -> bool:
    return any(
        CANARY in printed(stages, source)
        for stages in pipelines(command)
        for pattern, source in SOURCES
        if pattern.search(re.sub(r"\s*2>(?:&1|/dev/null)", "", stages[0]))
    )


@pytest.mark.parametrize(
    "command",
    [
        "docker inspect -f '{{json .Config.Env}} {{json .Args}}' CONTAINER",
        "docker inspect CONTAINER",
        "env | sort",
        "env | grep VLLM",
        "docker exec CONTAINER sh -c 'ls; env | grep HF'",
        "docker exec CONTAINER env | grep -i proxy",
        "kubectl get pod POD -o yaml",
        "kubectl describe pod POD",
        "tr '\\0' '\\n' < /proc/1/environ",
        "ps -eo args | grep '[v]llm serve'",
        "cat x && printenv",
    ],
)
def test_a_command_that_prints_secrets_is_noticed(command: str) -> None:
    assert leaks(command)


def test_no_command_that_is_shown_prints_a_secret() -> None:
    assert [(where, command) for command, where in COMMANDS.items() if leaks(command)] == []


def test_the_launch_command_is_asked_for_with_what_matters_and_without_keys() -> None:
    command = load_yaml(resources.files("kb").joinpath("messages/en.yaml").read_text(encoding="utf-8"))["missing"][
        "launch"
    ]["command"]
    shown = [printed(stages, source) for stages in pipelines(command) for at, source in SOURCES if at.search(stages[0])]
    assert len(shown) == 4
    assert sum("VLLM_USE_V2_MODEL_RUNNER=1" in text for text in shown) == 2
    assert sum("--nnodes" in text and "--api-key ***" in text for text in shown) == 2


def test_commands_are_the_same_in_every_language() -> None:
    every = [
        list(texts(load_yaml(resources.files("kb").joinpath(f"messages/{one}.yaml").read_text(encoding="utf-8"))))
        for one in LANGUAGES
    ]
    assert all(one == every[0] for one in every)
