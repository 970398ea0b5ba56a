"""The workbench of a team as a web application: who asks, what they may, and which page answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from secrets import token_urlsafe
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders, UploadFile
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from veil.core.errors import VeilError
from veil.studio.gate import Doorkeeper
from veil.studio.team.accounts import Account
from veil.studio.team.cookies import Cookies
from veil.studio.team.database import DatabaseAway
from veil.studio.team.faults import NotAllowed, NotHere
from veil.studio.team.lists import MOST
from veil.studio.team.pages import PAGES, Page
from veil.studio.team.projects import Project
from veil.studio.team.sessions import form_proof, proves
from veil.studio.team.settings import Settings
from veil.studio.team.team import Team
from veil.studio.team.visit import TeamVisit, studio_of

# Bytes of a form: of a file that is handed in, with room for the rest.
_MOST = MOST + 2**16


def create_app(team: Team) -> ASGIApp:
    """The workbench of a team."""
    settings = team.settings
    routes: list[Any] = [Route(page.path, _answers(page, team), methods=[page.method]) for page in PAGES]
    static = Mount("/static", StaticFiles(directory=str(files("veil.studio").joinpath("static"))))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        team.runner.start()
        yield
        await run_in_threadpool(team.close)

    inside: list[Any] = [static, *routes]
    app = Starlette(
        routes=[Mount(settings.prefix, routes=inside)] if settings.prefix else inside,
        exception_handlers={404: _nothing(team), 405: _nothing(team)},
        lifespan=lifespan,
    )
    return Frontdoor(Doorkeeper(app, hosts=[settings.host]), settings)


@dataclass(frozen=True)
class Frontdoor:
    """Refuses what did not come through the proxy, and tells browsers to come by https alone."""

    app: ASGIApp
    settings: Settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start" and self.settings.is_encrypted:
                MutableHeaders(scope=message).setdefault("Strict-Transport-Security", "max-age=31536000")
            await send(message)

        trouble = self.settings.proxies.trouble(HTTPConnection(scope))
        if trouble:
            await PlainTextResponse(trouble, status_code=403)(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)


def _answers(page: Page, team: Team) -> Callable[[Request], Awaitable[Response]]:
    """The one way to a page: who asks, what they may, whether the form is ours, and then the page."""

    async def answer(request: Request) -> Response:
        asking = Asking(page, team, request)
        try:
            refused = await run_in_threadpool(asking.admit)
            if refused is not None:
                return refused
            if request.method == "POST":
                refused = await asking.take_form()
                if refused is not None:
                    return refused
            return await run_in_threadpool(asking.answer)
        except Exception as error:
            return asking.failed(error)
        finally:
            for upload in asking.files.values():
                await upload.close()

    return answer


class Asking:
    """One request on its way to its page."""

    def __init__(self, page: Page, team: Team, request: Request) -> None:
        self.page, self.team, self.request = page, team, request
        self.cookies = Cookies(team.settings)
        self.form: dict[str, str] = {}
        self.files: dict[str, UploadFile] = {}
        self.account: Account | None = None
        self.project: Project | None = None
        self.session = self.cookies.read(request, self.cookies.session)
        self.browser = self.cookies.read(request, self.cookies.browser)
        self.is_new_browser = not self.browser
        self.browser = self.browser or token_urlsafe(32)

    @property
    def token(self) -> str:
        """What forms are proved with: of somebody who is signed in the session, of others their browser."""
        return self.session if self.account is not None else self.browser

    def admit(self) -> Response | None:
        """Who asks, and whether they may; an answer if they may not."""
        right = self.page.right
        if self.session:
            self.account = self.team.sessions.account(self.session)
        if not right.signed_in:
            return None
        if self.account is None:
            return self._to_sign_in()
        if right.in_project:
            # Before the role: who is not a member does not learn that there is such a project.
            self.project = self.team.projects.get(self.request.path_params["project"], self.account)
        if self.account.role not in right.roles:
            raise NotAllowed("Your role does not allow this.")
        return None

    def _to_sign_in(self) -> Response:
        settings, target = self.team.settings, "/"
        if self.request.method == "GET" and not self.request.headers.get("hx-request"):
            target = self.request.url.path.removeprefix(settings.prefix)
            target += f"?{self.request.url.query}" if self.request.url.query else ""
        where = f"{settings.prefix}/sign-in?next={quote(target, safe='/')}"
        if self.request.headers.get("hx-request"):
            # A part of a page cannot show another page: the whole page is loaded anew.
            return Response(status_code=403, headers={"HX-Redirect": where})
        return RedirectResponse(where, status_code=303)

    async def take_form(self) -> Response | None:
        """What was sent; an answer if it is too much, or not from one of our pages."""
        size = self.request.headers.get("content-length", "")
        if not size.isdecimal() or int(size) > _MOST:
            return self.visit().page(
                "message.html", title="That is too much", text=f"At most {_MOST:,} bytes.", status=413
            )
        sent = await self.request.form(max_part_size=_MOST, max_files=20)
        for name, value in sent.multi_items():
            if isinstance(value, UploadFile):
                self.files[name] = value
            elif name in self.form:
                # Several boxes of the same name are a list.
                self.form[name] += f",{value}"
            else:
                self.form[name] = value
        if not proves(self.token, self.form.pop("proof", "")):
            told = "Open the page again and send it from there."
            return self.visit().page("message.html", title="That form is not ours", text=told, status=403)
        return None

    def answer(self) -> Response:
        """The page."""
        response = self.page.handler(self.visit())
        if self.account is None and self.is_new_browser and self.request.method == "GET":
            self.cookies.write(response, self.cookies.browser, self.browser)
        return response

    def visit(self) -> TeamVisit:
        """The request as pages see it."""
        team, home = self.team, self.team.settings.prefix
        return TeamVisit(
            studio=studio_of(team, self.project, self.account),
            path=self.request.path_params,
            query=self.request.query_params,
            form=self.form,
            files=self.files,
            session=self.session,
            proof=form_proof(self.token),
            base=home if self.project is None else f"{home}/project/{self.project.id}",
            team=team,
            home=home,
            browser="" if self.is_new_browser else self.browser,
            address=team.settings.proxies.client(self.request),
            maybe_account=self.account,
            maybe_project=self.project,
        )

    def failed(self, error: Exception) -> Response:
        """What is told of an error. What nobody foresaw may quote data: only its kind is told."""
        title, text, status = "Something went wrong", "", 500
        if isinstance(error, NotHere):
            title, text, status = "There is no such page", f"{error}", 404
        elif isinstance(error, NotAllowed):
            title, text, status = "Not allowed", f"{error}", 403
        elif isinstance(error, DatabaseAway):
            title, text, status = "Please try again", "The database does not answer just now.", 503
        elif isinstance(error, VeilError):
            title, text, status = "That did not work", f"{error}", 400
        else:
            text = f"An internal error ({type(error).__name__}). Please report it."
        return self.visit().page("message.html", title=title, text=text, status=status)


def _nothing(team: Team) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 404)
        asking = Asking(PAGES[0], team, request)
        return asking.visit().page(
            "message.html", title="There is no such page", text="Look for it from the start.", status=status
        )

    return answer
