"""What chats, mail, trackers, editors and screenshots put around and in front of the lines of a paste."""

from __future__ import annotations

import html
import re
from itertools import pairwise

from kb.framing import is_framed

Numbered = list[tuple[int, str]]
"""Lines as (raw number, text)."""

_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#0?39|#0?34|#x27|#x22|#x2[fF]|#47|#96|#124|#9[13]);")
_LINK = re.compile(
    r"<(?:https?://|mailto:|tel:)[^|>\s]{1,500}\|([^>\n]{1,500})>|<((?:https?://|mailto:)[^|>\s]{1,500})>"
)
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u00ad]")
_STRAIGHT = str.maketrans({
    "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u2018": "'", "\u2019": "'", "\u201a": "'",
    "\u00a0": " ", "\u202f": " ", "\u2007": " ", "\u2028": " ", "\u2212": "-", "\u2010": "-", "\u2011": "-",
})  # fmt: skip
_AUTO_DASH = re.compile(r"(?<!\S)[\u2014\u2013](?=[a-z])")
_BACKTICKS = re.compile(r"\s*`([^`\n]{12,})`\s*$")

_QUOTE = re.compile(r" {0,3}>(?!>>) ?")
_PROMPT = re.compile(r">>> ")

_MARK = re.compile(
    r"\s*(?:(?:```+|~~~+)\s*[\w+.-]{0,20}|\{(?:code|noformat|quote|panel)(?::[^}\n]{0,120})?\}"
    r"|</?(?:pre|code|blockquote)(?:\s[^>\n]{0,120})?>|\[/?(?:code|quote|spoiler|pre)(?:=[^\]\n]{0,40})?\])\s*$",
    re.IGNORECASE,
)
_FOLD = re.compile(r"\s*(?:</?(?:details|summary)>\s*){1,3}(?:[^<\n]{0,80}</summary>)?\s*$", re.IGNORECASE)
_OPENS = re.compile(r"\s*(?:```(?:\w{0,12}$)?|\{(?:code|noformat)(?::[^}\n]{0,120})?\}|<pre>(?:<code>)?)(?=\S)")
_CLOSES = re.compile(r"(?:```|\{(?:code|noformat)\}|(?:</code>)?</pre>)\s*$")

_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?"
_HALF = r"[AaPp]\.?[Mm]\.?"
_NAME = r"[^\W\d_][^\[\]:<>{}()=/\\\"]{0,40}"
_CHAT_PREFIX = re.compile(
    rf"\[{_CLOCK} ?{_HALF}\] (?:{_NAME}: )?"  # Slack
    rf"|\[{_NAME}\] \[(?:오전|오후) {_CLOCK}\] "  # KakaoTalk
    rf"|{_NAME}, \[\d{{1,2}}\.\d\d\.\d{{2,4}},? {_CLOCK}\](?::\s*|\s*$)"  # Telegram
    rf"|\[\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?,? {_CLOCK}(?: ?{_HALF})?\] {_NAME}(?:: |$)"  # Teams, WhatsApp
    rf"|\[\d{{1,2}}\.\d{{1,2}}\.\d{{2,4}},? {_CLOCK}\] {_NAME}(?:: |$)"
)
_CHAT_LINE = re.compile(
    rf"\s*(?:{_NAME}(?:  |\t)\s*)?\[?{_CLOCK} ?{_HALF}\]?\s*$"  # Slack: a name and a time, or the time below the name
    rf"|\s*{_NAME} (?:Today|Yesterday)? ?at {_CLOCK} ?{_HALF}\s*$"
    rf"|\s*(?:\[?{_NAME}\]? )?(?:오전|오후) {_CLOCK}\s*$"
    rf"|\s*{_NAME} \d{{4}}[/-]\d{{1,2}}[/-]\d{{1,2}} {_CLOCK}\s*$"  # WeChat
    r"|\s*\d{1,3} (?:replies|reply)\b.{0,60}$|\s*:[a-z0-9_+-]{2,30}:(?: ?\d{1,3})?\s*$|\s*\(edited\)\s*$"
)
_MAIL_HEADER = re.compile(
    r"\s*(?:From|Sent|To|Cc|Bcc|Date|Reply-To|Importance|Attachments?|发件人|发送时间|收件人|抄送|日期"
    r"|보낸 ?사람|보낸 ?날짜|받는 ?사람|참조|날짜|От|Отправлено|Кому|Копия|Дата)[:：] ?\S.{0,300}$"
    r"|\s*-{2,} ?(?:Original Message|Forwarded message|Forwarded by.{0,80}"
    r"|原始邮件|원본 메시지|Пересылаемое сообщение) ?-{2,}\s*$"
    r"|\s*On .{6,120} wrote:\s*$|\s*Begin forwarded message:\s*$|-- $|\s*Sent from my \w{1,20}.{0,40}$"
)
_SUBJECT = re.compile(r"\s*(?:Subject|主题|제목|Тема)[:：] ?(?:(?:Re|RE|Fwd|FW|Fw): ?){0,5}")

