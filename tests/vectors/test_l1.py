"""Vectors that move by an L1 distance in any entries: the theorems of l1.md against brute force."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import veil
from tests.oracles.gamma_pairs import drawn, one, two
from tests.params import quick_first
from veil import matrices, vectors
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.core.registry import adjacency_from
from veil.errors import InvalidArgument
from veil.vectors.l1 import L1
from veil.vectors.simplex import Simplex, Transfer

# What quadrature and cancelling closed forms may be off by.
CLOSE = 1e-9


def test_what_it_is() -> None:
    near = L1(0.8)
    assert (near.mass, near.words) == (
        0.4,
        "the vector moves by an L1 distance of at most 0.8: some protected entries gain half of it together, "
        "others lose as much",
    )
    assert adjacency_from(near.describe()) == near
    assert near.covers(L1(0.8))
    assert near.covers(Transfer(0.4))
    assert not near.covers(Transfer(0.4 + 1e-9))
    assert not near.covers(L1(0.8 + 1e-9))
    # Some moves of an L1 distance are no exchange, whatever the mass.
    assert not Transfer(1.0).covers(near)
    assert near.allows([0.4, -0.1, -0.3])
    assert not near.allows([0.5, -0.2, -0.3])
    assert not near.allows([[0.1, -0.1], [0.1, -0.1]])
    assert not Transfer(0.4).allows([0.4, -0.1, -0.3])
    for distance in (0.0, -1.0, 2.1, math.nan, "0.1", None):
        with pytest.raises(InvalidArgument, match="distance"):
            L1(distance)  # type: ignore[arg-type]


@pytest.mark.parametrize("b", [0.1, 1 / 3, 2.0])
@pytest.mark.parametrize("n", [1, 3, 49])
def test_averages_of_vectors_of_which_one_moves(b: float, n: int) -> None:
    assert Fraction(L1.of_average(b, n).distance) >= Fraction(b) / n
    assert L1.of_average(b, n).distance == pytest.approx(b / n, rel=1e-15)
    assert Fraction(L1.of_linear(b, 1.0 / n).distance) >= Fraction(b) * Fraction(1.0 / n)
    rng = np.random.default_rng(n)
    many = rng.dirichlet(np.ones(6), size=n)
    other = many.copy()
    other[0] = (1 - b / 2) * many[0] + b / 2 * rng.dirichlet(np.ones(6))
    assert L1.of_average(b, n).allows(other.mean(axis=0) - many.mean(axis=0))


# Lemmas 1 and 2


@pytest.mark.slow_for("2.0", "1.0")
@pytest.mark.parametrize("x", [1.0, 1.3, 2.0, 7.5])
def test_one_entry_is_worst_from_a_shape_of_one_on(x: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        total, share = float(np.exp(rng.uniform(-3.0, 2.0))), float(rng.uniform(0.02, 0.5))
        epsilon = float(rng.uniform(-3.0, 3.0)) * total
        for rises in (True, False):
            split = two(x, (share * total, (1.0 - share) * total), epsilon, rises=rises)
            assert split <= one(x, total, epsilon, rises=rises) + CLOSE


@pytest.mark.parametrize("x", [0.05, 0.3, 0.7])
def test_a_larger_scale_dominates_and_below_a_shape_of_one_it_has_to(x: float) -> None:
    rng = np.random.default_rng(8)
    exceeded = 0
    for _ in range(60):
        total, share = float(np.exp(rng.uniform(-3.0, 2.0))), float(rng.uniform(0.02, 0.5))
        epsilon = float(rng.uniform(-3.0, 3.0)) * total
        for rises in (True, False):
            split = two(x, (share * total, (1.0 - share) * total), epsilon, rises=rises)
            assert split <= one(1.0, total / x, epsilon, rises=rises) + 1e-6
            assert one(x, total, epsilon, rises=rises) <= one(1.0, total / x, epsilon, rises=rises) + CLOSE
            exceeded += split > float(one(x, total, epsilon, rises=rises)) + 1e-3
    # At small shapes the lemma is needed: a single entry is not the worst.
    assert (exceeded > 0) == (x < 0.5)


def test_the_parts_are_ordered_as_the_proofs_count() -> None:
    """The j-th smallest shape of one entry is at most the j-th smallest of two, exactly if x >= 1."""

    def shapes(x: Fraction, parts: int) -> list[Fraction]:
        return [(x + k) / parts for k in range(parts)]

    def is_ordered(x: Fraction, first: int, second: int) -> bool:
        split = sorted(shapes(x, first) + shapes(x, second))
        return all(a <= b for a, b in zip(shapes(x, first + second), split, strict=True))

    sizes = list(itertools.product(range(1, 13), repeat=2))
    for x in (Fraction(1), Fraction(9, 8), Fraction(5)):
        assert all(is_ordered(x, *pair) for pair in sizes)
    assert not all(is_ordered(Fraction(99, 100), *pair) for pair in sizes)
    for x, (less, more) in itertools.product(
        (Fraction(1, 7), Fraction(3)), itertools.combinations(range(1, 9), 2)
    ):
        wide = [x / less + Fraction(k, more) for k in range(less)]
        assert all(a <= b for a, b in zip(wide, shapes(x, less), strict=True))


def test_gauss_multiplication_as_it_is_used() -> None:
    """A gamma variable to the power m is m^m times a product of gammas: their logs have the same moments."""
    from scipy.special import polygamma

    x, m = 0.37, 5
    for order in range(1, 6):
        parts = sum(polygamma(order, (x + k) / m) for k in range(m))
        assert parts == pytest.approx(m ** (order + 1) * polygamma(order, x), rel=1e-12)


# Theorem 1


@pytest.mark.slow
def test_the_example_of_the_review() -> None:
    """One entry that gives to twenty others: an exchange does not cover it, the L1 distance does."""
    mechanism = vectors.Dirichlet(5.0, Simplex(21, floor=0.005))
    exchange = mechanism.profile(Transfer(0.4)).delta(15.0)
    assert exchange == pytest.approx(0.840, abs=5e-4)
    true, error = drawn(0.025, [2.0], [0.1] * 20, 15.0, samples=400_000, seed=1)
    assert true == pytest.approx(0.991, abs=2e-3)
    # Five standard errors, so with a chance of less than 1e-6 of a false alarm.
    assert true - 5 * error > exchange
    assert mechanism.profile(L1(0.8)).delta(15.0) >= true + 5 * error
    # It is the vectors themselves that differ so: two of the domain, at that distance.
    one_gives, all_share = np.full(21, 0.005), np.full(21, 0.005)
    one_gives[0] += 0.4
    all_share[1:] += 0.02
    rest = 1.0 - one_gives.sum()
    for vector in (one_gives, all_share):
        vector[0] += rest
        mechanism.validate(vector)
    assert L1(0.8).allows(all_share - one_gives)


@pytest.mark.slow
@pytest.mark.parametrize(("a", "s", "epsilon"), [(1.0, 1.0, 4.0), (3.0, 1.5, 3.0), (1.5, 0.4, 1.0)])
def test_from_a_shape_of_one_on_an_exchange_is_worst(a: float, s: float, epsilon: float) -> None:
    charged = L1(0.5).worst_pair(Fraction(a), Fraction(s), "exact", most=9)
    assert charged == SymmetricBetaPair(a, s)
    alone, error = drawn(a, [s], [s], epsilon, samples=300_000, seed=2)
    # Power: the pair itself is met within six standard errors.
    assert abs(charged.delta(epsilon) - alone) <= 6 * error
    for gains, losses in itertools.product((1, 2, 5), repeat=2):
        found, error = drawn(a, [s / gains] * gains, [s / losses] * losses, epsilon, samples=100_000, seed=3)
        assert found - 6 * error <= charged.delta(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "s", "epsilon"),
    quick_first([(0.25, 0.1, 2.0), (0.5, 0.5, 3.0), (0.8, 0.4, 2.0), (0.1, 0.5, 9.0)]),
)
def test_below_a_shape_of_one_what_is_charged_is_above_all_spreads_and_not_far(
    a: float, s: float, epsilon: float
) -> None:
    charged = L1(0.5).worst_pair(Fraction(a), Fraction(s), "exact", most=9)
    assert charged.kind == "upper bound"
    worst = 0.0
    for gains, losses in itertools.product((1, 2, 4, 9), repeat=2):
        found, error = drawn(a, [s / gains] * gains, [s / losses] * losses, epsilon, samples=100_000, seed=4)
        assert found - 6 * error <= charged.delta(epsilon)
        worst = max(worst, found)
    assert charged.delta(epsilon) <= 5.0 * worst


def test_the_profiles_of_the_mechanism() -> None:
    wide = Simplex(6, floor=0.05)
    # From k floor = 1 on, L1 costs what an exchange of half the distance costs, and is exact.
    for k in (20.0, 80.0):
        for smooth in (False, True):
            mechanism = vectors.Dirichlet(k, wide, smooth=smooth)
            spread, exchange = mechanism.profile(L1(0.2)), mechanism.profile(Transfer(0.1))
            assert spread.kind == "exact"
            assert spread.delta(1.0) == pytest.approx(exchange.delta(1.0), rel=1e-12)
    # Below, it does not fall with k any more.
    low = [vectors.Dirichlet(k, wide).profile(L1(0.2)).delta(1.0) for k in (20.0, 10.0, 0.1)]
    assert low == pytest.approx([low[0]] * 3, rel=1e-9)
    assert vectors.Dirichlet(10.0, wide).profile(L1(0.2)).kind == "upper bound"
    # Two protected entries can only exchange.
    two_free = Simplex(6, floor=0.05, protected=[1, 4], slack=0.2)
    for domain in (two_free, Simplex(2, floor=0.05)):
        mechanism = vectors.Dirichlet(5.0, domain)
        spread, exchange = mechanism.profile(L1(0.2)), mechanism.profile(Transfer(0.1))
        assert spread.delta(1.0) == pytest.approx(exchange.delta(1.0), rel=1e-12)
    # The room of the domain is all that can move.
    tight = vectors.Dirichlet(60.0, Simplex(4, floor=0.24))
    assert tight.profile(L1(2.0)).delta(0.5) == pytest.approx(
        tight.profile(Transfer(0.04)).delta(0.5), rel=1e-6
    )


@pytest.mark.parametrize("exact", [True, False])
def test_rounding_and_the_tolerance_of_sums_are_charged(exact: bool) -> None:
    """Ten entries may each be rounded; where nothing may move, the tolerance of sums is all there is."""
    domain = Simplex(10, floor=0.02)
    assert domain.largest_move(L1(0.2)) == Fraction(L1(0.2).mass) + Fraction(10, 2**53)
    assert domain.largest_move(Transfer(0.1)) == Fraction(0.1) + Fraction(2, 2**53)
    full = Simplex(5, floor=0.2)
    assert full.largest_move(L1(0.2)) == full.sum_error
    mechanism = vectors.Dirichlet(1e12, full, exact=exact)
    assert mechanism.profile(L1(0.2)).delta(0.0) == mechanism.profile(Transfer(0.1)).delta(0.0) > 0.0


# Sections 3 and 4


def _whole_noise(q: float, c: int) -> tuple[list[float], list[float]]:
    """The losses of whole-number Laplace noise shifted by c, in units of -log q, and P's probabilities."""
    reach = 60
    z = range(-reach, reach + c + 1)
    weight = [(1 - q) / (1 + q) * q ** abs(x - c) for x in z]
    return [float(abs(x) - abs(x - c)) for x in z], weight


