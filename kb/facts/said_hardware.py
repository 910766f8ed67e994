"""GPUs, nodes and parallel sizes told in sentences: `8xB300`, `B300 8장`, `8卡B300`, `2 ноды по 8 H200`, `TP8xPP2`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.facts.statements import TIMES, is_bound, statement
from kb.facts.values import gpu

_BEGINS = rf"(?:(?<![A-Za-z0-9])|(?<=\d{TIMES}))"
"""A name begins where no word goes on, or right behind a count: `8xB300`, `TP8xPP2`."""
_GPUS = (
    rf"{_BEGINS}(?:NVIDIA |AMD |Instinct |HGX |DGX ){{0,2}}"
    r"(GB300|GB200|GH200|B300|B200|H200|H100|H800|H20|A100|A800|MI3(?:00|25|50|55)X|L40S|RTX PRO 6000)"
    rf"s?(?:(?![A-Za-z0-9])|(?={TIMES}\d{{1,3}}(?!\d)))"
)
_N = r"(\d{1,3})"
_PIECES = (
    r"(?:장|개|대|枚|张|块|卡|шт\.?|штук\w*|GPUs?(?![A-Za-z])|cards?(?![A-Za-z])|ways?(?![A-Za-z])|(?:видео)?карт\w*)"
)
_NODES = (
    r"(?:-?\s*(?:nodes?|servers|hosts|machines|boxes)(?!\w)"
    r"|\s*(?:개\s*)?(?:의\s*)?(?:노드|대의\s*(?:서버|노드))"
    r"|\s*(?:台(?:节点|机器|服务器|机)?|个?(?:节点|机器|服务器)|机(?![柜器型]))|\s*(?:нод|узл|сервер|машин)\w*)"
)
_A_NODE = rf"(?:{_NODES}|-?\s*(?:server|host|machine|box)(?!\w))"
_SEVERAL = {
    "two": 2, "three": 3, "four": 4, "双": 2, "두": 2, "세": 3, "네": 4, "两": 2, "二": 2, "三": 3, "四": 4,
    "две": 2, "два": 2, "двух": 2, "три": 3, "четыре": 4,
}  # fmt: skip
_ONE = {"one": 1, "single": 1, "한": 1, "单": 1, "一": 1, "одна": 1, "один": 1, "одной": 1, "одном": 1}
"""Alone they say nothing of how many there are (`one node fails`); only beside the GPUs of that node."""
_CJK = {"一": 1, "两": 2, "双": 2, "二": 2, "四": 4, "八": 8}
_HOW_MANY = rf"(?<![\w.])(\d{{1,3}}|{'|'.join(_SEVERAL)})"
_OF_HOSTS = rf"(?<![A-Za-z\d.])(\d{{1,3}}|{'|'.join([*_SEVERAL, *_ONE])})"
_OF = rf"\s*(?:по|with|of|each|на|{TIMES}|[,:]|에)?\s*(?:각각?\s*)?"
_BETWEEN = rf"\s*(?:{TIMES}|-?\s*{_PIECES})?\s*(?:의\s*|的\s*|of\s+)?"
_PER_HOST = (
    re.compile(rf"{_OF_HOSTS}{_A_NODE}{_OF}{_N}{_BETWEEN}{_GPUS}", re.I),
    re.compile(rf"(?<![\w.]){_N}\s*{TIMES}\s*{_N}{_BETWEEN}{_GPUS}", re.I),
)
_TIMES_HOSTS = re.compile(
    rf"(?<![\w.]){_N}{_BETWEEN}{_GPUS}\s*{TIMES}\s*(\d{{1,3}}|{'|'.join(_SEVERAL)}){_NODES}", re.I
)
_COUNTED = (
    re.compile(rf"(?<![\w.]){_N}{_BETWEEN}{_GPUS}", re.I),
    re.compile(rf"([{''.join(_CJK)}])[卡张块]\s*{_GPUS}", re.I),
    re.compile(rf"{_GPUS}[\s(（]*(?:GPU\s*)?{TIMES}\s*{_N}(?!\d)", re.I),
    re.compile(rf"{_GPUS}[\s(（]*(?:GPU\s*)?(?:을|를|이|가|로|으로|-)?\s*{_N}\s*{_PIECES}", re.I),
    re.compile(rf"{_GPUS}\s*([{''.join(_CJK)}])[卡张块]", re.I),
)
_BARE_GPU = re.compile(_GPUS, re.I)
_HOSTS = re.compile(rf"{_HOW_MANY}{_NODES}", re.I)
_SIZE_BEGINS = rf"(?:(?<![A-Za-z])|(?<=\d{TIMES}))"
_IS = r"(?:[\s_-]*(?:size|degree|度|크기)?\s*(?:is|=|:|은|는|为)?\s*)"
_PARALLEL = (
    statement("tp_size", rf"{_SIZE_BEGINS}TP[\s_-]*(?:size)?\s*[=:]?\s*(\d{{1,2}})(?!\.?\d)"),
    statement("pp_size", rf"{_SIZE_BEGINS}PP[\s_-]*(?:size)?\s*[=:]?\s*(\d{{1,2}})(?!\.?\d)"),
    statement("dp_size", rf"{_SIZE_BEGINS}DP[\s_-]*(?:size)?\s*[=:]?\s*(\d{{1,3}})(?!\.?\d)"),
    statement("dcp_size", rf"{_SIZE_BEGINS}DCP[\s_-]*(?:size)?\s*[=:]?\s*(\d{{1,2}})(?!\.?\d)"),
    *(
        statement(fact, rf"(?:{words}){_IS}(\d{{1,3}})(?!\.?\d)")
        for fact, words in (
            ("tp_size", r"tensor[\s_-]parallel(?:ism)?|텐서\s?병렬(?:화|도)?|张量并行|тензорн\w+ параллел\w+"),
            (
                "pp_size",
                r"pipeline[\s_-]parallel(?:ism)?|파이프라인\s?병렬(?:화|도)?|流水线并行|конвейерн\w+ парал\w+",
            ),
            ("dp_size", r"data[\s_-]parallel(?:ism)?|데이터\s?병렬(?:화|도)?|数据并行|параллел\w+ по данным"),
        )
    ),
)
_ANOTHERS = re.compile(
    r"\s*(?:의\s|설정|용\s|옵션|레시피|에서 쓰던|(?:的)?\s*\w{0,8}\s*(?:参数|配置|设置)"
    r"|(?:settings?|flags?|config|recipe|parameters?|profile)\b)",
    re.IGNORECASE,
)
"""What may follow a GPU's name when its settings are meant, as a rule on other GPUs."""


