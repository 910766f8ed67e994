"""Which encoding bytes are in: byte order marks, UTF-16 without one, and the legacy encodings of the four languages.

Legacy bytes are read in the encoding under which they are most probable as text of its language: by the frequency of
syllables, characters and letter pairs. So a few words beside an ASCII log are enough.
"""

from __future__ import annotations

import codecs
import re
from functools import cache
from itertools import pairwise
from math import log

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
LEGACY = ("cp949", "gb18030", "cp1251", "koi8-r")

_CONTROL = bytes(range(9)) + bytes([11, 12]) + bytes(range(14, 27)) + bytes([28, 29, 30, 31, 127])
# The commonest characters first, as counted over the texts of the entries.
_SYLLABLES = (
    "다니이가에지로는를합서고시습나요하을은드인의어모리스없면오않으기정그트전마한거있라만입버되실아노부중수도치같상확와안보프십"
    "제미옵일청동작든과메됩사데대줄패용경자해원야재른릴터파것장려두쓰문크호설적봅너답바된여출진비계체올류구음컨델테죽세러값션었들"
    "함우무때뒤유더못포변립응커성간단록행토큰증주번필소캐래내화집복딩히레멈조했태맞짧개운력예떤또배분초까널표키처느름게찾후종받본"
    "긴빌엔며결져첫반저켜추료통께남왜뭐네제발및약능생학"
    "떠느려멈춤춰갑자기혹시제발저희분들어제밤왜뭘봐봤냐까죠네요응답서버켜꺼졌"
)
_HANZI = (
    "的不有一用要或是在本为启动上时出个没重存点到了数后同版节错与加求里只报行请日载像会中能该镜前正志卡器所并以就失下内模无文起"
    "显机容开对现设回参查看示量都命常型次进定被败件提之改实认关分复来掉长致变过置确可程因发每升于端去级权成误已调缓未两务接否部输"
    "支服路驱这把持际和而配多主应带网此式按自大返需原准各指地退先拒再合问更完使新超小通建其度短运引算及始码它列换具工名条化间留缺"
    "答装空若挂构标解法但样别则限比且检单状还全从整修态写擎题生效当跑值也核放结保流绝计拿断最环哪找直期传块张少入默明相由率慢包编"
    "境除旧字降宿测第址径段取才说统首占低备打必足读任余记表非类月我你他们什么怎吗呢很谢大家人年国天想做着"
    "崩溃挂死慢卡请教求助各位办法怀疑突然刚才昨晚集群训练推理负载均衡权限驱动温度风扇断连丢包超频跳闸"
)
_LETTERS = {
    "е": 0.097, "о": 0.093, "а": 0.086, "т": 0.073, "и": 0.07, "н": 0.067, "р": 0.058, "с": 0.051, "в": 0.041,
    "л": 0.037, "п": 0.036, "к": 0.032, "д": 0.029, "з": 0.026, "у": 0.026, "м": 0.024, "ь": 0.018, "я": 0.017,
    "б": 0.0155, "ы": 0.0148, "г": 0.0127, "й": 0.0125, "ч": 0.0116, "ж": 0.0076, "х": 0.0074, "ш": 0.0066, "ю": 0.0052,
    "э": 0.0035, "ц": 0.0033, "ф": 0.0031, "щ": 0.0026, "ъ": 0.0002,
}  # fmt: skip
_PAIRS = frozenset(re.findall(
    "..",
    "етерстранатьрозаенлитопопрреовнококавенитаодоситатотанаеесмеомлетеолобдериинокдапаоргоелапныазрулотрсябоилльойог"
    "сепеонузамдоалартсадтипуизслчемоисннсоаввикилантчидиусакятемскыйезбриевычавоимжеиякелядртвагэтдндледгрртхоибвсса"
    "утнуирекзлайсимарвейасшитышеопютабывбеспахждикциегийклрнаюужиивлуемяткмиивняошщешаачрыкрумтулюцеькичеессурзныевн"
    "пикскуьшблрсгиепдуажзкехючоегайнидядаязоркбыуюевжиочмпчтьнптиюзызеплбкфиугдвнгкээшйлучупыхфазиихижлуозежсьсвснму"
    "ожщибунень",
))  # fmt: skip
_WORD = re.compile("[А-Яа-яЁё]+")
_GARBAGE = -5.0
"""Logarithm of the probability of a byte in no language: hardly less than that of one high byte among 128."""


def sniff(head: bytes) -> tuple[str, int] | None:
    """The encoding by the first bytes, and how many of them are a byte order mark; None where they are not text."""
    for bom, name in BOMS:
        if head.startswith(bom):
            return name, len(bom)
    if head.count(0):
        for name in ("utf-16-le", "utf-16-be"):
            if _reads_as_utf16(head, name):
                return name, 0
    # Python tracebacks hold no control characters; a core dump or an image is full of them.
    control = len(head) - len(head.translate(None, _CONTROL))
    if head.count(0) > max(len(head) / 200, 1) or control > max(len(head) / 20, 3):
        return None
    return "utf-8", 0


_READABLE = re.compile(
    "[\t\n\r\x1b\x20-\x7e\u00a0-\u00ff\u0400-\u045f\u2010-\u203a\u2190-\u21ff\u2500-\u259f\u3000-\u303f\u4e00-\u9fff"
    "\uac00-\ud7a3\uff00-\uff65]"
)


