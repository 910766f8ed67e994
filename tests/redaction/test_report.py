"""Reports without secrets."""

from __future__ import annotations

from typing import Any

from bot.redaction import Redactor, redact_report
from kb.report import Report

SECRET = "Zx9Qm3" + "Lk7Rt2Vb8N"


def _report(**changes: Any) -> Report:
    data: dict[str, Any] = {
        "schema": 1, "outcome": "matched", "language": "en", "layer": "weights_loading", "stage": None,
        "diagnoses": [
            {
                "entry": "hub-access-denied", "layer": "weights_loading", "title": f"HF_TOKEN={SECRET}", "cause": "c",
                "confidence": "certain", "consequences": [], "checklist": [
                    {"id": "token-key", "text": f"--token {SECRET}", "command": f"curl -u a:{SECRET} http://x"}
                ],
                "recovery": [{"text": "t", "command": f"export HF_TOKEN={SECRET}", "risk": "safe", "verify": None}],
                "avoid": [f"password: {SECRET}"], "sources": [],
                "evidence": [{"file": f"a?token={SECRET}", "line": 3, "text": f"Authorization: Bearer {SECRET}"}],
            }
        ],
        "root_exception": {"type": "E", "text": f"api_key={SECRET}", "process": None, "file": "f", "line": 1},
        "notes": [{"entry": "n", "title": "t", "text": "x",
                   "evidence": [{"file": "f", "line": 1, "text": f"password={SECRET}"}]}],
        "facts": {
            "flag.api_key": {"value": SECRET, "file": "f", "line": 1, "others": [SECRET + "x"]},
            "env.HF_TOKEN": {"value": 1234567890, "file": "f", "line": 1},
            "flag.max_num_batched_tokens": {"value": 8192, "file": "f", "line": 1, "others": ["4096"]},
            "flag.skip_tokenizer_init": {"value": True, "file": "f", "line": 1},
            "flag.api_key_set": {"value": True, "file": "f", "line": 1},
            "image": {"value": f"https://u:{SECRET}@registry/vllm", "file": "f", "line": 1},
            "flag.hf_token": {"value": "None", "file": "f", "line": 1},
        },
        "missing_evidence": [],
        "coverage": {"bytes_read": 1, "lines_read": 1, "files": [f"k?api_key={SECRET}"],
                     "not_read": [{"file": "x", "reason": f"pw={SECRET}"}]},
    }  # fmt: skip
    return Report.model_validate({**data, **changes})


def test_every_text_of_a_report_is_redacted(redactor: Redactor) -> None:
    clean = redact_report(_report(), redactor)
    assert SECRET not in clean.model_dump_json()
    assert "1234567890" not in clean.model_dump_json()
    assert redactor.stand_in(SECRET) in clean.diagnoses[0].evidence[0].text


def test_facts_that_are_no_secrets_survive(redactor: Redactor) -> None:
    facts = redact_report(_report(), redactor).facts
    assert facts["flag.max_num_batched_tokens"] == _report().facts["flag.max_num_batched_tokens"]
    assert facts["flag.skip_tokenizer_init"].value is True
    assert facts["flag.api_key_set"].value is True
    assert facts["flag.hf_token"].value == "None"
    assert facts["flag.api_key"].value == redactor.stand_in(SECRET)


def test_report_without_secrets_is_unchanged_and_redacting_twice_changes_nothing(redactor: Redactor) -> None:
    once = redact_report(_report(), redactor)
    assert redact_report(once, redactor) == once


def test_redactor_is_optional() -> None:
    assert SECRET not in redact_report(_report()).model_dump_json()
