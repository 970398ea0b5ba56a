"""The page of a chain: self-contained, made from the release alone, with the right numbers."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import veil
from tests.params import quick_first
from veil.core.intake import NamedMatrix
from veil.matrices.error_bars import chain_intervals
from veil.matrices.report.chain import MOST_PICTURED, ChainReport
from veil.matrices.report.console import print_chain
from veil.matrices.requests import MatrixRelease

MATRIX = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
LABELS = ("<script>alert(1)</script>", "B & co", 'a "b"')
CHAIN = veil.Chain(MATRIX, states=LABELS)
APART = veil.Chain([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], states=["<i>", "end", "alone"])
CYCLE = veil.Chain([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
ONE = veil.matrices.Rows(1, veil.vectors.Transfer(0.01))
POLICY = NamedMatrix(
    np.array([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]]), ("s & t", "u"), ("<left>", "mid", "right")
)


def released(mechanism: str = "laplace", data: NamedMatrix | None = None) -> veil.Release[Any]:
    taken = NamedMatrix(MATRIX, LABELS, LABELS) if data is None else data
    return (
        MatrixRelease(transfer=0.01, epsilon=2.0, delta=1e-3, mechanism=mechanism).prepare(taken).run(rng=1)
    )


@cache
def dirichlet() -> veil.Release[Any]:
    return released("dirichlet")


def numbers(page: str) -> str:
    """The page without its pictures: what its tables and sentences say."""
    return re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)


def sound(page: str) -> None:
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert "<script" not in page
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#|data:image/png;base64,)""", page)
    # Whatever looks like an address names an XML vocabulary, and is never fetched.
    for address in re.findall(r"""https?://[^\s"'<>]+""", page):
        assert re.match(r"http://(www\.w3\.org|purl\.org|creativecommons\.org)/", address), address


PAGES: dict[str, Any] = {
    "public": lambda: ChainReport.of(CHAIN),
    "reducible": lambda: ChainReport.of(APART),
    "periodic": lambda: ChainReport.of(CYCLE),
    "alone": lambda: ChainReport.of(veil.Chain([[1.0]])),
    "laplace": lambda: ChainReport.of_release(released()),
    "dirichlet": lambda: ChainReport.of_release(dirichlet()),
    "policy": lambda: ChainReport.of_release(released(data=POLICY)),
    "released, reducible": lambda: ChainReport.of_release(
        MatrixRelease(transfer=0.01, epsilon=2.0, mechanism="laplace", support="zeros")
        .prepare(NamedMatrix(APART.to_numpy(), APART.states, APART.states))
        .run(rng=1)
    ),
}  # fmt: skip


@cache
def report_of(name: str) -> ChainReport:
    found: ChainReport = PAGES[name]()
    return found


