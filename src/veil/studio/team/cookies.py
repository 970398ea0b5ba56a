"""The cookies of a browser: who is signed in, and before that which browser it is."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from veil.studio.team.settings import Settings

# A token is shorter; what is longer is not looked for.
_LONGEST = 100


@dataclass(frozen=True)
class Cookies:
    """No script can read them, and forms of other sites do not bring them."""

    settings: Settings

    @property
    def session(self) -> str:
        """The name of the one that says who is signed in."""
        return self._name("veil_team")

    @property
    def browser(self) -> str:
        """The name of the one that a browser has before anybody signs in."""
        return self._name("veil_browser")

    def _name(self, name: str) -> str:
        # With these beginnings browsers accept a cookie over https only, and from no other name.
        if not self.settings.is_encrypted:
            return name
        return f"__Secure-{name}" if self.settings.prefix else f"__Host-{name}"

    def read(self, request: Request, name: str) -> str:
        """What a cookie says; empty if there is none."""
        found = request.cookies.get(name, "")
        return found if len(found) <= _LONGEST else ""

    def write(self, response: Response, name: str, token: str) -> None:
        """Give a cookie to the browser until it is closed."""
        # Lax, so that a link in a letter leads to its page: nothing is changed by following one.
        response.set_cookie(
            name,
            token,
            httponly=True,
            secure=self.settings.is_encrypted,
            samesite="lax",
            path=f"{self.settings.prefix}/",
        )

    def forget(self, response: Response, name: str) -> None:
        """Take a cookie away."""
        response.delete_cookie(
            name,
            path=f"{self.settings.prefix}/",
            secure=self.settings.is_encrypted,
            httponly=True,
            samesite="lax",
        )
