"""Secrets that show by their shape alone: tokens with a known prefix.

Prefixes and lengths follow the issuers' documentation and the public rules of gitleaks and detect-secrets. A rule has
an anchor, which Hyperscan looks for in everything, and the whole, which is matched where the anchor was found. A token
is only tried where a run of its own alphabet begins, so a megabyte of prefixes costs one attempt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.redaction.rule import Found, Rule
from bot.redaction.values import COLOUR

_AFTER_ESCAPE = re.compile(
    rb"(?:" + COLOUR + rb"|\[[KJHm]|\\(?:[abefnrtv0]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[0-3][0-7]{2})"
    rb"|%[0-9A-Fa-f]{2}|\^[A-Z])\Z"
)
"""A line end may be written `\\n`, a sign `%3D`, a colour `\\u001b[31m`: their last letter is no part of a token."""
_LONGEST_ESCAPE = 32

# anchor, the rest of the token behind the anchor, the alphabet that must not stand before it
_ANY, _WORD, _URLSAFE = "A-Za-z0-9", "A-Za-z0-9_", "A-Za-z0-9_-"
_TOKENS: tuple[tuple[str, str, str], ...] = (
    ("hf_[A-Za-z0-9]{16}", "[A-Za-z0-9]*", _ANY),  # Hugging Face
    ("api_org_[A-Za-z]{16}", "[A-Za-z]*", _ANY),
    ("xox[a-z](?:\\.xox[a-z])?-[A-Za-z0-9%-]{4}", "[A-Za-z0-9%-]{6,}", _ANY),  # Slack
    ("xapp-[0-9]-[A-Za-z0-9]{8}", "[A-Za-z0-9-]*", _ANY),
    ("xwfp-[A-Za-z0-9]{8}", "[A-Za-z0-9-]*", _ANY),
    ("hooks\\.slack\\.com/(?:services|workflows|triggers)/", "[A-Za-z0-9/_+-]{8,}", _URLSAFE),
    ("gh[pousr]_[A-Za-z0-9]{20}", "[A-Za-z0-9]*", _ANY),  # GitHub
    ("github_pat_[A-Za-z0-9_]{20}", "[A-Za-z0-9_]*", _ANY),
    ("gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_-]{16}", "[A-Za-z0-9_.-]*", _ANY),  # GitLab
    ("(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", "(?![A-Za-z0-9])", _ANY),  # AWS
    ("ABSK[A-Za-z0-9+/]{40}", "[A-Za-z0-9+/]*=*", _ANY),
    ("AIza[A-Za-z0-9_-]{30}", "[A-Za-z0-9_-]*", _URLSAFE),  # Google
    ("ya29\\.[A-Za-z0-9_-]{20}", "[A-Za-z0-9_.-]*", _ANY),
    ("GOCSPX-[A-Za-z0-9_-]{16}", "[A-Za-z0-9_-]*", _ANY),
    ("[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}", "(?![A-Za-z0-9])", _ANY),  # Azure
    ("[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==", "", _URLSAFE),
    ("[A-Za-z0-9+/]{76}(?:APIM|ACDb|\\+(?:ABa|AMC|ASt))[A-Za-z0-9+/]{5}[AQgw]==", "", "A-Za-z0-9+/"),
    ("[A-Za-z0-9+/]{33}(?:AIoT|\\+(?:ASb|AEh|ARm))[A-Za-z0-9+/]{6}=", "", "A-Za-z0-9+/"),
    ("[A-Za-z0-9+/]{42}\\+ACR[A-D][A-Za-z0-9+/]{5}", "(?![A-Za-z0-9+/])", "A-Za-z0-9+/"),
    ("[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20}", "[A-Za-z0-9]*", _ANY),
    ("[a-zA-Z0-9_~.]{3}[0-9]Q~[a-zA-Z0-9_~.-]{30}", "[a-zA-Z0-9_~.-]*", _WORD),
    ("LTAI[A-Za-z0-9]{12}", "[A-Za-z0-9]*", _ANY),  # Alibaba
    ("AKID[A-Za-z0-9]{28}", "[A-Za-z0-9]*", _ANY),  # Tencent
    ("AKLT[A-Za-z0-9]{28}", "[A-Za-z0-9_=-]*", _ANY),  # Volcengine
    ("bce-v3/ALTAK-[A-Za-z0-9]{8}", "[A-Za-z0-9/]*", _ANY),  # Baidu
    ("sk-[A-Za-z0-9_-]{20}", "[A-Za-z0-9_-]*", _URLSAFE),  # OpenAI, Anthropic, DeepSeek, Moonshot, DashScope
    ("nvapi-[A-Za-z0-9_-]{20}", "[A-Za-z0-9_-]*", _ANY),  # NVIDIA
    ("(?:gsk_|xai-|pplx-|csk-|r8_|fw_|tgp_v1_|lsv2_[ps][tk]_|wandb_v1_)[A-Za-z0-9_-]{20}", "[A-Za-z0-9_-]*", _URLSAFE),
    ("dapi[a-f0-9]{32}", "(?:-[0-9])?(?![A-Za-z0-9])", _ANY),  # Databricks
    ("(?:npm_|dckr_[po]at_|dop_v1_|glsa_|glc_|sntry[su]_|ntn_|lin_api_)[A-Za-z0-9_-]{20}", "[A-Za-z0-9_=-]*", _ANY),
    ("pypi-AgE[A-Za-z0-9_-]{20}", "[A-Za-z0-9_-]*", _URLSAFE),
    ("hv[sbr]\\.[A-Za-z0-9_-]{20}", "[A-Za-z0-9_-]*", _ANY),  # Vault
    ("(?:tskey-[a-z]{3,9}-|ATATT3x|AKCp[0-9]|sbp_|SWMTKN-1-)[A-Za-z0-9_-]{16}", "[A-Za-z0-9_=-]*", _ANY),
    ("[sr]k_(?:live|test)_[A-Za-z0-9]{16}", "[A-Za-z0-9]*", _ANY),  # Stripe
    ("SG\\.[A-Za-z0-9_-]{16,24}\\.[A-Za-z0-9_-]{16}", "[A-Za-z0-9_-]*", _ANY),  # SendGrid
    ("[0-9]{8,10}:AA[A-Za-z0-9_-]{32}", "[A-Za-z0-9_-]*", _ANY),  # Telegram
    ("bot[0-9]{6,12}:[A-Za-z0-9_-]{30}", "[A-Za-z0-9_-]*", _ANY),
    ("discord(?:app)?\\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{5,24}/", "[A-Za-z0-9_-]{8,}", _URLSAFE),
    ("webhook\\.office\\.com/webhookb?2?/", "[A-Za-z0-9@/_-]{8,}", _URLSAFE),  # Teams
    ("(?:feishu\\.cn|larksuite\\.com)/open-apis/bot/(?:v2/)?hook/", "[A-Za-z0-9-]{8,}", _URLSAFE),
    ("AGE-SECRET-KEY-1[A-Z0-9]{20}", "[A-Z0-9]*", _ANY),
    ("eyJ[A-Za-z0-9_-]{8}", "[A-Za-z0-9_-]*\\.[A-Za-z0-9_-]{4,}(?:\\.[A-Za-z0-9_-]*){0,3}", _URLSAFE),  # JWT
    # The same in base64, as a Kubernetes Secret holds them: hf_, ghp_, xoxb-, nvapi-, and private keys
    ("(?:aGZf|Z2hwX|eG94Yi|bnZhcGkt)[A-Za-z0-9+/]{20}", "[A-Za-z0-9+/]*=*", "A-Za-z0-9+/"),
    ("LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJ|BPUEVOU1NI|BFQyBQUklW|BFTkNSWVBU)[A-Za-z0-9+/]{20}",
     "[A-Za-z0-9+/]*=*", "A-Za-z0-9+/"),
    # The logins of a registry: `{"auths"` in base64, tight, indented by spaces or by a tab
    ("(?:eyJhdXRocyI6|eyAiYXV0aHMi|ewogICJhdXRocyI6|ewogICAgImF1dGhzIj|ewoJImF1dGhzI)[A-Za-z0-9+/]{8}",
     "[A-Za-z0-9+/]*=*", "A-Za-z0-9+/"),
)  # fmt: skip
_ONLY_LETTERS = re.compile(rb"[A-Za-z]+[_-][a-z_-]*")
"""Words joined by `-` or `_` behind a short prefix are a name (`sk-learn-contrib-…`), not a token."""


_AWS_SECRET = re.compile(rb"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_-])")
_BESIDE = 100
_SORTS = tuple(map(re.compile, (rb"[A-Z]", rb"[a-z]", rb"[0-9]")))


def _is_after_escape(data: bytes, start: int) -> bool:
    return _AFTER_ESCAPE.search(data[max(start - _LONGEST_ESCAPE, 0) : start]) is not None


def _rule(anchor: str, rest: str, alphabet: str) -> Rule:
    before = re.compile(rf"[{alphabet}]".encode())
    whole = re.compile(rf"(?:{anchor}){rest}".encode())
    aws = anchor.startswith("(?:AKIA")

    def find(data: bytes, start: int, _end: int) -> Iterator[Found]:
        if start and before.match(data, start - 1) and not _is_after_escape(data, start):
            return
        match = whole.match(data, start)
        if match is None or _ONLY_LETTERS.fullmatch(match.group()) is not None:
            return
        yield match.span()
        beside = _AWS_SECRET.search(data, match.end(), match.end() + _BESIDE) if aws else None
        if beside is not None and all(sort.search(beside.group()) for sort in _SORTS):
            yield beside.span()

    return Rule(anchor.encode(), find)


SHAPES = tuple(_rule(*token) for token in _TOKENS)