@cache
def html(name: str) -> str:
    return report_of(name).html()


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages whose pictures are not drawn, which takes most of their time: for tests of the words."""
    monkeypatch.setattr("veil.report.figures.svg", lambda figure: "<svg></svg>")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pictures"),
    quick_first(
        [("public", 3), ("reducible", 2), ("laplace", 5), ("periodic", 3), ("alone", 2), ("dirichlet", 5),
         ("policy", 3), ("released, reducible", 4)],
        quick=3,
    ),
)  # fmt: skip
def test_pages_are_self_contained(name: str, pictures: int) -> None:
    """Pictures: heat map; bars of an irreducible chain; graph of a small one; privacy curve of a release,
    and whether it is better than knowing nothing.
    """
    report, page = report_of(name), html(name)
    sound(page)
    assert page.count("<svg") == pictures
    assert ("What is hidden" in page) == (report.release is not None)
    assert ("Where it spends its time" in page) == (report.stationary is not None)
    assert "None" not in numbers(page)
    assert "nan" not in numbers(page)
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))


# The numbers


def test_the_page_holds_the_numbers() -> None:
    page = numbers(html("public"))
    assert "3 states; every pair of states (9) is a possible step." in page
    for share in CHAIN.stationary():
        assert f"<td>{share:.4f}</td>" in page
    for number in (
        CHAIN.condition(),
        CHAIN.ergodicity("inf"),
        CHAIN.second_eigenvalue(),
        CHAIN.entropy_rate(),
        float(CHAIN.group_inverse().trace()),
    ):
        assert f"<td>{number:.5g}</td>" in page
    assert "<td>mixing time</td><td>1</td>" in page
    assert f"<b>{math.exp(CHAIN.entropy_rate()):.3g}</b>" in page
    # The likeliest state first.
    order = [page.index(f"<td>{share:.4f}</td>") for share in sorted(CHAIN.stationary(), reverse=True)]
    assert order == sorted(order)


@pytest.mark.slow
def test_the_page_of_a_release_holds_its_guarantee() -> None:
    release, report = dirichlet(), report_of("dirichlet")
    page = numbers(html("dirichlet"))
    assert "A private Markov chain" in page
    assert "ε = 2</b>" in page
    assert "δ = 0.001</b>" in page
    assert f"{release.factor} times" in page
    assert "one row of the matrix may change" in page
    # A bound: in three digits, and never below.
    guess = 50 + 50 * release.profile.delta(0.0)
    printed = next(part.split()[-1] for part in page.split(" times in 100")[:1])
    assert guess <= float(printed) < guess + 0.1
    assert "Nothing is assumed about the data." in page
    assert "Not private." in page
    assert report.published is not None
    beside = f"ε = {report.published.epsilon:.3g}"
    assert f"the matrix Dirichlet paper prints for the same release at the same δ: {beside}" in page
    assert "The line is exact" in page
    truth = chain_intervals(release)
    for low, high in (*truth.stationary, *truth.proved_stationary):
        assert f"<td>{low:.4f}</td><td>{high:.4f}</td>" in page


@pytest.mark.slow
def test_what_the_paper_does_not_cover_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = veil.matrices.MatrixDirichlet(60.0, [veil.vectors.Simplex(3, floor=0.07)] * 3, smooth=True)
    adjacency = veil.matrices.Rows(2, veil.vectors.Transfer(0.01))
    release = veil.Release(MATRIX, mechanism, adjacency, epsilon=2.0, delta=1e-3)
    # The curve of several rows takes a second or two, and is not what is looked at here.
    monkeypatch.setattr("veil.report.figures.privacy_figure", lambda *args, **kwargs: Figure())
    page = numbers(ChainReport.of_release(release).html())
    assert "It does not apply here" in page
    assert "one changed row only" in page
    assert "The line is a proved upper bound." in page


def test_other_noise_has_no_error_bars() -> None:
    report = report_of("laplace")
    assert report.intervals is None
    assert report.published is None
    page = numbers(html("laplace"))
    assert "proved: low" not in page
    assert "matrix Dirichlet paper" not in page
    assert "intervals" not in report.to_dict()


@pytest.mark.slow
def test_assumptions_are_shown() -> None:
    page = numbers(html("released, reducible"))
    assert "This holds only if:" in page
    assert "which entries of the matrix are zero is public" in page
    assert "Nothing is assumed" not in page


@pytest.mark.slow
def test_reducible_and_periodic_chains() -> None:
    page = numbers(html("reducible"))
    assert "The chain is reducible: it has 3 classes" in page
    assert "&lt;i&gt; (open)" in page
    assert "end (closed)" in page
    assert "condition" not in page
    report = ChainReport.of(APART)
    assert report.stationary is None
    assert report.top() == []
    assert report.intervals is None
    cycle = numbers(html("periodic"))
    assert "<b>never</b>" in cycle
    assert "<td>period</td><td>3</td>" in cycle
    assert "-0<" not in cycle


@pytest.mark.slow
def test_policies() -> None:
    release = released(data=POLICY)
    report = ChainReport.of_release(release)
    assert (report.chain, report.facts, report.stationary) == (None, None, None)
    page = html("policy")
    assert "A private matrix" in page
    assert "states," not in numbers(page)
    for label in ("s &amp; t", "&lt;left&gt;", "mid", "right"):
        assert label in page
    for entry in release.value.ravel():
        assert f">{entry:.2f}<" in page
    assert report.to_dict() == {"privacy": {"epsilon": release.epsilon, "delta": 1e-3}}


@pytest.mark.slow
def test_square_policies_are_no_chains() -> None:
    square = NamedMatrix(np.array([[0.5, 0.5], [0.1, 0.9]]), ("s", "t"), ("left", "right"))
    report = ChainReport.of_release(released(data=square))
    assert report.chain is None
    page = report.html()
    for label in ("s", "t", "left", "right"):
        assert f">{label}<" in page


def test_stacks(without_pictures: None) -> None:
    stack = np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 2))
    mechanism = veil.matrices.RowByRow(veil.vectors.Laplace(0.01, veil.vectors.Simplex(3)), rows=4)
    release = veil.release(mechanism, stack, adjacency=ONE, rng=1)
    report = ChainReport.of_release(release)
    assert report.chain is None
    assert report.matrix.shape == (4, 3)
    assert report.labels == (("0", "1", "2", "3"), ("0", "1", "2"))
    sound(report.html())


def test_turned_columns_keep_their_labels() -> None:
    turned = NamedMatrix(MATRIX[:, [2, 0, 1]], ("a", "b", "c"), ("c", "a", "b"))
    job = MatrixRelease(transfer=1e-9, epsilon=2.0, delta=0.0, mechanism="laplace").prepare(turned)
    report = ChainReport.of_release(job.run(rng=1))
    found = {name: share for name, share, _ in report.top()}
    assert found == pytest.approx({"a": 25 / 99, "b": 40 / 99, "c": 34 / 99}, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["laplace", pytest.param("dirichlet", marks=pytest.mark.slow)])
def test_nothing_but_the_release_goes_in(
    mechanism: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Made from the file alone, the page is the same: so nothing else went into it."""
    if mechanism == "laplace":
        request.getfixturevalue("without_pictures")
    release = released(mechanism)
    release.save(tmp_path / "r.json")
    page = ChainReport.of_release(release).html()
    assert ChainReport.of_release(veil.load(tmp_path / "r.json")).html() == page
    assert ChainReport.of(veil.matrices.to_chain(release), release).html() == page


