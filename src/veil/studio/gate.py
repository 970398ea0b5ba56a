"""Who may come in, and what pages may do: addresses that work once, sessions, forms, headers."""

from __future__ import annotations

import hmac
from collections.abc import Collection
from hashlib import sha256
from secrets import token_bytes, token_urlsafe
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "veil_studio"
# Open sessions; the oldest is closed for a new one.
_MOST = 16

# Everything comes from this server, and no page can be shown inside another.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# A report brings its own styles and runs nothing; the workbench shows it inside a page.
REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "frame-ancestors 'self'; base-uri 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # With no-referrer, browsers would hide where our own forms come from.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class Gate:
    """The sessions of a workbench that only its owner uses.

    A session begins with a token that is printed in the terminal and works once. base: before every path.
    """

    def __init__(self) -> None:
        # Cookies do not tell ports apart: somebody else's server, on another port of this machine, would be
        # sent ours. So it is for a path that nobody else knows.
        self.base = f"/{token_urlsafe(16)}"
        self._token = ""
        self._secret = token_bytes(32)
        self._sessions: list[str] = []

    def new_token(self) -> str:
        """A token that opens one session; any earlier one is void."""
        self._token = token_urlsafe(32)
        return self._token

    def enter(self, token: str) -> str | None:
        """A new session for the token, which is void from then on; None for any other token."""
        # Compared as bytes: text that is not ASCII is wrong, not an error.
        if not self._token or not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        self._token = ""
        session = token_urlsafe(32)
        self._sessions = [*self._sessions[-(_MOST - 1) :], session]
        return session

    def knows(self, session: str | None) -> bool:
        """Whether a session is open."""
        given = (session or "").encode()
        return any(hmac.compare_digest(given, one.encode()) for one in self._sessions)

    def leave(self, session: str) -> None:
        """Close a session."""
        self._sessions = [one for one in self._sessions if one != session]

    def proof(self, session: str) -> str:
        """What a form of this session must hold, and nobody else knows."""
        return hmac.new(self._secret, session.encode(), sha256).hexdigest()

    def proves(self, session: str, proof: str) -> bool:
        """Whether a form came from a page of this session."""
        return hmac.compare_digest(self.proof(session).encode(), proof.encode())


class Doorkeeper:
    """Refuses requests to other host names and from other sites, and adds the headers of every answer.

    hosts: what the address of this server may be, with its port. A page of another site that makes its name
    lead here (DNS rebinding) calls us by that name, and is refused.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.casefold() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            # No websockets; starting and stopping is the server's own.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        trouble = self._trouble(HTTPConnection(scope), scope["method"])
        if trouble:
            await PlainTextResponse(trouble, status_code=403)(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _trouble(self, asked: HTTPConnection, method: str) -> str:
        """Why a request is refused; empty where it is not."""
        hosts = asked.headers.getlist("host")
        if len(hosts) != 1 or hosts[0].casefold() not in self._hosts:
            return "This workbench does not answer to that name."
        if method in ("GET", "HEAD"):
            return ""
        origin = asked.headers.get("origin")
        # Browsers send null where they hide where a form comes from.
        if origin is not None and urlsplit(origin).netloc.casefold() not in self._hosts:
            return "That form comes from another site."
        if asked.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "That form comes from another site."
        return ""
