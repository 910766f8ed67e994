"""Facts in `kubectl describe`: of a pod, or of a node with its GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.facts.environment import environment
from kb.facts.images import image_facts, is_serving_image
from kb.facts.manifests import Text, container_facts
from kb.facts.model import Source
from kb.facts.reading import Cursor, Found, Reader
from kb.facts.values import signal_code, whole
from kb.lines import Line

_FIELD = re.compile(r"\s*(Image|Image ID|Exit Code|nvidia\.com/gpu|amd\.com/gpu):\s+(\S+)\s*")
_LIST = re.compile(r"(\s*)(Args|Command|Environment):\s*")


def _described(cursor: Cursor) -> Iterator[Found]:
    """`kubectl describe pod`: fields, and lists that are indented under their heading."""
    text, line = cursor.line.text[:4000], cursor.line
    simple, heading = _FIELD.fullmatch(text), _LIST.fullmatch(text)
    if simple:
        yield from _described_field(simple[1], simple[2], line)
    elif heading:
        items = []
        for following in cursor.after(200):
            indent = len(following.text) - len(following.text.lstrip())
            if not following.text.strip() or indent <= len(heading[1]):
                break
            items.append(following)
        if heading[2] == "Environment":
            for item in items:
                name, separator, value = item.text.strip().partition(":")
                if separator and re.fullmatch(r"[A-Z_][A-Z0-9_]*", name) and not value.strip().startswith("<set"):
                    yield from environment(name, value.strip(), item)
        else:
            arguments = []
            for index, item in enumerate(items):
                word = Text(item.text.strip())
                word.at = index
                arguments.append(word)
            yield from container_facts(arguments, items)


def _described_field(key: str, value: str, line: Line) -> Iterator[Found]:
    if key == "Image" and is_serving_image(value):
        yield from image_facts(value, line)
    elif key == "Image ID" and "@sha256:" in value and is_serving_image(value):
        yield Found("image_digest", value.partition("@")[2], line)
    elif key == "Exit Code" and (code := whole(value)):
        yield Found("exit_code", signal_code(code), line)
    elif key.endswith("/gpu") and value != "0":
        yield Found("gpu_count", value, line, Source.LAUNCH)


READERS = (
    Reader("described", r"(?:Image|Image ID|Exit Code|(?:nvidia|amd)\.com/gpu): ", _described),
    Reader("described-list", r"  (?:Args|Command|Environment):", _described, after=60),
)
