"""Facts in launch commands, as typed, scripted, logged by a shell or listed by ps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kb.facts.environment import assigned, assignments
from kb.facts.images import image_facts, is_serving_image
from kb.facts.model import Source
from kb.facts.options import ALIASES, option_facts
from kb.facts.reading import LONGEST, Cursor, Found, Reader
from kb.facts.shell import cut_out, is_typed, words
from kb.lines import Line

_LAUNCH = Source.LAUNCH

_SERVE = r"(?:vllm serve|-m dynamo\.vllm|vllm\.entrypoints\.\w[\w.]*|docker (?:container )?run|podman run|nerdctl run)"
_START = re.compile(
    r"(?<![\w.-])vllm serve(?=\s|$)|-m dynamo\.vllm(?=\s)"
    r"|-m vllm\.entrypoints\.(?:openai\.api_server|api_server|cli\.main serve)"
    r"|(?:docker(?: container)?|podman|nerdctl) run(?=\s)"
)
_MODEL = re.compile(r"[\w.~$-]*[/\d$~.][\w./~${}:@-]*")
_STOPS = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "2>&1", "2>", "<", "&>"})

_BARE = re.compile(
    r"no_|enable_|disable_|use_|trust_remote_code$|enforce_eager$|headless$|async_scheduling$|language_model_only$"
    r"|data_parallel_(?:hybrid|external|multi_port_external)_lb$|skip_mm_profiling$|return_tokens_as_token_ids$"
    r"|calculate_kv_scales$|exclude_tools_when_tool_choice_none$|log_error_stack$|cpu_offload_params$|ep$"
)
_RUN_SWITCH = re.compile(
    r"-[ditPq]+|--(?:rm|detach|interactive|tty|init|privileged|read-only|publish-all|no-healthcheck|oom-kill-disable"
    r"|sig-proxy|disable-content-trust|quiet|replace)"
)
_NOT_A_LAUNCH = re.compile(r"usage:|launched with command|Restart ", re.IGNORECASE)


def _lines(cursor: Cursor) -> list[Line]:
    """The lines of a command. Lost backslashes are forgiven."""
    lines = [cursor.line]
    for line in cursor.after(80):
        if not lines[-1].body.rstrip().endswith("\\") and not re.match(r"\s*(?:--?[a-z]|\u2014[a-z])", line.body):
            break
        lines.append(line)
    return lines


def _command(cursor: Cursor) -> Iterator[Found]:
    body = cursor.body
    start = _START.search(body)
    if start is None or _NOT_A_LAUNCH.search(body, 0, start.start()):
        return
    before = body[: start.start()]
    if not before.endswith("/bin/") and not is_typed(before):  # `/usr/local/bin/vllm serve`, as ps shows it
        return
    lines = _lines(cursor)
    cursor.used = len(lines)
    text = " ".join(line.body[:LONGEST].rstrip().rstrip("\\") for line in lines)
    found = list(command_facts(cut_out(text, start.start()), cursor.line))
    if found:
        yield Found("stage", "command", cursor.line)
        yield from _placed(found, lines)


def _placed(found: Iterable[Found], lines: Sequence[Line]) -> Iterator[Found]:
    """Facts of a command on the very line of it that states them."""
    place = lines[0]
    for fact in found:
        family, _, name = fact.name.partition(".")
        signs = {"flag": f"-{name.partition('.')[0].replace('_', '-')}", "env": f"{name}="}
        sign = signs.get(family, str(fact.value))
        if family in signs or fact.name in ("image", "image_digest", "model"):
            place = next((line for line in lines if sign in line.body), place)
        yield fact._replace(line=place)


def command_facts(text: str, line: Line) -> Iterator[Found]:
    """Facts of one whole command; nothing unless it launches a server or runs a container of one."""
    start = _START.search(text)
    if start is None:
        return
    if start[0].endswith(" run"):
        yield from _container(words(text[: start.start()]), words(text[start.end() :]), line)
    else:
        arguments = words(text[start.end() :])
        if arguments and not _is_served(arguments, text[: start.start()]):
            return
        yield from assignments(words(text[: start.start()]), line)
        yield from serve_facts(arguments, line)


def _is_served(arguments: Sequence[str], before: str) -> bool:
    first = arguments[0]
    return first.startswith("-") or _MODEL.fullmatch(first) is not None or (not before.strip() and first != "with")


def serve_facts(arguments: Sequence[str], line: Line) -> Iterator[Found]:
    """Facts of what follows `vllm serve`."""
    at = 0
    while at < len(arguments):
        word = arguments[at]
        at += 1
        if word in _STOPS:
            return
        option = _option(word)
        if option is None:
            if at == 1 and _MODEL.fullmatch(word):
                yield Found("model", word, line, _LAUNCH)
            continue
        name, value = option
        if value is None:
            following = arguments[at] if at < len(arguments) else None
            if following is not None and _takes(name, following):
                value, at = following, at + 1
        for fact, said in option_facts(name, "true" if value is None else value):
            yield Found(fact, said, line, _LAUNCH)


def _option(word: str) -> tuple[str, str | None] | None:
    match = re.fullmatch(r"(--?)([A-Za-z][\w.-]{0,80})(?:=(.*))?", word, re.DOTALL)
    if match is None or (match[1] == "-" and match[2] not in ALIASES):
        return None
    return match[2], match[3]


def _takes(name: str, following: str) -> bool:
    if following in _STOPS or re.match(r"--?[A-Za-z]", following):
        return False
    plain = name.replace("-", "_")
    if _BARE.match(plain) and not plain.endswith(("_backend", "_size", "_config", "_len", "_interval")):
        return following.lower() in ("true", "false")
    return True


def _container(before: Sequence[str], tokens: Sequence[str], line: Line) -> Iterator[Found]:
    """`docker run` with its options, the image and what is run in it."""
    facts = list(assignments(before, line))
    entrypoint, at = "", 0
    while at < len(tokens) and tokens[at].startswith("-"):
        option, value = _run_option(tokens[at])
        at += 1
        if value is None and not _RUN_SWITCH.fullmatch(option) and at < len(tokens):
            value, at = tokens[at], at + 1
        if option in ("-e", "--env"):
            facts += assignments([value or ""], line)
        elif option == "--gpus":
            facts += _gpus(value or "", line)
        elif option == "--entrypoint":
            entrypoint = value or ""
    image, arguments = (tokens[at], tokens[at + 1 :]) if at < len(tokens) else ("", [])
    if not is_serving_image(image) and not any(word.startswith(("--tensor-parallel", "-tp")) for word in arguments):
        return
    yield from image_facts(image, line)
    yield from facts
    if arguments[:2] == ["vllm", "serve"]:
        yield from serve_facts(arguments[2:], line)
    elif "-c" in arguments[:3] or "-lc" in arguments[:3]:
        yield from script_facts(arguments[-1], line)
    elif (not entrypoint or "vllm" in entrypoint) and arguments and re.match(r"-|\S*/\S", arguments[0]):
        yield from serve_facts(arguments, line)


def _run_option(word: str) -> tuple[str, str | None]:
    glued = re.fullmatch(r"-e([A-Z_]\w*=.*)", word, re.DOTALL)
    if glued:
        return "-e", glued[1]
    option, separator, value = word.partition("=")
    return option, value if separator else None


def _gpus(value: str, line: Line) -> Iterator[Found]:
    value = value.strip("'\"")
    if value.isdecimal():
        yield Found("gpu_count", value, line, _LAUNCH)
    elif value.startswith("device="):
        yield Found("gpu_count", len(value.removeprefix("device=").split(",")), line, _LAUNCH)


def script_facts(script: str, line: Line) -> Iterator[Found]:
    """Facts of a shell script: its exports and the server that it starts."""
    for statement in re.split(r"\n|;|&&", script[:64_000].replace("\\\n", " ")):
        yield from assigned(statement, line)
        yield from command_facts(statement.strip(), line)


def _refused(cursor: Cursor) -> Iterator[Found]:
    """Flags that the parser of vLLM refuses were given."""
    body = cursor.body[:2000]
    unknown = re.search(r"error: unrecognized arguments: (--?[a-zA-Z].*)", body)
    invalid = re.search(r"error: argument (--[a-z][\w-]*)(?:/\S+)?: invalid choice: '([^']{1,100})'", body)
    if unknown:
        yield from serve_facts(words(unknown[1]), cursor.line)
    elif invalid:
        yield from serve_facts([invalid[1], invalid[2]], cursor.line)


READERS = (
    Reader("command", _SERVE, _command, after=80),
    Reader("refused-flag", r"error: (?:unrecognized arguments: -|argument --[a-z])", _refused),
)
