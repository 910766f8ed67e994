"""Versions told in sentences: named (`vLLM 0.31.0`), moved to (`обновили драйвер до 580.95.05`), bare (`on 0.29`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.facts.statements import is_bound, statement

_V = r"[vV]?(\d+\.\d+(?:\.\d+)*(?:\.?(?:dev|rc|post|a|b)\d+)*(?:\+[\w.]+)?)"
_IS = r"(?:\s*(?:version|ver\.?|버전은?|版本|верси[яию]|is|은|는|이|가|为|是|[:=—(-])){0,3}\s*"
_NAMED = (
    statement("vllm_version", rf"\bvLLM{_IS}{_V}"),
    statement("torch_version", rf"\b(?:PyTorch|torch){_IS}{_V}"),
    statement("nccl_version", rf"\bNCCL{_IS}{_V}"),
    statement("flashinfer_version", rf"\bFlashInfer{_IS}{_V}"),
    statement("transformers_version", rf"\btransformers{_IS}{_V}"),
    statement("rocm_version", rf"\bROCm{_IS}{_V}"),
    statement("kernel_version", r"(?:kernel|커널|内核|ядр[оае])" + _IS + r"(\d+\.\d+(?:\.\d+)?(?:-[\w.]+)*)"),
    statement(
        "driver_version",
        rf"(?:driver|드라이버|驱动(?:程序)?|драйвер\w*){_IS}(?:NVIDIA\s*)?r?(\d{{3}}(?:\.\d+){{0,2}})(?![\d])",
    ),
    statement("driver_version", r"(?<![\d.])r?(\d{3}(?:\.\d+){1,2})\s*(?:driver|드라이버|驱动|драйвер)"),
    statement("driver_version", r"(?<![\w.])r(\d{3})\s*(?:driver|드라이버|驱动|драйвер)"),
)
_CUDA = re.compile(rf"\bCUDA{_IS}(\d{{2}}\.\d)(?![\d])", re.IGNORECASE)

_MOVING = re.compile(
    r"upgrad|updat|moved|bumped|switch|went|roll(?:ed|ing)|→|->|=>"
    r"|올렸|올린|올리|바꾼|바꿨|업그레이드|업데이트|升级|更新|升到|升至|换到|回退"
    r"|обновил|обновлен|обновля|перешли|перевели|подняли|откатил|накатил",
    re.IGNORECASE,
)
_TO = re.compile(
    rf"(?:(?<![\w.-]){_V}\s*(?:버전\s?)?(?:에서)?\s*)?"
    rf"(?:(?:(?<!\w)to|으?로|到|至|(?<!\w)до|(?<!\w)на|→|->|=>)\s*(?:vLLM\s*)?{_V}|(?<![\w.-]){_V}\s*으?로\s*(?:올|업|바))",
    re.IGNORECASE,
)
_FROM = re.compile(rf"(?:(?<!\w)(?:from|с|со|из)|从|自)\s*(?:vLLM\s*)?{_V}|(?<![\w.-]){_V}\s*에서", re.IGNORECASE)
_SUBJECTS = (
    ("vllm_version", r"vLLM"),
    ("driver_version", r"drivers?(?!\w)|드라이버|驱动|драйвер\w*"),
    ("torch_version", r"(?:Py)?torch(?!\w)"),
    ("nccl_version", r"NCCL"),
    ("flashinfer_version", r"FlashInfer"),
    ("transformers_version", r"transformers"),
    ("rocm_version", r"ROCm"),
    ("cuda_runtime", r"CUDA(?!\w)"),
    ("kernel_version", r"(?:linux|host)\s+kernel|커널|内核|ядр[оае](?!\w)"),
)
_SUBJECT = re.compile("|".join(f"(?P<{fact}>{words})" for fact, words in _SUBJECTS), re.IGNORECASE)
_OTHERS = re.compile(
    r"(?<![a-z])(?:nixl|flash-?infer|torchvision|torchaudio|tokenizers|safetensors|fast-?safetensors|hugging-?face\w*"
    r"|hf_\w+|compressed-tensors|xgrammar|llguidance|outlines|numba|uvicorn|fastapi|starlette|httpx|lmcache|mooncake"
    r"|dynamo|sg-?lang|ollama|lmdeploy|tgi|litellm|aiter|open-?webui|langchain)(?![a-z])",
    re.IGNORECASE,
)
"""Other programs whose releases look like vLLM's."""
_NAMELESS = re.compile(
    r"(?<![a-z])(?:plugin|plug-in|operator|chart|gateway|router|proxy|sidecar|agent|client|sdk|library|package|firmware)"
    r"(?![a-z])"
    r"|플러그인|게이트웨이|라우터|클라이언트|라이브러리|펌웨어|插件|网关|路由|客户端|固件|плагин|шлюз|клиент|прошивк|библиотек",
    re.IGNORECASE,
)
"""Words for programs without a name; a release in the same clause is theirs."""
_CLAUSE = re.compile(r"[,;(（—–。、，；]")
_BARE = re.compile(
    r"(?<![A-Za-z0-9_./:+-])(?<!\d,)[vV]?(0\.\d{2}(?:\.\d{1,2})?(?:\.?(?:dev|rc|post|a|b)\d+)*(?:\+[\w.]+)?)"
    r"(?![A-Za-z0-9_%]|[.,]\d)"
)
_NEUTRAL = re.compile(
    r"(?:^|[,;:(（—–+/「“\"'`]"
    r"|(?<!\w)(?:on|in|with|at|to|now|after|running|run|runs|version|ver|v|release|image|tag|build|nightly|still|is|kimi|k3"
    r"|образ\w*|тег\w*|сборк\w+|релиз\w*|верси\w+|на|в|во|после|под|уже|сейчас|все еще|всё ещё|ещё|еще|с)"
    r"|버전은?|버전이?|릴리스|이미지|태그|지금|현재|版本|镜像|在|用|用的是|是|跑|到|现在)\s*$",
    re.IGNORECASE,
)
_CUED = re.compile(
    r"(?:(?<!\w)(?:on|in|with|version|ver|release|image|tag|nightly|k3|на|в|образ\w*|тег\w*|сборк\w+|релиз\w*|верси\w+)"
    r"|버전은?|릴리스|이미지|版本|镜像|在|用|跑)\s*[vV]?$",
    re.IGNORECASE,
)
_CUED_AFTER = re.compile(r"\s*(?:에서|버전|릴리스|이미지|版本|镜像|上(?!下)|image|release|nightly)", re.IGNORECASE)
"""`0.29` alone may be any number; these say that it is a release."""
_AFTER_BARE = re.compile(
    r"\s*(?:에서|부터|에)?\s*(?:고쳐|수정|추가|제거|修复|移除|加入|解决|s\b|sec|ms\b|GiB|GB|tok|util)|\s*of\b",
    re.IGNORECASE,
)
_BEFORE_BARE = re.compile(
    r"(?:fixed|added|removed|introduced|deprecated|landed|available|released|gone|changed|works?|worked|fine|ok"
    r"|исправ\w+|добав\w+|удал\w+|убра\w+|появ\w+|работал\w*)\s+(?:in|on|with|в|на)\s*$"
    r"|(?:util\w*|fraction|rate|temperature|top_p|ratio|threshold|score|=)\W*(?:at|is|of|to|в|на)?\s*$",
    re.IGNORECASE,
)