_LINE_NUMBER = re.compile(r"\s{0,8}(\d{1,7})((?:[:|│┃] {0,3}|\t)|(?: {1,4}(?=\S)| {4}(?= )|$))")
_MISREAD = str.maketrans("lIiOoSB|", "11100581")
_GREP = re.compile(r"(\d{1,7})([:-])")


def straight(lines: Numbered) -> Numbered:
    """Undo entities, links, typographic quotes and invisible characters."""
    out = []
    for number, given in lines:
        text = given
        if "&" in text and _ENTITY.search(text):
            text = _ENTITY.sub(_unescape, _ENTITY.sub(_unescape, text))
        if "<" in text and ("://" in text or "mailto:" in text or "tel:" in text):
            text = _LINK.sub(lambda match: match.group(1) or match.group(2).removeprefix("mailto:"), text)
        if not text.isascii():
            text = _INVISIBLE.sub("", text.translate(_STRAIGHT))
            text = _AUTO_DASH.sub("--", text)
        if "`" in text and (inline := _BACKTICKS.match(text)):
            text = inline.group(1)
        out.append((number, text))
    return out


def _unescape(match: re.Match[str]) -> str:
    return html.unescape(match.group())


def unquoted(lines: Numbered) -> Numbered:
    """Without the `>` in front of nearly all lines of a run of at least two, at any depth."""
    for _ in range(5):
        stripped = _unquoted_once(lines)
        if stripped == lines:
            break
        lines = stripped
    return lines


def _unquoted_once(lines: Numbered) -> Numbered:
    if not any(text.lstrip()[:1] == ">" for _, text in lines):
        return lines
    out = list(lines)
    start = None
    for index in range(len(lines) + 1):
        quoted = index < len(lines) and _QUOTE.match(lines[index][1]) and not _PROMPT.match(lines[index][1])
        if quoted and start is None:
            start = index
        elif not quoted and start is not None:
            if index - start >= 2 or len(lines) <= 3:
                for at in range(start, index):
                    number, text = lines[at]
                    out[at] = (number, _QUOTE.sub("", text, count=1))
            start = None
    return out


def unfenced(lines: Numbered) -> tuple[set[int], Numbered]:
    """Without the marks of code blocks; returns the raw numbers of the lines inside, and the lines."""
    fenced: set[int] = set()
    out: Numbered = []
    inside = False
    for number, given in lines:
        text = given
        if not any(mark in text for mark in ("```", "~~~", "{", "<", "[")):
            pass
        elif _FOLD.match(text):
            continue
        elif _MARK.match(text):
            inside = not text.lstrip().startswith(("</", "[/")) and not inside
            continue
        else:
            opened = None if inside else _OPENS.match(text)
            if opened is not None:
                text = text[opened.end() :]
                inside = True
                fenced.add(number)
            closed = _CLOSES.search(text[-40:]) if inside else None
            if closed is not None:
                text = text[: len(text) - len(closed.group())]
                inside = False
                fenced.add(number)
        if inside:
            fenced.add(number)
        out.append((number, text))
    return fenced, out


