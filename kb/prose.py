"""A person's words beside a log: which lines are sentences, and which merely read like some.

In Korean, Chinese and Russian the script tells. English is also the language of programs, so there a sentence is a
person's only where it addresses somebody, or stands beside the log and talks of what was done or seen.
"""

from __future__ import annotations

import re

from kb.framing import is_framed
from kb.markers import is_fatal

_READ = 600
"""Characters of a line that are looked at: a sentence shows soon that it is one."""

TRACE = re.compile(
    r"\s*(?:[|+] [ |+-]{0,20})?(?:(?:Exception Group )?Traceback \(most recent call last\)"
    r"|File(?: \"[^\"]+\",(?: line \d+| *$)| *$)|During handling of the above exception|The above exception was|\^+\s*$"
    r"|[~^]{3,}\s*$)"
)
EXCEPTION = re.compile(
    r"\s*(?:[A-Za-z_][\w.]{0,200}\.)?[A-Z]\w{0,80}(?:Error|Exception|Warning|Exit|Interrupt|Timeout|Failure)(?::|\s*$)"
)
TOOL_MESSAGE = re.compile(
    r"\S{1,300}\.py:\d{1,6}: \w{0,60}Warning: |^\s*[\w./-]{1,40}(?: [\w-]{1,20})?(?:\[\d+\])?: "
    r"(?:[Ee]rror|[Ww]arning|[Ff]atal|command|No such|line \d|invalid|unrecognized|\(\d+\) )"
)
NATIVE_MESSAGE = re.compile(
    r"(?:/[\w.+-]{1,80}){1,30}\.(?:c|cc|cpp|cu|cuh|h|hpp):(?:\w{1,80}:)?\d{1,6}: |(?:WARN|WARNING|ERROR|FATAL): \S"
)
"""What libraries in C++ print without a frame: the place in their source first (NVSHMEM), or the level."""
_MACHINE = re.compile(
    r"^\s*(?:[$#%] +\S|[+|]|[-=*_]{3,}|\[?\d+/\d+\]?|(?:\([\w.-]+\) )?[\w.-]+@[\w.-]+[:$#~ ]"
    r"|(?:docker|vllm serve|kubectl|export|nvidia-smi|curl|pip3?|ray|srun|sudo|python3?|cd|ls|cat|grep|tail) [-\w./]"
    r"|(?:Normal|Warning|Type) {2,}\S|std(?:err|out): |[\w ./()-]{1,60}[:=]\s*[\w.]{0,40}\d[\w.]{0,40}$)"
    r"|NCCL (?:INFO|WARN)|NVRM |NVRM:|UCX  |npm ERR!|[{}\[\]]{2}|0x[0-9a-f]{6,}|\w\.(?:py|cpp|cc|cu|rs|so)\b[:\]]"
    r"|\d{2}:\d{2}:\d{2}|[<>=!~]=\d|\w\([\w\s,.'\"=]{0,80}\)$"
    r"|https?://\S{1,300}$|^\s*[\w./-]{1,80}\s*[:=]\s*\S+$|^\s{4,}\S|\t.{0,80}\t|[\u2588\u2714\u280b]|\d%\|"
)
_ASSIGNED = re.compile(r"\w=[\"'\d]|\w=\w{1,80}, ?\w{1,80}=")
_ASSIGNMENT = re.compile(r"[^\s=]{1,200}=[^\s=]{1,200}")
_COLUMNS = re.compile(r"\S {2,}(?=\S)")
_PROGRAM = re.compile(
    r"^\s*(?:(?:Load|Download|Upload|Initializ|Start|Stopp|Us|Skipp|Wait|Sett|Creat|Build|Compil|Captur|Process|Fetch"
    r"|Convert|Sav|Read|Writ|Connect|Listen|Send|Disabl|Enabl|Ignor|Fall|Exit|Shutt|Terminat|Profil|Quantiz|Collect"
    r"|Install|Unpack|Pull|Import)ing"
    r"|Found|Failed|Unable|Could not|Cannot|Can't|Processed|Registered|Allocated|Successfully|Detected|Received"
    r"|Connected|Resolved|Aborted|Killed|Segmentation|[Uu]sage|Requirement|Status|Note|NOTE|Warning|WARNING|Error|ERROR"
    r"|Please|Try|See|Check|Consider|Press|To (?:use|increase|avoid|disable|enable|fix)|For (?:debugging|more|further)"
    r"|Compile with|Search for|Do you wish|You (?:are using|can|may|should|must)|If (?:you|this)"
    r"|No (?:such|devices|module)|Repository|Access to|Invalid|Unknown|Unsupported|Expected|Triton is|Last error"
    r"|CUDA kernel|A module that|This (?:is likely|may|will|can|message|error)|It (?:is|looks like))\b"
)
_PERSON = re.compile(
    r"(?i)\b(?:I|I'm|I've|I'd|we|we're|we've|my|our|ours|us|anyone|anybody|someone|hey|hi|hello|thanks|thank you|thx"
    r"|what's|whats|guys|team|folks|pls|plz|ideas?|please advise|fyi|btw|imho|afaik|regards|cheers)\b|\?\s*$"
)
_ADDRESS = re.compile(r"(?i)\b(?:you|your|me|why|how|help)\b")
_PLAIN_ENGLISH = re.compile(
    r"(?i)\b(?:after|since|keeps?|always|never|still|again|every|only|when|while|nothing|stuck|hangs?|hung"
    r"|crash(?:es|ed|ing)?|slow|slower|dies|died|fails|tried|upgraded?|upgrading|today|yesterday|tonight|users|clients"
    r"|customers|answers|requests|below|looks|seeing|got|logs? from|happens|happened|works?|worked|broken|weird|same"
    r"|between|before|sometimes|suddenly|anymore|just|nodes?|server|cluster|prod|production|staging)\b"
)
_LETTERS = re.compile(r"[^\W\d_]")
NATIVE = re.compile("[\uac00-\ud7a3\u3040-\u30ff\u4e00-\u9fff\u0400-\u04ff]")
_WORD = re.compile(r"[\"'(*]{0,3}[A-Za-z]+(?:['-][A-Za-z]+){0,3}[\"').,;:!?*]{0,4}")


