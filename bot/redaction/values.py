"""What stands behind a label: where the value starts and ends, and whether it is one that may be seen."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.redaction.rule import Found

MARK = b"[redacted"
"""How a stand-in begins; what holds one has been redacted before."""

WINDOW = 2048
"""Bytes behind a label in which its value is looked for: bounds the work for each label."""

COLOUR = (
    rb"(?:(?:\x1b|\\{1,4}(?:x1[bB]|u001[bB]|0?33|[eE])|\^\[|\xe2\x90\x9b)(?:\[[0-9;:?]{0,20}[A-Za-z]|\([AB0])"
    rb"|\[[0-9;]{1,20}m)"
)
"""A code of a terminal: the bytes themselves, as JSON, shells and editors spell them, or what is left without ESC."""
_COLOURS = re.compile(rb"(?:" + COLOUR + rb"){1,8}")

_OPEN = re.compile(
    rb"(?:[bBfFrRuU]{0,2})(?P<quote>\"{3}|'{3}|\\{0,3}[\"'`]|\xe2\x80[\x9c\x98\x9e]|\xc2\xab|\xe3\x80\x8c|\xe3\x80\x8e)"
)
_CLOSING = {
    b"\xe2\x80\x9c": (b"\xe2\x80\x9d",), b"\xe2\x80\x9e": (b"\xe2\x80\x9d", b"\xe2\x80\x9c"),
    b"\xe2\x80\x98": (b"\xe2\x80\x99",), b"\xc2\xab": (b"\xc2\xbb",),
    b"\xe3\x80\x8c": (b"\xe3\x80\x8d",), b"\xe3\x80\x8e": (b"\xe3\x80\x8f",),
}  # fmt: skip
_WIDE_STOP = rb"\xef\xbc[\x8c\x9b\x89\x81]|\xe3\x80[\x80\x81\x82\x8d\x8f]|\xe2\x80[\x9d\x99\xa6]|\xc2\xbb|\xc2\xa0"
_BARE = re.compile(
    rb"(?:(?!" + _WIDE_STOP + rb"|\^\[\[)[^\s\"'`<>,;&|(){}\[\]\\\x1b]"
    rb"|[,;&|](?![\s\"'`}\])\\]|\Z|[\w][\w .-]{0,40}[=:])"  # within a password, unless the next parameter begins
    rb"|[)\]}](?=[A-Za-z0-9!@#$%^*~])"
    rb"|\\(?![nrtuvfx\"'`\\]|0?33\[|[eE]\[|\Z)"
    rb"){1,2048}"
)
_MORE = re.compile(rb"[^\s\"'`<>,;&\\]{0,16384}")
_BRACKET = re.compile(rb"[(\[{][^\s\"'`]{0,256}")
_CALL = re.compile(rb"[A-Za-z_][\w.]*[(\[]")
_TYPE = re.compile(
    rb"(?:typing\.)?(?:str|bytes|string|SecretStr|Any|object|(?:Optional|Union|Annotated|[Ll]ist|[Ss]equence)\[[^\]\n]{0,80}\])"
    rb"(?:[ \t]{0,2}\|[ \t]{0,2}[\w.\[\]]{1,40}){0,4}(?![\w./+!@#$%-])(?:[ \t]{0,4}=(?!=)[ \t]{0,4})?"
)
_SECRET_CALL = re.compile(rb"(?:[\w.]{0,40})?(?:[Ss]ecret\w{0,12}|SecretStr|Password)\((?=[bru]{0,2}\\{0,3}[\"'])")
_LIST = re.compile(rb"[\[(][\s]{0,80}")
_NEXT = re.compile(rb"[\s]{0,8}\x1b?(?:\[[0-9;]{0,8}m)?,[\s]{0,80}")

_HARMLESS = re.compile(
    rb"(?i)(?:none|null|nil|undefined|true|false|yes|no|on|off|n/?a|unset|not|empty|default|auto|required|optional"
    rb"|missing|invalid|incorrect|wrong|expired|rejected|denied|failed|failure|error|unknown|unauthorized|forbidden"
    rb"|redacted|hidden|masked|omitted|removed|provided|given|present|absent|configured|available|accepted|verified"
    rb"|disabled|enabled|str|string|bytes|int|bool|any|object|secretstr|value|the|an?|is|was|are|must|should|can(?:not)?"
    rb"|may|will|if|for|from|in|on|to|of|and|or|with|without|please|enter|type|see|use|used|using|set|sets|than|that"
    rb"|this|your|my|has|have|does|did|but|because|when|where|which|while|so|as|at|by|only|also|instead|here|flag"
    rb"|option|options|argument|arguments|parameter|header|headers|environment|env|variable|command|field|file"
    rb"|bearer|basic|token|key|secret|password|authentication|authorization|api[_-]?key|credentials?"
    rb"|check|checking|changed|supply|generated|stored|loaded|loading|reading|found|got|expected|length|type"
    rb"|your[_-].*|(?:insert|replace|put)[_-].*|.*[_-](?:here|placeholder|goes-here)"
    rb"|(?:YOUR|MY|THE|A|SOME)?_?(?:[A-Z]+_){0,3}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)S?"
    rb"|[*\xe2\x80\xa2\xa6x.#_-]*|\.{2,}.*|<.*|\$\{.*|\$\(.*|\$[A-Za-z_]\w*|\{.*|%\(.*|%[sdr]|@[./].*)"
)
_CODE = re.compile(
    rb"(?:self|cls|args|os|config|cfg|conf|settings|env|environ|request|req|kwargs|options|opts|params?|app|state|ctx"
    rb"|context|data|envs|values|Values|module|getpass|client|user|info|secrets|var|local|node)\.[A-Za-z_][\w.]*"
    rb"|[a-z_]{1,40}\.[A-Z][A-Z_]{1,40}"
    rb"|(?:hf_|auth_|access_|api_)?(?:tokens?|api_keys?|secrets?|passwords?|passwd)"
)
_PATH = re.compile(
    rb"(?:~|\.{1,2})?/(?:\.?(?:etc|run|var|root|home|usr|opt|mnt|data|tmp|workspace|secrets?|app|dev|proc|srv|Users"
    rb"|vault|v[12]|api|models?|config|certs?|keys?|ssh|kube|cache|serviceaccount)\b)[\w./@+-]*|(?:~|\.{1,2})/[\w./@+-]+|[A-Za-z]:\\.*"
)
_STOPWORDS = frozenset(
    "нет неверный неверен неправильный обязателен обязательный пустой задан указан верный истёк истек не есть"
    " 없음 필요 오류 확인 틀림 만료 없습니다 错误 无效 必填 为空 正确 过期 缺失 不正确".encode().split()
)


_NAME = re.compile(rb"[A-Za-z_][A-Za-z_.]*")


def is_harmless(value: bytes, label: bytes = b"") -> bool:
    """Whether a value says that there is no secret: a placeholder, a type, code, a word of a sentence, a path.

    `label`: as in `password=db_password`, which is code.
    """
    if MARK in value or not value.strip(b" *._-\xe2\x80\xa6"):
        return True
    if len(value) > 512:
        return False
    if label and _NAME.fullmatch(value) and _letters(value).endswith(_letters(label)):
        return True
    return any(pattern.fullmatch(value) for pattern in (_HARMLESS, _CODE, _PATH)) or value.lower() in _STOPWORDS


def behind_colours(data: bytes, at: int) -> int:
    """Where the text goes on behind the colour codes at `at`."""
    colours = _COLOURS.match(data, at)
    return colours.end() if colours is not None else at


def _letters(name: bytes) -> bytes:
    return re.sub(rb"[^a-z]", b"", name.lower())


def looks_random(value: bytes, least: int = 8) -> bool:
    """Whether a value is hardly a word: long enough, with digits among letters or with signs that words do not have."""
    if len(value) < least:
        return False
    head = value[:512]
    digits = sum(head.count(digit) for digit in (b"%d" % number for number in range(10)))
    letters = len(head) - len(re.sub(rb"[A-Za-z]", b"", head))
    signs = re.search(rb"[!@#$%^&*+=~?]", head) is not None
    mixed = re.search(rb"[a-z][A-Z]|[A-Z]{2,}[a-z]", head) is not None and len(head) >= 16
    return bool((digits and letters) or (signs and (letters or digits)) or mixed)


_KEY = re.compile(rb"[\w.~+/=!@#$%^&*-]+")


def looks_like_key(value: bytes) -> bool:
    """Whether a value can hardly be anything but a key, so that it needs no sign between it and its label."""
    if len(value) < 12 or _KEY.fullmatch(value) is None or not re.search(rb"[0-9]", value):
        return False
    mixed = re.search(rb"[a-z]", value) is not None and re.search(rb"[A-Z]", value) is not None
    return mixed or (len(value) >= 24 and re.search(rb"[A-Za-z]", value) is not None)


def values(data: bytes, at: int) -> Iterator[Found]:
    """The values that begin at `at`: one in quotes or bare, or those of a list. Harmless ones too."""
    at = behind_colours(data, at)
    call = _SECRET_CALL.match(data, at)
    typed = _TYPE.match(data, at) if call is None else None
    if typed is not None:
        at = typed.end()
        if not typed.group().rstrip(b" \t").endswith(b"="):
            return
        call = _SECRET_CALL.match(data, at)
    if call is not None:
        at = call.end()
    elif data[at : at + 1] in (b"[", b"(") and not data.startswith(MARK, at):
        yield from _list(data, at)
        return
    found = quoted(data, at) or bare(data, at)
    if found is not None:
        yield found


def _list(data: bytes, at: int) -> Iterator[Found]:
    opening = _LIST.match(data, at)
    at = opening.end() if opening is not None else at
    for _ in range(64):
        found = quoted(data, at) or bare(data, at)
        if found is None:
            return
        yield found
        at = found[1]
        while data[at : at + 1] in (b"\\", b'"', b"'"):
            at += 1
        following = _NEXT.match(data, at)
        if following is None:
            return
        at = following.end()


def quoted(data: bytes, at: int) -> Found | None:
    """The value in quotes that opens at `at`; without a closing quote on the line it is the first word."""
    opening = _OPEN.match(data, at)
    if opening is None:
        return None
    start, quote = opening.end(), opening.group("quote")
    window = data[start : start + WINDOW]
    end_of_line = window.find(b"\n")
    line = window if end_of_line < 0 else window[:end_of_line]
    ends = [end for closing in _CLOSING.get(quote, (quote,)) if (end := _unescaped(line, closing)) >= 0]
    if ends:
        return (start, start + min(ends)) if min(ends) else None
    return bare(data, start)


def _unescaped(line: bytes, closing: bytes) -> int:
    end = line.find(closing)
    while end > 0 and line[end - 1 : end] == b"\\" and not closing.startswith(b"\\"):
        end = line.find(closing, end + 1)
    return end


def bare(data: bytes, at: int, most: int = WINDOW) -> Found | None:
    """The value without quotes that begins at `at`; None where code is called. `most`: bytes of a word."""
    match = _BARE.match(data, at, at + most)
    if match is None:
        return None
    end = match.end()
    if end - at >= WINDOW:
        more = _MORE.match(data, end)
        end = more.end() if more is not None else end
    elif data[end : end + 1] in (b"(", b"[", b"{") and behind_colours(data, end) == end:
        if _CALL.match(data, at) is not None:
            return None
        bracket = _BRACKET.match(data, end)
        end = bracket.end() if bracket is not None else end
    while end > at and data[end - 1 : end] in (b".", b",", b":", b"?") and data[end : end + 1] in (b"", b" ", b"\n"):
        end -= 1
    return (at, end) if end > at else None