def undecorated(lines: Numbered) -> tuple[set[int], Numbered]:
    """Without the names and times of chats and the subject's key; returns the raw numbers of lines of nothing else."""
    bare: set[int] = set()
    out: Numbered = []
    for number, given in lines:
        text = given
        head = text[:400]
        if head.startswith(("(", " ", "\t")) and len(head) > 60:
            pass  # a log's line
        elif prefix := _CHAT_PREFIX.match(head):
            text = text[prefix.end() :]
        elif subject := _SUBJECT.match(head):
            text = text[subject.end() :]
        elif _CHAT_LINE.match(head) or _MAIL_HEADER.match(head):
            bare.add(number)
        out.append((number, text))
    return bare, out


def unnumbered(lines: Numbered) -> Numbered:
    """Without the line numbers of an editor or a screenshot, which rise by one from line to line, or of grep."""
    found = [(index, match) for index, (_, text) in enumerate(lines) if (match := _LINE_NUMBER.match(text))]
    filled = sum(1 for _, text in lines if text.strip())
    if len(found) < 3 or len(found) < 0.45 * filled:
        return _ungrepped(lines)
    values = [int(match.group(1)) for _, match in found]
    rising = sum(1 for before, after in pairwise(values) if after - before in (1, 2))
    if rising < 0.8 * (len(found) - 1):
        return _ungrepped(lines)
    behind = [match.end(2) - match.end(1) for index, match in found if match.end() < len(lines[index][1])]
    gap = min(behind, default=0)  # what is further in is the line's own indentation
    alone = sum(1 for index, match in found if match.end() == len(lines[index][1])) > 0.8 * len(found)
    numbered = dict(found)
    out: Numbered = []
    expected = values[0]
    for index, (number, text) in enumerate(lines):
        match = numbered.get(index)
        if match is not None and abs(int(match.group(1)) - expected) <= 2:
            expected = int(match.group(1)) + 1
            if not alone:
                out.append((number, text[match.end(1) + gap :]))
            elif match.end() < len(text):
                out.append((number, text))
        elif not alone and (rest := _behind_misread(text, expected)) is not None:
            expected += 1
            out.append((number, rest))
        else:
            out.append((number, text))
    return out


def _behind_misread(text: str, expected: int) -> str | None:
    """The text behind a number in which digits were taken for letters; None where it does not start with one."""
    bare = text.lstrip()
    token, rest = bare[: len(str(expected))], bare[len(str(expected)) :]
    if token.translate(_MISREAD) != str(expected) or rest[:1] not in (":", "|", " ", "\t", ""):
        return None
    return rest[1:].removeprefix(" ") if rest[:1] in (":", "|") else rest[1:]


def _ungrepped(lines: Numbered) -> Numbered:
    """Without the `12:` and `13-` of grep -n, where what follows is a log."""
    found = [(index, match) for index, (_, text) in enumerate(lines) if (match := _GREP.match(text))]
    filled = sum(1 for _, text in lines if text.strip() not in ("", "--"))
    if len(found) < 2 or len(found) < 0.7 * filled:
        return lines
    values = [int(match.group(1)) for _, match in found]
    behind = [lines[index][1][match.end() :][:400] for index, match in found]
    framed = sum(1 for text in behind if text.startswith('{"') or is_framed(text))
    if any(after <= before for before, after in pairwise(values)) or framed < 0.5 * len(found):
        return lines
    out = list(lines)
    for index, match in found:
        out[index] = (lines[index][0], lines[index][1][match.end() :])
    return out
