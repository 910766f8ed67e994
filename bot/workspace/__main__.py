"""`python -m bot.workspace`: the local workspace, to try the bot in without a Slack account."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.workspace.errors import WorkspaceError
from bot.workspace.manifest import Manifest
from bot.workspace.server.app import create_app
from bot.workspace.server.running import Server
from bot.workspace.workspace import Workspace

_HELLO = """Workspace: {origin}/
Start the bot with:
  export SLACK_API_URL={api}
  export SLACK_BOT_TOKEN={bot.bot_token}
  export SLACK_APP_TOKEN={bot.app_token}
  export SLACK_SIGNING_SECRET={bot.signing_secret}
These secrets open nothing but this process. Stop with Ctrl+C; nothing is kept."""


def main(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8420,
    manifest: Annotated[
        Path | None, typer.Option(help="The app manifest; deploy/slack-manifest.yaml if not given.")
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Directory of sample logs for the page; our own if not given."),
    ] = None,
    request_url: Annotated[
        str | None, typer.Option(help="Deliver over HTTP to this address on this machine, not by Socket Mode.")
    ] = None,
) -> None:
    """Serve a local Slack-compatible workspace on this machine only."""
    try:
        workspace = Workspace(manifest=Manifest.load(manifest))
        server = Server(workspace, create_app(workspace, request_url=request_url, samples=samples), port)
    except WorkspaceError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    except OSError as error:
        typer.echo(f"cannot listen on port {port}: {error.strerror}; choose another with --port", err=True)
        raise typer.Exit(2) from None
    typer.echo(_HELLO.format(origin=server.origin, api=server.api_url, bot=workspace.bot))
    server.run()


if __name__ == "__main__":
    typer.run(main)
