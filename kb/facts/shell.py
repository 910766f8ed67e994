"""How commands stand in text: their words, and what of a line is the command."""

from __future__ import annotations

import re
import shlex

_QUOTING = re.compile(r"['\"\\#]")
_BRACED = re.compile(r"(?<=[\s=])\{[^'\s]*")
_COMMAND = 16_000
"""Characters of a command that are looked at."""
_BOUNDARY = re.compile(r"&&|\|\||[;|`'\"(]|(?:^|\s)[$#>+%](?=\s)|[$#]\s+(?=\S)|(?:^|\s)--\s|: |>>>|\[")
_MAY_PRECEDE = re.compile(
    r"(?:sudo|env|exec|time|nohup|numactl|python3?|/\S+/python[\d.]*|srun|uv|run|setsid|stdbuf|timeout|taskset|bash|sh|then|do|-\S+"
    r"|[A-Z][A-Z0-9_]*=\S*|CMD|RUN|ENTRYPOINT|command:|\d+[smh]?)"
)


def words(text: str) -> list[str]:
    """The words of a command as a shell splits them; quotes that a shell has eaten around JSON are taken as meant."""
    text = text[:_COMMAND].translate({0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'", 0xA0: " "})
    text = re.sub(r"(?<=\s)[\u2013\u2014](?=[a-z])", "--", text)
    text = _BRACED.sub(lambda match: f"'{match[0]}'" if match[0].endswith("}") else match[0], text)
    if not _QUOTING.search(text):
        return text.split()  # as shlex does, at a hundredth of the time
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.replace("'", " ").replace('"', " ").split()


def is_typed(before: str) -> bool:
    """Whether what stands in front of a command leaves it a command, and not a mention in a sentence."""
    begin = 0
    for match in _BOUNDARY.finditer(before):
        begin = match.end()
    return all(_MAY_PRECEDE.fullmatch(word) for word in before[begin:].split())


def cut_out(text: str, start: int) -> str:
    """The command that is typed at `start` of `text`, with its environment assignments, out of what surrounds it."""
    for quote in "'\"`":
        opened = text.rfind(quote, 0, start)
        if text.count(quote, 0, start) % 2 and (opened == 0 or text[opened - 1] in " =([\t"):
            end = text.rfind(quote, start)  # `bash -c "..."`: the command ends where the quote does
            text = text[opened + 1 : end if end > start else None].replace(f"\\{quote}", quote)
            start = start - opened - 1
            break
    begin = 0
    for match in re.finditer(r"&&|\|\||[;|(]|(?:^|\s)[$#>+%](?=\s)|\s--\s", text[:start]):
        begin = match.end()
    return text[begin:]
