"""Error bars for a true chain: measured coverage, with the power to see bars that are too short."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import veil
from veil.errors import InvalidArgument

_RNG = np.random.default_rng(6)
SPARSE = 0.92 * _RNG.dirichlet(np.full(8, 0.3), size=8) + 0.01
STICKY = 0.02 + 0.88 * np.eye(6)
RAGGED = np.random.default_rng(5).dirichlet(np.full(5, 0.6), size=5)
WHEEL = np.roll(np.eye(4), 1, axis=1) * 0.88 + 0.03

CASES = {
    "entries at the floor": (
        SPARSE,
        veil.matrices.MatrixDirichlet(60.0, veil.vectors.Simplex(8, floor=0.01)),
    ),
    "slowly mixing": (STICKY, veil.matrices.MatrixDirichlet(300.0, veil.vectors.Simplex(6, floor=0.02))),
    "little data": (WHEEL, veil.matrices.MatrixDirichlet(15.0, veil.vectors.Simplex(4, floor=0.03))),
    "smoothed, a k for each row": (
        RAGGED,
        veil.matrices.MatrixDirichlet(
            (40.0, 80.0, 160.0, 320.0, 640.0), veil.vectors.Simplex(5, floor=0.03), smooth=True
        ),
    ),
}
every_case = pytest.mark.parametrize("name", CASES)


def released(matrix: Any, mechanism: Any) -> veil.Release[Any]:
    return veil.release(
        mechanism, matrix, adjacency=veil.matrices.Rows(1, veil.vectors.Transfer(0.01)), delta=1e-3, rng=0
    )


def coverage(name: str, simulations: int) -> tuple[Any, Any, Any, float]:
    """The share of simulations in which the intervals hold the truth, and how much wider than needed.

    Transitions, stationary, stationary proved (all states at once); and the mean half width over that
    of an ideal normal interval for the errors that occurred.
    """
    matrix, mechanism = CASES[name]
    truth = veil.Chain(matrix).stationary()
    base = released(matrix, mechanism)
    transitions, stationary = np.zeros(matrix.shape), np.zeros(len(matrix))
    proved, widths, errors = 0, [], []
    for value in mechanism.sample(matrix, rng=1, size=simulations):
        found = veil.matrices.chain_intervals(replace(base, value=value))
        transitions += (found.transitions[..., 0] <= matrix) & (matrix <= found.transitions[..., 1])
        stationary += (found.stationary[:, 0] <= truth) & (truth <= found.stationary[:, 1])
        sure = (found.proved_stationary[:, 0] <= truth) & (truth <= found.proved_stationary[:, 1])
        proved += bool(sure.all())
        widths.append(0.5 * (found.stationary[:, 1] - found.stationary[:, 0]))
        errors.append(found.estimate.stationary() - truth)
    ideal = 1.96 * np.sqrt(np.mean(np.square(errors), axis=0))
    wider = float(np.mean(np.mean(widths, axis=0) / ideal))
    return transitions / simulations, stationary / simulations, proved / simulations, wider


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "little data" else pytest.mark.slow) for name in CASES]
)
def test_coverage_is_about_right(name: str) -> None:
    """50 simulations: a quick look; the full count is a study."""
    transitions, stationary, proved, wider = coverage(name, 50)
    assert 0.93 <= transitions.mean() <= 0.97
    assert stationary.mean() >= 0.95
    assert proved >= 0.97
    assert wider < 2.0


@pytest.mark.evidence
@every_case
def test_coverage_over_two_thousand_simulations(name: str) -> None:
    """Transitions 94-97 %; the stationary distribution at least 95 %, state by state.

    The standard error of a share near 95 % is 0.5 %: a single state is allowed three of them.
    """
    transitions, stationary, proved, wider = coverage(name, 2_000)
    assert 0.94 <= transitions.mean() <= 0.97
    assert transitions.min() >= 0.95 - 0.02
    # An entry at zero is held more often: its interval ends there.
    assert transitions.max() <= 0.98
    assert stationary.mean() >= 0.95
    assert stationary.min() >= 0.95 - 0.015
    assert proved >= 0.95
    # How conservative: at most 80 % wider than the ideal interval for the errors that occurred.
    assert 1.0 < wider < 1.8


@pytest.mark.slow
def test_the_harness_sees_bars_that_are_too_short() -> None:
    """With a k four times too large in the record, the same count of hits falls far below 95 %."""
    matrix, honest = CASES["slowly mixing"]
    boastful = veil.matrices.MatrixDirichlet(4.0 * honest.k, honest.domains)
    base = replace(released(matrix, honest), mechanism=boastful)
    truth, hits = veil.Chain(matrix).stationary(), []
    for value in honest.sample(matrix, rng=1, size=15):
        found = veil.matrices.chain_intervals(replace(base, value=value))
        hits.append((found.stationary[:, 0] <= truth) & (truth <= found.stationary[:, 1]))
    assert np.mean(hits) < 0.9


@pytest.mark.slow
def test_bars_shrink_with_k_and_hold_the_estimate() -> None:
    matrix, _ = CASES["entries at the floor"]
    widths = []
    for k in (30.0, 300.0, 3_000.0):
        mechanism = veil.matrices.MatrixDirichlet(k, veil.vectors.Simplex(8, floor=0.01))
        found = veil.matrices.chain_intervals(released(matrix, mechanism))
        pi = found.estimate.stationary()
        assert ((found.stationary[:, 0] <= pi) & (pi <= found.stationary[:, 1])).all()
        assert (found.proved_stationary[:, 0] <= found.stationary[:, 0] + 1e-12).all()
        widths.append((found.stationary[:, 1] - found.stationary[:, 0]).mean())
    assert widths[0] > 2.0 * widths[1] > 4.0 * widths[2]


@pytest.mark.slow
def test_a_public_support_is_known_exactly() -> None:
    matrix = np.array([[0.5, 0.5, 0.0], [0.0, 0.3, 0.7], [1.0, 0.0, 0.0]])
    mechanism = veil.matrices.MatrixDirichlet(50.0, veil.vectors.Simplex(3, floor=0.1), support=matrix > 0.0)
    found = veil.matrices.chain_intervals(released(matrix, mechanism))
    known = matrix == 0.0
    assert (found.transitions[known] == 0.0).all()
    assert (found.transitions[2, 0] == 1.0).all()
    assert (found.transitions[0, 0, 0] < 0.5) & (found.transitions[0, 0, 1] > 0.5)


def test_the_same_release_gives_the_same_bars() -> None:
    matrix, mechanism = CASES["little data"]
    out = released(matrix, mechanism)
    first, second = veil.matrices.chain_intervals(out), veil.matrices.chain_intervals(out)
    assert np.array_equal(first.stationary, second.stationary)


@pytest.mark.slow
def test_many_states_take_fewer_draws() -> None:
    size = 120
    matrix = 0.5 * np.eye(size) + 0.5 / size
    mechanism = veil.matrices.MatrixDirichlet(2_000.0, veil.vectors.Simplex(size, floor=0.5 / size / 2))
    found = veil.matrices.chain_intervals(released(matrix, mechanism))
    truth = np.full(size, 1.0 / size)
    assert np.mean((found.stationary[:, 0] <= truth) & (truth <= found.stationary[:, 1])) > 0.93


def test_other_releases_are_refused() -> None:
    vector = veil.release(
        veil.vectors.Dirichlet(9.0, veil.vectors.Simplex(3, floor=0.1)),
        [0.3, 0.3, 0.4],
        adjacency=veil.vectors.Transfer(0.1),
        delta=0.1,
    )
    with pytest.raises(InvalidArgument, match="MatrixDirichlet"):
        veil.matrices.chain_intervals(vector)
    matrix, mechanism = CASES["little data"]
    with pytest.raises(InvalidArgument, match="confidence"):
        veil.matrices.chain_intervals(released(matrix, mechanism), confidence=1.5)
