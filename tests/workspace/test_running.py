"""The command line: python -m bot.workspace."""

import re
import subprocess
import sys

import pytest
import typer
from slack_sdk import WebClient
from typer.testing import CliRunner

from bot.workspace.__main__ import main
from tests.workspace.clients import free_port


def test_command_when_started_then_the_real_client_gets_in_with_what_it_prints():
    command = [sys.executable, "-u", "-m", "bot.workspace", "--port", str(free_port())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            printed = "".join(process.stdout.readline() for _ in range(7))
            given = dict(re.findall(r"export (\w+)=(\S+)", printed))
            client = WebClient(given["SLACK_BOT_TOKEN"], base_url=given["SLACK_API_URL"])
            assert client.auth_test()["user"] == "k3-triage"
        finally:
            process.terminate()
            process.wait(10)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--manifest", "/nowhere.yaml"], "cannot read the manifest /nowhere.yaml"),
        (["--request-url", "https://example.com"], "is not on this machine"),
    ],
)
def test_command_when_it_cannot_start_then_one_sentence_and_exit_2(arguments, complaint):
    app = typer.Typer()
    app.command()(main)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert complaint in result.output
