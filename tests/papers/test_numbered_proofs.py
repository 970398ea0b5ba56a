"""Steps of proofs and claims in running text that no other test holds."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import beta, betaln, gamma, psi
from scipy.stats import norm
from veil_papers.data_driven_chains import lemma_8_entry_bound
from veil_papers.matrix_dirichlet import theorem_2_squared
from veil_papers.symbolic_trajectories import hoeffding_tail, theorem_2

from veil import Chain, matrices, vectors, words
from veil.errors import InvalidArgument
from veil.matrices.numerics.stationary import quick_stationary
from veil.vectors.corners import some_entry_below
from veil.vectors.published_bounds import published_bound


def test_lemma_8_of_the_simplex_paper() -> None:
    """Prékopa's inequality for two functions on the line, and that its weights matter."""
    one, other, weights = norm(0.0, 1.0), norm(3.0, 2.0), (0.4, 0.6)

    def largest(t: float) -> float:
        x = np.linspace(-15.0, 15.0, 3_001)
        return float((one.pdf(x) * other.pdf((t - weights[0] * x) / weights[1])).max())

    grid = np.linspace(-8.0, 14.0, 441)
    left = float(np.trapezoid([largest(t) for t in grid], grid))
    right = math.prod(
        quad(lambda x, law=law, weight=weight: law.pdf(x) ** (1 / weight), -np.inf, np.inf)[0] ** weight
        for law, weight in zip((one, other), weights, strict=True)
    )
    assert left > right
    # Without the powers 1/λ and λ it would claim an integral of 1.
    assert left < 0.9


@pytest.mark.parametrize(("q", "p"), [(0.1, 0.25), (0.05, 0.3), (0.2, 0.22)])
def test_appendix_b_of_the_simplex_paper(q: float, p: float) -> None:
    """(26) and (27) are one ratio; it grows with c where q is below p, and (28) is its derivative."""
    k = 12.0

    def ratio(first: float, second: float, c: float) -> float:
        return float(gamma(k * first) * gamma(k * (c - first)) / gamma(k * second) / gamma(k * (c - second)))

    totals = np.linspace(p + 0.05, 0.9, 30)
    values = [ratio(q, p, c) for c in totals]
    assert values == sorted(values)
    for c, value in zip(totals, values, strict=True):
        # (26) by q_i and p_i, (27) by q_j = c - q_i and p_j = c - p_i
        assert ratio(c - q, c - p, c) == pytest.approx(value, rel=1e-12)
        assert math.exp(betaln(k * q, k * (c - q)) - betaln(k * p, k * (c - p))) == pytest.approx(value)
    # (28), at x above both shifts: positive exactly where a is below b
    for a, b in ((1.0, 2.0), (2.0, 1.0)):
        x, step = 4.5, 1e-6
        slope = (gamma(x + step - a) / gamma(x + step - b) - gamma(x - a) / gamma(x - b)) / step
        by_formula = gamma(x - a) * (psi(x - a) - psi(x - b)) / gamma(x - b)
        assert slope == pytest.approx(by_formula, rel=1e-4)
        assert (by_formula > 0) == (a < b)
    # Lemma 3 is this with c at its largest, and a bound on the paper's own published loss.
    mechanism = vectors.Dirichlet(k, vectors.Simplex(3, floor=q, protected=(0, 1), slack=0.1))
    move = p - q
    spread = k * move * math.log((1 - 0.01) / 0.01)
    printed = mechanism.published(vectors.Transfer(move), gamma=0.01).epsilon
    assert math.exp(printed - spread) == pytest.approx(ratio(q, p, 0.9), rel=1e-9)


@pytest.mark.parametrize(("a", "b"), [(0.7, 0.9), (1.5, 4.0), (3.0, 3.0)])
def test_appendix_c_of_the_simplex_paper(a: float, b: float) -> None:
    """Jensen: log beta(a, b) is at least the mean of the logarithm, 2 - (a + b); the exp is not printed."""
    mean = quad(lambda x: (a - 1) * math.log(x) + (b - 1) * math.log1p(-x), 0.0, 1.0)[0]
    assert mean == pytest.approx(2 - (a + b), abs=1e-7)
    assert math.exp(mean) <= beta(a, b) * (1 + 1e-12)
    # 2αβ <= α² + β² with α = x^(a-1), β = (1-x)^(b-1)
    squares = quad(lambda x: x ** (2 * a - 2) + (1 - x) ** (2 * b - 2), 0.0, 1.0)[0]
    assert beta(a, b) <= 0.5 * squares
    assert 0.5 * squares == pytest.approx((a + b - 1) / ((2 * a - 1) * (2 * b - 1)), rel=1e-6)