# Labels


def test_labels_are_escaped() -> None:
    for page in (html("public"), html("laplace")):
        assert "<script" not in page
        # In the table, on both axes of the heat map, at a bar and at a circle.
        assert page.count("&lt;script&gt;") >= 5
        assert page.count("B &amp; co") >= 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(("$^$", "5 $ to 9 $", "a$b$c"), id="formulas"),
        pytest.param(("_hidden", "é" * 40, "東京"), id="others"),
        pytest.param(("100 %", "x_1^2", "\\alpha"), id="commands", marks=pytest.mark.slow),
        pytest.param(("東京", "b", "{}"), id="Tokyo", marks=pytest.mark.slow),
    ],
)
def test_labels_are_neither_formulas_nor_commands(labels: tuple[str, str, str]) -> None:
    """They are the same in the table and in the pictures; long ones lose their middle."""
    page = ChainReport.of(veil.Chain(MATRIX, states=labels)).html()
    pictures = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    for label in labels:
        assert label in numbers(page)
        shown = label if len(label) <= 26 else f"{label[:14]}…{label[-10:]}"
        assert pictures.count(f">{shown}<") >= 4


# How much is shown


@pytest.mark.parametrize(("states", "drawn"), [pytest.param(16, True, marks=pytest.mark.slow), (17, False)])
def test_small_chains_are_drawn(states: int, drawn: bool, without_pictures: None) -> None:
    page = ChainReport.of(veil.Chain(np.full((states, states), 1 / states))).html()
    assert ("The chain as a graph" in page) == drawn


def test_large_chains_have_no_heat_map(monkeypatch: pytest.MonkeyPatch, without_pictures: None) -> None:
    report = ChainReport.of(veil.Chain(np.full((20, 20), 1 / 20)))
    assert "Too many states" not in report.html()
    assert MOST_PICTURED == 400
    monkeypatch.setattr("veil.matrices.report.chain.MOST_PICTURED", 19)
    page = report.html()
    sound(page)
    assert "Too many states for a picture." in page
    assert page.count("<svg") == 1
    assert "20 states; every pair of states (400) is a possible step." in page
    assert page.count("<td>0.0500</td>") == 19


@pytest.mark.slow
def test_the_same_numbers_give_the_same_bytes() -> None:
    assert ChainReport.of(CHAIN).html() == html("public")


def test_error_bars_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_chain(report_of("dirichlet"))
    shown = capsys.readouterr().out
    for low, high in chain_intervals(dirichlet()).stationary:
        assert re.search(rf"{low:.4f} +{high:.4f}", shown)
    assert "coverage measured, not proved" in shown
