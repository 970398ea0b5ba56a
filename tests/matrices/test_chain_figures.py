"""The pictures of matrices and chains, and what the terminal shows of them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Arc, Circle, FancyArrowPatch

import veil
from veil.chains.report.page import CountedReport
from veil.core.intake import NamedMatrix
from veil.matrices.planning import MatrixPlan, MatrixRow
from veil.matrices.report import figures as chain_figures
from veil.matrices.report.chain import ChainReport
from veil.matrices.report.console import (
    print_chain,
    print_comparison_of_chains,
    print_matrix_plan,
    print_matrix_release,
)
from veil.matrices.requests import MatrixRelease
from veil.report import figures
from veil.report.figures import short_labels

MATRIX = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
CHAIN = veil.Chain(MATRIX, states=["a", "b", "c"])
ONE = veil.matrices.Rows(1, veil.vectors.Transfer(0.01))


@pytest.mark.slow
def test_heat_maps() -> None:
    picture = figures.svg(chain_figures.heat_map(MATRIX, ["r0", "r1", "r2"], ["c0", "c1", "c2"]))
    for text in ("r0", "r1", "r2", "c0", "c1", "c2", "from", "to", "transition probability"):
        assert f">{text}<" in picture
    for entry in ("0.50", "0.30", "0.20", "0.10", "0.60", "0.25"):
        assert f">{entry}<" in picture
    wide = np.full((13, 13), 1 / 13)
    names = [f"n{i}" for i in range(13)]
    without = figures.svg(chain_figures.heat_map(wide, names, names))
    assert ">0.08<" not in without
    assert ">n12<" in without


@pytest.mark.slow
def test_large_heat_maps_have_no_labels() -> None:
    many = [f"n{i}" for i in range(71)]
    assert ">n12<" not in figures.svg(chain_figures.heat_map(np.full((71, 71), 1 / 71), many, many))


@pytest.mark.slow
def test_bars_are_ordered_and_cut() -> None:
    figure = chain_figures.stationary_figure(np.array([0.2, 0.5, 0.3]), ["x", "y", "z"], None)
    axes: Any = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["y", "z", "x"]
    assert [bar.get_width() for bar in axes.patches] == [0.5, 0.3, 0.2]
    many = figures.svg(
        chain_figures.stationary_figure(np.full(60, 1 / 60), [f"s{i}" for i in range(60)], None)
    )
    assert "the 40 largest of 60 states" in many
    bars = np.array([[0.1, 0.3], [0.4, 0.6], [0.2, 0.4]])
    with_bars = chain_figures.stationary_figure(np.array([0.2, 0.5, 0.3]), ["x", "y", "z"], bars)
    assert "with 95 % confidence" in figures.svg(with_bars)
    lines: Any = with_bars.axes[0].collections[0]
    assert [segment[:, 0].tolist() for segment in lines.get_segments()] == [
        [0.4, 0.6],
        [0.2, 0.4],
        [0.1, 0.3],
    ]


def test_graphs_draw_what_is_likely() -> None:
    """What is less likely than the title says is left out; the rest are arrows and loops with numbers."""
    matrix = np.array([[0.5, 0.49, 0.01], [0.3, 0.4, 0.3], [0.02, 0.33, 0.65]])
    long_run = veil.Chain(matrix).stationary()
    figure = chain_figures.graph_figure(matrix, ["x", "y", "z"], long_run)
    axes = figure.axes[0]
    found = re.fullmatch(r"transitions of at least (\d+) %", axes.get_title())
    assert found is not None
    assert 0.02 < float(found[1]) / 100 < 0.3
    kinds = [type(patch) for patch in axes.patches]
    assert (kinds.count(Circle), kinds.count(Arc), kinds.count(FancyArrowPatch)) == (3, 3, 4)
    likely = [f"{p:.2f}" for p in matrix.ravel() if p > 0.1]
    assert sorted(text.get_text() for text in axes.texts) == sorted(["x", "y", "z", *likely])
    sizes = [patch.radius for patch in axes.patches if isinstance(patch, Circle)]
    assert np.argsort(sizes).tolist() == np.argsort(long_run).tolist()


def plan(epsilon: float) -> MatrixPlan:
    mechanism = veil.matrices.RowByRow(veil.vectors.Laplace(0.1, veil.vectors.Simplex(3)))
    rows = (
        MatrixRow("laplace", mechanism, row_tv=0.1 / epsilon, row_tv95=0.2 / epsilon, stationary_tv=0.05),
        MatrixRow("gaussian", mechanism, row_tv=0.3 / epsilon, row_tv95=0.4 / epsilon),
        MatrixRow("dirichlet", None, why="delta: dirichlet needs a delta above 0, found 0."),
    )
    return MatrixPlan(rows, ONE, epsilon, 0.0)


def test_plans_are_drawn() -> None:
    figure = chain_figures.plan_figure([plan(1.0), plan(2.0), plan(4.0)], 2.0)
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    assert np.array_equal(lines["Laplace"].get_xdata(), [1.0, 2.0, 4.0])
    assert np.array_equal(lines["Laplace"].get_ydata(), [0.1, 0.05, 0.025])
    assert np.array_equal(lines["Gaussian"].get_ydata(), [0.3, 0.15, 0.075])
    assert "Dirichlet" not in lines


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages whose pictures are not drawn, which takes most of their time: for tests of the words."""
    monkeypatch.setattr("veil.report.figures.svg", lambda figure: "<svg></svg>")


