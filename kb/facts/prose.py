"""Facts told in sentences, in English, Korean, Chinese and Russian. Only what is stated plainly.

A requirement ("needs r580"), a bound ("580 or later"), a question, a table and a comparison of two values state nothing
about the machine at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kb.facts.images import image_facts
from kb.facts.launch import command_facts
from kb.facts.model import Source
from kb.facts.reading import Found
from kb.facts.values import gpu
from kb.lines import Line

PROSE_FILE = "message"
"""File of a fact whose sentence stands on no line of the evidence."""

_CHARACTERS = 20_000
_V = r"[vV]?(\d+\.\d+(?:\.\d+)*(?:\.?(?:dev|rc|post|a|b)\d+)?(?:\+[\w.]+)?)"
_IS = r"(?:\s*(?:version|ver\.?|버전은?|版本|верси[яию]|is|은|는|이|가|为|是|[:=—(-])){0,3}\s*"
_GPUS = (
    r"(?<![A-Za-z0-9])(?:NVIDIA |AMD |Instinct |HGX |DGX ){0,2}"
    r"(GB300|GB200|GH200|B300|B200|H200|H100|H800|H20|A100|A800|MI3(?:00|25|50|55)X|L40S|RTX PRO 6000)"
    r"s?(?![A-Za-z0-9])"
)
_N = r"(\d{1,3})"
_PIECES = r"(?:장|개|대|枚|张|块|卡|шт\.?|штук\w*|GPUs?|cards?|карт\w*)"
_NODES = (
    r"(?:-?\s*(?:nodes?|servers|hosts|machines)(?!\w)|\s*(?:개\s*)?(?:의\s*)?(?:노드|대의\s*(?:서버|노드))"
    r"|\s*(?:台(?:节点|机器|服务器|机)?|个?(?:节点|机器|服务器)|机(?![柜器型]))|\s*(?:нод|узл|сервер|машин)\w*)"
)
_WORD_NUMBERS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "双": 2,
    "두": 2,
    "세": 3,
    "네": 4,
    "两": 2,
    "二": 2,
    "三": 3,
    "四": 4,
    "две": 2,
    "два": 2,
    "двух": 2,
    "три": 3,
    "четыре": 4,
}
_HOW_MANY = rf"(?<![\w.])(\d{{1,3}}|{'|'.join(_WORD_NUMBERS)})"


@dataclass(frozen=True, slots=True)
class _Statement:
    fact: str
    pattern: re.Pattern[str]


def _statement(fact: str, pattern: str) -> _Statement:
    return _Statement(fact, re.compile(pattern, re.IGNORECASE))


_VERSIONS = (
    _statement("vllm_version", rf"\bvLLM{_IS}{_V}"),
    _statement("torch_version", rf"\b(?:PyTorch|torch){_IS}{_V}"),
    _statement("nccl_version", rf"\bNCCL{_IS}{_V}"),
    _statement("flashinfer_version", rf"\bFlashInfer{_IS}{_V}"),
    _statement("transformers_version", rf"\btransformers{_IS}{_V}"),
    _statement("rocm_version", rf"\bROCm{_IS}{_V}"),
    _statement("kernel_version", r"(?:kernel|커널|内核|ядр[оае])" + _IS + r"(\d+\.\d+(?:\.\d+)?(?:-[\w.]+)*)"),
    _statement(
        "driver_version",
        rf"(?:driver|드라이버|驱动(?:程序)?|драйвер\w*){_IS}(?:NVIDIA\s*)?r?(\d{{3}}(?:\.\d+){{0,2}})(?![\d])",
    ),
    _statement("driver_version", r"(?<![\d.])r?(\d{3}(?:\.\d+){1,2})\s*(?:driver|드라이버|驱动|драйвер)"),
    _statement("driver_version", r"(?<![\w.])r(\d{3})\s*(?:driver|드라이버|驱动|драйвер)"),
)
_CUDA = re.compile(rf"\bCUDA{_IS}(\d{{2}}\.\d)(?![\d])", re.IGNORECASE)
_IMAGE = re.compile(r"(?<![\w/.-])((?:[\w.-]+(?::\d+)?/){1,3}[\w.-]+:\w[\w.-]*\w(?:@sha256:[0-9a-f]{64})?)")
_K3_IMAGE = re.compile(
    r"(?:image|이미지|镜像|образ\w*)\W{0,3}(?:is |tag )?`?(kimi-k3)\b"
    r"|\b(kimi-k3)`?\s*(?:docker )?(?:image|이미지|镜像|образ)",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"(?<![\w/.-])((?:moonshotai|RedHatAI|nvidia|unsloth)/Kimi-K3[\w.-]*\w|moonshotai/Kimi-K3)(?![\w/])"
)
_PARALLEL = (
    _statement("tp_size", r"(?<![A-Za-z])TP\s*=?\s*(\d{1,2})(?!\d)"),
    _statement("pp_size", r"(?<![A-Za-z])PP\s*=?\s*(\d{1,2})(?!\d)"),
    _statement("dp_size", r"(?<![A-Za-z])DP\s*=?\s*(\d{1,3})(?!\d)"),
    _statement("dcp_size", r"(?<![A-Za-z])DCP\s*=?\s*(\d{1,2})(?!\d)"),
)
_PER_HOST = (
    re.compile(rf"{_HOW_MANY}{_NODES}\s*(?:по|with|of|each|[x×*,:]|에)?\s*(?:각각?\s*)?{_N}\s*[x×*]?\s*{_GPUS}", re.I),
    re.compile(rf"(?<![\w.]){_N}\s*[x×*]\s*{_N}\s*[x×*]?\s*{_GPUS}", re.I),
)
_COUNTED = (
    re.compile(rf"(?<![\w.]){_N}\s*(?:[x×*]|{_PIECES})?\s*(?:의\s*)?{_GPUS}", re.I),
    re.compile(rf"{_GPUS}\s*(?:GPU\s*)?[x×*]\s*{_N}(?!\d)", re.I),
    re.compile(rf"{_GPUS}\s*(?:GPU\s*)?{_N}\s*{_PIECES}", re.I),
)
_BARE_GPU = re.compile(_GPUS, re.I)
_HOSTS = re.compile(rf"{_HOW_MANY}{_NODES}", re.I)

_BOUND_AFTER = re.compile(
    r"\s*(?:\+|이상|이하|부터|까지|미만|及以上|以上|以下|之前|之后|起(?![不来动])|或更高"
    r"|(?:or|and) (?:later|newer|higher|above|greater|older|earlier)"
    r"|и (?:выше|новее|старше|ниже)|или (?:выше|новее)|이?\s*필요|이?어야|에서만|has|fixes|fixed|must"
    r"|\s*(?:or|이나|或|или)\s*\d)",
    re.IGNORECASE,
)
_BOUND_BEFORE = re.compile(
    r"(?:>=?|<=?|≥|≤|~=|needs?|requires?|required|at least|minimum|min|since|until|before|below|under|than|from|up to"
    r"|not|no longer|supports?|recommends?|should (?:be|use|i use)|upgrade to|try"
    r"|требу\w+|нуж\w+|не ниже|миниму\w+|начиная с|с версии|до"
    r"|最低|至少|需要|要求|不低于|低于|从|최소|요구\w*|필요\w*)"
    r"(?:\s+(?:a|an|the|host|nvidia|версии?|хост\w*|\d+(?:\s?[x×*])?))*\s*$",
    re.IGNORECASE,
)
_MOVED = re.compile(rf"(?:to|으?로|到|至|до|на)\s*(?:vLLM\s*)?{_V}|{_V}\s*으?로\s*(?:올|업)", re.IGNORECASE)
_MOVING = re.compile(
    r"upgraded|updated|moved|bumped|올렸|올린|업그레이드했|업데이트했|升级到|更新到|升到|обновил\w*", re.IGNORECASE
)
_DIGIT = re.compile(r"\d")
_ASKING = re.compile(
    r"^\W*(?:(?:hi|hello|hey)\b\W*)?(?:does|do|is|are|can|could|will|should|would|which|how many)\b"
    r"|지원하나|되나요|가능한가|가능할까|할까요|있나요|올라가나|돌아가나|몇 장"
    r"|吗|是否|多少|哪个|\bли\b|\bсколько\b|\bкак(?:ой|ая|ую)\b",
    re.IGNORECASE,
)
_ANOTHERS = re.compile(
    r"\s*(?:의\s|설정|용\s|옵션|레시피|에서 쓰던|(?:的)?\s*\w{0,8}\s*(?:参数|配置|设置)"
    r"|(?:settings?|flags?|config|recipe|parameters?|profile)\b)",
    re.IGNORECASE,
)
"""What may follow a GPU's name when its settings are meant, as a rule on other GPUs."""


