"""Facts in the names of container images."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.facts.model import Source
from kb.facts.reading import Cursor, Found, Reader
from kb.lines import Line

_IMAGE_TAG = re.compile(r"vllm[\w-]*:v?(\d+\.\d+\.\d+\S*)")
_PULLED = re.compile(
    r"(?:[Pp]ulled|[Pp]ulling|Container) image \"([^\"\s]+)\"|Downloaded newer image for (\S+)"
    r"|^\s*[0-9a-f]{12}\s+(\S+)\s+\""
)
_SERVING_IMAGE = re.compile(r"vllm|kimi", re.IGNORECASE)


def image_facts(reference: str, line: Line, source: Source = Source.LAUNCH) -> Iterator[Found]:
    """An image reference `name:tag@sha256:...`."""
    name, _, digest = reference.strip().partition("@")
    if name:
        yield Found("image", name, line, source)
    if digest.startswith("sha256:"):
        yield Found("image_digest", digest, line, source)
    tag = _IMAGE_TAG.search(name)
    if tag:
        yield Found("vllm_version", tag[1], line, Source.DERIVED)
    if "rocm" in name:
        yield Found("platform", "rocm", line, Source.DERIVED)


def is_serving_image(reference: str) -> bool:
    """Whether an image is one that serves a model, as far as its name tells."""
    return _SERVING_IMAGE.search(reference) is not None


def _pulled(cursor: Cursor) -> Iterator[Found]:
    """An image that Docker or the kubelet names: no more than a hint at what runs."""
    match = _PULLED.search(cursor.body[:1000])
    name = next(filter(None, match.groups()), "") if match else ""
    if is_serving_image(name):
        for found in image_facts(name, cursor.line):
            yield found._replace(source=Source.DERIVED)


READERS = (
    Reader(
        "image-pulled",
        r"(?:ulled|ulling|Container) image \"|Downloaded newer image for |[0-9a-f]{12} +\S*vllm",
        _pulled,
    ),
)
