"""Every address of the workbench of a team, the page that it shows, and the right that the page needs.

The pages on the way to a release are those of a workbench for one person; what they share is that of one
project and one account (`ProjectStudio`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from veil.studio import draft_pages, home_pages, release_pages
from veil.studio.team import account_pages, project_pages, proposal_pages
from veil.studio.team.permissions import ANYBODY, FOUND, GOVERN, LOOK, PROPOSE, SELF, Right

Handler = Callable[[Any], Response]


@dataclass(frozen=True)
class Page:
    """An address, what it shows, and who may ask for it."""

    method: str
    path: str
    handler: Handler
    right: Right


_OF_ALL: tuple[tuple[str, str, Handler, Right], ...] = (
    ("GET", "/", project_pages.listed, SELF),
    ("POST", "/projects", project_pages.begin, FOUND),
    ("GET", "/sign-in", account_pages.sign_in_page, ANYBODY),
    ("POST", "/sign-in", account_pages.sign_in, ANYBODY),
    ("POST", "/sign-in/provider", account_pages.to_provider, ANYBODY),
    ("GET", "/sign-in/back", account_pages.from_provider, ANYBODY),
    ("POST", "/sign-out", account_pages.sign_out, SELF),
    ("GET", "/link/{token}", account_pages.link_page, ANYBODY),
    ("POST", "/link/{token}", account_pages.use_link, ANYBODY),
    ("GET", "/account", account_pages.account_page, SELF),
    ("POST", "/account/password", account_pages.change_password, SELF),
    ("POST", "/account/sessions", account_pages.end_other_sessions, SELF),
)

_OF_A_PROJECT: tuple[tuple[str, str, Handler, Right], ...] = (
    ("GET", "/", project_pages.show, LOOK),
    ("GET", "/members", project_pages.members, LOOK),
    ("POST", "/members", project_pages.join, GOVERN),
    ("POST", "/members/remove", project_pages.leave, GOVERN),
    ("GET", "/sources", project_pages.sources, PROPOSE),
    ("POST", "/sources", project_pages.add_source, GOVERN),
    ("POST", "/source/{id}/retire", project_pages.retire_source, GOVERN),
    ("POST", "/lists", project_pages.add_list, PROPOSE),
    ("GET", "/list/{name}", project_pages.show_list, PROPOSE),
    ("GET", "/budgets", project_pages.budgets, LOOK),
    ("POST", "/budgets", project_pages.open_budget, GOVERN),
    ("POST", "/budgets/raise", project_pages.raise_budget, GOVERN),
    ("POST", "/budgets/close", project_pages.close_budget, GOVERN),
    ("GET", "/ledger", project_pages.budgets, LOOK),
    ("GET", "/ledger/of", project_pages.budget, LOOK),
    ("GET", "/log", project_pages.log, GOVERN),
    ("GET", "/log/export", project_pages.export_log, GOVERN),
    ("GET", "/new", home_pages.new, PROPOSE),
    ("POST", "/new", home_pages.begin, PROPOSE),
    ("GET", "/draft/{id}", draft_pages.resume, PROPOSE),
    ("POST", "/draft/{id}/remove", draft_pages.remove, PROPOSE),
    ("GET", "/draft/{id}/questions", draft_pages.questions, PROPOSE),
    ("POST", "/draft/{id}/source", proposal_pages.choose_source, PROPOSE),
    ("GET", "/draft/{id}/plan/live", draft_pages.live_plan, PROPOSE),
    ("GET", "/draft/{id}/plan/picture.svg", draft_pages.plan_picture, PROPOSE),
    ("POST", "/draft/{id}/propose", proposal_pages.propose, PROPOSE),
    ("GET", "/draft/{id}/{step}", draft_pages.show, PROPOSE),
    ("POST", "/draft/{id}/{step}", draft_pages.save, PROPOSE),
    ("GET", "/proposals", proposal_pages.listed, PROPOSE),
    ("GET", "/proposal/{id}", proposal_pages.show, PROPOSE),
    ("POST", "/proposal/{id}/approve", proposal_pages.approve, GOVERN),
    ("POST", "/proposal/{id}/refuse", proposal_pages.refuse, GOVERN),
    ("POST", "/proposal/{id}/withdraw", proposal_pages.withdraw, PROPOSE),
    ("POST", "/proposal/{id}/release", proposal_pages.release, PROPOSE),
    ("GET", "/releases", release_pages.listed, LOOK),
    ("GET", "/compare", release_pages.compare, LOOK),
    ("GET", "/release/{id}", release_pages.show, LOOK),
    ("GET", "/release/{id}/state", release_pages.state, LOOK),
    ("POST", "/release/{id}/cancel", release_pages.cancel, PROPOSE),
    ("POST", "/release/{id}/sharpen", release_pages.sharpen, PROPOSE),
    ("GET", "/release/{id}/report", release_pages.report, LOOK),
    ("GET", "/release/{id}/view", release_pages.view, LOOK),
    ("GET", "/release/{id}/get/{what}", proposal_pages.download, LOOK),
    ("GET", "/release/{id}/after/{command}", release_pages.after, PROPOSE),
    ("POST", "/release/{id}/after/{command}", release_pages.run_after, PROPOSE),
    ("GET", "/release/{id}/after/{command}/file", release_pages.made, PROPOSE),
)

PROJECT = "/project/{project}"
PAGES = (
    *(Page(*one) for one in _OF_ALL),
    *(Page(method, f"{PROJECT}{path}", handler, right) for method, path, handler, right in _OF_A_PROJECT),
)
