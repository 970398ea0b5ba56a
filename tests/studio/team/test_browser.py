"""The pages of a team in a real browser: every one looked at for accessibility, light, dark and small."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.studio.team.conftest import Served, Site, serving
from tests.studio.team.identities import CLIENT, SECRET
from tests.studio.team.people import PASSWORD
from veil.studio.team.provider import Provider

sync_api = pytest.importorskip("playwright.sync_api", reason="`make setup-browser` installs Playwright")
_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
# They share one server.
pytestmark = [
    pytest.mark.xdist_group("postgres"),
    pytest.mark.skipif(_BROWSER is None, reason="needs Chromium"),
]
# Only what hangs is given up, in milliseconds: no test depends on how quick the machine is.
_PATIENCE = 600_000
# Where pictures are put, if they are wanted.
_PICTURES = os.environ.get("VEIL_STUDIO_PICTURES")
# The rules of WCAG 2.1 AA, and what the authors of axe call best practice.
_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
_LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1100, "height": 900}},
    "dark": {"viewport": {"width": 1100, "height": 900}, "color_scheme": "dark"},
    "small": {"viewport": {"width": 360, "height": 740}},
}


@pytest.fixture
def served(site: Site) -> Iterator[Served]:
    provider = Provider(
        "https://id.example", CLIENT, SECRET, "Example University", "https://veil.example/back"
    )
    with serving(site, provider=provider) as made:
        yield made


def _pages(served: Served) -> dict[str, str]:
    """A project in which everything happened once, and the addresses of its pages."""
    ada = served.person("ada")
    ada.found_project("Trips of the city", "bob", "cid", "eve")
    ada.grant("trips-2026", "2")
    assert ada.add_source(title="Trips in May", budget="trips-2026").status == 200
    ada.upload(ada.look("/sources").form("/lists"), "zones.csv", b"a\nb\n")
    cid = served.person("cid", ada.project)
    draft = cid.draft()
    cid.plan(draft)
    first = cid.propose(draft)
    form = ada.look(f"/proposal/{first}").form("/approve")
    form.action = form.action.replace("/approve", "/refuse")
    ada.send(form, note="Half of it will do")
    cid.send(cid.look(f"/draft/{draft}/plan").form(f"/draft/{draft}/plan"), release__epsilon="0.25", go="on")
    second = cid.propose(draft)
    third = cid.proposed()
    ada.approve(third)
    release = cid.release(third)
    cid.wait(release)
    link = served.team.accounts
    link.add("ida", "viewer")
    at = ada.at
    pages = {
        "projects": "/",
        "account": "/account",
        "project": at("/"),
        "members": at("/members"),
        "sources": at("/sources"),
        "budgets": at("/budgets"),
        "budget": at("/ledger/of?name=trips-2026"),
        "proposals": at("/proposals"),
        "proposal": at(f"/proposal/{second}"),
        "release": at(f"/release/{release}"),
        "releases": at("/releases"),
        "log": at("/log"),
        "nothing": at("/release/nothing"),
    }
    own = {f"draft-{step}": at(f"/draft/{draft}/{step}") for step in ("data", "plan", "budget", "release")}
    outside = {"sign-in": "/sign-in", "link": f"/link/{link.new_link('ida')}"}
    return {
        **pages,
        **{f"cid {name}": path for name, path in own.items()},
        **{f"- {k}": v for k, v in outside.items()},
    }


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(look, marks=pytest.mark.slow if look == "light" else pytest.mark.evidence)
        for look in _LOOKS
    ],
)
def test_pages_are_accessible(served: Served, look: str) -> None:
    """No rule is broken, nothing is wider than the screen, nothing is complained about."""
    from axe_playwright_python.sync_playwright import Axe

    pages, faults = _pages(served), []
    with sync_api.sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=_BROWSER, args=options)
        for whom in ("ada", "cid", "-"):
            context = browser.new_context(**_LOOKS[look])
            page = context.new_page()
            complaints: list[str] = []
            page.set_default_timeout(_PATIENCE)
            page.on("pageerror", lambda error, said=complaints: said.append(str(error)))
            if whom != "-":
                cookie = served.person(whom).cookies["veil_team"]
                context.add_cookies([{"name": "veil_team", "value": cookie, "url": served.address}])
            for name, path in pages.items():
                owner, _, title = name.rpartition(" ")
                if (owner or "ada") != whom:
                    continue
                page.goto(f"{served.address}{path}")
                if _PICTURES:
                    page.screenshot(path=str(Path(_PICTURES) / f"team-{title}-{look}.png"), full_page=True)
                found = Axe().run(page, options=_RULES).response["violations"]
                faults += [(look, title, one["id"], one["nodes"][0]["html"][:200]) for one in found]
                wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                if wide > 0:
                    faults.append((look, title, "wider than the screen", f"{wide}"))
            faults += [(look, whom, "error", text) for text in complaints]
            context.close()
        browser.close()
    assert not faults, "\n".join(map(str, faults))


@pytest.mark.slow
def test_signing_in_by_keyboard_alone(served: Served) -> None:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_BROWSER, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_default_timeout(_PATIENCE)
        page.goto(f"{served.address}/account")
        # The cursor is in the first field already.
        page.keyboard.type("cid")
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_text("As an analyst you plan").wait_for()
        (cookie,) = [one for one in page.context.cookies() if one["name"] == "veil_team"]
        assert cookie["httpOnly"]
        assert page.evaluate("document.cookie") == ""
        browser.close()
