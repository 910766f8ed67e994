"""A secret in the name of a file: what is kept of the file is enough to fetch it and does not say it."""

from __future__ import annotations

import json

import pytest

from bot.redaction import Redactor
from bot.service.parts import part_of

SECRET = "hunter2" + "Zx9Qm3"
PLACE = "https://files.slack.com/files-pri/T0123-F0456"


def _kept(redactor: Redactor, name: str, slug: str, title: str = "") -> dict[str, object]:
    file = {
        "id": "F0456",
        "name": name,
        "title": title or name,
        "mode": "hosted",
        "size": 12,
        "url_private": f"{PLACE}/{slug}",
        "url_private_download": f"{PLACE}/download/{slug}",
    }
    (kept,) = part_of({"ts": "1.0", "user": "U1", "files": [file]}, redactor, "UBOT").files
    return kept


@pytest.mark.parametrize(
    ("name", "slug", "title"),
    [
        (f"password={SECRET}.log", f"password_{SECRET}.log", ""),
        (f"password={SECRET}.log", f"password={SECRET}.log", ""),
        ("k3.log", f"password%3D{SECRET}.log", ""),
        ("k3.log", f"k3.log?token={SECRET}", ""),
        ("k3.log", f"password_{SECRET}", f"password: {SECRET}"),
    ],
)
def test_addresses_that_may_hold_a_secret_are_left_to_be_asked_for(
    redactor: Redactor, name: str, slug: str, title: str
) -> None:
    kept = _kept(redactor, name, slug, title)
    assert SECRET not in json.dumps(kept)
    assert (kept["id"], kept["mode"], kept["size"]) == ("F0456", "hosted", 12)
    assert not {"url_private", "url_private_download"} & set(kept)


@pytest.mark.parametrize(
    "name", ["k3.log", "vllm-2026-08-21.log.gz", "token_counts.txt", "hf_quant_config.json", "비밀.log"]
)
def test_other_files_keep_their_addresses(redactor: Redactor, name: str) -> None:
    kept = _kept(redactor, name, name)
    assert kept["url_private_download"] == f"{PLACE}/download/{name}"
    assert kept["name"] == name
