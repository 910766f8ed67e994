"""Values in the form in which facts carry them: PEP 440 versions, GiB, names of GPUs."""

from __future__ import annotations

import re
from functools import cache
from math import isnan

from packaging.version import InvalidVersion, Version

from kb.facts.vocabulary import fact_type

TEXT_LENGTH = 400
"""Longest text of a fact; a value beyond it is cut."""

_VERSION = re.compile(r"[vV]?(\d[\w.+!-]*)")
_NUMBER = re.compile(r"-?\d[\d,_]*(?:\.\d+)?(?:[eE][+-]?\d+)?")
_DIGITS = 18
_TRUE = frozenset({"true", "yes", "1", "on"})
_FALSE = frozenset({"false", "no", "0", "off"})

_GIB = {
    "b": 1 / 2**30,
    "bytes": 1 / 2**30,
    "kib": 1 / 2**20,
    "mib": 1 / 2**10,
    "mb": 1 / 2**10,  # AMD's tools say MB and mean 2**20
    "gib": 1.0,
    "gb": 1.0,
    "tib": 1024.0,
}

_GPU = re.compile(
    r"(?<![A-Za-z0-9])("
    r"GB300|GB200|GH200|GB10|B300|B200|B100|H200|H100|H800|H20|A100|A800|A40|A10G?|A30|L40S|L40|L4|V100|T4"
    r"|MI3(?:00X|00A|08X|25X|50X|55X)|MI250X?|MI210"
    r"|RTX (?:PRO |A)?\d{4})(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_ARCH_OF_GPU = {
    "GB300": "blackwell_ultra",
    "B300": "blackwell_ultra",
    "GB200": "blackwell",
    "B200": "blackwell",
    "B100": "blackwell",
    "GB10": "blackwell_sm120",
    "H100": "hopper",
    "H200": "hopper",
    "H800": "hopper",
    "H20": "hopper",
    "GH200": "hopper",
    "A100": "ampere",
    "A800": "ampere",
    "A40": "ampere",
    "A30": "ampere",
    "A10": "ampere",
    "A10G": "ampere",
    "L40S": "ada",
    "L40": "ada",
    "L4": "ada",
    "MI300X": "cdna3",
    "MI300A": "cdna3",
    "MI308X": "cdna3",
    "MI325X": "cdna3",
    "MI350X": "cdna4",
    "MI355X": "cdna4",
}
_ARCH_OF_CAPABILITY = {
    (8, 0): "ampere",
    (8, 6): "ampere",
    (8, 7): "ampere",
    (8, 9): "ada",
    (9, 0): "hopper",
    (10, 0): "blackwell",
    (10, 3): "blackwell_ultra",
    (12, 0): "blackwell_sm120",
    (12, 1): "blackwell_sm120",
}
_ARCH_OF_GFX = {"gfx942": "cdna3", "gfx950": "cdna4"}


@cache
def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def version(text: str) -> str | None:
    """The PEP 440 version that `text` begins with, as it is written there; None where there is none."""
    match = _VERSION.match(text.strip().strip("'\"")[:100])
    if match is None:
        return None
    found = match[1].rstrip(".-+_")
    while not _is_version(found):
        shorter = re.sub(r"[-+_.][^-+_.]*$", "", found)
        if shorter == found:
            return None
        found = shorter
    return found


def number(text: str) -> float | None:
    """The number that `text` is, thousands separators allowed."""
    match = _NUMBER.fullmatch(text.strip())
    return float(match[0].replace(",", "").replace("_", "")) if match else None


def whole(text: str) -> int | None:
    """The whole number that `text` is in digits alone; None for one of more digits than any number of ours has."""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else None


def gib(amount: str, unit: str) -> float | None:
    """An amount of memory in GiB, to three decimals."""
    value, factor = number(amount), _GIB.get(unit.lower())
    return None if value is None or factor is None else round(value * factor, 3)


def signal_code(code: int) -> int:
    """Exit code of a container in the form of a process: 137 is -9, killed."""
    return 128 - code if 128 < code < 160 else code


def cuda_of_driver(code: str) -> str:
    """CUDA version of its integer form: 12090 is 12.9, 13000 is 13.0."""
    value = int(code)
    return f"{value // 1000}.{value % 1000 // 10}"


def gpu(text: str) -> str | None:
    """The model name of a GPU without maker and form factor: `NVIDIA B300 SXM6 AC` is B300."""
    match = _GPU.search(text[:200])
    if match is None:
        return None
    return str(match[1]).upper()


def gpu_arch(model: str) -> str | None:
    """The architecture of a GPU by its normalised model name."""
    if model in _ARCH_OF_GPU:
        return _ARCH_OF_GPU[model]
    if model.startswith(("RTX PRO", "RTX 50")):
        return "blackwell_sm120"
    if model.startswith("RTX 40"):
        return "ada"
    return "ampere" if model.startswith(("RTX 30", "RTX A")) else None


def arch_of_capability(text: str) -> str | None:
    """The architecture of a CUDA compute capability such as `10.3` or, as vLLM prints it, `103`."""
    match = re.fullmatch(r"(\d{1,2})\.?(\d)", text.strip())
    return _ARCH_OF_CAPABILITY.get((int(match[1]), int(match[2]))) if match else None


def arch_of_gfx(text: str) -> str | None:
    """The architecture of an AMD target such as `gfx950`."""
    return _ARCH_OF_GFX.get(text.lower())


def typed(name: str, value: object) -> str | int | float | bool | None:
    """`value` in the type of the fact `name`, or None where it is no such value."""
    kind = fact_type(name) if value is not None else None
    text = str(value).strip()
    if kind == "bool":
        return value if isinstance(value, bool) else _boolean(text)
    if kind == "version":
        return version(text)
    if kind in ("int", "float"):
        return _amount(text, whole=kind == "int")
    if kind != "text" or (not text and not name.startswith("env.")):
        return None
    return text[:TEXT_LENGTH]


def _amount(text: str, *, whole: bool) -> int | float | None:
    amount = number(text)
    if amount is None or abs(amount) > 1e15 or isnan(amount):
        return None
    if not whole:
        return amount
    return int(amount) if amount == int(amount) else None


def _boolean(text: str) -> bool | None:
    lowered = text.lower()
    return True if lowered in _TRUE else False if lowered in _FALSE else None
