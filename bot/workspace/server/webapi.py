"""POST /api/<method>: tokens, scopes, rate limits and faults around the methods."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from bot.workspace.api import Call, Method, all_methods, read_arguments
from bot.workspace.errors import SlackError
from bot.workspace.faults import Fault
from bot.workspace.model import Json
from bot.workspace.server.dropping import drop
from bot.workspace.workspace import Workspace

_OUTAGE = "<!DOCTYPE html><html><head><title>Server Error | Slack</title></head><body>Sorry</body></html>"


class WebApi:
    """An ASGI endpoint for all methods."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._methods = all_methods()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        request = Request(scope, receive)
        name = request.path_params["method"]
        faults = self._workspace.faults
        body = await request.body()
        if faults.take(name, "lose_request"):
            await drop(scope, receive)
            return
        refusal = faults.take(name, "rate_limit", "fail", "error")
        response = _refused(refusal) if refusal else self._answer(request, name, body)
        slow = faults.take(name, "delay")
        if slow:
            await asyncio.sleep(slow.details["seconds"])
        if faults.take(name, "lose_answer"):
            await drop(scope, receive)
            return
        await response(scope, receive, send)

    def _answer(self, request: Request, name: str, body: bytes) -> Response:
        method = self._methods.get(name)
        if method is None:
            return JSONResponse({"ok": False, "error": "unknown_method", "req_method": name})
        try:
            arguments = read_arguments(request.headers.get("content-type", ""), body, dict(request.query_params))
            self._authorize(method, request.headers.get("authorization", ""), arguments)
            wait = self._workspace.rates.take(name, method.tier, str(arguments.get("channel", "")))
            if wait:
                return JSONResponse({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": str(wait)})
            with self._workspace.lock:
                answer: Json = {"ok": True, **method.run(Call(self._workspace, name, arguments))}
        except SlackError as error:
            answer = error.answer()
        return JSONResponse(answer, headers=self._scope_headers(method))

    def _authorize(self, method: Method, header: str, arguments: Mapping[str, Any]) -> None:
        if method.caller == "anyone":
            return
        workspace, bot = self._workspace, self._workspace.bot
        token = header.removeprefix("Bearer ").strip() or str(arguments.get("token") or "")
        if not token:
            raise SlackError("not_authed")
        kinds = {bot.bot_token: "bot", bot.app_token: "app"}
        if token not in kinds:
            raise SlackError("invalid_auth")
        if kinds[token] != method.caller:
            raise SlackError("not_allowed_token_type")
        if method.caller == "app":
            return
        if workspace.revoked:
            raise SlackError(workspace.revoked)
        missing = [scope for scope in method.scopes if scope not in workspace.scopes]
        if missing:
            raise SlackError("missing_scope", needed=",".join(missing), provided=",".join(sorted(workspace.scopes)))

    def _scope_headers(self, method: Method) -> dict[str, str]:
        return {
            "X-OAuth-Scopes": ",".join(sorted(self._workspace.scopes)),
            "X-Accepted-OAuth-Scopes": ",".join(method.scopes),
        }


def _refused(fault: Fault) -> Response:
    if fault.kind == "rate_limit":
        retry_after = fault.details["retry_after"]
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        return JSONResponse({"ok": False, "error": "ratelimited"}, 429, headers)
    if fault.kind == "fail":
        return HTMLResponse(_OUTAGE, fault.details["status"])
    return JSONResponse({"ok": False, "error": fault.details["code"]})