def named_versions(sentence: str) -> Iterator[tuple[str, object]]:
    """The versions that stand beside their program's name."""
    for told in _NAMED:
        for match in told.pattern.finditer(sentence):
            value = match[1]
            bare = told.fact == "driver_version" and "." not in value
            # a bare branch neither passes nor fails the first release of that branch: 580 is not below 580.65.06
            other = told.fact == "vllm_version" and not _may_be_vllm(value)
            if not (is_bound(sentence, match.start(), match.end()) or (bare and value == "580") or other):
                yield told.fact, value
    for match in _CUDA.finditer(sentence):
        if not is_bound(sentence, match.start(), match.end()):
            of_driver = re.search(r"driver|드라이버|驱动|драйвер|nvidia-smi", sentence, re.IGNORECASE)
            yield "driver_cuda_max" if of_driver else "cuda_runtime", match[1]


def moved_versions(sentence: str, *, serving: bool) -> tuple[list[tuple[str, object]], set[str], str]:
    """Versions that something was moved to, those it was moved from, and the sentence without both.

    What was moved is the program named last before the version; where none is, it is vLLM if the words are about
    `serving` and the version may be vLLM's.
    """
    if not _MOVING.search(sentence):
        return [], set(), sentence
    found: list[tuple[str, object]] = []
    past: set[str] = set()
    rest = sentence
    for match in _TO.finditer(sentence):
        value = match[2] or match[3]
        fact = _moved(sentence, match, value, serving=serving)
        if fact is None:
            continue
        found.append((fact, value))
        if match[1]:
            past.add(match[1])
        rest = _blank(rest, match)
    if found:
        for match in _FROM.finditer(rest):
            past.add(match[1] or match[2])
            rest = _blank(rest, match)
    return found, past, rest


def _moved(sentence: str, match: re.Match[str], value: str, *, serving: bool) -> str | None:
    before = sentence[: match.end()]
    subject = max(_SUBJECT.finditer(before), key=lambda found: found.end(), default=None)
    others = (found.end() for pattern in (_OTHERS, _NAMELESS) for found in pattern.finditer(before))
    if (other := max(others, default=None)) is not None and (subject is None or subject.end() < other):
        return None
    fact = subject.lastgroup if subject is not None else None
    if fact is None and serving and _BARE.fullmatch(value):
        fact = "vllm_version"
    if fact == "vllm_version" and not _may_be_vllm(value):
        return None
    if fact == "driver_version" and not re.fullmatch(r"\d{3}(?:\.\d+){1,2}", value):
        return None
    return fact


def bare_versions(sentence: str) -> Iterator[tuple[str, object]]:
    """Releases that stand without a name in a sentence about serving with vLLM, which names no other program."""
    if _OTHERS.search(sentence):
        return
    for match in _BARE.finditer(sentence):
        before, value = sentence[: match.start()], match[1]
        if is_bound(sentence, match.start(), match.end()) or _BEFORE_BARE.search(before):
            continue
        if _NAMELESS.search(_CLAUSE.split(before)[-1] + _CLAUSE.split(sentence[match.end() :])[0]):
            continue
        if _AFTER_BARE.match(sentence, match.end()) or not _NEUTRAL.search(before):
            continue
        if (
            value.count(".") >= 2
            or match[0][0] in "vV"
            or _CUED.search(before)
            or _CUED_AFTER.match(sentence, match.end())
        ):
            yield "vllm_version", value


def _may_be_vllm(value: str) -> bool:
    """vLLM's releases are 0.x; a larger number beside its name is that of something else."""
    return value.split(".", maxsplit=1)[0] in ("0", "1")


def _blank(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]
