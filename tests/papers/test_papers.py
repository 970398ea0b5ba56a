"""The papers' printed figures."""

from __future__ import annotations

import numpy as np
import pytest
from veil_papers.data_driven_chains import algorithm_1, delta_by_monte_carlo, smallest_epsilon
from veil_papers.dirichlet_simplex import figure_1, figure_2, figure_3, lemma_5

import veil


def test_ds_figure_1() -> None:
    """Most projected vectors lie on the boundary; those of the Dirichlet mechanism never do."""
    assert figure_1(np.random.default_rng(1)) > 0.6
    inputs = np.random.default_rng(2).dirichlet(np.ones(3), size=1000)
    private = veil.vectors.Dirichlet(20.0, veil.vectors.Simplex(3, floor=0.05), smooth=True).sample(
        inputs, rng=3
    )
    assert (private > 0).all()


def test_ds_figure_2() -> None:
    deltas = [0.01, 0.03, 0.05, 0.1]
    for k, floor, slack in ((5.0, 0.2, 0.1), (10.0, 0.1, 0.2), (12.0, 0.15, 0.15)):
        curve = figure_2(k=k, floor=floor, slack=slack, deltas=deltas)
        theorem, corollary = (list(column) for column in zip(*curve, strict=True))
        assert theorem == sorted(theorem, reverse=True)
        assert all(loose > tight for tight, loose in curve)
        assert corollary == sorted(corollary, reverse=True)


def test_ds_lemma_5_holds_above_one_half() -> None:
    from scipy.special import beta

    for a, b in np.random.default_rng(4).uniform(0.51, 8.0, size=(300, 2)):
        low, high = lemma_5(a, b)
        assert low <= beta(a, b) <= high


def test_ds_lemma_1_integrates_the_other_entries_out() -> None:
    """P[Omega_1] depends on the protected entries and the total of the rest only."""
    together = veil.vectors.Simplex(3, floor=0.1, protected=(0, 1), slack=0.2)
    apart = veil.vectors.Simplex(9, floor=0.1, protected=(0, 1), slack=0.2)
    adjacency = veil.vectors.Transfer(0.05)
    deltas = [
        veil.vectors.Dirichlet(15.0, domain).published(adjacency, gamma=0.01).delta
        for domain in (together, apart)
    ]
    assert deltas[0] == deltas[1]
    draws = np.random.default_rng(5).dirichlet(15.0 * np.array([0.1, 0.1, *[0.8 / 7] * 7]), size=200_000)
    bad = (draws[:, :2] < 0.01).any(axis=1).mean()
    assert bad == pytest.approx(deltas[0], abs=5 * np.sqrt(deltas[0] / 200_000))


def test_ds_lemma_2_conclusion_holds_numerically() -> None:
    """Its proof is invalid, its conclusion has no known counterexample: log-concave along segments."""
    from veil.vectors.corners import some_entry_below

    rng = np.random.default_rng(6)
    for _ in range(150):
        k, gamma = rng.uniform(12, 40), rng.uniform(1e-3, 0.2)
        ends = [0.1 + 0.7 * rng.dirichlet(np.ones(3)) for _ in range(2)]

        def log_inside(p: np.ndarray, k: float = k, gamma: float = gamma) -> float:
            groups = [(k * p[0], 1), (k * p[1], 1)]
            return float(np.log1p(-some_entry_below(groups, k * (1 - p[0] - p[1]), gamma)))

        middle = log_inside(0.5 * (ends[0] + ends[1]))
        assert middle >= 0.5 * (log_inside(ends[0]) + log_inside(ends[1])) - 1e-7


def test_ds_lemma_3_and_6() -> None:
    from scipy.special import betaln

    rng = np.random.default_rng(7)
    for _ in range(200):
        k, slack = rng.uniform(5, 50), rng.uniform(0.05, 0.3)
        q = rng.uniform(0.05, 0.3)
        p = q + rng.uniform(0.01, 0.2)
        total = rng.uniform(p + 0.05, 1 - slack) if p + 0.05 < 1 - slack else 1 - slack
        inside = betaln(k * q, k * (total - q)) - betaln(k * p, k * (total - p))
        bound = betaln(k * q, k * (1 - slack - q)) - betaln(k * p, k * (1 - slack - p))
        assert inside <= bound + 1e-9
    # Lemma 6: only weights that form a simplex vector keep every collection in the simplex
    vectors = rng.dirichlet(np.ones(4), size=3)
    assert (np.array([0.5, 0.25, 0.25]) @ vectors) in veil.vectors.Simplex(4)
    assert (np.array([0.5, 0.5, 0.5]) @ vectors) not in veil.vectors.Simplex(4)


def test_ds_figure_3() -> None:
    found = figure_3(np.random.default_rng(1), vectors=100_000)
    assert found.dirichlet == pytest.approx(0.478, rel=0.02)
    assert found.gaussian == pytest.approx(0.981, rel=0.02)


def test_dc_algorithm_1() -> None:
    out = algorithm_1([31, 28, 21, 10, 8], gamma=4e-4, floor=0.073, k=20.6, rng=1)
    assert out.value in veil.vectors.Simplex(5)
    assert out.bound.epsilon == pytest.approx(2.212, abs=5e-4)
    assert out.bound.delta == pytest.approx(2e-3, rel=0.01)


def test_dc_smallest_epsilon() -> None:
    # k = 3/(2 eta) = 20.548: the strongest privacy that the paper allows for its grade example
    assert smallest_epsilon(5, 98, floor=0.073, gamma=4e-4) == pytest.approx(2.206, abs=5e-3)


def test_dc_delta_by_monte_carlo_agrees_with_the_exact_one() -> None:
    # alpha: five standard errors; power: the delta of a k 10 % larger is rejected
    estimate, error = delta_by_monte_carlo(
        5, k=20.6, floor=0.073, gamma=4e-4, samples=400_000, rng=np.random.default_rng(2)
    )
    domain, adjacency = veil.vectors.Simplex(5, floor=0.073), veil.vectors.Transfer.from_records(98)
    exact = veil.vectors.Dirichlet(20.6, domain).published(adjacency, gamma=4e-4).delta
    assert abs(estimate - exact) < 5 * error
    wrong = veil.vectors.Dirichlet(0.9 * 20.6, domain).published(adjacency, gamma=4e-4).delta
    assert abs(estimate - wrong) > 5 * error
