"""The workbench in a real browser: clicks, keys, pictures, and an automated look at accessibility."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.studio.conftest import Workbench
from tests.studio.made import made_release
from veil.samples.examples import EXAMPLES, Example

sync_api = pytest.importorskip("playwright.sync_api", reason="`make setup-browser` installs Playwright")
_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(_BROWSER is None, reason="needs Chromium")

# From "open" to a finished report.
_MOST_CLICKS = 12
_STEPS = ("data", "hidden", "choices", "plan", "budget", "release")
# Only what hangs is given up, in milliseconds: no test depends on how quick the machine is.
_PATIENCE = 600_000
_HIGHEST = 1900
_PATHS = "[...document.querySelectorAll('input[type=text]')].filter(one => one.value.startsWith('/'))"
_SHORTENED = f"""() => {_PATHS}.map(one => {{
    const kept = one.value;
    one.value = kept.replace(/^.*[/]demo/, '/home/ann/veil-studio/demo');
    return kept;
}})"""
_RESTORED = f"kept => {_PATHS}.forEach((one, number) => {{ one.value = kept[number]; }})"
# Plans of these take long; one of a chain is looked at on the way to the pictures.
_PLANNED_ELSEWHERE = ("chain", "words", "trips")
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
    """A picture for the documentation, without what is below the fold of long pages."""
    if _PICTURES:
        high = min(_HIGHEST, int(page.evaluate("document.documentElement.scrollHeight")))
        part = {"x": 0, "y": 0, "width": 1100, "height": high}
        # Where the tests keep their files means nothing to a reader.
        kept = page.evaluate(_SHORTENED)
        page.screenshot(path=str(Path(_PICTURES) / f"studio-{name}.png"), full_page=True, clip=part)
        page.evaluate(_RESTORED, kept)


@pytest.mark.slow
def test_from_open_to_a_finished_report_in_few_clicks(page: Any) -> None:
    clicks, steps = 0, iter(_STEPS[1:])

    def click(words: str) -> None:
        nonlocal clicks
        clicks += 1
        page.get_by_role("button", name=words, exact=words == "Release").first.click()
        if words.startswith("Next: "):
            page.wait_for_url(f"**/{next(steps)}")

    _picture(page, "start")
    click("Try this")
    page.wait_for_url("**/data")
    assert "pickup" in page.content()
    _picture(page, "data")
    click("Next: What is hidden")
    _picture(page, "hidden")
    click("Next: Public choices")
    _picture(page, "choices")
    click("Next: Plan")
    page.wait_for_selector("#at")
    if _PICTURES:
        page.get_by_text("Simulated.").wait_for()
        page.locator("img.wide").wait_for()
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
    page.wait_for_selector("svg.heat")
    _picture(page, "result")
    assert clicks <= _MOST_CLICKS


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.kind)
def test_each_kind_from_file_to_result(page: Any, workbench: Workbench, example: Example) -> None:
    """Its file is named or handed in by hand; every step is reloaded on the way."""
    folder = workbench.workspace.folder / "demo"
    page.goto(f"{page.url}new")
    page.get_by_role("button", name=f"Choose {example.kind}", exact=True).click()
    if example.kind in ("vector", "graph"):
        page.set_input_files("#file", str(folder / example.file))
    else:
        page.fill("#source", str(folder / example.file))
    page.get_by_role("button", name="Use this data").click()
    page.get_by_text("Chosen:").wait_for()
    veil.Ledger(workbench.workspace.ledger).open("people", epsilon=20)
    texts = {
        key: str(folder / text) if text in example.files else text for key, text in example.texts.items()
    }
    for step, after in pairwise(_STEPS):
        page.wait_for_url(f"**/{step}")
        page.reload()
        _fill_in(page, texts)
        if step == "budget":
            page.get_by_role("radio", name="people").check()
        if step == "plan" and example.kind not in _PLANNED_ELSEWHERE:
            page.get_by_role("button", name="Show what to expect").click()
            page.wait_for_selector("#live .big")
            if example.kind == "vector":
                page.get_by_text("Simulated.").wait_for()
        page.get_by_role("button", name="Next: ").click()
        page.wait_for_url(f"**/{after}")
    page.reload()
    page.get_by_role("button", name="Release", exact=True).click()
    page.wait_for_selector(".state.done")
    page.reload()
    # Every view can be chosen, and is drawn.
    for label in page.locator(".tabs label").all_inner_texts():
        page.get_by_role("radio", name=label.strip(), exact=True).check()
        page.wait_for_function(
            "name => document.querySelector('.tabs input:checked').parentNode.innerText.trim() === name"
            " && document.querySelector('.shown').children.length > 0",
            arg=label.strip(),
        )
    with page.expect_download() as taken:
        page.get_by_role("link", name="Record (.json)").click()
    assert veil.load(taken.value.path()).kind.name == example.kind


def _fill_in(page: Any, texts: Mapping[str, str]) -> None:
    """Fill in the fields of a page that are given, also those that are folded in."""
    page.evaluate("() => document.querySelectorAll('form details').forEach(one => { one.open = true })")
    for key, text in texts.items():
        field = page.locator(f'[name="{key}"]')
        if not field.count():
            continue
        if field.first.get_attribute("type") == "radio":
            page.locator(f'[name="{key}"][value="{text}"]').check()
        else:
            field.first.fill(text)


@pytest.mark.slow
def test_an_empty_budget_refuses_before_anything_is_drawn(page: Any, workbench: Workbench) -> None:
    ledger = veil.Ledger(workbench.workspace.ledger)
    people = ledger.open("people", epsilon=1)
    veil.vectors.release({"A": 3, "B": 4}, epsilon=1.0, ledger=people)
    _ready_by_hand(page)
    assert "Not enough" in page.inner_text("main")
    page.get_by_role("button", name="Release", exact=True).click()
    page.wait_for_selector(".state.failed")
    told = page.inner_text("#state")
    assert "budget exceeded" in told
    assert "charged as" not in told
    assert people.spent.epsilon == 1
    assert page.locator("#explore").count() == 0


def _ready_by_hand(page: Any) -> None:
    """The page before the release of the grades, charged to the budget of people."""
    page.get_by_role("button", name="Try this").nth(4).click()
    page.wait_for_url("**/data")
    page.goto(page.url.replace("/data", "/budget"))
    page.get_by_role("radio", name="people").check()
    page.get_by_role("button", name="Next: Release").click()
    page.wait_for_url("**/release")


@pytest.mark.slow
def test_two_browsers_race_for_the_last_budget(page: Any, chromium: Any, workbench: Workbench) -> None:
    people = veil.Ledger(workbench.workspace.ledger).open("people", epsilon=1)
    other = chromium.new_context().new_page()
    other.set_default_timeout(_PATIENCE)
    other.goto(f"{workbench.address}/?token={workbench.gate.new_token()}")
    for one in (page, other):
        _ready_by_hand(one)
    for one in (page, other):
        one.get_by_role("button", name="Release", exact=True).click(no_wait_after=True)
    states = []
    for one in (page, other):
        one.wait_for_selector(".state.done, .state.failed")
        states.append(one.inner_text(".state"))
    other.context.close()
    assert sorted(states) == ["done", "failed"]
    assert people.spent.epsilon == 1


@pytest.mark.slow
def test_a_budget_is_split_by_dragging_and_by_keys(page: Any, workbench: Workbench) -> None:
    veil.Ledger(workbench.workspace.ledger).open("people", epsilon=2)
    page.get_by_role("button", name="Try this").nth(4).click()
    page.wait_for_url("**/data")
    page.goto(page.url.replace("/data", "/budget"))
    page.get_by_role("radio", name="people").check()
    page.focus("#ration")
    page.keyboard.press("End")
    assert page.input_value("#budget-epsilon") == "2"
    assert page.get_attribute(".asked", "width") == "200"
    place = page.locator("#ration").bounding_box()
    page.mouse.move(place["x"] + place["width"] - 8, place["y"] + place["height"] / 2)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2, steps=5)
    page.mouse.up()
    assert 0.8 < float(page.input_value("#budget-epsilon")) < 1.2
    page.fill("#budget-epsilon", "0.5")
    assert page.input_value("#ration") == "0.25"
    page.get_by_role("button", name="Half").click()
    page.get_by_text("1 after this release").wait_for()
    assert page.input_value("#budget-epsilon") in ("1", "1.0")


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
def test_no_page_has_a_known_barrier(page: Any, workbench: Workbench, scheme: str) -> None:
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
    for path in ("query", "questions"):
        page.goto(f"{draft}/{path}")
        look()
    veil.Ledger(workbench.workspace.ledger).open("people", epsilon=2)
    made, other = made_release(workbench, "Grades"), made_release(workbench, "Grades again")
    chain = made_release(workbench, "Trips", _trips(), has_report=False)
    of_chain = [f"release/{chain}?view={number}" for number in range(5)]
    more = ("releases", f"release/{made}", f"compare?a={made}&b={other}", f"release/{chain}/after/synth")
    for path in ("new", "ledger", "ledger/of?name=people", *more, *of_chain):
        page.goto(f"{start}{path}")
        look()
    # Folded parts are opened too.
    for path in (f"{draft}/choices", f"{draft}/data", f"{start}release/{chain}"):
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        look()


def _trips() -> veil.Release[Any]:
    counts = veil.chains.TransitionCounts([[0, 90, 30], [80, 5, 20], [40, 20, 0]], ["home", "work", "shop"])
    return veil.chains.release(counts, epsilon=1.0, rng=1)


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 768, 3840])
def test_pages_fit_every_width(page: Any, workbench: Workbench, width: int) -> None:
    """Nothing has to be scrolled sideways, from a telephone to a wall."""
    page.set_viewport_size({"width": width, "height": 800})
    page.get_by_role("button", name="Try this").first.click()
    page.wait_for_url("**/data")
    draft = page.url.rpartition("/")[0]
    for step in _STEPS:
        page.goto(f"{draft}/{step}")
        assert _over(page) <= 0, step
    chain = made_release(workbench, "Trips " * 20, _trips())
    start = f"{workbench.address}{workbench.gate.base}/"
    for path in ("", "new", "releases", "ledger", f"release/{chain}/after/synth", f"{draft}/query"):
        page.goto(path if path.startswith("http") else f"{start}{path}")
        assert _over(page) <= 0, path
    for number in range(5):
        page.goto(f"{start}release/{chain}?view={number}")
        assert _over(page) <= 0, number


def _over(page: Any) -> int:
    """By how much a page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


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


