"""Reports allow no scripts: a policy in every page, and a real browser that keeps to it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import veil
from veil.report.page import page

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted(
    path
    for folder in ("src/veil", "papers/src")
    for path in (ROOT / folder).rglob("templates/*.html")
    # The pages of the workbench are served, and have a policy in their headers (tests/studio).
    if "<html" in path.read_text(encoding="utf-8") and ROOT / "src/veil/studio" not in path.parents
)
_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_page_begins_with_the_policy(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert '{% include "style.html" %}' in text.partition("</head>")[0]
    assert "<script" not in text


def test_the_policy_allows_no_scripts_and_no_addresses() -> None:
    text = page("style.html")
    assert text.startswith('<meta http-equiv="Content-Security-Policy" content="default-src \'none\';')
    assert "script-src" not in text
    assert "http:" not in text
    assert "https:" not in text


def _seen(path: Path, tmp_path: Path) -> str:
    """The page as a browser has it after running what it lets run."""
    assert _BROWSER is not None
    options = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}/profile",
        "--dump-dom",
    )
    done = subprocess.run(
        [_BROWSER, *options, path.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(_BROWSER is None, reason="needs Chromium")
def test_a_browser_shows_reports_and_runs_nothing(tmp_path: Path) -> None:
    label = "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
    out = veil.vectors.release({label: 50, "b": 30}, epsilon=1.0, rng=1)
    path = tmp_path / "out.html"
    out.report(path)
    shown = _seen(path, tmp_path)
    assert "<svg" in shown
    assert "&lt;script&gt;" in shown
    assert "<title>ran" not in shown
    # Even where text would get into the page as it is, the policy holds.
    text = path.read_text(encoding="utf-8")
    injected = tmp_path / "injected.html"
    injected.write_text(text.replace("<h1>", f"{label}<h1>", 1), encoding="utf-8")
    assert label in injected.read_text(encoding="utf-8")
    assert "<title>ran" not in _seen(injected, tmp_path)
    # The test can tell: without the policy the script runs.
    start = text.index("<meta http-equiv")
    bare = text[:start] + text[text.index(">", start) + 1 :]
    injected.write_text(bare.replace("<h1>", f"{label}<h1>", 1), encoding="utf-8")
    assert "<title>ran" in _seen(injected, tmp_path)


def test_templates_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = page("style.html")
    monkeypatch.setattr("jinja2.Environment.compile", lambda *_, **__: pytest.fail("compiled again"))
    assert page("style.html", package=("veil.report",)) == first