def _reads_as_utf16(head: bytes, name: str) -> bool:
    sample = head[: 1 << 14]
    text = sample[: len(sample) & ~1].decode(name, "replace")
    if len(text) < 2:
        return False
    ascii_share = sum(1 for ch in text if ch < "\x7f") / len(text)
    return ascii_share > 0.04 and len(_READABLE.findall(text)) >= 0.95 * len(text)


class Legacy:
    """Decodes the lines of one stream that are not UTF-8; what it has seen makes it surer of the next."""

    def __init__(self) -> None:
        self._totals = dict.fromkeys(LEGACY, 0.0)
        self._garbage = 0.0
        self._seen = 0

    @property
    def encoding(self) -> str | None:
        """The encoding in which the lines so far are best read, or None where it is none of the four."""
        best = max(self._totals, key=lambda name: self._totals[name])
        return best if self._seen and self._totals[best] >= self._garbage else None

    def learn(self, lines: list[bytes]) -> None:
        """Take account of lines that are not UTF-8, before they are decoded."""
        for line in lines[: _ENOUGH_LINES - self._seen]:
            for name, score in scores(line).items():
                self._totals[name] += score
            self._garbage += _GARBAGE * _high(line)
            self._seen += 1

    def decode(self, line: bytes) -> tuple[str, bool]:
        """The text of a line that is not UTF-8, and whether all of it could be read."""
        usual = self.encoding
        name = usual
        if self._seen < _ENOUGH_LINES or name is None or not _decodes(line, name):
            own = scores(line)
            if usual is not None:
                own[usual] += _BENEFIT
            best = max(own, key=lambda candidate: own[candidate])
            name = best if own[best] >= _GARBAGE * _high(line) else usual
        if name is None:
            return line.decode("utf-8", "replace"), False
        text = line.decode(name, "replace")
        return text, "\ufffd" not in text

    def misread(self, text: str) -> bool:
        """Whether a line that happens to be valid UTF-8 is rather legacy bytes: odd letters in a run."""
        return self.encoding in ("cp949", "gb18030") and bool(_ODD_RUN.search(text)) and max(text) < "\u0800"


_ENOUGH_LINES = 2000
_BENEFIT = 12.0
_ODD_RUN = re.compile("[\u0080-\u03ff\u0530-\u07ff]{2,}")


def _decodes(line: bytes, name: str) -> bool:
    try:
        line.decode(name)
    except UnicodeDecodeError:
        return False
    return True


def _high(line: bytes) -> int:
    return len(line) - len(line.translate(None, _HIGH))


_HIGH = bytes(range(128, 256))


def scores(line: bytes) -> dict[str, float]:
    """Logarithm of the probability of the bytes as text in each legacy encoding."""
    return {
        name: (_characters if name in ("cp949", "gb18030") else _letters)(line[:4096].decode(name, "replace"), name)
        for name in LEGACY
    }


@cache
def _frequencies(name: str) -> dict[str, float]:
    common = _SYLLABLES if name == "cp949" else _HANZI
    ranked = list(dict.fromkeys(common))
    total = sum(1 / (rank + 20) for rank in range(len(ranked)))
    table = {ch: log(0.8 / (rank + 20) / total) for rank, ch in enumerate(ranked)}
    for ch in "，。：；！？、（）“”《》" if name == "gb18030" else "“”‘’·…":
        table[ch] = log(0.004)
    return table


def _characters(text: str, name: str) -> float:
    """For Korean and Chinese: by the frequency of characters."""
    table = _frequencies(name)
    total = 0.0
    for ch in text:
        if ch < "\x80":
            continue
        known = table.get(ch)
        total += _rare(ch, name) if known is None else known
    return total


@cache
def _rare(ch: str, name: str) -> float:
    """For a character that is not among the common ones: by the part of the character set it is in."""
    try:
        lead, trail = ch.encode(name)[:2]
    except (UnicodeEncodeError, ValueError):
        return _ALIEN
    if name == "cp949" and "\uac00" <= ch <= "\ud7a3":
        return log(0.14 / 2150) if lead >= 0xB0 and trail >= 0xA1 else log(0.002 / 8822)
    if name == "gb18030" and "\u4e00" <= ch <= "\u9fff":
        return log(0.17 / 3500) if 0xB0 <= lead <= 0xD7 and trail >= 0xA1 else log(0.004 / 17000)
    return _ALIEN


_ALIEN = log(1e-6)


def _letters(text: str, name: str) -> float:
    """For Russian: by the frequency of letters and their pairs, and by where capitals stand."""
    total = 0.0
    for found in _WORD.finditer(text):
        word = found.group()
        total += _word(word)
        around = text[found.start() - 1 : found.start()] + text[found.end() : found.end() + 1]
        if any(ch.isascii() and ch.isalpha() for ch in around):
            total -= 4.0
    rest = _WORD.sub("", text)
    for ch in rest:
        if ch < "\x80":
            continue
        if name == "cp1251" and ch in "«»—–№“”„‘’…\u00a0":
            total += log(0.01)
        elif name == "koi8-r" and "\u2500" <= ch <= "\u259f":
            total += log(1e-4)
        else:
            total += log(1e-5)
    return total


def _word(word: str) -> float:
    low = word.lower().replace("ё", "е")
    total = sum(log(_LETTERS.get(ch, 0.0001)) for ch in low)
    for one, two in pairwise(low):
        total += 0.5 if one + two in _PAIRS else -2.0
    if word.islower():
        return total
    if word[1:].islower() or len(word) == 1:
        return total - 1.5
    if word.isupper():
        return total - 2.5
    return total - 3.0 * sum(1 for one, two in pairwise(word) if one.islower() and two.isupper()) - 3
