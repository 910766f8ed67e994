"""Secrets of HTTP and of commands: Authorization, cookies, URLs with passwords, `curl -u`, `sshpass -p` …"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.redaction.rule import Finder, Found, Rule
from bot.redaction.values import COLOUR, MARK, bare, behind_colours, is_harmless, looks_like_key, looks_random, quoted

_AUTHORIZATION = re.compile(
    rb"authorization\\{0,3}[\"'`]?\]?(?:" + COLOUR + rb"){0,4}"
    rb"(?:[ \t]{0,4}(?:=>|[:=])[ \t]{0,4}(?:[bfr]?\\{0,3}[\"'`])?|[ \t]{0,4},[ \t]{0,4}[bfr]?\\{0,3}[\"'`])"
    rb"(?:" + COLOUR + rb"){0,4}"
    rb"(?P<scheme>(?:bearer|basic|token|negotiate|ntlm|api-?key|bot|key|splunk|sso-key|digest|hawk|oauth|aws4-hmac-sha256)"
    rb"(?:[ \t]{1,4}|%20|\+))?",
    re.IGNORECASE,
)
_WHOLE_LINE = (b"digest", b"hawk", b"oauth", b"aws4")
_HEADER = re.compile(rb"(?:(?!\\[nr])[^\r\n]){1,1000}")
_CREDENTIAL = re.compile(rb"[^\s\"'`,;\\<>()\[\]{}]{3,4096}")
_BEARER = re.compile(rb"bearer[ \t]{1,4}(?:" + COLOUR + rb"){0,4}(?P<value>[A-Za-z0-9._~+/=-]{8,4096})", re.IGNORECASE)
_COOKIE = re.compile(
    rb"cookie\\{0,3}[\"']?(?:[ \t]{0,4}:[ \t]{0,4}(?:b?\\{0,3}[\"'])?|,[ \t]{0,4}b?\\{0,3}[\"'])"
    rb"(?P<value>[\w.%-]{1,80}=(?:(?!\\[nr\"'])[^\r\n\"']){3,4096})",
    re.IGNORECASE,
)
_HOST = rb"@(?!sha\d{3}:)(?=[\w.\[{$-]{1,255}(?:[:/?#,\s\"'`)}\]>\\;|]|\Z))"
_USERINFO = re.compile(
    rb"://(?P<user>[^\s:/@\[\]\"'<>?#`\\]{0,100}):(?!\d{1,5}(?:[/,?#\s\"'`)\\]|\Z))(?P<value>"
    # A password with `/` and `@` in it is likelier than a path with `@`: up to the last one, but not beyond a `?`
    rb"(?:[^\s\"'<>`/?#]|/(?!/)){1,256}(?=" + _HOST + rb")|(?:[^\s\"'<>`/]|/(?!/)){1,256}?(?=" + _HOST + rb"))"
)
_ENCODED = re.compile(
    rb"%3A%2F%2F[^\s:/@\"'<>?&#%]{0,100}%3A(?P<value>(?:(?!%2F|%3F|%40)[^\s\"'<>?&#]){1,256})%40", re.IGNORECASE
)
_USER_TOKEN = re.compile(rb"://(?P<value>[A-Za-z0-9_.~-]{20,255})@(?!sha\d{3}:)[\w\[]")
_QUERY = re.compile(rb"[^\s&\"'<>#;`)\\\]}|,]{4,4096}")
_PARAMETERS = (
    "x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature|x-goog-credential|x-oss-signature|x-cos-signature"
    "|ossaccesskeyid|awsaccesskeyid|googleaccessid|signature|sig|token|access_token|refresh_token|id_token|security-token"
    "|api[_-]?key|key|subscription-key|secret|client_secret|password|passwd|pwd|pass|auth|authorization|code|session"
    "|sessionid|jwt|sas|credential|private_token|job_token|pat|t"
)
_SHORT_ENOUGH = re.compile(rb"(?i)(?:password|passwd|pwd|pass|secret|client_secret|\w*token|api[_-]?key)\Z")

_CURL = re.compile(
    rb"(?:(?:-u|--user|--proxy-user)(?:[ \t]{1,4}|=)|-u)\\{0,3}[\"']?[^\s:\"'@]{1,64}:(?P<value>[^\s\"']{2,256})"
)
_HTTP_TOOLS = (b"curl", b"wget", b"lftp")
_LOGIN = re.compile(rb"login\b[^\n|;&]{0,160}?[ \t]-p[ \t]{1,4}(?=[^\s-])", re.IGNORECASE)
_LOGIN_TOOLS = re.compile(rb"(?:docker|podman|nerdctl|helm|registry|oras|skopeo|crane|buildah|az|oc|ctr)[ \t]{1,4}\Z")
_MYSQL = re.compile(rb"mysql(?:dump|admin)?\b[^\n|;&]{0,100}?[ \t]-p(?=[^\s-])")
_IPMI = re.compile(rb"ipmitool\b[^\n|;&]{0,160}?[ \t]-P[ \t]{0,4}(?=[^\s-])")
_PASS_ARGUMENT = re.compile(rb"-pass(?:in|out)?[ \t=]{1,4}[\"']?pass:")
_LITERAL = re.compile(rb"--from-literal(?:=|[ \t]{1,4})[\"']?[\w.-]{1,80}=")
_KEYED = re.compile(
    rb"(?:wandb[ \t]{1,4}login|authtoken|vault[ \t]{1,4}login)[ \t]{1,4}(?:--?[\w=:/.-]{1,60}[ \t]{1,4}){0,3}"
)
_ECHO = re.compile(
    rb"(?:echo|printf)[ \t]{1,4}(?:-\w{1,3}[ \t]{1,4}|[\"']?%s(?:\\n)?[\"']?[ \t]{1,4})?[\"']?"
    rb"(?P<value>[^\s\"'|$]{4,512})"
)


def _authorization(data: bytes, start: int, _end: int) -> Iterator[Found]:
    match = _AUTHORIZATION.match(data, start)
    if match is None:
        return
    scheme = (match.group("scheme") or b"").lower()
    value = (_HEADER if scheme.startswith(_WHOLE_LINE) else _CREDENTIAL).match(data, behind_colours(data, match.end()))
    if value is None or is_harmless(value.group()):
        return
    if scheme or looks_random(value.group(), 6) or len(value.group()) >= 20:
        yield value.span()


def _bearer(data: bytes, start: int, _end: int) -> Iterator[Found]:
    match = _BEARER.match(data, start)
    if match is not None and (looks_random(match.group("value")) or match.end("value") - match.start("value") >= 24):
        yield match.span("value")


def _cookie(data: bytes, start: int, _end: int) -> Iterator[Found]:
    match = _COOKIE.match(data, start)
    if match is not None and MARK not in match.group("value"):
        yield match.span("value")


def _url(data: bytes, start: int, _end: int) -> Iterator[Found]:
    if data.find(b"@", start, start + 400) < 0:
        return
    for pattern in (_USERINFO, _USER_TOKEN):
        match = pattern.match(data, start)
        if match is not None:
            value = match.group("value")
            if not is_harmless(value) and (pattern is _USERINFO or looks_random(value)):
                yield match.span("value")
            if pattern is _USERINFO and looks_like_key(match.group("user")):
                yield match.span("user")
            return


def _parameter(data: bytes, start: int, end: int) -> Iterator[Found]:
    match = _QUERY.match(data, end)
    if match is None or is_harmless(match.group()):
        return
    if _SHORT_ENOUGH.search(data[start:end].removesuffix(b"=")) or len(match.group()) >= 12:
        yield match.span()


def _encoded(data: bytes, start: int, _end: int) -> Iterator[Found]:
    match = _ENCODED.match(data, start)
    if match is not None and not is_harmless(match.group("value")):
        yield match.span("value")


def _joined(data: bytes, start: int, end: int) -> Iterator[Found]:
    return _curl(data, start + 1, end)


def _curl(data: bytes, start: int, _end: int) -> Iterator[Found]:
    match = _CURL.match(data, start)
    line = max(data.rfind(b"\n", max(start - 2000, 0), start), start - 2000, 0)
    if match is None or not any(data.find(tool, line, start) >= 0 for tool in _HTTP_TOOLS):
        return
    if not is_harmless(match.group("value")):
        yield match.span("value")


def _option(pattern: re.Pattern[bytes], least: int = 1) -> Finder:
    def find(data: bytes, start: int, _end: int) -> Iterator[Found]:
        match = pattern.match(data, start)
        if match is not None:
            yield from _argument(data, match.end(), least)

    return find


def _argument(data: bytes, at: int, least: int = 1) -> Iterator[Found]:
    found = quoted(data, at) or bare(data, at)
    if found is not None and found[1] - found[0] >= least and not is_harmless(data[found[0] : found[1]]):
        yield found


def _login(data: bytes, start: int, _end: int) -> Iterator[Found]:
    match = _LOGIN.match(data, start)
    if match is not None and _LOGIN_TOOLS.search(data[max(start - 24, 0) : start]):
        yield from _argument(data, match.end())


def _stdin(data: bytes, start: int, _end: int) -> Iterator[Found]:
    line = max(data.rfind(b"\n", max(start - 1000, 0), start) + 1, start - 1000, 0)
    at = data.find(b"echo", line, start)
    at = at if at >= 0 else data.find(b"printf", line, start)
    match = _ECHO.match(data, at) if at >= 0 else None
    if match is not None and not is_harmless(match.group("value")):
        yield match.span("value")


NETWORK = (
    Rule(b"authorization", _authorization, caseless=True),
    Rule(b"bearer[ \\t]", _bearer, caseless=True),
    Rule(b"cookie[\"'\\\\]{0,4}[ \\t]{0,4}[:,]", _cookie, caseless=True),
    Rule(b"://", _url),
    Rule(b"%3A%2F%2F", _encoded, caseless=True),
    Rule(f"(?:[?&](?:amp;)?|\\\\u0026)(?:{_PARAMETERS})=".encode(), _parameter, caseless=True),
    Rule(b"(?:-u|--user|--proxy-user)[ =]", _curl),
    Rule(b"[ \\t]-u[\"']?[A-Za-z._$][A-Za-z0-9._$-]{0,64}:", _joined),
    Rule(b"ipmitool[ \\t]", _option(_IPMI)),
    Rule(b"-pass(?:in|out)?[ \\t=]{1,4}[\"']?pass:", _option(_PASS_ARGUMENT)),
    Rule(b"sshpass[ \\t]{1,4}-p", _option(re.compile(rb"sshpass[ \t]{1,4}-p[ \t]{0,4}(?=[^\s-])"))),
    Rule(b"redis-cli[ \\t]", _option(re.compile(rb"redis-cli\b[^\n|;&]{0,100}?[ \t]-a[ \t]{1,4}(?=[^\s-])"))),
    Rule(b"mysql[a-z]{0,5}[ \\t]", _option(_MYSQL)),
    Rule(b"--from-literal[ =]", _option(_LITERAL, 3)),
    Rule(b"(?:wandb[ \\t]{1,4}login|authtoken|vault[ \\t]{1,4}login)[ \\t]", _option(_KEYED, 16)),
    Rule(b"login[ \\t]", _login, caseless=True),
    Rule(b"--password-stdin", _stdin),
)