@pytest.mark.slow
def test_a_page_of_the_owner_leads_in(chromium: Any, workbench: Workbench, tmp_path: Path) -> None:
    """As the command opens it: a file that leads to the address, whose cookie is sent from then on."""
    from veil.studio.server import _write_letter

    letter = tmp_path / "open.html"
    _write_letter(letter, f"{workbench.address}/?token={workbench.gate.new_token()}")
    page = chromium.new_context().new_page()
    page.goto(letter.as_uri())
    page.get_by_text("From a table to a private release").wait_for(timeout=_PATIENCE)
    assert "token" not in page.url
    page.reload()
    assert page.get_by_text("From a table to a private release").count()
    page.context.close()


@pytest.mark.slow
def test_a_heat_map_is_read_by_the_keyboard(page: Any, workbench: Workbench) -> None:
    chain = made_release(workbench, "Trips", _trips())
    page.goto(f"{workbench.address}{workbench.gate.base}/release/{chain}")
    page.focus(".explored")
    page.keyboard.press("ArrowDown")
    first = page.inner_text(".pointed")
    assert " to home: " in first
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.inner_text(".pointed") != first
    page.fill("#look-search", "shop")
    page.wait_for_function("() => document.querySelectorAll('.cells').length === 1")
    # The search keeps the focus while it is typed in.
    assert page.evaluate("document.activeElement.id") == "look-search"


@pytest.mark.slow
def test_explanations_can_be_hidden(page: Any) -> None:
    page.get_by_role("button", name="Try this").nth(4).click()
    page.wait_for_url("**/data")
    assert page.locator(".help").first.is_visible()
    page.get_by_label("Explain").uncheck()
    page.reload()
    assert not page.locator(".help").first.is_visible()


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
