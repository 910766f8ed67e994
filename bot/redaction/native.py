"""Labels in Korean, Chinese and Russian: `비밀번호: …`, `密码是…`, `пароль — …`, in UTF-8 and in the old encodings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.redaction.rule import Found, Rule
from bot.redaction.values import MARK, WINDOW, bare, behind_colours, is_harmless, looks_random, quoted

_STRONG = (
    "비밀번호", "비밀 번호", "비번", "암호", "패스워드", "패스 워드", "패스프레이즈", "비밀키", "비밀 키", "시크릿 키",
    "시크릿", "개인키", "개인 키", "인증키", "인증 키", "액세스 키", "접근 키", "API 키", "API키", "api 키", "api키",
    "密码", "密碼", "密 码", "密 碼", "口令", "密钥", "密鑰", "秘钥", "金鑰", "私钥", "私鑰",
    "пароль", "пароля", "паролем", "паролю", "пароли", "секретный ключ", "секретного ключа", "секрет", "секреты",
    "ключ API", "ключ api", "ключи API", "ключи api",
    "API-ключ", "api-ключ", "API ключ", "ключ доступа", "закрытый ключ", "приватный ключ", "кодовая фраза",
)  # fmt: skip
_WEAK = ("토큰", "令牌", "权杖", "權杖", "токен", "токена")
_TITLES = tuple(word[0].upper() + word[1:] for word in (*_STRONG, *_WEAK) if word[0] in "пкстз")
_CAPITALS = ("ПАРОЛЬ", "ПАРОЛИ", "СЕКРЕТ", "ТОКЕН", "КЛЮЧ API")
_WEAK_START = tuple(word.encode() for word in ("토큰", "令牌", "权杖", "權杖", "токен", "Токен", "ТОКЕН"))

_LETTER = rb"(?:[\xd0\xd1][\x80-\xbf]|[\xe1-\xed][\x80-\xbf][\x80-\xbf])"
_PARTICLE = "는|은|이|가|를|을|是|为|為|设为|設為|改为|改成"
_ASSIGN = re.compile(
    ("(?:" + _PARTICLE + ")?[\"'»”\\]*]{0,2}(?:[ \t]{0,2}[(（][^)\n]{0,40}[)）])?").encode()
    + r"[ \t]{0,8}(?:[:=]|：|＝|->|=>|→|—|–|- )[*]{0,2}[ \t]{0,8}(?:　)?".encode()
)
_SAYS = re.compile(
    (
        rf"(?:[ \t]{{0,2}}(?:{_PARTICLE}|это|теперь)(?:了)?[ \t]{{0,4}}|[ \t]{{0,2}}[(（][ \t]{{0,2}}"
        r"|[ \t]{0,4}(?=[!-~«“„「『]))"
    ).encode()
)
_GAP = re.compile(
    rb"(?:" + _LETTER + rb"|[ \tA-Za-z0-9_.@-]){1,48}?[ \t]{0,2}(?::|=|\xef\xbc[\x9a\x9d]|\xe2\x80[\x93\x94])[ \t]{0,4}"
)
_ASCII = re.compile(rb"[!-~]+")
_OTHER_WORD = re.compile("화|수|량|길이|개수|数|长度|数量".encode())
"""암호화 is encryption, 토큰 수 a number of tokens."""
_CYRILLIC = re.compile(rb"(?:[\xd0\xd1][\x80-\xbf]){5,}")
_WORD_FOLLOWS = re.compile(rb"[,.]?[ \t]{1,4}[^\s]")
_WIDE = re.compile(rb"(?:\xef\xbc[\x81-\xbf]|\xef\xbd[\x80-\x9e]|[!-~]){4,}")
"""Full-width signs, as an input method of East Asia types them."""
_HANGUL = re.compile(rb"(?:[\xea-\xed][\x80-\xbf][\x80-\xbf]){5,}")
_SENTENCE_END = tuple(word.encode() for word in "음됨함임다요오중료류패공능")
"""How Korean statements end: `암호:필요없음`."""
_CYRILLIC_KEY = re.compile(rb"[ \t]{1,2}(?P<value>(?:[\xd0\xd1][\x80-\xbf]){3,40}[0-9!@#$%^&*_]{2,40})(?=[\s.,;]|\Z)")
_LONE_BELOW = re.compile(rb"\r?\n[ \t]{0,40}(?P<value>[\w.~+/=!@#$%^&*-]{8,256})[ \t]*(?=\r?\n|\Z)")
_DIGIT = re.compile(rb"[0-9]")
_HOST = re.compile(rb"[A-Za-z0-9]+(?:[-.:/][A-Za-z0-9]+)+")
_FOR = re.compile(
    r"[ \t]{1,2}(?:от|для|к)[ \t]{1,2}[^\s:=]{1,60}(?:[ \t][^\s:=]{1,40})?[ \t]{1,3}(?=[!-~]{8})".encode()
)
_SECOND = re.compile(rb"[^\x00-\x7f]")


def _find(data: bytes, start: int, end: int) -> Iterator[Found]:
    weak = data.startswith(_WEAK_START, start)
    if _OTHER_WORD.match(data, end + (data[end : end + 1] == b" ")):
        return
    end = behind_colours(data, end)
    assign = _ASSIGN.match(data, end)
    if assign is not None:
        below = _LONE_BELOW.match(data, assign.end())
        if below is not None and not weak:
            if looks_random(below.group("value")) and _DIGIT.search(below.group("value")):
                yield below.span("value")
            return
        found = _value(data, behind_colours(data, assign.end()))
        if found is not None and _assigned(data, *found, weak=weak):
            yield found
        return
    says = _SAYS.match(data, end)
    if says is not None:
        found = _value(data, says.end())
        if found is not None:
            value = data[found[0] : found[1]]
            apart = not says.group().strip(b" \t")
            if not is_harmless(value) and value.isascii() and looks_random(value, 8 if apart or weak else 4):
                yield found
                return
    word = _CYRILLIC_KEY.match(data, end)
    if word is not None and not weak:
        yield word.span("value")
        return
    signed = _GAP.match(data, end)
    gap = signed or _FOR.match(data, end)
    if gap is not None:
        found = _value(data, gap.end())
        value = data[found[0] : found[1]] if found is not None else b""
        if signed is None and _HOST.fullmatch(value):
            return
        if found is not None and value.isascii() and not is_harmless(value) and looks_random(value, 6) and not weak:
            yield found


def _value(data: bytes, at: int) -> Found | None:
    found = quoted(data, at) or bare(data, at, 128 if data[at : at + 1] >= b"\x80" else WINDOW)
    if found is None:
        return None
    start, end = found
    ascii_part = _ASCII.match(data, start, end)
    if ascii_part is not None and ascii_part.end() - start >= 4 and _SECOND.search(data, ascii_part.end(), end):
        end = ascii_part.end()  # `abcd1234입니다`
    return start, end


def _assigned(data: bytes, start: int, end: int, *, weak: bool) -> bool:
    value = data[start:end]
    if value.startswith(MARK) or is_harmless(value):
        return False
    if weak:
        return value.isascii() and looks_random(value, 10)
    if value.isascii():
        return len(value) >= 4
    if re.search(rb"[A-Za-z0-9!@#$%^&*_]", value):
        return len(value) >= 6
    if _WIDE.fullmatch(value):
        return True
    if _HANGUL.fullmatch(value) and not value.endswith(_SENTENCE_END):
        return _WORD_FOLLOWS.match(data, end) is None
    # One Cyrillic word is a password, several are a sentence
    return _CYRILLIC.fullmatch(value) is not None and _WORD_FOLLOWS.match(data, end) is None


# In the old encodings: the label, up to eight bytes of particles, a sign, a value in ASCII.
_OLD = tuple(
    dict.fromkeys(
        raw
        for encoding, words in (
            ("cp949", ("비밀번호", "비번", "암호", "패스워드")),
            ("gb18030", ("密码", "口令", "密钥")),
            ("big5", ("密碼", "金鑰")),
            ("cp1251", ("пароль", "Пароль", "ПАРОЛЬ")),
            ("koi8-r", ("пароль", "Пароль", "ПАРОЛЬ")),
            ("cp866", ("пароль", "Пароль", "ПАРОЛЬ")),
        )
        for word in words
        for raw in [word.encode(encoding)]
        if "\N{REPLACEMENT CHARACTER}" in raw.decode("utf-8", "replace")  # never a part of UTF-8 text
    )
)
_OLD_VALUE = re.compile(
    rb"(?:[\x80-\xff \t]{0,8}?(?:[:=]|\xa3[\xba\xbd]|\xa1\x47)|[\x80-\xff \t]{0,8})[ \t]{0,4}[\"']?"
    rb"(?P<value>[!-&(-~]{4,256})"
)


def _find_old(data: bytes, _start: int, end: int) -> Iterator[Found]:
    match = _OLD_VALUE.match(data, end)
    if match is None:
        return
    value = match.group("value").rstrip(b"\"',.;")
    signed = re.search(rb"[:=]|\xa3[\xba\xbd]|\xa1\x47", data[end : match.start("value")]) is not None
    if not is_harmless(value) and (len(value) >= 4 if signed else looks_random(value)):
        yield match.start("value"), match.start("value") + len(value)


def _alternatives(words: tuple[bytes, ...]) -> bytes:
    return b"(?:" + b"|".join(b"".join(b"\\x%02x" % byte for byte in word) for word in words) + b")"


_WORDS = tuple(dict.fromkeys(word.encode() for word in (*_STRONG, *_WEAK, *_TITLES, *_CAPITALS)))
NATIVE = (Rule(_alternatives(_WORDS), _find), Rule(_alternatives(_OLD), _find_old))
