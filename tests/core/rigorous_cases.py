"""Random and adversarial parameters from 1e-30 to 1e30, and epsilons at which something can go wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from veil.bits.mechanisms.staircase_xor import LazyResponse
from veil.core.privacy.pairs import (
    BetaPair,
    DiscreteGaussianShift,
    GammaPair,
    NormalPair,
    RandomizedResponses,
    SymmetricBetaPair,
    TiltedPair,
)
from veil.core.privacy.profile import PrivacyProfile
from veil.vectors.two_entries import TwoEntries

# Where the code changes its mind: series of Stirling, plain and careful forms of a density, and the like.
_EDGES = (1e-30, 1e-12, 1e-6, 0.1, 0.25, 0.5, 1.0, 2.0, 10.0, 15.0, 16.0, 17.0, 32.0, 64.0, 128.0, 1e3, 1e6)
_HUGE_EDGES = (1e12, 2.0**53, 1e18, 1e24, 1e30)
# Distances from a mode at which a density is computed in another way, or is not computed any more.
_PLACES = (-700.0, -600.0, -0.25, -1e-8, 0.0, 1e-8, 0.25, 1.0, 30.0, 600.0, 700.0)


@dataclass(frozen=True)
class Case:
    """A profile and the epsilon to look at. family: of which kind it is, with its parameters."""

    family: str
    profile: PrivacyProfile
    epsilon: float
    parameters: tuple[float, ...]

    def __str__(self) -> str:
        given = ", ".join(map(repr, self.parameters))
        return f"{self.family}({given}) at epsilon {self.epsilon!r}"


def _power(rng: np.random.Generator, low: float, high: float) -> float:
    return float(10.0 ** rng.uniform(low, high))


def _nudged(rng: np.random.Generator, number: float) -> float:
    """The number, a neighbouring float, or one that is a little larger or smaller."""
    kind = rng.integers(4)
    if kind == 0:
        return number
    if kind == 1:
        return math.nextafter(number, math.inf if rng.random() < 0.5 else 0.0)
    return number * (1.0 + float(rng.choice([-1.0, 1.0])) * _power(rng, -15.5, -1.0))


def _shape(rng: np.random.Generator) -> float:
    kind = rng.integers(5)
    if kind == 0:
        return _nudged(rng, float(rng.choice(_EDGES + _HUGE_EDGES)))
    return _power(rng, *((-30.0, 30.0), (-6.0, 6.0), (-2.0, 3.0), (-1.0, 2.0))[kind - 1])


def _tilt(rng: np.random.Generator, shape: float) -> float:
    """Tiny or huge next to the shape, about one standard deviation, or nearly lost when it is added."""
    kind = rng.integers(6)
    if kind == 0:
        tilt = _shape(rng)
    elif kind == 1:
        tilt = shape * _power(rng, -12.0, 3.0)
    elif kind == 2:
        tilt = math.sqrt(shape) * _power(rng, -2.0, 1.5)
    elif kind == 3:
        tilt = math.ulp(shape) * float(rng.choice([0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 1e3]))
    elif kind == 4:
        tilt = shape * _power(rng, -30.0, 30.0)
    else:
        tilt = _nudged(rng, shape * float(rng.choice([0.5, 1.0, 2.0])))
    return float(min(max(tilt, 1e-30), 1e30))


def _epsilon(rng: np.random.Generator, pair: TiltedPair, width: float) -> float:
    """0, at a typical loss, where the integral begins at a special place, at a given delta, or anything."""
    kind = rng.integers(8)
    side, zero = (1, pair.zero_upper) if rng.random() < 0.5 else (-1, pair.zero_lower)
    middle = -side * pair.tilt * zero.value
    if kind == 0:
        epsilon = float(rng.choice([0.0, 5e-324, 1e-300, 1e-30, 1e-17]))
    elif kind <= 2:
        epsilon = middle + pair.tilt * width * rng.uniform(-4.0, 36.0)
    elif kind == 3:
        bends = tuple((pair.upper if side > 0 else pair.lower).bends)
        epsilon = _nudged(rng, middle + side * pair.tilt * float(rng.choice(_PLACES + bends)))
    elif kind == 4:
        epsilon = middle * rng.choice([0.5, 1.0, 1.0 + 1e-12, 2.0]) + pair.tilt * width * rng.normal()
    elif kind == 5:
        epsilon = _at_delta(pair, math.log(_power(rng, -322.0, -0.001)))
    else:
        epsilon = _power(rng, *((-30.0, 30.0), (-20.0, 3.0))[kind - 6])
    return float(min(max(0.0, epsilon), 1e60))


def _at_delta(pair: TiltedPair, log_delta: float) -> float:
    """About where delta is as wanted; anything will do."""
    low, high = 1e-40, 1e60
    for _ in range(24):
        middle = math.sqrt(low * high)
        if pair.likely_log_delta(middle) > log_delta:
            low = middle
        else:
            high = middle
    return high


def _width(*shapes: float) -> float:
    """Of log gammas: about a standard deviation."""
    return math.sqrt(sum(1.0 / shape + 1.0 / shape**2 for shape in shapes))


def symmetric_beta(rng: np.random.Generator) -> Case:
    a = _shape(rng)
    s = _tilt(rng, a)
    pair = SymmetricBetaPair(a, s)
    return Case("symmetric beta", pair, _epsilon(rng, pair, _width(a + s, a)), (a, s))


def beta(rng: np.random.Generator) -> Case:
    low = _shape(rng)
    rest = _nudged(rng, low) if rng.random() < 0.2 else _shape(rng)
    s = _tilt(rng, low if rng.random() < 0.3 else min(low, rest))
    if rng.random() < 0.1:
        s = _nudged(rng, max(abs(rest - low), 1e-30))
    pair = BetaPair(low, rest, s)
    return Case("beta", pair, _epsilon(rng, pair, _width(low + s, rest)), (low, rest, s))


def gamma(rng: np.random.Generator) -> Case:
    a = _shape(rng)
    s = _tilt(rng, a)
    pair = GammaPair(a, s)
    return Case("gamma", pair, _epsilon(rng, pair, _width(a)), (a, s))


def normal(rng: np.random.Generator) -> Case:
    shift = _power(rng, -30.0, 30.0) if rng.random() < 0.4 else _power(rng, -3.0, 1.5)
    pair = NormalPair(shift)
    return Case("normal", pair, _epsilon(rng, pair, 1.0), (shift,))


def _near_a_jump(rng: np.random.Generator, jump: float) -> float:
    """Where a curve of few losses has its kinks."""
    near = (jump, _nudged(rng, jump), jump * rng.random(), jump * _power(rng, -30.0, 0.0), 0.0)
    return float(max(0.0, near[rng.integers(len(near))]))


def responses(rng: np.random.Generator) -> Case:
    each = _power(rng, *((-30.0, 30.0), (-12.0, 2.5), (-3.0, 1.0))[rng.integers(3)])
    times = int(rng.choice([1, 2, 3, 10, 57, 300, 1_000]))
    epsilon = _near_a_jump(rng, each * (2 * int(rng.integers(times + 1)) - times))
    return Case("randomised responses", RandomizedResponses(each, times), epsilon, (each, times))


def lazy_response(rng: np.random.Generator) -> Case:
    each = _power(rng, *((-30.0, 30.0), (-3.0, 2.7))[rng.integers(2)])
    chance = min(1.0, _power(rng, *((-300.0, 0.0), (-6.0, 0.01))[rng.integers(2)]))
    return Case("lazy response", LazyResponse(each, chance), _near_a_jump(rng, each), (each, chance))


def _discrete_gaussian(rng: np.random.Generator, cells: int) -> Case:
    sigma = _power(rng, *((-30.0, -3.0), (-3.0, 0.5), (-1.0, 1.5), (1.5, 2.7))[rng.integers(4)])
    jump = (int(rng.integers(1, 5 + int(40.0 * min(sigma, 1e3)))) - 0.5 * cells) / sigma**2
    shift = DiscreteGaussianShift(sigma, cells)
    return Case("discrete Gaussian", shift, _near_a_jump(rng, jump), (sigma, cells))


def one_cell(rng: np.random.Generator) -> Case:
    return _discrete_gaussian(rng, 1)


def two_cells(rng: np.random.Generator) -> Case:
    return _discrete_gaussian(rng, 2)


def two_entries(rng: np.random.Generator) -> Case:
    floor = _power(rng, -4.0, -0.4)
    mass = (1.0 - 2.0 * floor) * (_power(rng, -4.0, 0.0) if rng.random() < 0.9 else 1.0)
    k = _power(rng, -2.0, 5.0)
    epsilon = 0.0 if rng.random() < 0.1 else _power(rng, -3.0, 1.5)
    return Case("two entries", TwoEntries(k, floor, mass), epsilon, (k, floor, mass))


Family = Callable[[np.random.Generator], Case]
# What is quick to check is drawn as often as what is more easily wrong.
FAMILIES: tuple[Family, ...] = (
    *(symmetric_beta, beta, gamma, normal, responses, beta, lazy_response, gamma),
    *(symmetric_beta, beta, gamma, one_cell, two_cells, symmetric_beta, beta, normal),
)
# One in so many is of the family whose enclosure takes a dozen times as long.
_RARE = 400


def cases(seed: int | tuple[int, int], count: int) -> Iterator[Case]:
    """As many sets, the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        yield (two_entries if number % _RARE == _RARE - 1 else FAMILIES[number % len(FAMILIES)])(rng)
