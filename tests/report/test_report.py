"""The report: self-contained, free of the input, readable."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from tests.params import quick_first
from veil.core.privacy.profile import best_guess
from veil.report.figures import svg
from veil.vectors.report.figures import vector_figure
from veil.vectors.report.page import error_bars, published_beside, vector_page

GRADES = np.array([31.0, 28.0, 21.0, 10.0, 8.0])
LABELS = ("A", "B & co", "<C>", "D", "F")
RELEASES: dict[str, dict[str, Any]] = {
    "counts": {"records": 98, "mechanism": "dirichlet"},
    "geometric": {"records": 98, "mechanism": "geometric"},
    "unknown total": {"mechanism": "dirichlet"},
    "vector": {"l1": 0.02, "mechanism": "dirichlet"},
    "laplace": {"transfer": 0.02, "mechanism": "laplace"},
}


@cache
def _release(name: str) -> veil.Release[Any]:
    asked = RELEASES[name]
    values = GRADES / 98 if {"l1", "transfer"} & asked.keys() else GRADES
    labelled = dict(zip(LABELS, values.tolist(), strict=True))
    return veil.vectors.release(labelled, epsilon=2.0, delta=1e-4, **asked)


@cache
def _page(name: str) -> str:
    return _release(name).kind.page(_release(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_first(sorted(RELEASES, reverse=True, key="laplace".__eq__)))
def test_page_is_self_contained_and_complete(name: str) -> None:
    page = _page(name)
    assert page.count("<svg") == 4
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", page.replace('xlink:href="#', "")), (
        "no outside files"
    )
    assert "<script" not in page
    assert "@import" not in page
    assert "B &amp; co" in page
    assert "<C>" not in page
    for words in ("What is hidden", "The privacy curve", "Would another mechanism"):
        assert words in page
    assert ("with 95 % confidence" in page) == (name in ("counts", "vector"))
    assert ("No error bars" in page) == (name == "unknown total")


@pytest.mark.slow
def test_page_shows_nothing_of_the_input(tmp_path: Path) -> None:
    _release("laplace").save(tmp_path / "r.json")
    again = vector_page(veil.load(tmp_path / "r.json"))
    # Made from the file alone, the page is the same: so nothing else went into it.
    assert _page("laplace") == again


@pytest.mark.slow
def test_assumptions_and_seeds_are_shown() -> None:
    out = veil.vectors.release(GRADES / 98, l1=0.01, epsilon=3.0, delta=1e-2, smooth=False, floor=0.05, rng=3)
    page = vector_page(out)
    assert "This holds only if" in page
    assert "Not private." in page
    assert "Nothing is assumed" not in page


@pytest.mark.slow
def test_published_point_is_beside_ours() -> None:
    release = _release("counts")
    published = published_beside(release)
    assert published is not None
    assert published.epsilon > release.epsilon
    assert published_beside(_release("geometric")) is None


def test_best_guess() -> None:
    profile = veil.vectors.GeometricCounts(1.0, 3).profile(veil.vectors.Records())
    e = np.e
    assert best_guess(profile) == pytest.approx(e / (1 + e), rel=1e-9)


def test_error_bars_fall_back_to_typical_errors() -> None:
    bars, words = error_bars(_release("geometric"))
    assert bars is not None
    assert bars.shape == (5, 2)
    assert "mean error" in words


@pytest.mark.slow
def test_long_vectors_are_cut_in_the_figure() -> None:
    size = 60
    figure = vector_figure(np.full(size, 1 / size), [f"label {i} " * 5 for i in range(size)], None, "")
    assert "the first 40 of 60" in svg(figure)


def test_figures_are_the_same_for_the_same_numbers() -> None:
    value = np.array([0.2, 0.8])
    first, second = (svg(vector_figure(value, ["a", "b"], None, "")) for _ in range(2))
    assert first == second


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium to open the page in")
def test_page_opens_in_a_browser(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(vector_page(_release("counts")), encoding="utf-8")
    shot = tmp_path / "page.png"
    flags = (
        "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --hide-scrollbars --window-size=900,2200"
    )
    command = ["chromium", *flags.split(), f"--user-data-dir={tmp_path / 'profile'}"]
    dom = subprocess.run(
        [*command, f"--screenshot={shot}", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    from matplotlib.image import imread

    picture = imread(shot) if shot.exists() else None
    assert picture is not None or "The privacy curve" in dom.stdout
    if picture is not None:
        # Ink in the upper, the middle and the lower part: nothing is blank.
        for part in np.array_split(picture[:1800, :, :3], 3):
            assert part.std() > 0.02
