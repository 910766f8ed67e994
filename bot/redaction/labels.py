"""Secrets that show by the label before them: `api_key=…`, `"password": "…"`, `--token …`, `- name: HF_TOKEN`.

A label is a keyword at the end of a name (`VLLM_API_KEY`, `dbPassword`, `x-api-key`), then a sign or a word that gives
it a value. The value is judged by how much the label says: `password: abcd` is a secret, `token: abcd` is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from bot.redaction.rule import Found, Rule
from bot.redaction.values import (
    COLOUR,
    MARK,
    bare,
    behind_colours,
    is_harmless,
    looks_like_key,
    looks_random,
    quoted,
    values,
)

_SEP = "[_. -]?"
_STRONG = (
    f"api{_SEP}key", f"api{_SEP}token", f"api{_SEP}secret", "passw(?:or)?d", "passphrase", "passcode", "pwd",
    f"secret{_SEP}access{_SEP}key", f"access{_SEP}key{_SEP}secret", f"access{_SEP}key{_SEP}id", f"secret{_SEP}key",
    f"access{_SEP}key", f"private{_SEP}key", f"account{_SEP}key", f"shared{_SEP}access{_SEP}(?:key|signature)",
    f"(?:client|app|signing|webhook|consumer|shared|jwt|oauth|cookie|session){_SEP}secret",
    "(?:signing|encryption|master|auth|deploy|subscription|storage|service|license|ssh)[_.-]?key",
    "(?:db|database|user|admin|root|mysql|pg|postgres|redis|smtp|ftp|proxy|login|ssh|sudo|registry|docker|mongo|ldap"
    "|rabbitmq|bmc|ipmi|idrac|vnc|vpn)[_.-]?pass",
)  # fmt: skip
_MEDIUM = ("secret", "credential", "_auth", '"auth')
_SHORT = "(?:pass|pw)(?=[\"' ]{0,4}(?:[=:]|%3[ADad]|" + COLOUR.decode("latin-1") + "))"
_KEYWORD = re.compile(
    f"(?P<strong>{'|'.join(_STRONG)})|(?P<medium>{'|'.join((*_MEDIUM, _SHORT))})|(?P<token>token)".encode("latin-1"),
    re.I,
)

_SUFFIX = re.compile(
    rb"s?(?:[_-]?[0-9]{1,3})?(?:[_-](?P<word>[A-Za-z]{1,12})|(?P<camel>[A-Z][a-z]{1,12}))?(?![A-Za-z])"
)
_VALUE_WORDS = frozenset(
    b"prod dev test staging stage live value primary secondary main backup new old local ro rw internal plain text raw"
    b" base b encoded str string us eu cn".split()
)
"""What may stand behind the keyword in the name of a secret; `_FILE`, `_NAME`, `_HASH`, `_ids` and others may not."""
_CLOSE = re.compile(
    rb"(?:\\{0,3}[\"'`]|%2[27]|\xe2\x80[\x9c\x9d])?[\]*]{0,2}(?:[ \t]{0,2}[\[(][^\])\n]{0,40}[\])])?\*{0,2}"
)
_ASSIGN = re.compile(
    rb"[ \t]{0,12}"
    rb"(?:%3[ADad](?:%2[027]){0,2}|:=|=>|->|[?+]=|={1,2}|:|\xef\xbc[\x9a\x9d]|\xe2\x80[\x93\x94]|\xe2\x86\x92)"
    rb"[*]{0,2}(?:[ \t]{0,12}(?:\r?\n[ \t]{0,40}-[ \t]{1,4}|[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,40})|[ \t]{0,12})"
)
_IS = re.compile(
    rb"(?: (?:for|of|on|to) [^\s]{1,40}(?: [^\s:]{1,20})?)?[ \t]{1,3}"
    rb"(?:is|was|are|set to|changed to)(?: now)?:?[ \t]{1,3}"
    rb"| for [^\n]{1,60}?: {1,3}",
    re.IGNORECASE,
)
_SPACE = re.compile(rb"[ \t]{1,4}(?:is[ \t]{1,3})?")
_NEXT_LINE = re.compile(rb"\r?\n[ \t]{0,40}")
_LONE = re.compile(rb"[\w.~+/=!@#$%^&*-]+(?=[ \t]*(?:\r?\n|\Z))")
_DIGIT = re.compile(rb"[0-9]")
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z_.]*")
_KEY_FOLLOWS = re.compile(rb"[\"']?[ \t]?[:=]")
_BETWEEN = re.compile(
    rb"[ \t]{1,8}(?=[^\s\\]|" + COLOUR + rb")"
    rb"|\\{0,3}[\"'],[ \t]{0,8}(?:\r?\n[ \t]{0,60})?(?=[\"'\\])"  # a list of JSON or Python
    rb"|\\{0,3}[\"']?[ \t]{0,4}\r?\n[ \t]{0,60}-[ \t]{1,4}"  # a list of YAML
    rb"|[ \t]{1,4}\\\r?\n[ \t]{0,40}"  # a shell command that goes on in the next line
)
_ITEM = re.compile(rb"\\{0,3}[\"'],[ \t]{0,4}(?=b?\\{0,3}[\"'])")
_NAMED = re.compile(rb"[nN]ame\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?\Z")
_PAIR = re.compile(
    rb"\\{0,3}[\"']?[ \t]{0,8},?[ \t]{0,8}(?:\r?\n[ \t]{0,60})?"
    rb"\\{0,3}[\"']?[vV]alue\\{0,3}[\"']?[ \t]{0,8}[:=][ \t]{0,8}"
)
_COMMAND = re.compile(
    rb"(?i)(?:^|[\s;&|])(?:env|setenv|set(?:[ \t]{1,4}-(?:[a-z]{1,5}|-[a-z]{4,12})){1,4})[ \t]{1,4}\Z"
)
_BEHIND_ESCAPE = re.compile(rb"(?:" + COLOUR + rb"|\\[nrt])(?P<name>[A-Za-z0-9_./-]*)\Z")
_KEBAB = re.compile(rb"[a-z0-9]+(?:[-.][a-z0-9]+)+")
_LOGIN = re.compile(rb"login[ \t]{1,4}\S{1,80}[ \t]{1,4}\Z")
_NO_SECRET = re.compile(
    rb"(?i)(?:^|[_.-])(?:bos|eos|pad|unk|sep|cls|mask|stop|image|audio|video|vision|special|next|start|end|begin|think"
    rb"|thinking|reasoning|boundary|tool|media|added|prefix|suffix|system|user_turn|role|draft|bonus|target|first|last"
    rb"|per|per_output|output|input|prompt|placeholder|separator|turn|eot|eom|fim|ignore|invalid|unexpected"
    rb"|time_per)[_-]?\Z"
)
_NAME_CHARS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-/"
_PROSE_WORDS = re.compile(rb"[a-z]+")


Strength = Literal["strong", "medium", "token"]


def _find(data: bytes, start: int, _end: int) -> Iterator[Found]:
    keyword = _KEYWORD.match(data, start)
    if keyword is None:
        return
    before = data[max(start - 64, 0) : start]
    escape = _BEHIND_ESCAPE.search(before) if b"[" in before or b"\\" in before else None
    name = escape.group("name") if escape is not None else before[len(before.rstrip(_NAME_CHARS)) :]
    before = before[: escape.start() if escape is not None else len(before) - len(name)]
    strength = _strength(keyword, name, before)
    at = _name_end(data, keyword.end(), strength)
    if strength is None or at is None:
        return
    key = keyword.group()
    for found in _candidates(data, at, before, name, key, strength):
        value = data[found[0] : found[1]]
        if _is_secret(value, key, name, strength):
            yield found


def _strength(keyword: re.Match[bytes], name: bytes, before: bytes) -> Strength | None:
    if keyword.lastgroup == "strong":
        return "strong"
    if keyword.lastgroup == "medium":
        own = name.rpartition(b".")[2].strip(b"-_/")
        if keyword.group().lower() in (b"pass", b"pw"):
            return "medium" if not own or name.endswith((b"_", b"-")) else None
        return "strong" if own and keyword.group().lower() == b"secret" else "medium"
    if _NO_SECRET.search(name or before.rstrip(b" ").rpartition(b" ")[2]):  # also `pad token: …`
        return None
    own = name.rpartition(b".")[2].strip(b"/")
    return "strong" if own.strip(b"-_") or own.startswith(b"--") else "token"


def _name_end(data: bytes, at: int, strength: Strength | None) -> int | None:
    """Where the name ends; None where the keyword is only a part of a name for something else."""
    suffix = _SUFFIX.match(data, at)
    if suffix is None or strength is None:
        return None
    word = suffix.group("word") or suffix.group("camel")
    if word is not None and word.lower() not in _VALUE_WORDS:
        return None
    if data[at : at + 1] == b"s" and data[at - 5 : at].lower() == b"token":
        return None  # counts
    return suffix.end()


def _candidates(data: bytes, at: int, before: bytes, name: bytes, key: bytes, strength: Strength) -> Iterator[Found]:
    """The values that the text gives to the name that ends at `at`."""
    if _NAMED.search(before) and (pair := _PAIR.match(data, at)) is not None:
        yield from values(data, pair.end())
        return
    if before.endswith(b"<") and data[at : at + 1] == b">":
        yield from _one(bare(data, at + 1))
        return
    coloured = behind_colours(data, at)
    close = _CLOSE.match(data, coloured)
    behind = close.end() if close is not None else coloured
    behind = behind_colours(data, behind)
    assign = _ASSIGN.match(data, behind)
    if assign is not None:
        if (name + key).isupper() and behind == at and before[-1:] in (b'"', b"'"):
            yield from _one(_env_item(data, assign.end(), before[-1:]))
            return
        below = _NEXT_LINE.match(data, assign.end())
        if below is None:
            yield from values(data, assign.end())
            return
        for found in values(data, below.end()):
            value = data[found[0] : found[1]]
            if not looks_random(value) or not _DIGIT.search(value) or _KEY_FOLLOWS.match(data, found[1]) is not None:
                continue
            indented = below.group().endswith((b" ", b"\t"))
            if indented or (strength == "strong" and _LONE.match(data, found[0]) and not _KEBAB.fullmatch(value)):
                yield found
        return
    at = coloured
    flag = name.startswith(b"--") or (before.endswith(b"-") and name.startswith(b"-"))
    if flag or _COMMAND.search(before) or (_LOGIN.search(before) and not name):
        between = _BETWEEN.match(data, at)
        if between is not None and between.end() > at:
            yield from _words(data, between.end())
        return
    if before.endswith((b"('", b'("')) or before.endswith((b"(b'", b'(b"')):
        item = _ITEM.match(data, at)
        second = quoted(data, item.end()) if item is not None else None
        if second is not None and data[second[1] + 1 : second[1] + 2] == b")":
            yield second
        return
    yield from _in_words(data, at, strength)


def _in_words(data: bytes, at: int, strength: Strength) -> Iterator[Found]:
    """The value that a sentence gives: `the password for root is …`, `token …`."""
    says = _IS.match(data, at)
    if says is not None and strength == "strong":
        for found in values(data, says.end()):
            value = data[found[0] : found[1]]
            plain = looks_random(value, 6) if b":" in says.group() else _PROSE_WORDS.fullmatch(value) is None
            if plain:
                yield found
        return
    space = _SPACE.match(data, at)
    if space is None:
        return
    start = behind_colours(data, space.end())
    word = quoted(data, start) or bare(data, start)
    if word is not None:
        value = data[word[0] : word[1]]
        in_quotes = word[0] > start and strength == "strong"
        if looks_like_key(value) or (in_quotes and looks_random(value, 6)):
            yield word


def _env_item(data: bytes, at: int, quote: bytes) -> Found | None:
    """The value of `"NAME=value"`, which ends with the quote before the name."""
    window = data[at : at + 4096]
    end = window.find(quote)
    if end > 0 and b"\n" not in window[:end]:
        return at, at + end
    return bare(data, at)


def _one(found: Found | None) -> Iterator[Found]:
    if found is not None:
        yield found


def _words(data: bytes, at: int) -> Iterator[Found]:
    """The value of a flag, and further words that look like keys: `--api-key` of vLLM takes several."""
    at = behind_colours(data, at)
    if data[at : at + 1] in (b"-", b"") or data[at] >= 0x80:
        return
    found = quoted(data, at) or bare(data, at)
    if found is None:
        return
    yield found
    for _ in range(16):
        end = found[1]
        if data[end : end + 1] in (b'"', b"'"):
            end += 1
        if data[end : end + 1] != b" ":
            return
        found = quoted(data, end + 1) or bare(data, end + 1)
        if found is None or not looks_random(data[found[0] : found[1]], 10) or data[found[0] : found[0] + 1] == b"-":
            return
        yield found


def _is_secret(value: bytes, key: bytes, name: bytes, strength: Strength) -> bool:
    label = key.lower()
    if value.startswith(MARK) or is_harmless(value, key):
        return False
    if strength == "token":
        return looks_random(value, 10) and re.fullmatch(rb"[\w.~+/=:-]+", value) is not None
    if strength == "medium":
        if label.endswith(b"auth"):
            return re.fullmatch(rb"[A-Za-z0-9+/_=-]{8,}", value) is not None and looks_random(value)
        return looks_random(value) and _KEBAB.fullmatch(value) is None
    if label == b"token" and _IDENTIFIER.fullmatch(value) and not (name.startswith(b"--") or key.isupper()):
        return False  # code: `out_token = Generic.Error`
    if label == b"pwd" and (value.startswith((b"/", b"~", b".")) or value[1:2] == b":"):
        return False
    if value.isdigit():
        return len(value) >= (4 if label.startswith((b"pass", b"pwd")) else 6) and label != b"token"
    return len(value) >= 3


_NAME_ANCHOR = "|".join((*_STRONG, *_MEDIUM, "(?:pass|pw)(?:[\"' ]{0,4}[=:]|%3[ad]|[\\x1b\\\\^\\[])"))
# "token" is what a language model's log is full of, so more of what follows is asked for
_TOKEN_ANCHORS = (
    "token(?:[_-]?[0-9]{1,3}|[_-][a-z]{1,12})?[\"'`\\\\\\]*]{0,5}[ \\t\\x1b]{0,8}"
    "(?:[=:?+>]|->|\\xef\\xbc|\\xe2[\\x80\\x86])",
    "token(?:[_-]?[0-9]{1,3}|[_-][a-z]{1,12})?(?:%2[27])?%3[ad]",
    "token(?:[_-]?[0-9]{1,3}|[_-][a-z]{1,12})?[\"'` \\t]{0,4}"
    "(?:\\x1b|\\\\{1,4}(?:x1b|u001b|0?33|e)|\\^\\[)?\\[[0-9;]{0,20}m",
    "token[\"'\\\\]{0,4},?[ \\t]{0,4}\\r?\\n",
    "token[\"'\\\\]{0,4},",
    "token[ \\t](?:is |was )?[\"']{0,1}[a-z0-9_.-]{12}",
    "--(?:[a-z0-9]{1,12}[_-]){0,3}token[ \\t]",
    "env[ \\t]{1,4}[a-z0-9_]{0,40}token[ \\t]",
    "set[ \\t]{1,4}-[a-z-]{1,12}[ \\t]{1,4}(?:-[a-z-]{1,12}[ \\t]{1,4})?[a-z0-9_]{0,40}token[ \\t]",
)


def _find_token(data: bytes, start: int, end: int) -> Iterator[Found]:
    at = data[start:end].lower().rfind(b"token")
    return _find(data, start + at, end)


LABELS = (
    Rule(f"(?:{_NAME_ANCHOR})".encode(), _find, caseless=True),
    *(Rule(anchor.encode(), _find_token, caseless=True) for anchor in _TOKEN_ANCHORS),
)