@pytest.mark.parametrize("q", [0.3, 0.7, 0.9])
def test_one_shift_dominates_two_of_whole_number_noise(q: float) -> None:
    """All pairs of shifts up to 5, at every threshold, by enumeration: Lemma 3."""
    rate = -math.log(q)
    for first, second in itertools.combinations_with_replacement(range(1, 6), 2):
        (a, p), (b, r) = _whole_noise(q, first), _whole_noise(q, second)
        losses = np.add.outer(a, b).ravel() * rate
        masses = np.multiply.outer(p, r).ravel()
        c, w = (np.array(part) for part in _whole_noise(q, first + second))
        for epsilon in np.linspace(-(first + second), first + second, 23) * rate:
            split = (masses * np.maximum(0.0, -np.expm1(epsilon - losses))).sum()
            alone = (w * np.maximum(0.0, -np.expm1(epsilon - c * rate))).sum()
            # The sums end where 60 steps of noise are left out.
            assert split <= alone + 4 * q**55 / (1 - q) * math.exp(max(0.0, -epsilon)) + 1e-12


def test_additive_noise_costs_what_an_exchange_costs() -> None:
    for mechanism in (vectors.Laplace(0.1, Simplex(7)), vectors.Gaussian(0.1, Simplex(7))):
        spread, exchange = mechanism.profile(L1(0.2)), mechanism.profile(Transfer(0.1))
        for epsilon in (0.0, 0.5, 1.7):
            assert spread.delta(epsilon) == pytest.approx(exchange.delta(epsilon), rel=1e-12)
    # The loss of any spread is at most b/scale, and some have it: pure epsilon is attained.
    laplace = vectors.Laplace(0.1, Simplex(4)).profile(L1(0.2))
    assert laplace.epsilon(0.0) == pytest.approx(2.0, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.05, 0.2])
