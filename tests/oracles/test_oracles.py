"""The oracles agree with one another and with known figures."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import special

from .brute import (
    dirichlet_pair_delta,
    discrete_gaussian_delta,
    expected_absolute_deviation,
    expected_kl,
    geometric_delta,
    published_delta_by_monte_carlo,
    published_delta_by_quadrature,
    random_adjacent_pair,
    worst_delta_by_search,
)
from .hockey import (
    beta_hockey_stick,
    gamma_hockey_stick,
    normal_hockey_stick,
    two_entry_dirichlet,
    worst_case_dirichlet,
)


def close(first: mpf, second: mpf, relative: float) -> bool:
    with mp.workdps(30):
        return bool(abs(first - second) <= relative * abs(second))


pytestmark = pytest.mark.slow

EPSILONS = [1e-4, 0.3, 2.0, 10.0, 50.0]
SYMMETRIC = [(1e-6, 1e-6), (1e-6, 1e-3), (1e-3, 1.0), (0.3, 0.7), (5.0, 1.0), (20.0, 300.0), (900.0, 1.0)]
SKEWED = [(1e-6, 2.0, 1e-3), (3.0, 0.01, 2.0), (50.0, 3.0, 0.1), (700.0, 0.2, 200.0), (7.0, 1200.0, 3.0)]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_beta_closed_form_agrees_with_quadrature(epsilon: float) -> None:
    pairs = [(a, a, s) for a, s in SYMMETRIC] + SKEWED
    for a, b, s in pairs:
        for a1, b1, a2, b2 in ((mpf(a) + s, b, a, mpf(b) + s), (a, mpf(b) + s, mpf(a) + s, b)):
            closed = beta_hockey_stick(a1, b1, a2, b2, epsilon, "closed")
            assert close(closed, beta_hockey_stick(a1, b1, a2, b2, epsilon, "quad"), 1e-13)


@pytest.mark.parametrize("epsilon", [1e-4, 0.3, 2.0, 10.0])
def test_gamma_closed_form_agrees_with_quadrature(epsilon: float) -> None:
    for low, high in [(1e-6, 3e-6), (0.3, 1.3), (1.0, 40.0), (100.0, 102.2), (1500.0, 1600.0)]:
        for first, second in ((low, high), (high, low)):
            auto = gamma_hockey_stick(first, second, epsilon)
            assert close(auto, gamma_hockey_stick(first, second, epsilon, method="quad"), 1e-13)


def test_gamma_agrees_with_double_precision() -> None:
    alpha, r, eps = 3.0, 1.7, 0.8
    c = math.exp(special.gammaln(alpha + r) - special.gammaln(alpha))
    low, high = (c * math.exp(-eps)) ** (1 / r), (c * math.exp(eps)) ** (1 / r)
    below = special.gammainc(alpha, low) - math.exp(eps) * special.gammainc(alpha + r, low)
    above = special.gammaincc(alpha + r, high) - math.exp(eps) * special.gammaincc(alpha, high)
    assert float(gamma_hockey_stick(alpha, alpha + r, eps)) == pytest.approx(below, rel=1e-11)
    assert float(gamma_hockey_stick(alpha + r, alpha, eps)) == pytest.approx(above, rel=1e-11)


def test_beta_agrees_with_double_precision() -> None:
    a, s, eps = 2.5, 1.25, 0.9
    t = special.expit(eps / s)
    value = special.betainc(a, a + s, 1 - t) - math.exp(eps) * special.betainc(a + s, a, 1 - t)
    assert float(beta_hockey_stick(a + s, a, a, a + s, eps)) == pytest.approx(value, rel=1e-12)


def test_large_shapes_tend_to_the_normal() -> None:
    for a, tolerance in ((1e6, 1e-6), (1e9, 1e-9), (1e12, 1e-12)):
        s = math.sqrt(a)  # the shift of the logit is 2 log(1 + s/a) with variance close to 2/(a + s/2)
        beta = worst_case_dirichlet(a * 10, 0.1, s / (10 * a), 3, 1.0)
        assert close(beta, normal_hockey_stick(s * math.sqrt(2 / (a + s / 2)), 1, 1.0), tolerance)
    # the skewness of these gammas is 2e-5
    assert close(gamma_hockey_stick(1e10, 1e10 + 1e5, 1.0), normal_hockey_stick(1, 1, 1.0), 2e-5)
    assert close(gamma_hockey_stick(1e10 + 1e5, 1e10, 1.0), normal_hockey_stick(1, 1, 1.0), 2e-5)


def test_no_underflow_at_either_end() -> None:
    a, s = 1e11, 1e5
    tiny = worst_case_dirichlet(1e12, 0.1, 1e-7, 5, 16.0)
    assert mpf("1e-290") < tiny < mpf("1e-250")
    assert close(tiny, normal_hockey_stick(s * math.sqrt(2 / (a + s / 2)), 1, 16.0), 1e-4)
    assert worst_case_dirichlet(1e-5, 0.1, 1e-7, 5, 50.0) > 0
    assert beta_hockey_stick(3.0, 2.0, 3.0, 2.0, 0.5) == 0


def test_normal_known_figure() -> None:
    # Phi(1/2) - Phi(-1/2) at epsilon 0, and the textbook value at shift = sigma = epsilon = 1
    assert float(normal_hockey_stick(1, 1, 0)) == pytest.approx(math.erf(0.5 / math.sqrt(2)), rel=1e-14)
    assert float(normal_hockey_stick(1, 1, 1)) == pytest.approx(0.12693673750664397, rel=1e-13)


def test_known_dirichlet_figures() -> None:
    grades = worst_case_dirichlet(20.6, 0.073, 1 / 98, 5, 2.255)
    assert float(grades) == pytest.approx(2.456e-8, rel=1e-3)
    for floor, d, eps in ((0.1, 0.15, 2.3), (0.05, 0.3, 1.0), (0.1, 0.02, 4.0)):
        limit = d / (2 * floor + d) * math.exp(-eps * floor / d)
        assert float(worst_case_dirichlet(1e-9, floor, d, 3, eps)) == pytest.approx(limit, rel=1e-7)
    assert float(worst_case_dirichlet(1e-9, 0.1, 0.15, 3, 2.3)) == pytest.approx(0.0925, rel=1e-3)


@pytest.mark.parametrize(("k", "floor", "mass", "epsilon"), [(10.0, 0.1, 0.2, 1.0), (40.0, 0.05, 0.1, 2.0)])
def test_two_entries_stay_below_the_infeasible_pair(
    k: float, floor: float, mass: float, epsilon: float
) -> None:
    exact = two_entry_dirichlet(k, floor, mass, epsilon, points=17)
    a, s = k * floor, k * mass
    assert exact < beta_hockey_stick(a + s, a, a, a + s, epsilon)
    corner = [(k * floor, k * (1 - floor)), (k * (floor + mass), k * (1 - floor - mass))]
    at_floor = max(
        beta_hockey_stick(*corner[0], *corner[1], epsilon), beta_hockey_stick(*corner[1], *corner[0], epsilon)
    )
    assert close(at_floor, exact, 1e-10)


def test_two_dimensional_integral_agrees_with_the_reduction() -> None:
    cases: list[tuple[tuple[float, ...], tuple[float, ...]]]
    cases = [((3, 2, 5), (2, 3, 5)), ((0.3, 0.5, 2), (0.5, 0.3, 2)), ((0.3, 0.5, 2), (0.3, 1.5, 1))]
    cases += [((60, 30, 20), (50, 40, 20)), ((60, 0.3, 20), (60, 0.8, 19.5)), ((2, 3, 0.3), (2.2, 3, 0.1))]
    for alpha, beta in cases:
        i, j = (n for n in range(3) if alpha[n] != beta[n])
        for eps in (0.1, 0.7, 2.0):
            exact = float(beta_hockey_stick(alpha[i], alpha[j], beta[i], beta[j], eps))
            assert dirichlet_pair_delta(alpha, beta, eps) == pytest.approx(exact, abs=1e-7)


def test_two_dimensional_integral_does_not_depend_on_the_order() -> None:
    alpha, beta = np.array([3.0, 2.0, 5.0]), np.array([2.0, 4.0, 3.0])
    values = [dirichlet_pair_delta(np.roll(alpha, n), np.roll(beta, n), 0.7) for n in range(3)]
    assert values == pytest.approx([values[0]] * 3, abs=1e-6)


def test_random_pairs_are_adjacent() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        p, q = random_adjacent_pair(0.1, 0.25, rng)
        assert min(p.min(), q.min()) >= 0.1 - 1e-12
        assert p.sum() == pytest.approx(1)
        assert q.sum() == pytest.approx(1)
        assert np.abs(p - q).sum() <= 0.5 + 1e-12
        assert np.sum(np.abs(p - q) > 1e-12) <= 2


@pytest.mark.parametrize(
    ("k", "floor", "mass", "epsilon"),
    [(12.0, 0.1, 0.15, 1.0), (40.0, 0.1, 0.15, 2.0), (12.0, 0.1, 0.9, 3.0), (90.0, 0.05, 0.02, 0.2)],
)
def test_search_comes_close_to_the_worst_pair_from_below(
    k: float, floor: float, mass: float, epsilon: float
) -> None:
    worst = float(worst_case_dirichlet(k, floor, mass, 3, epsilon))
    found = worst_delta_by_search(k, floor, mass, epsilon, np.random.default_rng(11), 80)
    assert 0.8 * worst < found < worst + 1e-6


def test_published_delta_closed_forms() -> None:
    # unit shapes: P[all m protected >= gamma] = (1 - m gamma)^(m - 1 + rest)
    for count, rest, gamma in [(1, 2.5, 0.1), (2, None, 0.2), (2, 0.5, 1e-9), (3, None, 0.05), (3, 0.4, 0.3)]:
        exact = -math.expm1((count - 1 + (rest or 0)) * math.log1p(-count * gamma))
        found = published_delta_by_quadrature([1.0] * count + [rest], gamma)
        assert found == pytest.approx(exact, rel=1e-9)
    assert published_delta_by_quadrature((1.0, 1.0, 1.0, 2.0), 0.4) == 1.0


@pytest.mark.parametrize(
    ("shapes", "gamma"),
    [((1.5, 1.5, 12.0, 3.0), 1e-3), ((2.0, 3.0, 4.0, 0.2), 0.2), ((30.0, 40.0, 20.0, 10.0), 0.01)],
)
def test_published_delta_does_not_depend_on_the_order(shapes: tuple[float, ...], gamma: float) -> None:
    values = [
        published_delta_by_quadrature((*order, shapes[-1]), gamma)
        for order in itertools.permutations(shapes[:-1])
    ]
    assert values == pytest.approx([values[0]] * len(values), rel=1e-9)


def test_published_delta_agrees_with_sampling() -> None:
    rng = np.random.default_rng(5)
    for shapes, gamma in [((2.0, 3.0, None), 0.1), ((1.5, 4.0, 2.0), 0.05), ((2.0, 3.0, 4.0, 0.2), 0.15)]:
        estimate, error = published_delta_by_monte_carlo(shapes, gamma, 200_000, rng)
        assert abs(published_delta_by_quadrature(shapes, gamma) - estimate) < 4 * error


def test_geometric_noise_closed_form() -> None:
    for scale, shift, eps in ((3.0, 1, 0.1), (0.7, 1, 1.0), (10.0, 1, 0.0)):
        e0 = shift / scale
        exact = (math.exp(e0) - math.exp(eps)) / (1 + math.exp(e0))
        assert geometric_delta(scale, (shift,), eps) == pytest.approx(exact, rel=1e-12)
    assert geometric_delta(3.0, (1, -1), 2 / 3 + 1e-9) == 0.0
    assert geometric_delta(3.0, (1, 0), 0.1) == pytest.approx(geometric_delta(3.0, (1,), 0.1), rel=1e-12)


def test_discrete_gaussian_noise() -> None:
    small = {z: math.exp(-2.0 * z * z) for z in range(-30, 31)}
    total = sum(small.values())
    plain = sum(max(0.0, small[z - 1] - math.e**2 * small[z]) for z in range(-29, 31)) / total
    assert discrete_gaussian_delta(0.5, (1,), 2.0) == pytest.approx(plain, rel=1e-12)
    wide = float(normal_hockey_stick(math.sqrt(2), 20, 0.1))
    assert discrete_gaussian_delta(20.0, (1, -1), 0.1) == pytest.approx(wide, rel=2e-3)
    assert discrete_gaussian_delta(4.0, (0, 2), 0.3) == pytest.approx(discrete_gaussian_delta(4.0, (2,), 0.3))


@pytest.mark.parametrize(("k", "p"), [(1e-3, 0.2), (0.5, 0.1), (20.0, 0.3), (1e4, 0.01)])
def test_expected_errors(k: float, p: float) -> None:
    a, b = k * p, k * (1 - p)
    exact = 2 * math.exp(a * math.log(p) + b * math.log(1 - p) - special.betaln(a, b)) / k
    assert expected_absolute_deviation(a, b, p) == pytest.approx(exact, rel=1e-11)
    divergence = sum(w * (math.log(w) + special.psi(k) - special.psi(k * w)) for w in (p, 1 - p))
    assert expected_kl((p, 1 - p), (a, b)) == pytest.approx(divergence, rel=1e-9)


def test_expected_deviation_from_another_centre() -> None:
    assert expected_absolute_deviation(1, 1, 0.25) == pytest.approx((0.25**2 + 0.75**2) / 2, rel=1e-12)
    assert expected_absolute_deviation(2, 3, 0.0) == pytest.approx(0.4, rel=1e-12)