# The terminal


def test_the_terminal_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    print_chain(ChainReport.of(veil.Chain(MATRIX, states=["a", "b", "c"])))
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert lines[0] == "A chain of 3 states; every pair of states (9) is a possible step."
    assert [line.split()[:2] for line in lines[2:5]] == [["b", "0.4040"], ["c", "0.3434"], ["a", "0.2525"]]
    for text, number in (
        ("condition", CHAIN.condition()),
        ("Kemeny", float(CHAIN.group_inverse().trace())),
        ("uncertainty", CHAIN.entropy_rate()),
        ("tau_inf", CHAIN.ergodicity("inf")),
    ):
        (line,) = [line for line in lines if text in line]
        assert line.split()[-1] == f"{number:.4g}"
    print_chain(ChainReport.of(veil.Chain(np.full((25, 25), 1 / 25))))
    assert "and 5 more" in capsys.readouterr().out


def test_comparisons_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    other = veil.Chain([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5], [0.25, 0.25, 0.5]], states=CHAIN.states)
    found = CHAIN.compare(other)
    print_comparison_of_chains(found, "other [1].csv")
    shown = capsys.readouterr().out
    assert "Against other [1].csv:" in shown
    for number in (found.stationary_tv, found.bound, found.largest_row_tv, found.mean_row_tv):
        assert f" {number:.4g}\n" in shown
    assert "infinite" in shown


def test_plans_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_matrix_plan(plan(2.0))
    shown = capsys.readouterr().out
    assert "Least error: laplace. A row error of 0.05 means" in shown
    print_matrix_plan(replace(plan(2.0), over="these"))
    shown = capsys.readouterr().out
    why = "least expected total variation of a row over these: 0.05 against 0.15 of gaussian; not possible"
    assert f"Least error: laplace. auto takes it: {why} at this budget: dirichlet. A row error" in shown
    assert "5 percentage points" in shown
    assert "dirichlet: delta: dirichlet needs a delta above 0" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["laplace", "0.05", "0.1", "0.05"] in [row[:4] for row in rows]
    assert ["gaussian", "0.15", "0.2", "-"] in [row[:4] for row in rows]


@pytest.mark.slow
def test_large_releases_are_cut_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    names = tuple(f"s{i}" for i in range(40))
    taken = NamedMatrix(np.full((40, 40), 1 / 40), names, names)
    job = MatrixRelease(transfer=0.01, epsilon=2.0, mechanism="laplace").prepare(taken)
    job = replace(job, notes=("A note",), warnings=("a warning",))
    print_matrix_release(job.run(rng=1), job=job, written=[Path("x.json")])
    shown = capsys.readouterr().out
    assert "(the first rows and columns of 40 x 40)" in shown
    assert "s29" in shown
    assert "s30" not in shown
    assert "s12 " not in shown.splitlines()[0]
    assert "Written: x.json" in shown
    assert "A note." in shown
    assert "WARNING: a warning." in shown


# Layout


def test_the_legend_stands_above_the_bars() -> None:
    bars = np.array([[0.4, 0.42], [0.58, 0.6]])
    figure: Any = chain_figures.stationary_figure(np.array([0.41, 0.59]), ["on", "off"], bars)
    figures.svg(figure)
    axes = figure.axes[0]
    legend = axes.get_legend().get_window_extent()
    assert legend.y0 >= axes.get_window_extent().y1


