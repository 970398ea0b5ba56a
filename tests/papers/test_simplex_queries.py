"""The Dirichlet simplex paper, Sections IV and V: average and linear queries, by formulas written by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.special import betaln, digamma, gammaln
from scipy.stats import dirichlet

from veil import vectors
from veil.core.arrays import Floats
from veil.core.mechanism import Published
from veil.vectors import Averaged, Simplex, Transfer

K, FLOOR, SLACK, B, ENTRIES, GAMMA = 30.0, 0.1, 0.15, 0.3, 3, 0.02
DOMAIN = Simplex(5, floor=FLOOR, protected=range(ENTRIES), slack=SLACK)
# What is left of 1 - eta-bar beside one entry at the floor.
REST = 1.0 - SLACK - FLOOR


def published(near: Averaged | Transfer, form: str = "theorem", gamma: float = GAMMA) -> Published:
    return vectors.Dirichlet(K, DOMAIN).published(near, gamma=gamma, form=form)


def beta_term(moved: float) -> float:
    """log beta(k eta, k(1 - eta-bar - eta)) / beta(k(eta + moved), k(1 - eta-bar - eta - moved))."""
    return float(betaln(K * FLOOR, K * REST) - betaln(K * (FLOOR + moved), K * (REST - moved)))


def spread_term(moved: float, gamma: float = GAMMA) -> float:
    return K * moved * math.log((1.0 - (ENTRIES - 1) * gamma) / gamma)


def collections(rng: np.random.Generator, number: int) -> tuple[Floats, Floats]:
    """Neighbours by Definition 3: one of the vectors differs, in two protected entries, by at most b."""
    free = 1.0 - ENTRIES * FLOOR - SLACK
    parts = rng.dirichlet(np.full(ENTRIES + 1, 0.4), size=number)
    first = np.empty((number, 5))
    first[:, :ENTRIES] = FLOOR + free * parts[:, :ENTRIES]
    outside = 1.0 - first[:, :ENTRIES].sum(axis=1)
    first[:, 3], first[:, 4] = 0.7 * outside, 0.3 * outside
    second = first.copy()
    j, (m, other) = int(rng.integers(number)), rng.permutation(ENTRIES)[:2]
    moved = min(B / 2.0, first[j, m] - FLOOR)
    second[j, m] -= moved
    second[j, other] += moved
    return first, second


def log_ratio_of_beta_functions(k_p: Floats, k_q: Floats) -> float:
    """log B(kq) / B(kp) with the multivariate beta function (2)."""
    return float(gammaln(k_q).sum() - gammaln(k_q.sum()) - gammaln(k_p).sum() + gammaln(k_p.sum()))


@pytest.mark.parametrize("number", [1, 4, 250])
def test_theorem_2_and_equation_15(number: int) -> None:
    """Epsilon with b/2N in the place of b/2; delta is that of a single vector."""
    moved = B / (2.0 * number)
    found = published(Averaged.of(number, Transfer.from_l1(B)))
    assert found.epsilon == pytest.approx(beta_term(moved) + spread_term(moved), rel=1e-11)
    assert found.delta == published(Transfer.from_l1(B)).delta
    assert found.violations == ()


@pytest.mark.parametrize("weights", [[1.0], [3.0, 1.0], [0.5, 0.3, 0.2], [1.0, 5.0, 0.0, 2.0]])
def test_theorem_3(weights: list[float]) -> None:
    """Epsilon with alpha b/2 in the place of b/2, alpha the largest of the weights (Definition 5)."""
    alpha = max(weights) / sum(weights)
    near = Averaged.of(weights, Transfer.from_l1(B))
    assert near.weight == pytest.approx(alpha, rel=1e-15)
    found = published(near)
    assert found.epsilon == pytest.approx(
        beta_term(alpha * B / 2.0) + spread_term(alpha * B / 2.0), rel=1e-11
    )
    assert found.delta == published(Transfer.from_l1(B)).delta


@pytest.mark.parametrize("number", [1, 4, 250])
def test_corollaries_2_and_3(number: int) -> None:
    """2k(1 - eta-bar) - 3 and the second term of the theorems; alpha = 1/N is Corollary 2 (Remark 3)."""
    by_hand = 2.0 * K * (1.0 - SLACK) - 3.0 + spread_term(B / (2.0 * number))
    for near in (
        Averaged.of(number, Transfer.from_l1(B)),
        Averaged(Transfer.from_l1(B), 1.0 / number),
        Transfer.from_average(B, number),
        Transfer.from_linear(B, 1.0 / number),
    ):
        found = published(near, "corollary")
        assert found.epsilon == pytest.approx(by_hand, rel=1e-12)
        assert found.epsilon > published(near).epsilon


def test_remark_2_the_limit_and_its_rate() -> None:
    """Epsilon tends to 0 as N grows, as (kb/2N)(psi(k(1 - eta-bar - eta)) - psi(k eta) + log ...)."""
    slope = digamma(K * REST) - digamma(K * FLOOR) + math.log((1.0 - (ENTRIES - 1) * GAMMA) / GAMMA)
    losses = [
        published(Averaged.of(number, Transfer.from_l1(B))).epsilon for number in (10, 10**3, 10**6, 10**9)
    ]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 1e-7
    for number, loss in zip((10**6, 10**9), losses[2:], strict=True):
        assert loss * number == pytest.approx(K * B / 2.0 * slope, rel=1e-5)
    # The first term alone tends to 0 as well: the argument of its logarithm to 1.
    assert beta_term(B / 2e6) == pytest.approx(0.0, abs=1e-5)
    assert beta_term(B / 2.0) > 0.5
    # And so does what is true.
    exact = [
        vectors.Dirichlet(K, DOMAIN).profile(Averaged.of(number, Transfer.from_l1(B))).epsilon(1e-6)
        for number in (10, 1000)
    ]
    assert exact[1] < 0.02 * exact[0]


def test_remark_3_the_average_is_a_linear_query() -> None:
    rows = np.random.default_rng(1).dirichlet(np.ones(5), size=8)
    assert vectors.average(rows, weights=[1.0 / 8.0] * 8) == pytest.approx(rows.mean(axis=0), rel=1e-14)
    assert published(Averaged(Transfer.from_l1(B), 1.0 / 8.0)) == published(
        Averaged.of(8, Transfer.from_l1(B))
    )


def test_equation_16_is_the_ratio_of_the_densities() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        one, two = (table.mean(axis=0) for table in collections(rng, 4))
        x = rng.dirichlet(np.full(5, 3.0))
        by_hand = log_ratio_of_beta_functions(K * one, K * two) + float((K * (one - two) * np.log(x)).sum())
        assert by_hand == pytest.approx(dirichlet.logpdf(x, K * one) - dirichlet.logpdf(x, K * two), abs=1e-9)


@pytest.mark.parametrize("weights", [None, [2.0, 1.0, 1.0]])
def test_equations_17_and_18_bound_the_loss_and_are_nearly_attained(weights: Sequence[float] | None) -> None:
    """Over neighbouring collections and outputs of Omega_1, in which no protected entry is below gamma."""
    rng, largest = np.random.default_rng(3), 0.0
    near = Averaged.of(3 if weights is None else weights, Transfer.from_l1(B))
    epsilon, moved = published(near).epsilon, near.mass
    share = [1.0 / 3.0] * 3 if weights is None else [weight / sum(weights) for weight in weights]
    widest = 0.0
    for _ in range(400):
        one, two = (np.array(share) @ table for table in collections(rng, 3))
        widest = max(widest, float(np.abs(one - two).max()))
        x = np.full(5, GAMMA)
        gains = int(np.argmax(one - two))
        # As far apart as two entries of Omega_1 can be.
        x[gains] = 1.0 - (ENTRIES - 1) * GAMMA - 2e-6
        x[3:] = 1e-6
        largest = max(largest, dirichlet.logpdf(x, K * one) - dirichlet.logpdf(x, K * two))
    # (18), attained where the one that changes has the largest weight.
    assert widest == pytest.approx(moved, rel=1e-12)
    assert 0.75 * epsilon < largest <= epsilon


def test_equation_19_and_lemma_6() -> None:
    """L(P) is P times l, and it stays in the simplex exactly for weights on the simplex."""
    rng = np.random.default_rng(4)
    table = rng.dirichlet(np.ones(6), size=5)
    weights = rng.dirichlet(np.ones(5))
    assert vectors.average(table, weights=weights.tolist()) == pytest.approx(table.T @ weights, abs=1e-15)
    assert vectors.average(table, weights=weights.tolist()) in Simplex(6)
    # Rows at two corners: a sum of weights other than 1, or a negative weight, leaves the simplex.
    corners = np.eye(6)[:2]
    for wrong in ([0.6, 0.6], [1.5, -0.5]):
        assert corners.T @ wrong not in Simplex(6)


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [4.0, 1.0]])
def test_lemma_7(weights: list[float]) -> None:
    """B(kQl) / B(kPl) over neighbouring collections, by the multivariate beta function itself."""
    rng, share = np.random.default_rng(5), np.array(weights) / sum(weights)
    bound, largest = beta_term(max(share) * B / 2.0), -math.inf
    for _ in range(600):
        one, two = (share @ table for table in collections(rng, len(weights)))
        largest = max(largest, log_ratio_of_beta_functions(K * one, K * two))
    assert 0.3 * bound < largest <= bound
    # Attained where two entries alone are protected: one at the floor in Q, one at the rest.
    low = np.array([FLOOR, REST, SLACK])
    high = low + max(share) * B / 2.0 * np.array([1.0, -1.0, 0.0])
    assert log_ratio_of_beta_functions(K * high, K * low) == pytest.approx(bound, rel=1e-12)