def test_spread_laplace_noise_is_below_the_profile(scale: float) -> None:
    """By Monte Carlo over spreads of the move; the bound of two responses is itself not far above."""
    rng = np.random.default_rng(5)
    profile = vectors.Laplace(scale, Simplex(9)).profile(L1(0.2))
    for gains, losses in itertools.product((1, 2, 4), repeat=2):
        shifts = np.array([0.1 / gains] * gains + [-0.1 / losses] * losses) / scale
        noise = rng.laplace(size=(200_000, len(shifts)))
        loss = (np.abs(noise + shifts) - np.abs(noise)).sum(axis=1)
        for epsilon in (0.1, 0.1 / scale):
            excess = np.maximum(0.0, -np.expm1(np.minimum(0.0, epsilon - loss)))
            assert excess.mean() - 6 * excess.std() / math.sqrt(len(loss)) <= profile.delta(epsilon)


# Section 5


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_rows_of_doubly_stochastic_matrices(noise: str) -> None:
    mechanism = matrices.DoublyStochastic(0.2, 4, noise=noise)
    spread = mechanism.profile(matrices.Rows(2, L1(0.2)))
    exchange = mechanism.profile(matrices.Rows(2, Transfer(0.1)))
    assert exchange.delta(0.7) <= spread.delta(0.7) <= exchange.delta(0.7) * (1.0 + 1e-6)
    if noise == "laplace":
        # Whatever the entries of a row, rounded to steps they are no further apart than is charged.
        rng = np.random.default_rng(6)
        charged = spread.pure_epsilon / 2.0 * mechanism.scale_in_steps
        for _ in range(2_000):
            row = rng.dirichlet(np.ones(4))
            change = rng.normal(size=4)
            change -= change.mean()
            moved = row + 0.2 * change / np.abs(change).sum()
            if moved.min() >= 0.0:
                steps = mechanism.in_steps(np.array([row, moved]))
                assert np.abs(steps[0] - steps[1]).sum() <= charged * (1.0 + 1e-12)


