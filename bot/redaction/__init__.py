"""Secrets out of everything that is stored, logged or shown.

`Redactor(salt).redact(text)` and `.stream(chunks)` take them out of texts and of streams of any size;
`redact_report(report, redactor)` does it for a report. Two corpora say what is a secret
(tests/redaction/secret_lines.py) and what is not (tests/redaction/benign.txt).

How it works: one Hyperscan pass finds the anchors of all rules (a token's prefix, a label, `://`, …) at memory speed;
Python looks only at what stands around an anchor, a bounded number of bytes, so the time is linear whatever the text.

Why the rules are our own. Rule sets were measured on the two corpora as they were then (312 secrets, 223 benign lines)
and on the logs of tests/cases, one core:

| | secrets wholly gone | benign lines changed | MB/s |
|---|---|---|---|
| detect-secrets 1.5.0, as for files | 103 | 12 | 0.2 |
| detect-secrets 1.5.0, line by line | 264 | 202 | 0.1 |
| gitleaks 8.30 (a Go binary) | 138 | 2 | 10 |
| these rules | 312 | 0 | 600 |

Both find tokens by their prefix, and those prefixes are taken over here (`shapes`). Neither knows labels in Korean,
Chinese or Russian, an argparse Namespace, a list of API keys, the arguments of a container or values of one word; both
judge by entropy, which block hashes, digests and cubin names have as well. The corpora were written together with these
rules: of 85 further lines written before any rule was tuned to them, 56 were clean at once, and 79 are now.
"""

from __future__ import annotations

from bot.redaction.redactor import Redactor
from bot.redaction.report import redact_in
from kb.report import Report

__all__ = ["Redactor", "redact", "redact_report"]

_DEFAULT = Redactor()


def redact(text: str) -> str:
    """The text without its secrets; stand-ins are those of this process."""
    return _DEFAULT.redact(text)


def redact_report(report: Report, redactor: Redactor | None = None) -> Report:
    """The report without its secrets; without a redactor the stand-ins are those of this process."""
    return redact_in(report, redactor or _DEFAULT)
