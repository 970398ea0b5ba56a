"""Measures of losses: every operation is compared with exact arithmetic, and never lies below it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.core.numerics.rounding import float_above
from veil.core.privacy.loss_measure import TAIL, LossMeasure, repeated

Pair = tuple[list[Fraction], list[Fraction]]
# Where curves are compared: on grid points, next to them and between them.
PLACES = [-5.0, -1.0, -0.5, -0.3, 0.0, 1e-9, 0.25, 0.3, 0.5, 0.75, 1.0, 2.0, 2.5, 4.0]


def ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def curve(measure: LossMeasure, epsilon: float) -> arb:
    """delta of the measure, of exactly these floats."""
    total = ball(Fraction(measure.certain))
    for index, mass in enumerate(measure.masses):
        loss = Fraction(measure.interval) * (measure.first + index)
        if loss > Fraction(epsilon) and mass > 0.0:
            total += ball(Fraction(float(mass))) * -(ball(Fraction(epsilon) - loss)).expm1()
    return total


def exact_delta(pair: Pair, epsilon: float) -> arb:
    """The sum of (P - e^epsilon Q)+ over the outcomes."""
    factor = ball(Fraction(epsilon)).exp()
    gains = [ball(p) - factor * ball(q) for p, q in zip(*pair, strict=True)]
    return sum((gain for gain in gains if gain > 0), arb(0))


def finite_pair(rng: np.random.Generator, outcomes: int) -> Pair:
    weights = rng.integers(0, 50, (2, outcomes)) ** 3 + (rng.random((2, outcomes)) < 0.7)
    weights[:, 0] += 1
    sides = [[Fraction(int(weight), int(row.sum())) for weight in row] for row in weights]
    return sides[0], sides[1]


def points(pair: Pair, top: int, interval: float) -> np.ndarray:
    """delta at the points of a grid, rounded up."""
    with ctx.workprec(200):
        found = [exact_delta(pair, interval * place).upper() for place in range(top + 1)]
        return np.array([min(1.0, math.nextafter(float(value), math.inf)) for value in found])


def measured(pair: Pair, interval: float = 0.25, top: int = 24) -> LossMeasure:
    forward, backward = points(pair, top, interval), points(pair[::-1], top, interval)
    return LossMeasure.of_curves(forward, backward, interval)


@pytest.mark.parametrize("seed", range(12))
def test_a_measure_dominates_the_pair_that_it_is_made_of(seed: int) -> None:
    pair = finite_pair(np.random.default_rng(seed), 2 + seed)
    measure = measured(pair)
    with ctx.workprec(200):
        for epsilon in PLACES:
            assert not curve(measure, epsilon) < exact_delta(pair, epsilon)
        # On the grid it goes through the points, so it says no more than it has to.
        for place in (-8, -2, 0, 1, 4, 12):
            gap = curve(measure, 0.25 * place) - exact_delta(pair, 0.25 * place)
            assert abs(gap) < 1e-13
    assert 1.0 <= measure.total < 1.0 + 1e-12


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12),
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12),
    st.floats(0.0, 0.1),
)
def test_masses_of_a_product_are_not_below_the_exact_ones(
    first: list[float], second: list[float], certain: float
) -> None:
    one = LossMeasure(0.5, -3, np.array(first), certain)
    two = LossMeasure(0.5, 2, np.array(second), 0.5 * certain)
    product = one.together(two)
    exact = [Fraction(0)] * (len(first) + len(second) - 1)
    for i, mass in enumerate(first):
        for j, other in enumerate(second):
            exact[i + j] += Fraction(mass) * Fraction(other)
    # Ends that hold next to nothing may have moved up, never down: sums from above are not below.
    for start in range(len(exact)):
        kept = [
            Fraction(float(mass))
            for index, mass in enumerate(product.masses)
            if product.first + index >= -1 + start
        ]
        assert sum(kept, Fraction(product.certain)) >= sum(exact[start:], Fraction(0))
    sizes = [sum(map(Fraction, masses), Fraction(0)) for masses in (first, second)]
    lost = Fraction(certain) * (sizes[1] + Fraction(0.5 * certain)) + Fraction(0.5 * certain) * sizes[0]
    assert Fraction(product.certain) >= lost


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("first", [-7, -4])
def test_a_coarser_grid_never_lowers_the_curve(seed: int, first: int) -> None:
    rng = np.random.default_rng(seed)
    fine = LossMeasure(
        0.125, first, rng.random(9 + seed % 2) * 2.0 ** rng.integers(-60, 1, 9 + seed % 2), 1e-9
    )
    coarse = fine.coarser()
    assert coarse.interval == 0.25
    with ctx.workprec(200):
        for epsilon in (-1.0, -0.4, -0.125, 0.0, 0.01, 0.125, 0.25, 0.3, 0.7):
            assert not curve(coarse, epsilon) < curve(fine, epsilon)
        for epsilon in (-0.5, 0.0, 0.25, 0.5):
            assert abs(curve(coarse, epsilon) / curve(fine, epsilon) - 1) < 1e-13


@pytest.mark.parametrize("seed", range(6))
def test_ends_that_are_cut_off_move_up(seed: int) -> None:
    rng = np.random.default_rng(seed)
    masses = np.exp(-0.5 * (np.arange(-40.0, 41.0) / 2.5) ** 2) * rng.uniform(0.5, 1.0, 81)
    wide = LossMeasure(0.25, -40, masses, 0.0)
    short = wide.trimmed()
    assert len(short.masses) < len(wide.masses)
    assert 0.0 < short.certain < 1.01 * TAIL
    with ctx.workprec(200):
        for epsilon in PLACES:
            gap = curve(short, epsilon) - curve(wide, epsilon)
            assert not gap < 0
            assert gap < 1e-15


def test_delta_is_that_of_the_masses_rounded_up() -> None:
    rng = np.random.default_rng(5)
    measure = LossMeasure(0.25, -9, rng.random(30) * 10.0 ** -rng.integers(0, 30, 30).astype(float), 1e-30)
    with ctx.workprec(200):
        for epsilon in [*PLACES, 4.9999999999999, 5.0, 100.0]:
            truth = curve(measure, epsilon)
            assert not arb(measure.delta(epsilon)) < truth
            assert arb(measure.delta(epsilon)) < truth * (1 + 1e-13)


def test_many_repetitions_keep_their_small_deltas() -> None:
    """Three losses; the exact law of their sum is a polynomial in rationals."""
    masses = [Fraction(1, 16), Fraction(3, 8), Fraction(9, 16)]
    one = LossMeasure(2.0**-4, -1, np.array([float(mass) for mass in masses]), 0.0)
    power = [Fraction(1)]
    for _ in range(60):
        product = [Fraction(0)] * (len(power) + 2)
        for index, mass in enumerate(power):
            for step, other in enumerate(masses):
                product[index + step] += mass * other
        power = product
    exact = LossMeasure(2.0**-4, -60, np.array([float_above(mass) for mass in power]), 0.0)
    found = repeated(one, 60)
    with ctx.workprec(200):
        for epsilon in (0.0, 1.0, 2.0, 3.0, 3.4, 3.6):
            truth = curve(exact, epsilon)
            assert not arb(found.delta(epsilon)) < truth * (1 - 1e-15)
            # Next to the largest loss delta is 1e-16 of what it is at the middle, and no digit is lost.
            assert arb(found.delta(epsilon)) < truth * (1 + 1e-12) + 100 * TAIL


def test_grids_of_different_steps_meet_on_the_coarser_one() -> None:
    fine = LossMeasure(2.0**-6, -2, np.array([0.1, 0.2, 0.3, 0.2, 0.2]), 0.0)
    coarse = LossMeasure(0.5, -1, np.array([0.25, 0.25, 0.5]), 0.0)
    product = fine.together(coarse)
    assert product.interval == 0.5
    exact = {
        Fraction(2) ** -6 * (i - 2) + Fraction(1, 2) * (j - 1): Fraction(float(a)) * Fraction(float(b))
        for i, a in enumerate(fine.masses)
        for j, b in enumerate(coarse.masses)
    }
    with ctx.workprec(200):
        for epsilon in (0.0, 0.1, 0.3, 0.49, 0.52):
            truth = sum(
                (
                    ball(mass) * -(ball(Fraction(epsilon) - loss)).expm1()
                    for loss, mass in exact.items()
                    if loss > Fraction(epsilon)
                ),
                arb(0),
            )
            assert not arb(product.delta(epsilon)) < truth