def prose_facts(text: str) -> Iterator[Found]:
    """The facts that `text` states; lines carry the file `PROSE_FILE` and their number in the text."""
    found: dict[str, list[Found]] = {}
    for number, raw in enumerate(text[:_CHARACTERS].splitlines(), 1):
        if raw.count("|") >= 2 or not raw.strip():
            continue
        line = Line(file=PROSE_FILE, number=number, text=raw[:2000], body=raw[:2000])
        for name, value in _sentence_facts(line):
            found.setdefault(name, []).append(Found(name, value, line, Source.PROSE))
        for quoted in re.findall(r"`([^`]{8,2000})`", raw):
            yield from command_facts(quoted, line)
    for group in found.values():
        if len({str(one.value) for one in group}) == 1:  # two different values are a comparison
            yield group[0]


def _sentence_facts(line: Line) -> Iterator[tuple[str, object]]:
    for sentence in re.split(r"(?<=[!?。！？])|(?<=\.)\s+", line.text):
        if not _DIGIT.search(sentence) or _ASKING.search(sentence):
            continue
        if _MOVING.search(sentence) and "vllm" in sentence.lower():
            moved = _MOVED.search(sentence)
            if moved:
                yield "vllm_version", moved[1] or moved[2]
            continue
        yield from _versions(sentence)
        yield from _deployment(sentence, line)
        yield from _hardware(sentence)