@pytest.mark.parametrize("states", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 12, 30))])
def test_labels_of_columns_do_not_collide(states: int) -> None:
    names = [f"A very long label of state {i:02d}" for i in range(states)]
    figure: Any = chain_figures.heat_map(np.full((states, states), 1 / states), names, names)
    figures.svg(figure)
    axes = figure.axes[0]
    ticks = axes.get_xticklabels()
    assert len({tick.get_text() for tick in ticks}) == states
    if ticks[0].get_rotation() == 0:
        boxes = [tick.get_window_extent() for tick in ticks]
        assert all(one.x1 <= other.x0 for one, other in pairwise(boxes))
    else:
        # Turned labels lie beside each other if a column is as wide as a line is high.
        step = axes.get_window_extent().width / states
        needed = ticks[0].get_fontsize() / 72 * figure.dpi
        assert step > needed


def test_short_labels_stay_different() -> None:
    names = [f"State number {i:03d} of the long list" for i in range(9)]
    assert len(set(short_labels(names, drawn=False))) == 9
    assert short_labels(["a", "b"]) == ["a", "b"]
    assert short_labels(["é" * 40]) == ["é" * 14 + "…" + "é" * 10]


def test_plans_fit_into_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    mechanism = veil.matrices.RowByRow(veil.vectors.Laplace(0.1, veil.vectors.Simplex(3)))
    row = MatrixRow(
        "discrete-gaussian",
        mechanism,
        row_tv=0.000123,
        row_tv95=0.000456,
        stationary_tv=0.000789,
        kl=0.000321,
    )
    print_matrix_plan(MatrixPlan((row,), ONE, 1.0, 1e-6))
    shown = capsys.readouterr().out
    (line,) = [line for line in shown.splitlines() if line.startswith("discrete-gaussian ")]
    for number in ("0.000123", "0.000456", "0.000789", "0.000321", "██████████"):
        assert number in line
    assert len(line) <= 80
    assert "…" not in shown


@pytest.mark.slow
def test_narrow_intervals_get_more_digits(without_pictures: None) -> None:
    counts = np.array([[800_000, 150_000], [100_000, 300_000]])
    report = CountedReport.of_release(veil.chains.release(counts, epsilon=1.0, rng=1))
    assert report.intervals is not None
    page = report.html()
    for low, high in report.intervals.stationary:
        assert f"{low:.4f}" == f"{high:.4f}"
        ends = [(f"{low:.{digits}f}", f"{high:.{digits}f}") for digits in (5, 6, 7)]
        (shown,) = [pair for pair in ends if f"<td>{pair[0]}</td><td>{pair[1]}</td>" in page]
        assert shown[0] != shown[1]
    assert "true: low" in page
    assert "τ<sub>∞</sub>" in page


def test_one_step_is_not_steps(without_pictures: None) -> None:
    assert "<b>1</b><span>step until" in ChainReport.of(CHAIN).html()
    slow = veil.Chain([[0.99, 0.01], [0.01, 0.99]])
    assert "<span>steps until" in ChainReport.of(slow).html()


@pytest.mark.slow
def test_proofs_that_say_nothing_are_left_out(without_pictures: None) -> None:
    report = CountedReport.of_release(veil.chains.release(np.full((3, 3), 5), epsilon=0.1, rng=1))
    assert report.intervals is not None
    assert report.intervals.proved_stationary[:, 1].min() > 0.99
    page = report.html()
    assert "proved: low" not in page
    assert "Bounds that are proved say nothing here" in page


@pytest.mark.slow
def test_the_order_of_many_states_is_said(without_pictures: None) -> None:
    for states, said in ((70, False), (71, True)):
        page = ChainReport.of(veil.Chain(np.full((states, states), 1 / states))).html()
        assert ("The states are in the order of their clusters" in page) == said


@pytest.mark.slow
def test_a_chain_draws_itself_and_writes_its_report(tmp_path: Path) -> None:
    chain = veil.Chain([[0.9, 0.1], [0.5, 0.5]], states=["dry", "wet"])
    assert [tick.get_text() for tick in chain.plot().axes[0].get_yticklabels()] == ["dry", "wet"]
    chain.report(tmp_path / "chain.html")
    assert "A Markov chain" in (tmp_path / "chain.html").read_text(encoding="utf-8")
    with pytest.raises(veil.errors.VeilError, match="overwrite"):
        chain.report(tmp_path / "chain.html")


def test_of_too_many_states_a_chain_draws_the_most_visited() -> None:
    size = 450
    matrix = np.full((size, size), 0.5 / size)
    matrix[:, 7] += 0.5
    figure = veil.Chain(matrix).plot()
    assert "450 states" in figure.axes[0].get_xlabel()
    assert figure.axes[0].get_yticklabels()[0].get_text() == "7"
