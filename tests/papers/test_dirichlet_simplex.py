"""The Dirichlet simplex paper: its figures and lemmas in numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from veil_papers.dirichlet_simplex import figure_1, figure_2, lemma_5

from veil import vectors


def test_figure_1() -> None:
    """Most projected vectors lie on the boundary; those of the Dirichlet mechanism never do."""
    assert figure_1(np.random.default_rng(1)) > 0.6
    inputs = np.random.default_rng(2).dirichlet(np.ones(3), size=1000)
    private = vectors.Dirichlet(20.0, vectors.Simplex(3, floor=0.05), smooth=True).sample(inputs, rng=3)
    assert (private > 0).all()


@pytest.mark.slow
def test_figure_2() -> None:
    deltas = [0.01, 0.03, 0.05, 0.1]
    for k, floor, slack in ((5.0, 0.2, 0.1), (10.0, 0.1, 0.2), (12.0, 0.15, 0.15)):
        curve = figure_2(k=k, floor=floor, slack=slack, deltas=deltas)
        theorem, corollary = (list(column) for column in zip(*curve, strict=True))
        assert theorem == sorted(theorem, reverse=True)
        assert all(loose > tight for tight, loose in curve)
        assert corollary == sorted(corollary, reverse=True)


def test_lemma_5_holds_above_one_half() -> None:
    from scipy.special import beta

    for a, b in np.random.default_rng(4).uniform(0.51, 8.0, size=(300, 2)):
        low, high = lemma_5(a, b)
        assert low <= beta(a, b) <= high


def test_lemma_1_integrates_the_other_entries_out() -> None:
    """P[Omega_1] depends on the protected entries and the total of the rest only."""
    together = vectors.Simplex(3, floor=0.1, protected=(0, 1), slack=0.2)
    apart = vectors.Simplex(9, floor=0.1, protected=(0, 1), slack=0.2)
    adjacency = vectors.Transfer(0.05)
    deltas = [
        vectors.Dirichlet(15.0, domain).published(adjacency, gamma=0.01).delta for domain in (together, apart)
    ]
    assert deltas[0] == deltas[1]
    draws = np.random.default_rng(5).dirichlet(15.0 * np.array([0.1, 0.1, *[0.8 / 7] * 7]), size=200_000)
    bad = (draws[:, :2] < 0.01).any(axis=1).mean()
    assert bad == pytest.approx(deltas[0], abs=5 * np.sqrt(deltas[0] / 200_000))


@pytest.mark.slow
def test_lemma_2_conclusion_holds_numerically() -> None:
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


def test_lemma_3_and_6() -> None:
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
    given = rng.dirichlet(np.ones(4), size=3)
    assert (np.array([0.5, 0.25, 0.25]) @ given) in vectors.Simplex(4)
    assert (np.array([0.5, 0.5, 0.5]) @ given) not in vectors.Simplex(4)


def test_equation_6_the_beta_function_by_gamma_functions() -> None:
    """beta(a, b) as the integral that defines it, and as Gamma(a) Gamma(b) / Gamma(a + b)."""
    from scipy.integrate import quad

    from veil.core.numerics.log_gamma import log_rising

    for a, b in np.random.default_rng(8).uniform(1.0, 40.0, size=(40, 2)):
        integral, _ = quad(lambda t, a=a, b=b: t ** (a - 1) * (1 - t) ** (b - 1), 0.0, 1.0, epsrel=1e-12)
        # Gamma(b) / Gamma(a + b) is what the bounds of the code are made of.
        found = np.exp(math.lgamma(a) - log_rising(float(b), float(a)).value)
        assert found == pytest.approx(integral, rel=1e-7)
        assert math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)) == pytest.approx(
            found, rel=1e-11
        )


@pytest.mark.parametrize("k", [3.0, 20.0, 98.7])
def test_remark_4_the_largest_variance(k: float) -> None:
    """1/(4(k + 1)), where an entry is one half, and less everywhere else; in closed form and drawn."""

    def variance(p: float) -> float:
        # Both of two entries have the same variance.
        return vectors.dirichlet_errors(k * np.array([p, 1.0 - p]), np.array([p, 1.0 - p])).rmse ** 2

    most = 1.0 / (4.0 * (k + 1.0))
    assert variance(0.5) == pytest.approx(most, rel=1e-12)
    assert all(variance(p) < most for p in (0.01, 0.3, 0.45, 0.499, 0.501, 0.7, 0.99))
    mechanism = vectors.Dirichlet(k, vectors.Simplex(3, floor=0.05))
    drawn = mechanism.sample([0.5, 0.3, 0.2], rng=9, size=40_000).var(axis=0)
    # Five standard errors of a variance from 40,000 draws, at most.
    assert drawn[0] == pytest.approx(most, rel=5 * np.sqrt(2.0 / 40_000))
    assert drawn[1] == pytest.approx(0.21 / (k + 1.0), rel=5 * np.sqrt(2.0 / 40_000))
