"""The workbench in a real browser: clicks, keys, pictures, and an automated look at accessibility."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.studio.conftest import Workbench

sync_api = pytest.importorskip("playwright.sync_api", reason="`make setup-browser` installs Playwright")
_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(_BROWSER is None, reason="needs Chromium")

# From "open" to a finished report.
_MOST_CLICKS = 12
_STEPS = ("data", "hidden", "choices", "plan", "budget", "release")
# Only what hangs is given up, in milliseconds: no test depends on how quick the machine is.
_PATIENCE = 600_000
# Where pictures for the documentation are put, if they are wanted.
_PICTURES = os.environ.get("VEIL_STUDIO_PICTURES")
# The rules of WCAG 2.1 AA, and what the authors of axe call best practice.
_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=_BROWSER, args=options)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any, workbench: Workbench) -> Iterator[Any]:
    """A page that was let in; whatever it complains about fails the test."""
    context = chromium.new_context(viewport={"width": 1100, "height": 900})
    page, complaints = context.new_page(), []
    page.set_default_timeout(_PATIENCE)
    page.on("console", lambda told: complaints.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{workbench.address}/?token={workbench.gate.new_token()}")
    yield page
    context.close()
    assert not complaints


def _picture(page: Any, name: str) -> None:
    if _PICTURES:
        page.screenshot(path=str(Path(_PICTURES) / f"studio-{name}.png"), full_page=True)


@pytest.mark.slow
def test_from_open_to_a_finished_report_in_few_clicks(page: Any) -> None:
    clicks = 0

    def click(words: str) -> None:
        nonlocal clicks
        clicks += 1
        page.get_by_role("button", name=words, exact=words == "Release").first.click()

    _picture(page, "start")
    click("Try this")
    page.wait_for_url("**/data")
    assert "pickup" in page.content()
    _picture(page, "data")
    click("Next: What is hidden")
    _picture(page, "hidden")
    click("Next: Public choices")
    click("Next: Plan")
    page.wait_for_selector("#at")
    _picture(page, "plan")
    click("Next: Budget")
    page.fill("#open-name", "city")
    page.fill("#open-epsilon", "2")
    click("Open it")
    page.get_by_text("1 after this release").wait_for()
    _picture(page, "budget")
    click("Next: Release")
    _picture(page, "release")
    click("Release")
    page.wait_for_selector(".state.done")
    frame = page.frame_locator("iframe")
    assert "A private Markov chain" in frame.locator("h1").inner_text()
    _picture(page, "result")
    assert clicks <= _MOST_CLICKS


@pytest.mark.slow
def test_the_slider_moves_the_curve(page: Any) -> None:
    page.get_by_role("button", name="Try this").nth(4).click()
    page.wait_for_url("**/data")
    page.goto(page.url.replace("/data", "/plan"))
    page.wait_for_selector("#at")
    before = page.inner_text("#figures")
    page.focus("#at")
    with page.expect_response(lambda answer: "/plan/live?at=" in answer.url):
        page.keyboard.press("End")
    page.wait_for_function("before => document.querySelector('#figures').innerText !== before", arg=before)
    assert "At ε = 4" in page.inner_text("#figures").replace("3.99", "4").replace("4.00", "4")


@pytest.mark.slow
def test_by_the_keyboard_alone(page: Any) -> None:
    """The first thing that the keyboard reaches leads to the content; every step can be left by Enter."""
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to the content"
    page.keyboard.press("Enter")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText") == "Try this":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/data")
    page.focus("#title")
    page.keyboard.press("Enter")
    page.wait_for_url("**/hidden")
    # Radio buttons are chosen by arrows.
    page.focus("input[name='release.unit'][value='event']")
    page.keyboard.press("ArrowRight")
    assert page.is_checked("input[name='release.unit'][value='row']")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_known_barrier(page: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme=scheme)
    start = page.url

    def look() -> None:
        found = axe.run(page, options=_RULES).response["violations"]
        told = [(one["id"], one["help"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found]
        assert not told, (page.url, told)

    look()
    page.get_by_role("button", name="Try this").nth(4).click()
    page.wait_for_url("**/data")
    draft = page.url.rpartition("/")[0]
    for step in _STEPS:
        page.goto(f"{draft}/{step}")
        if step == "plan":
            page.wait_for_selector("#at")
        look()
    for path in ("new", "releases", "ledger"):
        page.goto(f"{start}{path}")
        look()


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 768, 3840])
def test_pages_fit_every_width(page: Any, width: int) -> None:
    """Nothing has to be scrolled sideways, from a telephone to a wall."""
    page.set_viewport_size({"width": width, "height": 800})
    page.get_by_role("button", name="Try this").first.click()
    page.wait_for_url("**/data")
    draft = page.url.rpartition("/")[0]
    for step in _STEPS:
        page.goto(f"{draft}/{step}")
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0, (step, over)


@pytest.mark.slow
def test_a_hostile_label_stays_text(page: Any, workbench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "hostile.csv"
    path.write_text(
        "<img src=x onerror=\"document.title='ran'\">,count\n<script>document.title='ran'</script>,5\nb,9\n"
    )
    page.goto(f"{workbench.address}{workbench.gate.base}/new")
    page.get_by_role("button", name="Choose vector").click()
    page.fill("#source", str(path))
    page.get_by_role("button", name="Use this data").click()
    page.get_by_text("Chosen:").wait_for()
    page.get_by_label("Yes, they are names, and may be read now").check()
    page.get_by_role("button", name="Use this data").click()
    page.get_by_text("Columns:").wait_for()
    assert "onerror" in page.inner_text("main")
    assert page.title() != "ran"


def test_what_was_typed_in_survives_a_reload(page: Any) -> None:
    page.get_by_role("button", name="Try this").first.click()
    page.wait_for_url("**/data")
    for words, step in (("What is hidden", "hidden"), ("Public choices", "choices"), ("Plan", "plan")):
        page.reload()
        page.get_by_role("button", name=f"Next: {words}").click()
        page.wait_for_url(f"**/{step}")
    page.reload()
    assert page.input_value("input[name='release.epsilon']") == "1"
    assert page.input_value("input[name='plan.states']") == "63"