def test_gaussian_noise_of_section_2_d() -> None:
    """Variance 0.25 is (1, 0.01)-private for vectors at a 2-norm of 0.1; half the deviation is not."""
    # Two entries that exchange m are at a 2-norm of m·√2.
    move = vectors.L1(math.sqrt(2) * 0.1)

    def delta(deviation: float) -> float:
        return float(vectors.Gaussian(deviation, vectors.Simplex(3)).profile(move).delta(1.0))

    assert delta(0.5) < 0.01
    # By the closed form, at exactly this distance.
    ratio = 0.1 / 0.5
    exact = norm.cdf(ratio / 2 - 1 / ratio) - math.e * norm.cdf(-ratio / 2 - 1 / ratio)
    assert delta(0.5) == pytest.approx(exact, rel=1e-3)
    # [32, Theorem 3]: deviation at least Δ(K + √(K² + 2ε))/(2ε), K the upper quantile of δ
    quantile = norm.isf(0.01)
    assert 0.1 * (quantile + math.sqrt(quantile**2 + 2.0)) / 2.0 < 0.5
    assert delta(0.1) > 0.01


@pytest.mark.parametrize("entries", [2, 3, pytest.param(5, marks=pytest.mark.slow)])
def test_vertices_of_the_bordered_simplex(entries: int) -> None:
    """|W| + 1 vertices, of which all but one are alike: never more than |W|(|W| + 1)/2."""
    floor, slack, k, threshold = 0.05, 0.1, 30.0, 0.01
    limits = np.vstack([-np.eye(entries), np.ones(entries)])
    values = np.append(np.full(entries, -floor), 1 - slack)
    found = set()
    for chosen in combinations(range(entries + 1), entries):
        point = np.linalg.solve(limits[list(chosen)], values[list(chosen)])
        if (limits @ point <= values + 1e-12).all():
            found.add(tuple(np.round(point, 12)))
    assert len(found) == entries + 1 <= entries * (entries + 1) / 2
    outside = [
        some_entry_below([(k * share, 1) for share in point], k * (1 - sum(point)), threshold)
        for point in found
    ]
    assert len({round(value, 9) for value in outside}) == 2
    domain = vectors.Simplex(entries + 1, floor=floor, protected=range(entries), slack=slack)
    bound = vectors.Dirichlet(k, domain).published(vectors.Transfer(0.02), gamma=threshold)
    assert bound.delta == pytest.approx(max(outside), rel=1e-9)


def test_divergences_fall_as_one_over_k() -> None:
    """Section 5 of the data-driven chains paper says that errors are O(log(1/k)); E[KL] falls as 1/k."""
    p, ks = np.array([0.5, 0.3, 0.2]), (50.0, 200.0, 800.0, 3200.0)
    divergences = [vectors.expected_kl(k * p, p) for k in ks]
    assert np.polyfit(np.log(ks), np.log(divergences), 1)[0] == pytest.approx(-1.0, abs=0.03)
    assert 2 * ks[-1] * divergences[-1] / (len(p) - 1) == pytest.approx(1.0, abs=0.01)


@pytest.mark.slow
def test_errors_fall_as_one_over_the_root_of_k() -> None:
    """The error of π falls as 1/√k.

    alpha: 4,000 chains at each k, a relative standard error below 0.01, five of them; power: the powers -0.4
    and -0.6 are told apart.
    """
    chain, rng = Chain([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.4, 0.2, 0.4]]), np.random.default_rng(3)
    ks, errors = (50.0, 200.0, 800.0, 3200.0), []
    for k in ks:
        drawn = np.stack([rng.dirichlet(k * row, size=4_000) for row in chain.to_numpy()], axis=1)
        errors.append(np.abs(quick_stationary(drawn) - chain.stationary()).sum(axis=1).mean())
        assert errors[-1] < matrices.expected_stationary_change(chain.condition(), [k] * 3, 3)
    assert np.polyfit(np.log(ks), np.log(errors), 1)[0] == pytest.approx(-0.5, abs=0.03)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        # (k, floor, slack, transfer, gamma), with two protected entries; slack None: all four
        ("Assumption 1", (20.0, 0.25, 0.24, 0.01, 0.1), (20.0, 0.25, 0.25, 0.01, 0.1)),
        ("Assumption 2: k >= max", (5.0, 0.2, 0.1, 0.01, 0.1), (4.9, 0.2, 0.1, 0.01, 0.1)),
        ("Assumption 3: gamma <= 1/|W|", (20.0, 0.1, 0.1, 0.01, 0.5), (20.0, 0.1, 0.1, 0.01, 0.52)),
        ("Lemma 4", (20.0, 0.2, 0.1, 0.25, 0.1), (20.0, 0.2, 0.1, 0.26, 0.1)),
        ("Assumption 3: 0 < eta < 1/4", (20.0, 0.24, None, 0.01, 0.1), (20.0, 0.25, None, 0.0, 0.1)),
        ("Assumption 4: k >= 3/(2 eta)", (15.0, 0.1, None, 0.01, 0.1), (14.9, 0.1, None, 0.01, 0.1)),
    ],
    ids=["simplex-1", "simplex-2", "simplex-3", "lemma-4", "chains-3", "chains-4"],
)
def test_assumptions_at_their_edges(
    text: str,
    inside: tuple[float, float, float | None, float, float],
    outside: tuple[float, float, float | None, float, float],
) -> None:
    def broken(k: float, floor: float, slack: float | None, move: float, gamma: float) -> bool:
        if slack is None:
            domain = vectors.Simplex(4, floor=floor)
        else:
            domain = vectors.Simplex(3, floor=floor, protected=(0, 1), slack=slack)
        if not move:
            found = published_bound(k, domain, move, gamma, "theorem").violations
        else:
            found = vectors.Dirichlet(k, domain).published(vectors.Transfer(move), gamma=gamma).violations
        return any(text in violation for violation in found)

    assert not broken(*inside)
    assert broken(*outside)


