"""Bounds on how far a released chain can be from the true one: they hold, and the papers' do not."""

from __future__ import annotations

import math
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import veil
from veil.errors import InvalidArgument
from veil.matrices import perturbation
from veil.matrices.perturbation import (
    ergodicity_bound,
    expected_largest_column_distance,
    expected_largest_row_distance,
    log_moment,
    row_radius,
    simultaneous_row_radii,
    stationary_bound,
    stationary_bound_from_kl,
    stationary_radii,
    stationary_radius,
)
from veil.vectors.accuracy import total_variation_failure

Array = NDArray[np.float64]


def _chains(rng: np.random.Generator, count: int, size: int) -> Array:
    """Rows of many concentrations; a third of the chains nearly fall apart into two blocks."""
    shape = 10.0 ** rng.uniform(-1.3, 1.5, size=(count, size, 1))
    rows = rng.standard_gamma(np.broadcast_to(shape, (count, size, size))) + 1e-7
    chains = rows / rows.sum(axis=2, keepdims=True)
    half = max(1, size // 2)
    block = np.zeros((size, size))
    block[:half, :half] = block[half:, half:] = 1.0
    inside = chains * block + 1e-3 * block
    inside /= inside.sum(axis=2, keepdims=True)
    leak = np.where(
        rng.random((count, 1, 1)) < 1 / 3, 10.0 ** rng.uniform(-4, -1, size=(count, size, 1)), 1.0
    )
    return np.asarray((1.0 - leak) * inside + leak * chains)


def _neighbours(rng: np.random.Generator, chains: Array) -> Array:
    """Other chains: independent ones, Dirichlet releases, and chains that differ in one row."""
    count, size, _ = chains.shape
    k = 10.0 ** rng.uniform(0.3, 5, size=(count, 1, 1))
    gammas = rng.standard_gamma(k * chains) + 1e-9
    drawn = gammas / gammas.sum(axis=2, keepdims=True)
    fresh = _chains(rng, count, size)
    kind = rng.integers(3, size=(count, 1, 1))
    row = (np.arange(size) == rng.integers(size, size=(count, 1)))[..., None]
    return np.where(kind == 0, drawn, np.where((kind == 1) | row, fresh, chains))


def _stationary(chains: Array) -> Array:
    """By elimination without subtractions, all chains at once."""
    left = chains.copy()
    size = left.shape[-1]
    for state in range(size - 1, 0, -1):
        left[:, :state, state] /= left[:, state, :state].sum(axis=1)[:, None]
        left[:, :state, :state] += left[:, :state, state, None] * left[:, None, state, :state]
    shares = np.ones(left.shape[:2])
    for state in range(1, size):
        shares[:, state] = np.einsum("bi,bi->b", shares[:, :state], left[:, :state, state])
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _group_inverse(chains: Array, shares: Array) -> Array:
    size = chains.shape[-1]
    return np.asarray(np.linalg.inv(np.eye(size) - chains + shares[:, None, :]) - shares[:, None, :])


def _row_spread(matrices: Array) -> Array:
    return np.asarray(0.5 * np.abs(matrices[:, :, None] - matrices[:, None]).sum(axis=3).max(axis=(1, 2)))


def _column_spread(matrices: Array) -> Array:
    middle = np.median(matrices, axis=1, keepdims=True)
    return np.asarray(np.abs(matrices - middle).sum(axis=1).max(axis=1))


def _ratios(rng: np.random.Generator, count: int, size: int) -> dict[str, float]:
    """For each bound the largest ratio of the truth to it, over many pairs of chains."""
    p = _chains(rng, count, size)
    q = _neighbours(rng, p)
    pi, rho = _stationary(p), _stationary(q)
    truth = np.abs(pi - rho).sum(axis=1)
    rows, columns = np.abs(p - q).sum(axis=2), np.abs(p - q).sum(axis=1).max(axis=1)
    inverse, other_inverse = _group_inverse(p, pi), _group_inverse(q, rho)
    condition, other_condition = _row_spread(inverse), _row_spread(other_inverse)
    printed = np.abs(inverse - pi[:, None, :]).sum(axis=1).max(axis=1)
    divergence = np.einsum("bi,bij->b", pi, p * np.log(p / q))
    mean = (pi * rows).sum(axis=1)
    most = np.abs(pi - rho).argmax(axis=1)
    spreads = 0.5 * np.ptp(other_inverse, axis=1)[np.arange(count), most] * mean
    moved = truth > 1e-6
    bounds = {
        "largest row": (truth, condition * rows.max(axis=1)),
        "weighted": (truth, other_condition * mean),
        "divergence": (truth, other_condition * np.sqrt(2.0 * np.maximum(divergence, 0.0))),
        "one state": (np.abs(pi - rho).max(axis=1), spreads),
        "tau 1": (np.abs(_row_spread(p) - _row_spread(q)), rows.max(axis=1)),
        "tau inf": (np.abs(_column_spread(p) - _column_spread(q)), columns),
        "printed: column sums": (truth, printed * columns),
        "false: own weights": (truth, condition * mean),
    }
    return {name: float((value[moved] / bound[moved]).max()) for name, (value, bound) in bounds.items()}


SIZES = {2: 30_000, 3: 30_000, 4: 20_000, 5: 10_000, 8: 10_000}


@pytest.mark.parametrize(
    "size", [pytest.param(size, marks=() if size == 3 else pytest.mark.slow) for size in SIZES]
)
def test_bounds_hold_on_random_pairs_of_chains(size: int) -> None:
    """100,000 pairs in all. Power: the same harness catches the two false bounds."""
    ratios = _ratios(np.random.default_rng(100 + size), SIZES[size], size)
    for name in ("largest row", "weighted", "divergence", "one state", "tau 1", "tau inf"):
        assert ratios[name] <= 1.0 + 1e-7, name
    if size < 5:
        assert ratios["printed: column sums"] > 1.2
    assert ratios["false: own weights"] > 5.0
    assert ratios["weighted"] > 0.6
    assert ratios["tau 1"] > 0.4


def test_functions_are_these_bounds() -> None:
    rng = np.random.default_rng(1)
    for size in (2, 3, 6):
        chains = _chains(rng, 15, size)
        for p, q in zip(chains, _neighbours(rng, chains), strict=True):
            one, other = veil.Chain(p), veil.Chain(q)
            rows = np.abs(p - q).sum(axis=1)
            truth = np.abs(one.stationary() - other.stationary()).sum()
            compared = one.compare(other)
            bounds = [
                stationary_bound(one.condition(), rows),
                stationary_bound(other.condition(), rows),
                stationary_bound(other.condition(), rows, weights=one.stationary()),
                stationary_bound(one.condition(), rows, weights=other.stationary()),
                stationary_bound_from_kl(other.condition(), compared.kl_rate),
                stationary_radius(other, rows),
            ]
            assert min(bounds) >= truth * (1 - 1e-9)
            assert bounds[2] <= bounds[1]
            assert bounds[2] == pytest.approx(min(2.0, 2.0 * compared.bound), rel=1e-9)
            limits = stationary_radii(other, rows)
            assert (np.abs(one.stationary() - other.stationary()) <= limits * (1 + 1e-9)).all()
            for norm, change in ((1, compared.ergodicity_1), ("inf", compared.ergodicity_inf)):
                assert abs(change) <= ergodicity_bound(one, other, norm=norm) * (1 + 1e-9)


def test_weights_of_the_same_chain_are_no_bound() -> None:
    """A state that P hardly visits, and that the other chain hardly leaves: off by 5,000."""
    p, q = veil.Chain([[0.5, 0.5], [1e-4, 0.9999]]), veil.Chain([[1 - 1e-9, 1e-9], [1e-4, 0.9999]])
    rows = np.abs(p.to_numpy() - q.to_numpy()).sum(axis=1)
    truth = np.abs(p.stationary() - q.stationary()).sum()
    wrong = stationary_bound(p.condition(), rows, weights=p.stationary())
    assert truth > 4_900 * wrong
    assert truth <= stationary_bound(q.condition(), rows, weights=p.stationary())
    assert truth <= stationary_bound(p.condition(), rows, weights=q.stationary()) * (1 + 1e-9)


# One Dirichlet row


def test_poincare_constant() -> None:
    """k Var g <= E x(1-x) g'(x)^2 for beta laws: equality for linear g, and at degree 2 the gap is 2(1+k)."""
    from scipy.special import roots_jacobi

    rng = np.random.default_rng(3)
    ratios = []
    for _ in range(200):
        a, b = 10.0 ** rng.uniform(-1.5, 2, size=2)
        points, weights = roots_jacobi(30, b - 1, a - 1)
        x, weights = 0.5 * (1 + points), weights / weights.sum()
        g = np.polynomial.Polynomial(rng.normal(size=rng.integers(3, 7)))
        variance = weights @ g(x) ** 2 - (weights @ g(x)) ** 2
        energy = weights @ (x * (1 - x) * g.deriv()(x) ** 2)
        ratios.append((a + b) * variance / energy)
        linear = weights @ x**2 - (weights @ x) ** 2
        assert (a + b) * linear == pytest.approx(weights @ (x * (1 - x)), rel=1e-7)
        # x^2 - c x + d with L g = -2 (1 + k) g, orthogonal to linear functions
        c = 2 * (a + 1) / (a + b + 2)
        square = np.polynomial.Polynomial([0.0, -c, 1.0])
        second = weights @ square(x) ** 2 - (weights @ square(x)) ** 2
        ends = weights @ (x * (1 - x) * square.deriv()(x) ** 2)
        assert 2 * (1 + a + b) * second == pytest.approx(ends, rel=1e-6)
    assert max(ratios) <= 1 + 1e-6
    assert max(ratios) > 0.99


def test_moments_of_a_row_are_below_their_bound() -> None:
    """E exp(t |x - p|_1) by quadrature for two entries; k Var |x - p|_1 <= 1."""
    from scipy.stats import beta

    nodes, weights = np.polynomial.legendre.leggauss(60)
    rng = np.random.default_rng(4)
    for _ in range(60):
        k, p = 10.0 ** rng.uniform(-1, 3.5), rng.uniform(0.005, 0.5)
        law = beta(k * p, k * (1 - p))
        middle = law.cdf(p)
        levels = np.concatenate([0.5 * middle * (1 + nodes), middle + 0.5 * (1 - middle) * (1 + nodes)])
        share = np.concatenate([0.5 * middle * weights, 0.5 * (1 - middle) * weights])
        distance = 2 * np.abs(law.ppf(levels) - p)
        assert k * (share @ distance**2 - (share @ distance) ** 2) < 1.0
        for rate in math.sqrt(k) * np.array([0.1, 0.7, 1.5, 1.95, 5.0]):
            exact = math.log(share @ np.exp(rate * (distance - 2.0))) + 2.0 * rate
            assert exact <= log_moment(rate, np.array([k]), np.array([2.0]))[0] + 1e-9


def _spread_rows(size: int) -> list[Array]:
    rng = np.random.default_rng(size)
    uneven = rng.dirichlet(np.full(size, 0.3)) * 0.999 + 0.001 / size
    halves = np.r_[0.5, np.full(size - 1, 0.5 / (size - 1))]
    return [np.full(size, 1.0 / size), uneven, halves]


CASES = [
    (2, 5.0, 20),
    (10, 100.0, 10),
    *(
        pytest.param(*case, marks=pytest.mark.slow)
        for case in ((2, 0.5, 1), (3, 10.0, 32), (32, 100.0, 32), (300, 3000.0, 20))
    ),
]


@pytest.mark.parametrize(("size", "k", "rows"), CASES)
def test_expected_largest_row_distance(size: int, k: float, rows: int) -> None:
    # alpha: five standard errors; power: 0.7 times the bound is below the truth at the worst row tried
    bound = expected_largest_row_distance([k] * rows, size)
    draws, rng = max(60, min(4000, 1_000_000 // (rows * size))), np.random.default_rng(5)
    found = []
    for p in _spread_rows(size):
        largest = np.abs(rng.dirichlet(k * p, size=(draws, rows)) - p).sum(axis=2).max(axis=1)
        found.append(largest.mean())
        assert found[-1] - 5 * largest.std() / math.sqrt(draws) <= bound
    assert max(found) > 0.7 * bound


@pytest.mark.slow
@pytest.mark.parametrize(("size", "k", "_rows"), CASES)
def test_row_radius(size: int, k: float, _rows: int) -> None:
    # alpha: with 20,000 draws (2,000 for long rows) 0.05 is exceeded by chance beyond 5 standard errors
    draws, rng = (2_000 if size > 100 else 20_000), np.random.default_rng(7)
    quantiles = []
    for p in _spread_rows(size):
        distance = np.abs(rng.dirichlet(k * p, size=draws) - p).sum(axis=1)
        quantiles.append(np.quantile(distance, 0.95))
        for failure in (0.3, 0.05, 0.001):
            beyond = (distance > row_radius(k, size, failure)).mean()
            assert beyond <= failure + 5 * math.sqrt(failure / draws)
    radius = row_radius(k, size, 0.05)
    if radius < 2.0:
        assert max(quantiles) > 0.65 * radius
        union = total_variation_failure(size, k, 0.5 * radius)
        assert union == pytest.approx(0.05, rel=1e-3) if size < 100 else union > 0.05


def test_rows_with_one_entry_are_certain() -> None:
    assert expected_largest_row_distance([5.0, 7.0], [1, 1]) == 0.0
    assert expected_largest_column_distance(5.0, 1) == 0.0
    assert row_radius(5.0, 1, 0.05) == 0.0
    assert expected_largest_row_distance([5.0, 7.0], [1, 3]) == expected_largest_row_distance(7.0, 3)
    assert simultaneous_row_radii([5.0, 7.0], [1, 3], 0.9)[0] == 0.0


@pytest.mark.slow
def test_extremes_stay_in_range() -> None:
    for k, size in ((1e-30, 2), (1e-6, 50), (1e30, 2), (1e12, 100_000), (50.0, 5000)):
        for value in (row_radius(k, size, 1e-12), expected_largest_row_distance([k] * 7, size)):
            assert 0.0 <= value <= 2.0
    assert row_radius(10.0, 3, 1.0) <= row_radius(10.0, 3, 0.5) <= row_radius(10.0, 3, 1e-5)


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: stationary_bound(-1.0, [0.1]), "condition"),
        (lambda: stationary_bound(1.0, [0.1, 0.2], weights=[1.0]), "weights"),
        (lambda: stationary_radius(veil.Chain([[0.5, 0.5], [0.5, 0.5]]), [0.1]), "radii"),
        (lambda: row_radius(1.0, 3, 0.0), "failure"),
        (lambda: simultaneous_row_radii([1.0, 2.0], [3, 4, 5], 0.9), "sizes"),
        (lambda: simultaneous_row_radii([1.0], [3], 1.0), "confidence"),
        (lambda: ergodicity_bound([[1.0]], [[1.0]], norm=2), "norm"),
    ],
)
def test_bad_arguments(call: object, field: str) -> None:
    assert callable(call)
    with pytest.raises(InvalidArgument, match=field):
        call()


def test_places_named_in_the_proof_exist() -> None:
    proof = Path(perturbation.__file__).with_suffix(".md").read_text(encoding="utf-8")
    places = re.findall(r"`(veil(?:\.\w+)+):([\w.]+)`", proof)
    assert len(places) > 12
    for module, name in places:
        value = import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
