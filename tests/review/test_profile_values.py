"""60,795 values of the closed-form profiles against certified divergences: none is below the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from tests.review.divergences import (
    beta_divergence,
    gamma_divergence,
    is_below,
    is_known,
    is_log_below,
    normal_divergence,
    shown,
)
from tests.review.sums import one_cell_divergence, responses_divergence, two_cell_divergence
from tests.review.tally import Tally, in_full
from veil.core.privacy.pairs import (
    BetaPair,
    DiscreteGaussianShift,
    GammaPair,
    NormalPair,
    RandomizedResponses,
    SymmetricBetaPair,
)
from veil.vectors.two_entries import TwoEntries

STUDY = "profile values"
# From where to where shapes go, and how many of them lie in the middle, between 1e-4 and 1e6.
SMALLEST, LARGEST, MIDDLE = 1e-8, 1e30, 0.7
# One direction of a profile, or several that are compared with the larger of its curves.
Truths = tuple[Callable[[float], arb], ...]


@dataclass(frozen=True)
class Case:
    """A profile, the true divergences of its worst pair, and the size of its losses."""

    name: str
    profile: Any
    truths: Truths
    typical_loss: float


def _shape(rng: np.random.Generator) -> float:
    if rng.random() < MIDDLE:
        return float(10.0 ** rng.uniform(-4.0, 6.0))
    return float(np.exp(rng.uniform(math.log(SMALLEST), math.log(LARGEST))))


def _tilt(rng: np.random.Generator, *shapes: float) -> float:
    """Half of them such that the loss is of order one, half anything."""
    spread = math.sqrt(sum(1.0 / shape for shape in shapes))
    if rng.random() < 0.6:
        return float(10.0 ** rng.uniform(-2.0, 1.0)) / spread
    return float(10.0 ** rng.uniform(-6.0, 4.0))


def symmetric_beta(rng: np.random.Generator) -> Case:
    a = _shape(rng)
    s = _tilt(rng, a, a)
    truth = (lambda epsilon: beta_divergence(a, a, s, epsilon),)
    return Case(f"SymmetricBetaPair({a!r}, {s!r})", SymmetricBetaPair(a, s), truth, s * math.sqrt(2.0 / a))


def skewed_beta(rng: np.random.Generator) -> Case:
    low, rest = _shape(rng), _shape(rng)
    tilt = _tilt(rng, low, rest)
    truths = (
        lambda epsilon: beta_divergence(low, rest, tilt, epsilon),
        # The second pair is the first one read from the other end of the line.
        lambda epsilon: beta_divergence(rest, low, tilt, epsilon),
    )
    name = f"BetaPair({low!r}, {rest!r}, {tilt!r})"
    return Case(name, BetaPair(low, rest, tilt), truths, tilt * math.sqrt(1.0 / low + 1.0 / rest))


def gamma(rng: np.random.Generator) -> Case:
    a = _shape(rng)
    s = _tilt(rng, a)
    truths = (
        lambda epsilon: gamma_divergence(a, s, epsilon, more=True),
        lambda epsilon: gamma_divergence(a, s, epsilon, more=False),
    )
    return Case(f"GammaPair({a!r}, {s!r})", GammaPair(a, s), truths, s / math.sqrt(a))


def normal(rng: np.random.Generator) -> Case:
    shift = float(10.0 ** rng.uniform(-8.0, 1.5))
    truth = (lambda epsilon: normal_divergence(shift, epsilon),)
    return Case(f"NormalPair({shift!r})", NormalPair(shift), truth, shift)


def responses(rng: np.random.Generator) -> Case:
    each, times = float(10.0 ** rng.uniform(-6.0, 1.3)), int(10.0 ** rng.uniform(0.0, 2.0))
    truth = (lambda epsilon: responses_divergence(each, times, epsilon),)
    name = f"RandomizedResponses({each!r}, {times})"
    return Case(name, RandomizedResponses(each, times), truth, each * math.sqrt(times))


def discrete_gaussian(rng: np.random.Generator) -> Case:
    sigma, cells = float(10.0 ** rng.uniform(-1.2, 1.6)), int(rng.integers(1, 3))
    divergence = one_cell_divergence if cells == 1 else two_cell_divergence
    truth = (lambda epsilon: divergence(sigma, epsilon),)
    name = f"DiscreteGaussianShift({sigma!r}, {cells})"
    return Case(name, DiscreteGaussianShift(sigma, cells), truth, math.sqrt(cells) / sigma)


def two_entries(rng: np.random.Generator) -> Case:
    """Against the corner, the middle and random places of x; each is a pair that the profile speaks of."""
    k, floor = float(10.0 ** rng.uniform(-3.0, 5.0)), float(10.0 ** rng.uniform(-3.0, -0.5))
    mass = float((1.0 - 2.0 * floor) * (1.0 if rng.random() < 0.1 else 10.0 ** rng.uniform(-3.0, 0.0)))
    if Fraction(mass) > 1 - 2 * Fraction(floor):
        mass = math.nextafter(mass, 0.0)
    low, high = Fraction(floor), 1 - Fraction(floor) - Fraction(mass)
    places = [low, (low + high) / 2, low + (high - low) * Fraction(rng.random())]

    def truth(epsilon: float) -> arb:
        # Exactly, not as floats: k x, k (1 - x - mass) and k mass.
        exact = [
            (Fraction(k) * x, Fraction(k) * (1 - x - Fraction(mass)), Fraction(k) * Fraction(mass))
            for x in places
        ]
        found = [beta_divergence(a, b, s, epsilon) for a, b, s in exact]
        found += [beta_divergence(b, a, s, epsilon) for a, b, s in exact]
        return max(found, key=lambda value: float(value.mid()))

    name = f"TwoEntries({k!r}, {floor!r}, {mass!r})"
    return Case(name, TwoEntries(k, floor, mass), (truth,), mass * math.sqrt(k / floor))


# How many values of each come before the next round; a value of the last takes a hundred times as long.
MAKERS = (
    *([symmetric_beta] * 12),
    *([skewed_beta] * 5),
    *([gamma] * 7),
    *([normal] * 5),
    *([responses] * 5),
    *([discrete_gaussian] * 5),
)
TWO_ENTRIES_EVERY = 6


def _epsilon(rng: np.random.Generator, typical: float) -> float:
    """None, one near the losses that occur, or anything."""
    kind = rng.random()
    if kind < 0.05:
        return 0.0
    if kind < 0.8:
        return float(min(typical * abs(rng.normal(0.0, 3.0)) + 0.5 * typical**2 * rng.random(), 600.0))
    return float(10.0 ** rng.uniform(-6.0, 2.0))


def cases(rng: np.random.Generator) -> Iterator[tuple[Case, float]]:
    """Profiles and epsilons, without end."""
    for turn in range(10**9):
        makers = (*MAKERS, two_entries) if turn % TWO_ENTRIES_EVERY == 0 else MAKERS
        for maker in makers:
            case = maker(rng)
            for _ in range(1 if maker is two_entries else 2):
                yield case, _epsilon(rng, case.typical_loss)


def compare(tally: Tally, case: Case, epsilon: float) -> None:
    """Every direction of a profile with its own truth, in logarithms; and delta with all of them."""
    if epsilon >= case.profile.pure_epsilon:
        claimed, logs = 0.0, [-math.inf] * len(case.truths)
    else:
        claimed = case.profile.delta(epsilon)
        logs = [curve(epsilon) for curve in case.profile.log_deltas()[: len(case.truths)]]
    for log_claim, truth_at in zip(logs, case.truths, strict=True):
        truth = truth_at(epsilon)
        text = f"{case.name} at {epsilon!r}: delta {claimed!r}, log {log_claim!r}, truth {shown(truth)}"
        if is_known(truth):
            tally.add(text, is_above=is_below(claimed, truth) or is_log_below(log_claim, truth))
        else:
            tally.leave_open(text)


@pytest.mark.slow
@in_full(STUDY)
def test_no_value_is_below_the_truth(least: int) -> None:
    tally = Tally(STUDY)
    for case, epsilon in cases(np.random.default_rng(60_795)):
        compare(tally, case, epsilon)
        if tally.checked >= least:
            break
    tally.close(least)


@pytest.mark.parametrize("shrink", [1e-12, 1e-9])
def test_a_profile_that_is_too_small_is_seen(shrink: float) -> None:
    """The study has teeth: a curve that is lowered by so little is reported."""

    class Lowered:
        pure_epsilon = math.inf

        def delta(self, epsilon: float) -> float:
            return float(beta_divergence(2.0, 2.0, 1.0, epsilon).mid()) * (1.0 - shrink)

        def log_deltas(self) -> tuple[Callable[[float], float], ...]:
            return (lambda epsilon: math.log(self.delta(epsilon)),) * 2

    case = Case("lowered", Lowered(), (lambda epsilon: beta_divergence(2.0, 2.0, 1.0, epsilon),), 1.0)
    tally = Tally(STUDY)
    compare(tally, case, 0.5)
    assert tally.checked == len(tally.above) == 1
    with pytest.raises(AssertionError, match="above the claim"):
        tally.close(1)
    with pytest.raises(AssertionError, match="1 of 2"):
        tally.close(2)
