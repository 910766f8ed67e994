"""Facts told in sentences, in English, Korean, Chinese and Russian. Only what is stated plainly.

A requirement ("needs r580"), a bound ("580 or later"), a question, a table and a comparison of two values state nothing
about the machine at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.facts.environment import told
from kb.facts.images import image_facts
from kb.facts.launch import command_facts
from kb.facts.model import Source
from kb.facts.reading import Found
from kb.facts.said_hardware import hardware, parallel_sizes
from kb.facts.said_versions import bare_versions, moved_versions, named_versions
from kb.lines import Line
from kb.subject import Subject, subject

PROSE_FILE = "message"
"""File of a fact whose sentence stands on no line of the evidence."""

_CHARACTERS = 20_000
_IMAGE = re.compile(r"(?<![\w/.-])((?:[\w.-]+(?::\d+)?/){1,3}[\w.-]+:\w[\w.-]*\w(?:@sha256:[0-9a-f]{64})?)")
_K3_IMAGE = re.compile(
    r"(?:image|이미지|镜像|образ\w*)\W{0,3}(?:is |tag )?`?(kimi-k3)\b"
    r"|\b(kimi-k3)`?\s*(?:docker )?(?:image|이미지|镜像|образ)",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"(?<![\w/.-])((?:moonshotai|RedHatAI|nvidia|unsloth)/Kimi-K3[\w.-]*\w|moonshotai/Kimi-K3)(?![\w/])"
)
_DIGIT = re.compile(r"\d")
_ASKING = re.compile(
    r"^\W*(?:(?:hi|hello|hey)\b\W*)?(?:does|do|is|are|can|could|will|should|would|which|how many)\b"
    r"|지원하나|되나요|가능한가|가능할까|할까요|있나요|올라가나|돌아가나|몇 장"
    r"|吗|是否|多少|哪个|\bли\b|\bсколько\b|\bкак(?:ой|ая|ую)\b",
    re.IGNORECASE,
)


def prose_facts(text: str, *, serving: bool = False) -> Iterator[Found]:
    """The facts that `text` states; lines carry the file `PROSE_FILE` and their number in the text.

    `serving` says that it stands beside a log of vLLM.
    """
    serving = serving or subject(text) >= Subject.TERMS
    found: dict[str, list[Found]] = {}
    past: set[tuple[str, str]] = set()
    for number, raw in enumerate(text[:_CHARACTERS].splitlines(), 1):
        if raw.count("|") >= 2 or not raw.strip():
            continue
        line = Line(file=PROSE_FILE, number=number, text=raw[:2000], body=raw[:2000])
        for name, value, now in _sentence_facts(line, serving=serving):
            if now:
                found.setdefault(name, []).append(Found(name, value, line, Source.PROSE))
            else:
                past.add((name, str(value)))
        for quoted in re.findall(r"`([^`]{8,2000})`", raw):
            yield from command_facts(quoted, line)
    for name, group in found.items():
        current = [one for one in group if (name, str(one.value)) not in past]
        if len({str(one.value) for one in current}) == 1:  # two different values are a comparison
            yield current[0]


def _sentence_facts(line: Line, *, serving: bool) -> Iterator[tuple[str, object, bool]]:
    """(name, value, whether it still holds)."""
    for sentence in re.split(r"(?<=[!?。！？])|(?<=\.)\s+", line.text):
        if not _DIGIT.search(sentence) or _ASKING.search(sentence):
            continue
        moved, before, rest = moved_versions(sentence, serving=serving)
        for name, value in moved:
            yield name, value, True
            yield from ((name, old, False) for old in before)
        named = list(named_versions(rest))
        variables = [(found.name, found.value) for found in told(rest, line)]
        stated = [*named, *variables, *_deployment(rest, line), *hardware(rest)]
        if serving and not any(name == "vllm_version" for name, _ in [*moved, *stated]):
            stated += bare_versions(rest)
        yield from ((name, value, True) for name, value in stated)


def _deployment(sentence: str, line: Line) -> Iterator[tuple[str, object]]:
    image = next((match for match in _IMAGE.finditer(sentence) if "vllm" in match[1]), None)
    named = _K3_IMAGE.search(sentence)
    if image:
        for found in image_facts(image[1], line):
            yield found.name, found.value
    elif named:
        rocm = re.search(r"rocm|MI3\d\dX", sentence, re.IGNORECASE)
        yield "image", f"vllm/vllm-openai{'-rocm' if rocm else ''}:kimi-k3"
    model = _MODEL.search(sentence)
    if model:
        yield "model", model[1]
    yield from parallel_sizes(sentence)
