"""The matrix Dirichlet paper: its figures and bounds, and which of them hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from veil_papers.matrix_dirichlet import (
    FLOOR,
    SLACK,
    figure_1,
    figure_3,
    fundamental_as_printed,
    lemma_4,
    protect_largest,
    road_chain,
    theorem_2_absolute,
    theorem_2_squared,
    theorem_3,
)

import veil
from veil.errors import InvalidArgument
from veil.matrices.perturbation import stationary_bound
from veil.vectors.accuracy import expected_absolute_deviation
from veil.vectors.corners import some_entry_below


@pytest.mark.parametrize("k", [0.5, 9.87, 98.7, 1e4])
def test_theorem_2(k: float) -> None:
    """Equation (15) and (16) hold for every entry, with equality at 1/2."""
    p = np.linspace(0.001, 0.999, 999)
    errors = expected_absolute_deviation(k * p, k * (1 - p), p)
    assert errors.max() == pytest.approx(theorem_2_absolute(k), rel=1e-9)
    assert p[errors.argmax()] == pytest.approx(0.5)
    squares = p * (1 - p) / (k + 1)
    assert squares.max() == pytest.approx(theorem_2_squared(k), rel=1e-12)


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        # no entry is small, and the chains are close: still false
        ([[0.9, 0.1], [0.1, 0.9]], [[0.95, 0.05], [0.1, 0.9]], 1.3),
        (
            [[0.98, 0.01, 0.01], [0.01, 0.5, 0.49], [0.01, 0.49, 0.5]],
            [[0.999, 0.0005, 0.0005], [0.01, 0.5, 0.49], [0.01, 0.49, 0.5]],
            1.3,
        ),
    ],
)
def test_lemma_4_is_false(one: list[list[float]], other: list[list[float]], ratio: float) -> None:
    p, q = veil.Chain(one), veil.Chain(other)
    truth = np.abs(p.stationary() - q.stationary()).sum()
    assert truth > ratio * lemma_4(p, q)
    rows = np.abs(p.to_numpy() - q.to_numpy()).sum(axis=1)
    assert truth <= stationary_bound(p.condition(), rows) * (1 + 1e-12)
    # with row sums in both places the lemma is right, Z as printed
    fundamental = np.abs(fundamental_as_printed(p)).sum(axis=1).max()
    assert truth <= fundamental * rows.max() * (1 + 1e-12)


def test_z_as_printed() -> None:
    chain = road_chain()
    inverse = np.linalg.inv(np.eye(32) - chain.to_numpy() - chain.stationary())
    np.testing.assert_allclose(fundamental_as_printed(chain), inverse, atol=1e-10)


def test_theorem_3_columns_are_right() -> None:
    """The bracket of Theorem 3, without ||Z||_1, does bound E max_j sum_i |P_ij - P'_ij|: (25)-(41) hold.

    alpha: five standard errors; power: a fifth of the bracket fails.
    """
    rng = np.random.default_rng(1)
    for size, k, floor, slack, protected in ((4, 15.0, 0.1, 0.1, 3), (8, 40.0, 0.05, 0.1, 5)):
        matrix = floor + (1 - size * floor) * rng.dirichlet(np.ones(size), size=size)
        chain = veil.Chain(matrix)
        fundamental = np.abs(fundamental_as_printed(chain)).sum(axis=0).max()
        printed = theorem_3(chain, k, floor=floor, slack=slack, protected=[protected] * size)
        drawn = np.stack([rng.dirichlet(k * row, size=4000) for row in matrix], axis=1)
        largest = np.abs(drawn - matrix).sum(axis=1).max(axis=1)
        bracket = printed / fundamental
        assert largest.mean() - 5 * largest.std() / math.sqrt(4000) <= bracket < 5 * largest.mean()
        # what it subtracts is a lower bound of a squared mean, as it should be
        means = expected_absolute_deviation(k * matrix, k * (1 - matrix), matrix)
        largest_variance = size * size * theorem_2_squared(k)
        kept = (bracket - size * theorem_2_absolute(k)) ** 2 * size / (size - 1)
        assert largest_variance - (means**2).max() <= kept <= largest_variance


@pytest.mark.slow
def test_figure_1() -> None:
    # the mean of 2,000 x 100 entries has a relative standard error below 0.003: five of them
    points = figure_1(np.random.default_rng(3), responses=2_000)
    for point in points:
        exact = expected_absolute_deviation(
            np.array([0.1 * point.k]), np.array([0.9 * point.k]), np.array([0.1])
        )
        assert point.simulated == pytest.approx(exact[0], rel=0.015)
        assert point.simulated < 0.65 * point.bound
        assert point.exact < 0.6 * point.published.epsilon
    for column in ([point.simulated for point in points], [point.bound for point in points]):
        assert column == sorted(column, reverse=True)
    # printed range of epsilon: 2.5 to 22.5
    assert points[0].published.epsilon == pytest.approx(2.34, abs=0.01)
    assert points[-1].published.epsilon == pytest.approx(22.4, abs=0.05)
    # The text says delta <= 0.027, which is three of the four entries at the floor; four are worse.
    assert points[0].published.delta == pytest.approx(0.0354, abs=1e-4)


@pytest.mark.slow
def test_figure_3() -> None:
    """Errors fall as epsilon grows; averaging before the norm hides most of the noise."""
    points = figure_3(np.random.default_rng(4), ks=(10.0, 50.0, 200.0), responses=1_500)
    errors = [point.mean_of_errors for point in points]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] == pytest.approx(0.394, abs=0.01)
    assert errors[-1] == pytest.approx(0.090, abs=0.005)
    assert all(point.error_of_mean < 0.1 * point.mean_of_errors for point in points)
    # The text says epsilon from 0.5 to 9 for k from 10 to 200; its formula gives 1.18 to 22.5.
    assert points[0].published.epsilon == pytest.approx(1.18, abs=0.01)
    assert points[-1].published.epsilon == pytest.approx(22.5, abs=0.05)
    assert all(point.exact < point.published.epsilon for point in points)


def test_protect_largest() -> None:
    matrix = [[0.2, 0.0, 0.5, 0.3], [0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 0.0, 0.0], [0.4, 0.3, 0.2, 0.1]]
    domain = protect_largest(matrix, 0.1, 0.05)
    assert domain.chosen_from_data
    assert domain.support == ((0, 2, 3), (0, 1, 2, 3), (1,), (0, 1, 2, 3))
    first, second, third, last = domain.domains
    assert first.protected == (1, 2)
    assert second.protected == last.protected == (0, 1, 2)
    assert third is None
    assert matrix in domain
    assert any(
        "looking at the matrix" in text for text in veil.matrices.MatrixDirichlet(20.0, domain).assumptions()
    )
    with pytest.raises(InvalidArgument, match="row 1 with two"):
        protect_largest([[0.2, 0.5, 0.3], [0.5, 0.5, 0.0], [0.2, 0.4, 0.4]], 0.1, 0.05)


def test_road_chain() -> None:
    chain = road_chain()
    assert chain.is_irreducible
    assert chain.period() == 1
    assert len(chain) == 32
    assert set((chain.to_numpy() > 0).sum(axis=1)) == {3, 4, 5}
    assert chain.to_numpy() in protect_largest(chain, FLOOR, SLACK)


def test_equations_5_and_6_row_by_row() -> None:
    """Rows of their own W_i and gamma_i: P[Omega_2] = 1 - P[Omega_1], by an integral and by draws."""
    from scipy.integrate import dblquad
    from scipy.stats import dirichlet

    k, wanted = 15.0, [((0, 1), 0.1), ((1, 3), 0.2), ((0, 2), 0.12)]
    rows = np.array([[0.15, 0.2, 0.3, 0.35], [0.3, 0.35, 0.1, 0.25], [0.15, 0.2, 0.25, 0.4]])
    domains = [veil.vectors.Simplex(4, floor=0.1, protected=places, slack=0.1) for places, _ in wanted]
    drawn = veil.matrices.MatrixDirichlet(k, domains).sample(rows, rng=4, size=20_000)
    for i, (places, gamma) in enumerate(wanted):
        pair = list(places)
        shapes = np.append(k * rows[i, pair], k * (1.0 - rows[i, pair].sum()))
        # Omega_1: all x_j with j in W_i are at least gamma_i; the others may be anything.
        inside, _ = dblquad(
            lambda y, x, shapes=shapes: float(dirichlet.pdf([x, y, 1.0 - x - y], shapes)),
            gamma,
            1.0 - gamma,
            gamma,
            lambda x: max(0.0, 1.0 - x - 1e-12),
            epsrel=1e-7,
        )
        outside = some_entry_below([(shapes[0], 1), (shapes[1], 1)], shapes[2], gamma)
        assert outside == pytest.approx(1.0 - inside, abs=1e-6)
        counted = (drawn[:, i, pair] >= gamma).all(axis=1).mean()
        # Five standard errors; another gamma or other entries are further off.
        assert counted == pytest.approx(inside, abs=5 * math.sqrt(0.25 / 20_000))
        assert abs((drawn[:, i, pair] >= 1.5 * gamma).all(axis=1).mean() - inside) > 0.02
        others = [place for place in range(4) if place not in places]
        assert abs((drawn[:, i, others] >= gamma).all(axis=1).mean() - inside) > 0.02
        # (7): delta_i is the largest such probability over the domain of the row.
        delta = (
            veil.vectors.Dirichlet(k, domains[i]).published(veil.vectors.Transfer(0.01), gamma=gamma).delta
        )
        assert delta >= outside


def test_assumption_3_holds_for_each_row() -> None:
    """gamma_i <= 1/|W_i| is asked of every row: with one gamma for all, the widest row decides."""
    narrow = veil.vectors.Simplex(6, floor=0.1, protected=(0, 1), slack=0.1)
    wide = veil.vectors.Simplex(6, floor=0.1, protected=(0, 1, 2, 3), slack=0.1)
    near = veil.matrices.Rows(1, veil.vectors.Transfer(0.01))

    def violations(domains: list[veil.vectors.Simplex], gamma: float) -> list[str]:
        found = veil.matrices.MatrixDirichlet(40.0, domains).published(near, gamma=gamma).violations
        return [text for text in found if "Assumption 3" in text]

    assert violations([narrow, wide], 0.25) == []
    assert violations([narrow, narrow], 0.26) == []
    assert len(violations([narrow, wide], 0.26)) == 1
    assert "matrix Dirichlet paper, Assumption 3" in violations([narrow, wide], 0.26)[0]
