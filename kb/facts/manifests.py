"""Facts in Kubernetes manifests, Helm values, Compose files, vLLM config files and `docker inspect`.

YAML and JSON are read as a stream of events, so that a file which is cut off in the middle still tells what stands
before the cut, and neither deep nesting nor aliases can hurt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from kb.facts.environment import environment
from kb.facts.images import image_facts, is_serving_image
from kb.facts.launch import script_facts, serve_facts
from kb.facts.model import Source
from kb.facts.options import OPTION_FACTS, option_facts
from kb.facts.reading import Cursor, Found, Reader
from kb.facts.shell import words
from kb.facts.values import signal_code, whole
from kb.lines import Line

_LAUNCH = Source.LAUNCH
_LINES, _CHARACTERS, _DEPTH, _NODES = 1500, 200_000, 60, 20_000

_LOG = re.compile(r"\(\w+ pid=\d+\)|(?:INFO|WARNING|ERROR)\b[: ]|Traceback |\s*```|[$] |\S+@\S+[:~].*[$#] ")
_YAML = re.compile(r"\s*(?:#|---|- |-$|[\"']?[\w./$-]+[\"']?:(?:\s|$)|[\[\]{}\"',]|$)|\s{2,}\S")
_HEAD = re.compile(
    r"\s*(?:- )?[\"']?(?:apiVersion|kind|spec|template|services|containers|servingEngineSpec|modelSpec|vllmConfig|image"
    r"|args|command|extraArgs|env|environment|tensor-parallel-size|tensorParallelSize|modelURL|RepoDigests|RepoTags"
    r"|Config|HostConfig|Id|Entrypoint)[\"']?:(?:\s|$)|\s*\[?\s*\{\s*\""
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ARGUMENT_KEYS = ("entrypoint", "command", "cmd", "args", "extraargs", "extra_args", "vllm_args", "vllmargs")
_GPU_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu")


class Text(str):
    """A scalar with the index of the line that it stands on."""

    __slots__ = ("at",)
    at: int


def parse(text: str) -> list[Any]:
    """Documents of YAML or JSON as lists, dicts and `Text`, up to the first error."""
    import yaml  # noqa: PLC0415  only where a manifest is in the evidence

    documents: list[Any] = []
    stack: list[tuple[Any, list[Text]]] = []  # containers that are open, with the key that waits for its value
    nodes = 0

    def put(value: Any) -> None:
        if not stack:
            documents.append(value)
            return
        container, keys = stack[-1]
        if isinstance(container, list):
            container.append(value)
        elif keys:
            container[keys.pop()] = value
        else:
            keys.append(value if isinstance(value, Text) else Text(""))

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text[:_CHARACTERS], Loader=loader):
            nodes += 1
            if nodes > _NODES or len(stack) > _DEPTH:
                break
            if isinstance(event, yaml.ScalarEvent):
                scalar = Text(event.value)
                scalar.at = event.start_mark.line if event.start_mark is not None else 0
                put(scalar)
            elif isinstance(event, yaml.CollectionStartEvent):
                new: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
                put(new)
                stack.append((new, []))
            elif isinstance(event, yaml.CollectionEndEvent):
                stack.pop()
            elif isinstance(event, yaml.AliasEvent):
                put(Text(""))
    except (yaml.YAMLError, ValueError, RecursionError):
        pass  # what came before the error is still good
    return documents


def _block(cursor: Cursor) -> Iterator[Found]:
    """A manifest: from its first key to the first line that is none of it."""
    if not _HEAD.match(cursor.line.text[:400]):
        return
    lines, size = [cursor.line], len(cursor.line.text)
    for line in cursor.after(_LINES):
        size += len(line.text)
        if size > _CHARACTERS or _LOG.match(line.text[:300]) or not _YAML.match(line.text):
            break
        lines.append(line)
    cursor.used = len(lines)
    opening = [line for line in cursor.before(2) if line.text.strip() in ("[", "{", "[{")]
    lines = opening[::-1] + lines
    text = "\n".join(line.text[:_CHARACTERS].replace("\t", "  ") for line in lines)
    if text.lstrip().startswith('"'):
        text = "{" + text  # a part of a JSON object, its opening brace is missing
    yield from _walk(parse(text), lines)


def _line_of(value: object, lines: Sequence[Line]) -> Line:
    at = getattr(value, "at", 0)
    return lines[min(at, len(lines) - 1)]


def _walk(documents: list[Any], lines: Sequence[Line]) -> Iterator[Found]:
    waiting: list[tuple[str, Any]] = [("", document) for document in reversed(documents)]
    while waiting:
        name, node = waiting.pop()
        if isinstance(node, list):
            waiting.extend((name, item) for item in reversed(node))
        elif isinstance(node, dict):
            yield from _mapping(name, node, lines)
            waiting.extend((str(key), value) for key, value in reversed(node.items()))


def _mapping(name: str, node: dict[str, Any], lines: Sequence[Line]) -> Iterator[Found]:
    arguments = _arguments(node)
    image = _image(node)
    served = any(str(word).startswith(("--tensor-parallel", "--model", "-tp")) or word == "serve" for word in arguments)
    if image and (is_serving_image(image) or served):
        yield from image_facts(image, _line_of(image, lines))
    if image is None or is_serving_image(image) or served:
        yield from _environment(node, lines)
        yield from container_facts(arguments, lines)
    for key, value in node.items():
        if isinstance(value, str):
            yield from _scalar(name, key, value, _line_of(value, lines))
        elif key in ("RepoDigests", "RepoTags") and isinstance(value, list):
            for reference in value[:1]:
                if isinstance(reference, str) and is_serving_image(reference):
                    wanted = "image_digest" if key == "RepoDigests" else ""
                    for found in image_facts(reference, _line_of(reference, lines)):
                        if not wanted or found.name == wanted:
                            yield found
        elif key == "DeviceIDs" and isinstance(value, list) and value:
            yield Found("gpu_count", len(value), _line_of(value[0], lines), _LAUNCH)
    count = node.get("Count", node.get("count"))
    if isinstance(count, str) and count.isdecimal() and ("Capabilities" in node or "capabilities" in node):
        yield Found("gpu_count", count, _line_of(count, lines), _LAUNCH)


def _image(node: dict[str, Any]) -> str | None:
    image = node.get("image", node.get("Image"))
    if isinstance(image, dict) and isinstance(image.get("repository"), str):
        reference = Text(f"{image['repository']}:{image['tag']}" if image.get("tag") else image["repository"])
        reference.at = getattr(image.get("tag") or image["repository"], "at", 0)
        return reference
    if isinstance(node.get("repository"), str) and isinstance(node.get("tag"), str) and "image" not in node:
        reference = Text(f"{node['repository']}:{node['tag']}")  # vLLM's production stack: repository beside tag
        reference.at = getattr(node["tag"], "at", 0)
        return reference
    return image if isinstance(image, str) and image and not image.startswith("sha256:") else None


def _arguments(node: dict[str, Any]) -> list[Text]:
    """The words of command and arguments, in the order in which they are run."""
    found: list[Text] = []
    keys = sorted(
        (key for key in node if key.lower() in _ARGUMENT_KEYS), key=lambda key: _ARGUMENT_KEYS.index(key.lower())
    )
    for key in keys:
        value = node[key]
        if isinstance(value, Text):
            for word in words(value):
                text = Text(word)
                text.at = getattr(value, "at", 0)
                found.append(text)
        elif isinstance(value, list):
            found.extend(item for item in value if isinstance(item, Text))
    return found


def container_facts(arguments: list[Text], lines: Sequence[Line]) -> Iterator[Found]:
    """Arguments of a container: of `vllm serve` itself, of an image that runs it, or a script in a shell."""
    if not arguments:
        return
    script = next((index for index, word in enumerate(arguments[:6]) if word in ("-c", "-lc", "-ec", "-exc")), None)
    if script is not None and script + 1 < len(arguments):
        body = arguments[script + 1]
        yield from script_facts(body, _line_of(body, lines))
        return
    launcher = re.compile(r"serve|.*vllm\.entrypoints.*")
    begin = next((index + 1 for index, word in enumerate(arguments[:8]) if launcher.fullmatch(word)), 0)
    rest = arguments[begin:]
    if not rest:
        return
    alone = begin == 0 and not rest[0].startswith("-")  # the official images run `vllm serve`
    if alone and not ("/" in rest[0] and any(word.startswith("--") for word in rest[1:])):
        return
    at = {fact: word for word in rest for fact in [word.lstrip("-").partition("=")[0].replace("-", "_")]}
    for found in serve_facts(rest, _line_of(rest[0], lines)):
        option = found.name.removeprefix("flag.") if found.name.startswith("flag.") else ""
        origin = at.get(option) or next((w for w in rest if OPTION_FACTS.get(_snake(w)) == found.name), rest[0])
        yield found._replace(line=_line_of(origin, lines))


def _snake(word: str) -> str:
    name = word.lstrip("-").partition("=")[0]
    return _CAMEL.sub("_", name).replace("-", "_").lower()


def _environment(node: dict[str, Any], lines: Sequence[Line]) -> Iterator[Found]:
    variables = node.get("env", node.get("environment", node.get("Env")))
    if isinstance(variables, dict):
        for name, value in variables.items():
            if isinstance(value, Text) and re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
                yield from environment(str(name), value, _line_of(value, lines))
    elif isinstance(variables, list):
        for item in variables:
            if isinstance(item, Text):
                name, separator, text = item.partition("=")
                if separator:
                    yield from environment(name, text, _line_of(item, lines))
            elif isinstance(item, dict) and isinstance(item.get("name"), str) and isinstance(item.get("value"), Text):
                yield from environment(str(item["name"]), item["value"], _line_of(item["value"], lines))


def _scalar(parent: str, key: str, value: str, line: Line) -> Iterator[Found]:
    if key in _GPU_RESOURCES and value != "0":
        yield Found("gpu_count", value, line, _LAUNCH)
        if key.startswith("amd"):
            yield Found("platform", "rocm", line, Source.DERIVED)
    elif key in ("ExitCode", "exitCode") and (code := whole(value)):
        yield Found("exit_code", signal_code(code), line)
    elif key == "imageID" and "@sha256:" in value and is_serving_image(value):
        yield Found("image_digest", value.partition("@")[2], line)
    elif key == "modelURL" or (key == "model" and re.fullmatch(r"[\w.-]+/[\w./-]+|/\S+", value)):
        yield Found("model", value, line, _LAUNCH)
    elif _snake(key) in OPTION_FACTS and ("_" in _snake(key) or "vllm" in parent.lower()):
        for name, said in option_facts(_snake(key), value):
            yield Found(name, said, line, _LAUNCH)


def _environment_array(cursor: Cursor) -> Iterator[Found]:
    """`docker image inspect -f '{{json .Config.Env}}'`: one array of assignments."""
    for document in parse(cursor.body[:_CHARACTERS]):
        yield from _environment({"env": document}, [cursor.line])


READERS = (
    Reader(
        "manifest",
        r'(?:apiVersion|"apiVersion"|"RepoDigests"|"RepoTags"|"HostConfig"|servingEngineSpec|vllmConfig|containers):',
        _block,
        after=400,
    ),
    Reader(
        "manifest-part",
        r'(?:kind|spec|template|image|args|command|extraArgs|env|environment|services|modelURL|Config|Id|Entrypoint)"?:'
        r"|(?:tensorParallelSize|tensor-parallel-size): ",
        _block,
        anchor=False,
    ),
    Reader("environment-array", r'\["[A-Z_]+=', _environment_array),
)
