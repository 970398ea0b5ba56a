"""Signing in and out, and what people do with their own account."""

from __future__ import annotations

import re

from starlette.responses import Response

from veil.core.errors import InvalidArgument
from veil.studio.forms import sentence
from veil.studio.team.accounts import Account
from veil.studio.team.audit import note
from veil.studio.team.cookies import Cookies
from veil.studio.team.faults import NotHere
from veil.studio.team.passwords import LEAST
from veil.studio.team.provider import NotSignedIn
from veil.studio.team.visit import TeamVisit

# One text for a wrong name, a wrong password and an account that was disabled.
_WRONG = "The name or the password is wrong."
_LATER = "Too many attempts. Try again in a quarter of an hour."
# A path of this workbench: no other site, no address with a scheme.
_TARGET = re.compile(r"/(?!/)[A-Za-z0-9/_.~=&%?-]{0,300}")


def safe_target(given: str) -> str:
    """Where to go after signing in: a path of this workbench, or the first page."""
    return given if _TARGET.fullmatch(given) else "/"


def sign_in_page(visit: TeamVisit) -> Response:
    """Who are you?"""
    if visit.maybe_account is not None:
        return visit.go_home("/")
    return _sign_in(visit, visit.query.get("next", "/"))


def _sign_in(visit: TeamVisit, target: str, *, trouble: str = "", status: int = 200) -> Response:
    provider = visit.team.provider
    return visit.page(
        "sign_in.html",
        status=status,
        target=safe_target(target),
        trouble=trouble,
        name=visit.form.get("name", "")[:100],
        provider=None if provider is None else provider.title,
    )


def sign_in(visit: TeamVisit) -> Response:
    """Look at a name and a password."""
    name, password = visit.form.get("name", ""), visit.form.get("password", "")
    target = visit.form.get("next", "/")
    team = visit.team
    if not team.attempts.allowed(name, visit.address):
        return _sign_in(visit, target, trouble=_LATER, status=429)
    account = team.accounts.with_password(name, password)
    if account is None:
        known = {one.name for one in team.accounts.all()}
        plain = name.strip().casefold()
        with team.database.begin() as rows:
            # A name that is none may be a password in the wrong field.
            note(rows, plain if plain in known else "(unknown)", "sign-in failed", address=visit.address)
        return _sign_in(visit, target, trouble=_WRONG, status=403)
    team.attempts.forget(name, visit.address)
    return welcome(visit, account, target)


def welcome(visit: TeamVisit, account: Account, target: str) -> Response:
    """Begin a session for somebody who has shown who they are."""
    team, cookies = visit.team, Cookies(visit.team.settings)
    if visit.token:
        # Whatever session the browser had is not the one that is signed in from here on.
        team.sessions.end(visit.token)
    token = team.sessions.begin(account, visit.address)
    with team.database.begin() as rows:
        note(rows, account.name, "signed in", address=visit.address)
    response = visit.go_home(safe_target(target))
    cookies.write(response, cookies.session, token)
    cookies.forget(response, cookies.browser)
    return response


def to_provider(visit: TeamVisit) -> Response:
    """Go to the provider of identities."""
    provider = visit.team.provider
    if provider is None:
        raise NotHere("There is no provider of identities.")
    target = safe_target(visit.form.get("next", "/"))
    try:
        place = provider.begin(visit.team.database, visit.browser, target)
    except NotSignedIn as error:
        return _not_known(visit, error)
    # Not a redirect: forms of ours lead to ours alone, by the policy that browsers are told.
    response = visit.page("to_provider.html", place=place, provider=provider.title)
    response.headers["Refresh"] = f"0; url={place}"
    return response


def from_provider(visit: TeamVisit) -> Response:
    """Come back from there: only who has an account here comes in."""
    team = visit.team
    if team.provider is None:
        raise NotHere("There is no provider of identities.")
    try:
        found = team.provider.finish(team.database, visit.browser, visit.query)
    except NotSignedIn as error:
        return _not_known(visit, error)
    account = team.accounts.from_provider(found.issuer, found.subject, found.name)
    if account is None:
        return _not_known(visit, NotSignedIn("nobody who has an account here"))
    return welcome(visit, account, found.target)


def _not_known(visit: TeamVisit, why: NotSignedIn) -> Response:
    with visit.team.database.begin() as rows:
        note(rows, "(unknown)", "sign-in failed", address=visit.address, why=f"{why}")
    told = "You were not signed in. Try again, or ask who runs this server for an account."
    return _sign_in(visit, "/", trouble=told, status=403)


def sign_out(visit: TeamVisit) -> Response:
    """End the session."""
    team, cookies = visit.team, Cookies(visit.team.settings)
    team.sessions.end(visit.token)
    with team.database.begin() as rows:
        note(rows, visit.account.name, "signed out")
    response = visit.go_home("/sign-in")
    cookies.forget(response, cookies.session)
    return response


def link_page(visit: TeamVisit) -> Response:
    """Choose a password by a link."""
    account = visit.team.accounts.invited(visit.path["token"])
    if account is None:
        return _void(visit)
    return visit.page("link.html", invited=account, trouble="", least=LEAST)


def _void(visit: TeamVisit) -> Response:
    told = "It works once and for a day. Ask for a new one."
    return visit.page("message.html", title="This link cannot be used", text=told, status=404)


def use_link(visit: TeamVisit) -> Response:
    """Take the password that was chosen."""
    token = visit.path["token"]
    account = visit.team.accounts.invited(token)
    if account is None:
        return _void(visit)
    try:
        _check_same(visit)
        if visit.team.accounts.accept_link(token, visit.form.get("password", "")) is None:
            return _void(visit)
    except InvalidArgument as error:
        told = sentence(error, {})
        return visit.page("link.html", invited=account, trouble=told, least=LEAST, status=422)
    return visit.go_home("/sign-in")


def _check_same(visit: TeamVisit) -> None:
    if visit.form.get("password", "") != visit.form.get("again", ""):
        raise InvalidArgument("again", expected="the same password twice", found="two passwords")


def account_page(visit: TeamVisit) -> Response:
    """Your own account."""
    return _account(visit)


def _account(visit: TeamVisit, *, status: int = 200, **content: str) -> Response:
    sessions = visit.team.sessions.count(visit.account)
    return visit.page(
        "account.html", status=status, here="account", sessions=sessions, least=LEAST, **content
    )


def change_password(visit: TeamVisit) -> Response:
    """Another password: all sessions end, and this browser gets a new one."""
    team, form = visit.team, visit.form
    name = visit.account.name
    if not visit.account.has_password:
        return _account(visit, status=422, trouble="This account has no password.")
    # Whoever found an open browser must not guess here either.
    if not team.attempts.allowed(name, visit.address):
        return _account(visit, status=429, trouble=_LATER)
    try:
        _check_same(visit)
        if not team.accounts.change_password(
            visit.account, form.get("current", ""), form.get("password", "")
        ):
            return _account(visit, status=422, trouble="The current password is wrong.")
    except InvalidArgument as error:
        return _account(visit, status=422, trouble=sentence(error, {}))
    team.attempts.forget(name, visit.address)
    return welcome(visit, visit.account, "/account")


def end_other_sessions(visit: TeamVisit) -> Response:
    """Sign out everywhere else."""
    ended = visit.team.sessions.end_others(visit.account, visit.token)
    with visit.team.database.begin() as rows:
        note(rows, visit.account.name, "other sessions ended", count=ended)
    return visit.go_home("/account")
