"""Routes of the page: it is rendered here, refreshed in parts, and everything done on it goes through a Person."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bot.workspace.errors import SlackError, WorkspaceError
from bot.workspace.page import markup, model
from bot.workspace.page.doing import Doing
from bot.workspace.page.model import Place, find_place
from bot.workspace.page.samples import SAMPLES
from bot.workspace.page.texts import LOCALES, texts
from bot.workspace.workspace import Workspace

_PARTS = ("sidebar", "notice", "messages", "thread", "modal")


def page_routes(workspace: Workspace, samples: Path | None = None) -> list[BaseRoute]:
    """The routes, for a workspace and a directory of sample logs; without one, those that come with the package."""
    page = Page(workspace, samples or SAMPLES)
    return [
        Route("/", page.show),
        Route("/ui/parts", page.parts),
        Route("/ui/revision", page.revision),
        Route("/ui/file/{file_id}", page.file),
        Route("/ui/stage", page.stage, methods=["POST"]),
        Route("/ui/{what}", page.do, methods=["POST"]),
        Route("/archives/{channel}/{message}", page.permalink),
        Route("/files/{user}/{file_id}/{name:path}", page.file),
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
    ]


class Page:
    """The handlers of the page."""

    def __init__(self, workspace: Workspace, samples: Path) -> None:
        self._workspace = workspace
        self._doing = Doing(workspace, samples)
        environment = Environment(loader=PackageLoader("bot.workspace.page"), autoescape=True, trim_blocks=True)
        environment.globals |= {
            "markdown": markup.markdown,
            "emoji": markup.emoji,
            "preview": model.preview,
            "size": model.size,
            "initials": model.initials,
            "hue": model.hue,
            "locales": LOCALES,
        }
        self._templates = environment

    def show(self, request: Request) -> Response:
        """The whole page."""
        with self._workspace.lock:
            place = find_place(self._workspace, request.query_params)
            return HTMLResponse(self._templates.get_template("page.html").render(self._context(place)))

    def parts(self, request: Request) -> Response:
        """The parts that change, as HTML by name."""
        with self._workspace.lock:
            context = self._context(find_place(self._workspace, request.query_params))
            html = {name: self._templates.get_template(f"{name}.html").render(context) for name in _PARTS}
            return JSONResponse({"revision": self._workspace.revision, "parts": html})

    async def revision(self, request: Request) -> Response:
        """A number that grows with every change."""
        return JSONResponse({"revision": self._workspace.revision})

    def file(self, request: Request) -> Response:
        """A file for the person before the page; nothing in it is run."""
        try:
            file = self._workspace.files.get(request.path_params["file_id"])
        except SlackError:
            return PlainTextResponse("no such file", 404)
        headers = {"Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff"}
        kind = "text/plain; charset=utf-8" if file.mimetype.startswith("text/") else "application/octet-stream"
        return Response(file.content or b"", headers=headers, media_type=kind)

    def permalink(self, request: Request) -> Response:
        """From a message's permanent address to the page."""
        digits = request.path_params["message"].removeprefix("p")
        ts = f"{digits[:-6]}.{digits[-6:]}"
        thread = request.query_params.get("thread_ts", ts)
        who = {"as": request.query_params["as"]} if "as" in request.query_params else {}
        where = urlencode({**who, "at": request.path_params["channel"], "thread": thread})
        return RedirectResponse(f"/?{where}#m{ts}")

    async def stage(self, request: Request) -> Response:
        """Bytes of a file dropped on the page; answers with its id."""
        if not _from_page(request):
            return PlainTextResponse("forbidden", 403)
        person = find_place(self._workspace, request.query_params).person
        content = await request.body()
        try:
            file_id = await run_in_threadpool(person.stage, request.query_params.get("name", "file"), content)
        except WorkspaceError as error:
            return JSONResponse({"ok": False, "error": str(error)})
        return JSONResponse({"ok": True, "file": file_id})

    async def do(self, request: Request) -> Response:
        """Whatever the person did; see `Doing`."""
        if not _from_page(request):
            return PlainTextResponse("forbidden", 403)
        data = await request.json()
        try:
            answer = await run_in_threadpool(self._doing.do, request.path_params["what"], data)
        except (WorkspaceError, TimeoutError) as error:
            return JSONResponse({"ok": False, "error": str(error)})
        return JSONResponse({"ok": True, **answer})

    def _context(self, place: Place) -> dict[str, Any]:
        workspace, person = self._workspace, place.person
        user = workspace.directory.user(person.id)
        timeline = workspace.log.timeline(place.channel.id, person.id) if place.channel else []
        thread = place.thread
        replies = workspace.log.thread(thread.channel, thread.root_ts, person.id) if thread else []
        view = person.modal
        reader = model.reader_of(workspace, person)
        return {
            "mrkdwn": partial(markup.mrkdwn, workspace, reader=reader),
            "text": partial(markup.text_object, workspace, reader=reader),
            "rich_text": partial(markup.rich_text, workspace, reader=reader),
            "app": workspace.manifest.bot_name,
            "message_shortcut": next((one.name for one in workspace.manifest.shortcuts if one.kind == "message"), "…"),
            "workspace": workspace,
            "place": place,
            "me": user,
            "t": texts(user.language),
            "channels": model.channels_of(workspace, person),
            "lines": model.lines(workspace, timeline, person),
            "replies": model.lines(workspace, replies, person),
            "home": person.home,
            "modal": view,
            "errors": workspace.views.errors.get(view.id, {}) if view else {},
            "state": partial(_state, workspace, place),
            "people": workspace.people,
            "bot_here": place.channel is not None and workspace.bot.user_id in place.channel.members,
            "unheard": model.unheard(workspace, place.channel, person) if place.channel else "",
        }


def _state(workspace: Workspace, place: Place, surface: Any, block: Any, element: Any) -> Any:
    return model.state_of(surface, workspace, place.person, block, element)


def _from_page(request: Request) -> bool:
    """Only the page's own script sends this header; another site would need a permission it does not get."""
    return request.headers.get("x-workspace") == "page"