def _is_bound(sentence: str, match: re.Match[str]) -> bool:
    after = sentence[match.end() : match.end() + 24]
    return bool(_BOUND_AFTER.match(after) or _BOUND_BEFORE.search(sentence[max(0, match.start() - 40) : match.start()]))


def _versions(sentence: str) -> Iterator[tuple[str, object]]:
    for statement in _VERSIONS:
        for match in statement.pattern.finditer(sentence):
            value = match[1]
            bare = statement.fact == "driver_version" and "." not in value
            # a bare branch neither passes nor fails the first release of that branch: 580 is not below 580.65.06
            if not _is_bound(sentence, match) and not (bare and value == "580"):
                yield statement.fact, value
    for match in _CUDA.finditer(sentence):
        if not _is_bound(sentence, match):
            of_driver = re.search(r"driver|드라이버|驱动|драйвер|nvidia-smi", sentence, re.IGNORECASE)
            yield "driver_cuda_max" if of_driver else "cuda_runtime", match[1]


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
    for statement in _PARALLEL:
        for match in statement.pattern.finditer(sentence):
            if not _is_bound(sentence, match):
                yield statement.fact, int(match[1])


def _hardware(sentence: str) -> Iterator[tuple[str, object]]:
    mentions = list(_BARE_GPU.finditer(sentence))
    plain = [m for m in mentions if not _is_bound(sentence, m) and not _ANOTHERS.match(sentence, m.end())]
    if len({gpu(match[1]) for match in mentions}) > 1 or (mentions and not plain):
        return
    for pattern in _PER_HOST:
        match = pattern.search(sentence)
        if match and not _is_bound(sentence, match):
            yield "host_count", _number(match[1])
            yield "gpu_count", int(match[2])
            yield "gpu_model", gpu(match[3])
            return
    if plain:
        yield "gpu_model", gpu(plain[0][1])
    hosts = [match for match in _HOSTS.finditer(sentence) if not _is_bound(sentence, match)]
    for match in hosts:
        yield "host_count", _number(match[1])
    count = next((match for pattern in _COUNTED if (match := pattern.search(sentence))), None)
    if count and not _is_bound(sentence, count):
        number = int(next(group for group in count.groups() if group.isdecimal()))
        if 1 <= number <= 8 and not hosts:
            yield "gpu_count", number  # more than eight, or those of several hosts, say nothing about one of them


def _number(word: str) -> int:
    return _WORD_NUMBERS.get(word.lower()) or int(word)