@pytest.mark.slow
def test_rows_of_matrices() -> None:
    row = Simplex(5, floor=0.05)
    for mechanism, changed in (
        (matrices.MatrixDirichlet(40.0, [row] * 3), 1),
        (matrices.MatrixDirichlet(40.0, [row] * 3), 2),
        (matrices.RowByRow(vectors.Laplace(0.1, Simplex(5)), rows=3), "all"),
    ):
        spread = mechanism.profile(matrices.Rows(changed, L1(0.1)))
        exchange = mechanism.profile(matrices.Rows(changed, Transfer(0.05)))
        assert spread.delta(1.0) == pytest.approx(exchange.delta(1.0), rel=1e-9)
    low = matrices.MatrixDirichlet(4.0, [row] * 3)
    assert low.profile(matrices.Rows(1, L1(0.1))).delta(1.0) > low.profile(
        matrices.Rows(1, Transfer(0.05))
    ).delta(1.0)
    near = matrices.Rows(2, L1(0.2))
    assert near.allows([[0.1, -0.05, -0.05], [0.0, 0.0, 0.0], [-0.1, 0.1, 0.0]])
    assert not near.allows([[0.2, -0.1, -0.1], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert near.covers(matrices.Rows(1, Transfer(0.1)))
    assert not matrices.Rows(2, Transfer(0.1)).covers(near)


# What users call


@pytest.mark.slow_for("dirichlet")
@pytest.mark.parametrize("mechanism", ["dirichlet", "laplace", "gaussian"])
def test_releases_and_plans_by_l1_distance(mechanism: str, tmp_path: Any) -> None:
    shares = {"a": 0.5, "b": 0.3, "c": 0.2}
    out = vectors.release(shares, l1=0.02, epsilon=2.0, delta=1e-6, mechanism=mechanism, rng=1)
    assert out.adjacency == L1(0.02)
    assert "some protected entries gain half of it together" in out.guarantee
    out.save(tmp_path / "out.json")
    assert veil.load(tmp_path / "out.json").adjacency == L1(0.02)
    chain = matrices.release(
        [[0.5, 0.5], [0.2, 0.8]], l1=0.02, epsilon=2.0, delta=1e-6, mechanism=mechanism, rng=1
    )
    assert chain.adjacency == matrices.Rows(1, L1(0.02))


def test_no_published_figure_is_shown_for_moves_that_the_papers_do_not_cover() -> None:
    mechanism = vectors.Dirichlet(50.0, Simplex(5, floor=0.1))
    assert mechanism.published(Transfer(0.01), delta=0.01).epsilon > 0.0
    with pytest.raises(InvalidArgument, match="Transfer"):
        mechanism.published(L1(0.02), delta=0.01)