def looks_like_log(text: str) -> bool:
    """Whether the line is sure to be of a log: framed, of a traceback, an exception, or a tool's complaint."""
    head = text[:_READ]
    return is_framed(head) or bool(
        TRACE.match(head) or EXCEPTION.match(head) or TOOL_MESSAGE.match(head) or NATIVE_MESSAGE.match(head)
    )


def is_prose(text: str) -> bool:
    """Whether the line reads like a sentence of a person, and not like part of a log, a command or a listing."""
    return not looks_like_log(text) and is_sentence(text)


def is_sentence(text: str) -> bool:
    """Whether a line that is known to be of no log reads like a sentence of a person."""
    head = text[:_READ]
    stripped = head.strip()
    if len(stripped) < 2:
        return False
    native = len(NATIVE.findall(stripped))
    if native and native >= 0.12 * len(_LETTERS.findall(stripped)):
        return True
    tokens = stripped.split()
    if len(tokens) < 3:
        return False
    words = sum(1 for token in tokens if _WORD.fullmatch(token))
    lower = sum(1 for token in tokens if token.islower() and token.isascii() and token[:1].isalpha())
    enough = words >= 3 or (words == 2 and _PERSON.search(head) is not None)
    return enough and lower >= 2 and words >= 0.5 * len(tokens) and is_retyped(head)


def is_retyped(text: str) -> bool:
    """Whether the line may be a message in a person's own hand: nothing about it is a program's."""
    head = text[:_READ]
    if _MACHINE.search(head) or len(_COLUMNS.findall(head)) > 2 or " " not in head.strip():
        return False
    if _ASSIGNED.search(head) and not _only_names_settings(head):
        return False
    return _PERSON.search(head) is not None or not (_PROGRAM.match(head) or is_fatal(head))


def _only_names_settings(head: str) -> bool:
    """Whether a line with `VAR=value` is a sentence without it: people name settings, programs list them."""
    rest = _ASSIGNMENT.sub(" ", head)
    tokens = rest.split()
    words = sum(1 for token in tokens if _WORD.fullmatch(token))
    told = _PERSON.search(rest) is not None or (_PLAIN_ENGLISH.search(rest) is not None and words >= 3)
    return told and words >= 0.5 * len(tokens)


def is_personal(text: str) -> bool:
    """Whether a sentence is a person's wherever it stands: it is about "us", or in a script that logs do not use."""
    head = text[:_READ]
    return bool(NATIVE.search(head) or _PERSON.search(head))


def is_report(text: str) -> bool:
    """Whether a sentence apart from the log asks something, or says what was done or seen. Programs do so too."""
    head = text[:_READ]
    return bool(_PLAIN_ENGLISH.search(head) or _ADDRESS.search(head))