def parallel_sizes(sentence: str) -> Iterator[tuple[str, object]]:
    """TP, PP, DP and DCP as the sentence tells them."""
    for told in _PARALLEL:
        for match in told.pattern.finditer(sentence):
            if not is_bound(sentence, match.start(), match.end()):
                yield told.fact, int(match[1])


def hardware(sentence: str) -> Iterator[tuple[str, object]]:
    """GPU model, GPUs of a host and hosts as the sentence tells them."""
    mentions = list(_BARE_GPU.finditer(sentence))
    plain = [m for m in mentions if not _is_bound(sentence, m) and not _ANOTHERS.match(sentence, m.end())]
    if len({gpu(match[1]) for match in mentions}) > 1 or (mentions and not plain):
        return
    for pattern in _PER_HOST:
        match = pattern.search(sentence)
        if match and not _is_bound(sentence, match):
            yield from _per_host(match[1], match[2], match[3])
            return
    if (match := _TIMES_HOSTS.search(sentence)) and not _is_bound(sentence, match):
        yield from _per_host(match[3], match[1], match[2])
        return
    if plain:
        yield "gpu_model", gpu(plain[0][1])
    hosts = [match for match in _HOSTS.finditer(sentence) if not _is_bound(sentence, match)]
    for match in hosts:
        yield "host_count", _number(match[1])
    count = next((match for pattern in _COUNTED if (match := pattern.search(sentence))), None)
    if count and not _is_bound(sentence, count):
        number = _number(next(group for group in count.groups() if group.isdecimal() or group in _CJK))
        if 1 <= number <= 8 and not hosts:
            yield "gpu_count", number  # more than eight, or those of several hosts, say nothing about one of them


def _per_host(hosts: str, count: str, model: str) -> Iterator[tuple[str, object]]:
    yield "host_count", _number(hosts)
    yield "gpu_count", int(count)
    yield "gpu_model", gpu(model)


def _is_bound(sentence: str, match: re.Match[str]) -> bool:
    return is_bound(sentence, match.start(), match.end())


def _number(word: str) -> int:
    lowered = word.lower()
    return _SEVERAL.get(lowered) or _ONE.get(lowered) or _CJK.get(lowered) or int(word)
