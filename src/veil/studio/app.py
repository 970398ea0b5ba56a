"""The workbench as a web application: which address shows which page, and who may ask for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from veil.core.errors import VeilError
from veil.report.page import page
from veil.studio import draft_pages, home_pages, ledger_pages, query_pages, release_pages
from veil.studio.draft import Drafts
from veil.studio.gate import COOKIE, Doorkeeper, Gate
from veil.studio.jobs import Jobs
from veil.studio.uploads import MOST
from veil.studio.visit import Studio, Visit
from veil.studio.workspace import Workspace
from veil.version import __version__

Handler = Callable[[Visit], Response]
# Bytes of a form without files.
_MOST_TEXT = 4 * 2**20

_PAGES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/", home_pages.home),
    ("POST", "/leave", home_pages.leave),
    ("GET", "/new", home_pages.new),
    ("POST", "/new", home_pages.begin),
    ("POST", "/try", home_pages.try_example),
    ("GET", "/draft/{id}", draft_pages.resume),
    ("POST", "/draft/{id}/remove", draft_pages.remove),
    ("POST", "/draft/{id}/restore", draft_pages.restore),
    ("POST", "/draft/{id}/undo", draft_pages.undo),
    ("GET", "/draft/{id}/questions", draft_pages.questions),
    ("POST", "/draft/{id}/source", draft_pages.take_source),
    ("GET", "/draft/{id}/query", query_pages.show),
    ("POST", "/draft/{id}/query", query_pages.save),
    ("GET", "/draft/{id}/plan/live", draft_pages.live_plan),
    ("GET", "/draft/{id}/plan/drawn", draft_pages.drawn_plan),
    ("GET", "/draft/{id}/plan/picture.svg", draft_pages.plan_picture),
    ("POST", "/draft/{id}/budget/open", draft_pages.open_budget),
    ("POST", "/draft/{id}/make", draft_pages.make),
    ("GET", "/draft/{id}/{step}", draft_pages.show),
    ("POST", "/draft/{id}/{step}", draft_pages.save),
    ("GET", "/releases", release_pages.listed),
    ("GET", "/compare", release_pages.compare),
    ("GET", "/release/{id}", release_pages.show),
    ("GET", "/release/{id}/state", release_pages.state),
    ("POST", "/release/{id}/cancel", release_pages.cancel),
    ("POST", "/release/{id}/sharpen", release_pages.sharpen),
    ("POST", "/release/{id}/remove", release_pages.remove),
    ("GET", "/release/{id}/report", release_pages.report),
    ("GET", "/release/{id}/view", release_pages.view),
    ("GET", "/release/{id}/get/{what}", release_pages.download),
    ("GET", "/release/{id}/after/{command}", release_pages.after),
    ("POST", "/release/{id}/after/{command}", release_pages.run_after),
    ("GET", "/release/{id}/after/{command}/file", release_pages.made),
    ("GET", "/ledger", ledger_pages.show),
    ("POST", "/ledger/open", ledger_pages.open_dataset),
    ("POST", "/ledger/verify", ledger_pages.verify),
    ("GET", "/ledger/export", ledger_pages.export),
    ("GET", "/ledger/of", ledger_pages.of_dataset),
)


def create_app(workspace: Workspace, gate: Gate, *, hosts: Collection[str]) -> tuple[Doorkeeper, Studio]:
    """The workbench of a workspace, and what its pages share.

    hosts: the names with ports under which it answers.
    """
    studio = Studio(workspace, Drafts(workspace), Jobs(workspace))
    routes: list[Any] = [
        Route(path, _guarded(handler, studio, gate), methods=[method]) for method, path, handler in _PAGES
    ]
    static = StaticFiles(directory=str(files("veil.studio").joinpath("static")))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        studio.plans.close()
        studio.jobs.close()

    app = Starlette(
        routes=[Route("/", _entrance(gate)), Mount(gate.base, routes=routes), Mount("/static", static)],
        exception_handlers={404: _not_found, 405: _not_found},
        lifespan=lifespan,
    )
    return Doorkeeper(app, hosts=hosts), studio


def _guarded(handler: Handler, studio: Studio, gate: Gate) -> Callable[[Request], Awaitable[Response]]:
    """A page for those who came in by the address that was printed; forms must come from our own pages."""

    async def answer(request: Request) -> Response:
        session = request.cookies.get(COOKIE)
        if session is None or not gate.knows(session):
            return _outside()
        form: dict[str, str] = {}
        uploads: dict[str, UploadFile] = {}
        if request.method == "POST":
            is_upload = request.headers.get("content-type", "").startswith("multipart/")
            most = MOST if is_upload else _MOST_TEXT
            size = request.headers.get("content-length", "")
            if not size.isdecimal() or int(size) > most:
                told = f"At most {most // 2**20:,} MB can be sent. Name larger files by their path."
                return _message("That is too much", told, 413)
            sent = await request.form(max_part_size=_MOST_TEXT)
            if not gate.proves(session, str(sent.get("proof", ""))):
                await sent.close()
                return _message("That form is not ours", "Open the page again and send it from there.", 403)
            for name, value in sent.multi_items():
                if isinstance(value, UploadFile):
                    uploads[name] = value
                elif name in form:
                    # Several boxes of the same name are a list.
                    form[name] += f",{value}"
                else:
                    form[name] = value
        visit = Visit(
            studio,
            request.path_params,
            request.query_params,
            form,
            uploads,
            session,
            gate.proof(session),
            gate.base,
        )
        try:
            response = await run_in_threadpool(handler, visit)
        except VeilError as error:
            response = visit.page("message.html", title="That did not work", text=str(error), status=400)
        except Exception as error:
            # What an unforeseen error says may quote data: only its kind is shown, here and in the terminal.
            told = f"An internal error ({type(error).__name__}). Please report it."
            response = visit.page("message.html", title="Something went wrong", text=told, status=500)
        for upload in uploads.values():
            await upload.close()
        if handler is home_pages.leave:
            gate.leave(session)
            response.delete_cookie(COOKIE, path=gate.base)
        return response

    return answer


def _entrance(gate: Gate) -> Callable[[Request], Response]:
    """The address that is printed: a new session for its token, and an address without it."""

    def answer(request: Request) -> Response:
        token = request.query_params.get("token")
        session = None if token is None else gate.enter(token)
        if session is None:
            return (
                _outside() if token is None else _outside("That address was used already, or is an old one.")
            )
        response: Response = RedirectResponse(f"{gate.base}/", status_code=303)
        if request.headers.get("sec-fetch-site") == "cross-site":
            # From the page that the server wrote for the browser: a step that begins here is sent the cookie.
            response = _message("Opening", "Veil Studio opens.", 200)
            response.headers["Refresh"] = f"0;url={gate.base}/"
        # No TLS over loopback. The cookie is not sent by other sites' pages, and no script can read it.
        response.set_cookie(COOKIE, session, httponly=True, samesite="strict", path=gate.base)
        return response

    return answer


def _outside(why: str = "") -> Response:
    told = f"{why} It lets one browser in, once. Press Enter in the terminal for a new one.".strip()
    return _message("Please open the address that the terminal shows", told, 403)


def _message(title: str, text: str, status: int) -> Response:
    return HTMLResponse(
        page(
            "message.html",
            package="veil.studio",
            title=title,
            text=text,
            studio=None,
            proof="",
            base="",
            version=__version__,
        ),
        status_code=status,
    )


async def _not_found(_: Request, __: Exception) -> Response:
    return _message("There is no such page", "It may have been removed.", 404)