def test_a_threshold_that_assumption_2_of_the_chains_paper_forbids_is_refused() -> None:
    mechanism = vectors.Dirichlet(20.0, vectors.Simplex(4, floor=0.1))
    assert mechanism.published(vectors.Transfer(0.01), gamma=1 / 3 - 1e-9).violations == ()
    with pytest.raises(InvalidArgument, match="gamma"):
        mechanism.published(vectors.Transfer(0.01), gamma=1 / 3 + 1e-9)


def test_proposition_1_and_remark_4_by_hand() -> None:
    """Var[x_i] = p_i (1 - p_i)/(k + 1), at most 1/(4(k + 1)), where p_i = 1/2."""
    k = 7.0
    for p in (np.array([0.5, 0.5]), np.array([0.2, 0.3, 0.5])):
        errors = vectors.dirichlet_errors(k * p, p)
        assert errors.rmse == pytest.approx(math.sqrt((p * (1 - p)).mean() / (k + 1)), rel=1e-12)
    assert theorem_2_squared(k) == pytest.approx(1 / (4 * (k + 1)), rel=1e-12)
    assert vectors.dirichlet_errors(k * np.array([0.5, 0.5]), np.array([0.5, 0.5])).rmse ** 2 == (
        pytest.approx(theorem_2_squared(k), rel=1e-12)
    )


def test_lemma_8_of_the_chains_paper_by_hand() -> None:
    n, records, k = 3, 5, 4.0
    low, high = 1 / 5, 2 / 5
    by_hand = 2 * low ** (k * (1 - high)) * high ** (k * (1 - low)) / (k * beta(k / 5, k * 2 / 5))
    assert lemma_8_entry_bound(n, records, k) == pytest.approx(by_hand, rel=1e-12)
    p = np.array([0.2, 0.4, 0.6])
    assert (vectors.expected_absolute_deviation(k * p, k * (1 - p), p) >= by_hand).all()
    # (31), (32): the beta function falls in both arguments.
    a = np.linspace(0.2, 5.0, 20)
    assert (np.diff(beta(a, 1.3)) < 0).all()
    assert (np.diff(beta(1.3, a)) < 0).all()


def test_theorem_2_of_the_words_paper_by_hand() -> None:
    """Two words of one letter: both bounds from the definitions of C, Phi and the two laws."""
    epsilon = 1.5
    chance = math.exp(-epsilon / 2)
    # (5) with the candidates at distance 0 and 1
    phi = (1 - chance / 2, 1 - 1 / 2)
    other = (1 / (1 + chance), chance / (1 + chance))
    mean = other[0] * phi[0] + other[1] * phi[1]
    upper = chance / (1 + chance)
    found = theorem_2(1, 2, epsilon, 1)
    assert found.upper == pytest.approx(upper, rel=1e-12)
    assert found.exact == pytest.approx(chance * phi[1], rel=1e-12)
    assert found.lower == pytest.approx(upper - (phi[0] - phi[1]) / (4 * mean), rel=1e-12)
    # (9) and (11): the law, and the covariance
    assert other[1] * phi[1] / mean == pytest.approx(found.exact, rel=1e-12)
    covariance = other[1] * phi[1] - upper * mean
    assert upper + covariance / mean == pytest.approx(found.exact, rel=1e-12)
    assert hoeffding_tail(4, 2.0) == pytest.approx(2 * math.exp(-2 * 4 / 16), rel=1e-12)
    # The mechanism itself draws that law.
    law = words.PermuteAndFlip(words.FreeWords("ab", 1), epsilon)
    drawn = [law.sample("a", rng=seed) for seed in range(400)]
    assert abs(np.mean([one != ("a",) for one in map(tuple, drawn)]) - found.exact) < 0.13
