"""What the page of a counted chain says: routes, beliefs, other mechanisms; all of it from the release."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from tests.chains.pages import page_text
from veil.chains.lengths import LengthBins
from veil.chains.report.page import CountedChain, CountedReport
from veil.chains.report.summary import print_chain_release
from veil.chains.requests import ChainRelease
from veil.chains.transition_counts import Sequences, Stratum, TransitionCounts
from veil.core.intake import NamedMatrix
from veil.core.kind import kind_named
from veil.errors import InvalidArgument
from veil.matrices.requests import MatrixRelease

MATRIX = np.array([[800, 150, 50], [100, 300, 100], [40, 60, 500]])
NAMES = ["<script>alert(1)</script>", "B & co", "$x$"]
SEQUENCES = Sequences(
    np.array([40, 30, 20]), np.array([30, 30, 30]), np.array([10, 30, 50]), LengthBins((1, 2, 5))
)


@cache
def released(kind: str = "geometric", epsilon: float = 1.0) -> veil.Release[Any]:
    more: dict[str, Any] = {}
    options: dict[str, Any] = {"delta": 1e-6}
    if kind == "user":
        more, options = {"cap": 5}, {"unit": "user"}
    elif kind == "row":
        options = {"unit": "row"}
    elif kind == "groups":
        more, options = {"groups": {"day": MATRIX, "night": MATRIX // 2}}, {}
    elif kind == "strata":
        strata = (Stratum(2, 1, MATRIX // 2), Stratum(5, 4, MATRIX // 2))
        more, options = {"cap": 4, "strata": strata, "sequences": SEQUENCES}, {"unit": "user"}
    elif kind == "parts":
        more, options = {"sequences": SEQUENCES}, {"parts": ("starts", "ends", "lengths", "sizes")}
    elif kind == "published":
        options = {"mechanism": kind, "change": "replace", "floor": 0.04, "delta": 1e-3}
    else:
        options |= {"mechanism": kind}
    return veil.chains.release(TransitionCounts(MATRIX, NAMES, **more), epsilon=epsilon, rng=1, **options)


@cache
def report_of(kind: str = "geometric", epsilon: float = 1.0) -> CountedReport:
    return CountedReport.of_release(released(kind, epsilon))


def counted(kind: str = "geometric", epsilon: float = 1.0) -> CountedChain:
    return report_of(kind, epsilon).counted


@cache
def text_of(kind: str = "geometric", epsilon: float = 1.0) -> str:
    """What tables and sentences say, without the pictures."""
    return page_text(report_of(kind, epsilon))


@pytest.fixture
def no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other mechanisms are left out: calibrating them takes most of the time."""
    monkeypatch.setattr("veil.chains.report.page._MOST_COMPARED", 0)


# Routes


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["geometric", "gaussian", "parts", "user"])
def test_routes_are_the_largest_cells(kind: str) -> None:
    release = released(kind)
    routes = counted(kind).routes
    joint = veil.chains.model(release).joint()
    assert [route.share for route in routes] == sorted(joint.ravel(), reverse=True)
    assert sum(route.share for route in routes) == pytest.approx(1.0)
    for route in routes:
        i, j = NAMES.index(route.origin), NAMES.index(route.destination)
        assert route.share == joint[i, j]
        assert route.probability == release.value.to_numpy()[i, j]


def test_routes_have_the_intervals_of_the_analysis() -> None:
    release = released()
    bars = veil.chains.intervals(release).transitions
    for route in counted().routes:
        i, j = NAMES.index(route.origin), NAMES.index(route.destination)
        assert route.interval == tuple(bars[i, j])
        assert route.interval[0] <= route.probability <= route.interval[1]
    page = text_of()
    assert f"<td>{bars[0, 0, 0]:.4f}</td><td>{bars[0, 0, 1]:.4f}</td>" in page


@pytest.mark.usefixtures("no_comparison")
def test_fifteen_routes_are_enough() -> None:
    many = np.random.default_rng(1).integers(1, 99, size=(6, 6))
    assert len(CountedReport.of_release(veil.chains.release(many, epsilon=1.0, rng=1)).counted.routes) == 15


# Beliefs


@pytest.mark.usefixtures("no_comparison")
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 3.0, 50.0, 2000.0])
def test_beliefs_are_those_of_bayes(epsilon: float) -> None:
    odds = CountedReport.of_release(released("geometric", epsilon)).counted.odds
    assert [one.before for one in odds] == [0.5, 0.1, 0.01]
    for one in odds:
        # Odds times e^epsilon, at most certainty.
        factor = math.exp(min(epsilon, 700.0))
        expected = factor * one.before / (factor * one.before + 1.0 - one.before)
        assert one.after == pytest.approx(expected, rel=1e-12)
        assert one.before < one.after <= 1.0


def test_beliefs_are_on_the_page() -> None:
    page = text_of()
    # By hand at epsilon 1: e / (1 + e) of one half, e / (e + 9) of a tenth, e / (e + 99) of a hundredth.
    for before, after in (("50", "73.1"), ("10", "23.2"), ("1", "2.67")):
        assert f"<td>{before} %</td><td>{after} %</td>" in page


@pytest.mark.slow_for("row-one row of the log")
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("geometric", "one trip"),
        ("row", "one row of the log"),
        ("user", "one person&#39;s whole history"),
    ],
)
def test_what_is_hidden_is_said(kind: str, words: str) -> None:
    page = text_of(kind)
    assert f"Hidden is {words}." in page
    assert ("with k of them ε counts k times" in page) == (kind == "geometric")


