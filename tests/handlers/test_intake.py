"""What makes two payloads the same, and what text in a thread counts as evidence."""

import pytest

from bot.service.intake import identity
from bot.service.logs import looks_like_log
from handlers.actions import _read


def test_identity_when_an_action_is_pressed_again_then_it_is_another_one() -> None:
    press = {"type": "block_actions", "user": {"id": "U1"}, "actions": [{"action_ts": "1.0", "action_id": "a"}]}
    again = {**press, "actions": [{"action_ts": "2.0", "action_id": "a"}]}
    assert identity(press) == identity(dict(press, token="x", trigger_id="other"))
    assert identity(press) != identity(again)


def test_identity_when_commands_differ_in_trigger_then_they_differ() -> None:
    assert identity({"command": "/k3", "trigger_id": "1"}) != identity({"command": "/k3", "trigger_id": "2"})
    assert len(identity({"command": "/k3", "text": "ю" * 10_000})) < 80


@pytest.mark.parametrize(
    "text",
    [
        "(Worker_TP3 pid=412) ERROR 08-21 10:00:00 [core.py:1] failed\nmore",
        'Traceback (most recent call last):\n  File "x.py", line 1',
        "RuntimeError: CUDA error: an illegal memory access was encountered at some address",
        "[rank3]:[E1121 10:00:00] something\nelse",
        "more: RuntimeError: CUDA error: out of memory on Worker_TP3",
        "NVRM: Xid (PCI:0000:19:00): 79",
        "ValueError: no room for weights",
        "2026-08-21T10:00:00 started\n2026-08-21T10:00:01 stopped",
    ],
)
def test_looks_like_log_when_it_is_one_then_true(text: str) -> None:
    assert looks_like_log(text)


@pytest.mark.parametrize(
    "text",
    ["thanks, trying that", "could it be NCCL?\nor the driver?", "Error: no", "да, сейчас", "KeyError: again, sigh"],
)
def test_looks_like_log_when_people_talk_then_false(text: str) -> None:
    assert not looks_like_log(text)


def test_read_when_the_action_is_not_ours_then_none() -> None:
    assert _read({}, {"action_id": "https-link"}) == (None, {})
    assert _read({}, {"action_id": "show_more:nonsense"})[0] is None
