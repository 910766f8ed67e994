"""Bytes of files up and down, and answers to response URLs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from bot.workspace import interactions
from bot.workspace.api import read_arguments
from bot.workspace.api.files import can_see
from bot.workspace.errors import SlackError
from bot.workspace.model import File
from bot.workspace.server.dropping import drop
from bot.workspace.workspace import Workspace

LOGIN_PAGE = """<!DOCTYPE html><html lang="en-US"><head><title>Sign in to K3 local workspace | Slack</title></head>
<body><form id="signin_form" action="/" method="post"><h1>Sign in to K3 local workspace</h1></form></body></html>
"""
_CHUNK = 64 * 1024


class Uploads:
    """POST /upload/v1/<key>: the bytes of an announced file, as the raw body."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        body = await request.body()
        faults = self._workspace.faults
        if faults.take("files.upload", "lose_request"):
            await drop(scope, receive)
            return
        failed = faults.take("files.upload", "fail")
        if failed:
            await PlainTextResponse("failed", failed.details["status"])(scope, receive, send)
            return
        try:
            with self._workspace.changing():
                self._workspace.files.receive(request.path_params["key"], body)
            response = PlainTextResponse(f"OK - {len(body)}")
        except SlackError as error:
            response = PlainTextResponse(str(error), 400)
        slow = faults.take("files.upload", "delay")
        if slow:
            await asyncio.sleep(slow.details["seconds"])
        if faults.take("files.upload", "lose_answer"):
            await drop(scope, receive)
            return
        await response(scope, receive, send)


class Downloads:
    """GET /files-pri/<team>-<file>/…: the bytes for the bot's token, Slack's login page for anyone else."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        faults = self._workspace.faults
        fault = faults.take("files.download", "login_page", "fail", "file_not_ready", "lose_request", "rate_limit")
        if fault and fault.kind == "lose_request":
            await drop(scope, receive)
            return
        slow = faults.take("files.download", "delay")
        if slow:
            await asyncio.sleep(slow.details["seconds"])
        file = self._file(request)
        response: Response
        if file is None or (fault and fault.kind == "login_page"):
            response = HTMLResponse(LOGIN_PAGE)
        elif fault and fault.kind == "rate_limit":
            retry_after = fault.details["retry_after"]
            headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
            response = PlainTextResponse("rate limited", 429, headers)
        elif fault:
            response = PlainTextResponse("not found", fault.details.get("status", 404))
        else:
            cut = faults.take("files.download", "cut_download")
            if cut:
                await self._cut(scope, receive, send, file, cut.details["after"])
                return
            response = _content(file, request.headers.get("range", ""))
        await response(scope, receive, send)

    def _file(self, request: Request) -> File | None:
        workspace = self._workspace
        file_id = request.path_params["place"].rpartition("-")[2]
        if request.headers.get("authorization") != f"Bearer {workspace.bot.bot_token}" or workspace.revoked:
            return None
        if "files:read" not in workspace.scopes:
            return None
        try:
            file = workspace.files.get(file_id)
        except SlackError:
            return None
        return file if file.content is not None and can_see(workspace, file) else None

    async def _cut(self, scope: Scope, receive: Receive, send: Send, file: File, after: int) -> None:
        length = str(file.length).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        body = (file.content or b"")[:after]
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await drop(scope, receive)


class ResponseUrls:
    """POST /response/<key>."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        faults = self._workspace.faults
        body = await request.body()
        if faults.take("response_url", "lose_request"):
            await drop(scope, receive)
            return
        fault = faults.take("response_url", "fail")
        if fault:
            await PlainTextResponse("failed", fault.details["status"])(scope, receive, send)
            return
        try:
            arguments = read_arguments(request.headers.get("content-type", ""), body, {})
            interactions.respond(self._workspace, request.path_params["key"], arguments)
            response = JSONResponse({"ok": True})
        except SlackError as error:
            response = JSONResponse(error.answer(), 404 if error.code in ("expired_url", "used_url") else 400)
        if faults.take("response_url", "lose_answer"):
            await drop(scope, receive)
            return
        await response(scope, receive, send)


def _content(file: File, wanted: str) -> Response:
    """The whole file, or the rest of it from "bytes=N-"."""
    content = file.content or b""
    headers = {"Accept-Ranges": "bytes", "Content-Disposition": "attachment"}
    start = wanted.removeprefix("bytes=").removesuffix("-")
    status = 200
    if start.isdecimal() and wanted == f"bytes={start}-":
        if int(start) >= len(content):
            return Response(status_code=416, headers={"Content-Range": f"bytes */{len(content)}"})
        headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        content, status = content[int(start) :], 206
    headers["Content-Length"] = str(len(content))
    return StreamingResponse(_chunks(content), status, headers, media_type=file.mimetype)


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), _CHUNK):
        yield content[start : start + _CHUNK]