@pytest.mark.slow
def test_a_delta_is_said_with_the_beliefs() -> None:
    rest = "(but for a rest of probability 1e-06)"
    assert rest in text_of("gaussian")
    assert rest not in text_of()


# Other mechanisms


@pytest.mark.slow_for("parts")
@pytest.mark.parametrize("kind", ["geometric", "gaussian", "user", "row", "parts"])
def test_others_are_compared_at_the_same_budget(kind: str) -> None:
    release = released(kind)
    plan = counted(kind).comparison
    assert plan is not None
    assert {row.name for row in plan.rows} == {"geometric", "gaussian", "dirichlet"}
    assert (plan.epsilon, plan.adjacency) == (release.epsilon, release.adjacency)
    assert plan.delta == (release.delta or 1e-6)
    errors = [row.row_tv for row in plan.rows]
    assert errors == sorted(errors)
    for row in plan.rows:
        assert row.mechanism is not None
        assert row.mechanism.profile(release.adjacency).delta(plan.epsilon) <= plan.delta
    page = text_of(kind)
    assert "Other mechanisms at the same ε" in page
    assert ("while this release needs none" in page) == (release.delta == 0.0)


@pytest.mark.slow_for("strata")
@pytest.mark.parametrize("kind", ["groups", "strata"])
def test_what_has_no_like_is_not_compared(kind: str) -> None:
    assert counted(kind).comparison is None
    page = text_of(kind)
    assert "Other mechanisms" not in page
    assert "The most frequent transitions" in page


def test_large_chains_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veil.chains.report.page._MOST_COMPARED", 2)
    assert CountedReport.of_release(released()).counted.comparison is None


@pytest.mark.slow
def test_tables_with_next_to_nothing_are_not_compared() -> None:
    """One transition of each of two states: in a third of all releases nothing of them is left."""
    left = set()
    for seed in range(4):
        report = CountedReport.of_release(veil.chains.release(np.eye(2), epsilon=1.0, rng=seed))
        assert not re.search(r"\bnan\b", page_text(report))
        left.add(report.counted.comparison is not None)
    assert left == {True, False}


# What goes in


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["geometric", "gaussian", "dirichlet", "published", "user", "row", "groups", "strata", "parts"]
)
def test_nothing_but_the_release_goes_in(kind: str, tmp_path: Path) -> None:
    release = released(kind, 9.0)
    page = CountedReport.of_release(release).html()
    release.save(tmp_path / "r.json")
    assert CountedReport.of_release(veil.load(tmp_path / "r.json")).html() == page
    text = text_of(kind, 9.0)
    assert "None" not in text
    assert not re.search(r"\bnan\b", text)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["geometric", "strata"])
def test_words_and_numbers_come_from_the_release_alone(kind: str, tmp_path: Path) -> None:
    """The same without the pictures."""
    released(kind, 1.0).save(tmp_path / "r.json")
    text = text_of(kind)
    assert page_text(veil.load(tmp_path / "r.json")) == text
    assert "None" not in text
    assert not re.search(r"\bnan\b", text)
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 3


@pytest.mark.slow
def test_mechanisms_are_called_by_what_they_do() -> None:
    for kind, words in (
        ("geometric", "geometric noise on every count"),
        ("gaussian", "discrete Gaussian noise on every count"),
        ("dirichlet", "the Dirichlet mechanism on counts"),
        ("published", "the published Dirichlet mechanism"),
    ):
        assert counted(kind, 9.0).released_by == words
    assert f"Released by {counted().released_by}." in text_of()


def test_parts_and_groups_are_listed() -> None:
    assert counted("parts").parts == ("transitions", "starts", "ends", "lengths", "sizes")
    assert counted("groups").groups == ("day", "night")
    assert counted("strata").parts == ("transitions", "lengths")


@pytest.mark.slow
def test_matrices_are_not_counted() -> None:
    taken = NamedMatrix(MATRIX / MATRIX.sum(axis=1, keepdims=True), tuple("abc"), tuple("abc"))
    adjacency = veil.matrices.Rows(1, veil.vectors.Transfer(0.01))
    release = (
        MatrixRelease(
            rows=adjacency.changed, transfer=adjacency.each.mass, epsilon=2.0, delta=0.0, mechanism="laplace"
        )
        .prepare(taken)
        .run(rng=1)
    )
    report = kind_named("matrix").page(release)
    assert "belief before" not in report
    assert "The most frequent transitions" not in report
    with pytest.raises(InvalidArgument, match="counted from a table"):
        CountedReport.of_release(release).counted  # noqa: B018


# In the terminal


def test_the_terminal_shows_the_largest(capsys: pytest.CaptureFixture[str]) -> None:
    counts = TransitionCounts(np.diag(np.arange(100, 114)) + 1, [f"zone [b]{i}[/b]" for i in range(14)])
    job = ChainRelease(epsilon=2000.0).prepare(counts)
    release = job.run(rng=1)
    shown_job = replace(job, why="so", warnings=("take care",), notes=("Counted: all",))
    print_chain_release(release, job=shown_job, written=[Path("x.json")])
    shown = capsys.readouterr().out
    assert "and 2 more" in shown
    assert shown.count(" -> ") == 8
    # 114 of all 1,687: the largest cell.
    assert re.search(r"6\.758 % +zone \[b\]13\[/b\] -> zone \[b\]13\[/b\]", shown)
    for line in ("Mechanism: geometric: so.", "Counted: all.", "WARNING: take care.", "Written: x.json"):
        assert line in shown
    assert "Not saved" not in shown
    assert "NOT PRIVATE" in shown
