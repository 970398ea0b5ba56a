"""One request of somebody's browser, and the answers that pages give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from starlette.responses import HTMLResponse, RedirectResponse, Response

from veil.studio.team.accounts import Account
from veil.studio.team.faults import NotAllowed
from veil.studio.team.projects import Project
from veil.studio.team.team import ProjectStudio, Team
from veil.studio.visit import Visit
from veil.version import __version__

# Templates of a team first; those that it has not are those of a workbench for one person.
TEMPLATES = ("veil.studio.team", "veil.studio")


@dataclass(frozen=True)
class TeamVisit(Visit):
    """A request that was let in.

    home: before every path; address: of who asks; browser: the cookie of a browser before anybody signs in.
    """

    team: Team
    home: str
    address: str
    browser: str
    maybe_account: Account | None = None
    maybe_project: Project | None = None

    @property
    def account(self) -> Account:
        """Who is signed in."""
        if self.maybe_account is None:
            raise NotAllowed("Sign in first.")
        return self.maybe_account

    @property
    def project(self) -> Project:
        """The project that the page is about."""
        if self.maybe_project is None:
            raise NotAllowed("Choose a project first.")
        return self.maybe_project

    @property
    def room(self) -> ProjectStudio:
        """What the pages of the project share."""
        return ProjectStudio(self.team, self.project, self.account)

    @property
    def token(self) -> str:
        """What the cookie of the browser says."""
        return self.session

    def page(self, template: str, *, status: int = 200, **content: Any) -> Response:
        """A page of the workbench."""
        from veil.report.page import page

        if "followups" in content and not self.account.proposes:
            # What only those may do who plan.
            content["followups"] = []
        if "left" in content and content["job"].author != self.account.name:
            # It goes on from a draft, which only its author has.
            content["left"] = None
        text = page(
            template,
            package=TEMPLATES,
            **{
                "studio": self.studio,
                "proof": self.proof,
                "base": self.base,
                "home": self.home,
                "account": self.maybe_account,
                "project": self.maybe_project,
                "version": __version__,
                "log": math.log,
                **content,
            },
        )
        return HTMLResponse(text, status_code=status)

    def go_home(self, path: str) -> Response:
        """Show a page that belongs to no project."""
        return RedirectResponse(self.home + path, status_code=303)


def studio_of(team: Team, project: Project | None, account: Account | None) -> Any:
    """What the pages of a project share; None where there is none."""
    if project is None or account is None:
        return None
    return ProjectStudio(team, project, account)
