"""Pairs with parameters from 1e-30 to 1e30, and epsilons at which something can go wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from veil.core.privacy.pairs import (
    BetaPair,
    DiscreteGaussianShift,
    GammaPair,
    NormalPair,
    RandomizedResponses,
    SymmetricBetaPair,
)
from veil.core.privacy.profile import PrivacyProfile

Case = tuple[PrivacyProfile, float]

# Where the code changes its mind: series of Stirling, plain and careful forms of a density, and the like.
_EDGES = (1e-30, 1e-6, 0.1, 0.25, 0.5, 1.0, 10.0, 16.0, 64.0, 128.0, 1e3, 1e6, 1e12, 1e18, 1e30)


def _shape(rng: np.random.Generator) -> float:
    kind = rng.integers(4)
    if kind == 0:
        edge = float(rng.choice(_EDGES))
        return float(rng.choice([edge, math.nextafter(edge, 0.0), math.nextafter(edge, math.inf)]))
    low, high = ((-30.0, 30.0), (-6.0, 6.0), (-2.0, 3.0))[kind - 1]
    return float(10.0 ** rng.uniform(low, high))


def _tilt(rng: np.random.Generator, shape: float) -> float:
    """Tiny or huge next to the shape, or about one standard deviation."""
    kind = rng.integers(4)
    if kind == 0:
        tilt = _shape(rng)
    elif kind == 1:
        tilt = shape * 10.0 ** rng.uniform(-12.0, 3.0)
    elif kind == 2:
        tilt = math.sqrt(shape) * 10.0 ** rng.uniform(-2.0, 1.5)
    else:
        tilt = shape * float(rng.choice([0.5, 1.0, 2.0]))
    return float(min(max(tilt, 1e-30), 1e30))


def _epsilon(rng: np.random.Generator, tilt: float, width: float, middle: float) -> float:
    """0, around a typical loss in units of its spread, next to a special place, or anything."""
    kind = rng.integers(5)
    if kind == 0:
        return 0.0
    if kind <= 2:
        return float(max(0.0, middle + tilt * width * rng.uniform(-4.0, 36.0)))
    if kind == 3:
        return float(
            max(0.0, middle * rng.choice([0.5, 1.0, 1.0 + 1e-12, 2.0]) + tilt * width * rng.normal())
        )
    return float(10.0 ** rng.uniform(-20.0, 3.0))


def _width(*shapes: float) -> float:
    """Of log gammas: about a standard deviation."""
    return math.sqrt(sum(1.0 / shape + 1.0 / shape**2 for shape in shapes))


def symmetric_beta(rng: np.random.Generator) -> Case:
    a = _shape(rng)
    s = _tilt(rng, a)
    return SymmetricBetaPair(a, s), _epsilon(rng, s, _width(a + s, a), s * math.log1p(s / a))


def beta(rng: np.random.Generator) -> Case:
    low, rest = _shape(rng), _shape(rng)
    s = _tilt(rng, min(low, rest))
    pair = BetaPair(low, rest, s)
    return pair, _epsilon(rng, s, _width(low + s, rest), s * abs(pair.zero_upper.value))


def gamma(rng: np.random.Generator) -> Case:
    a = _shape(rng)
    s = _tilt(rng, a)
    pair = GammaPair(a, s)
    return pair, _epsilon(rng, s, _width(a), s * abs(pair.zero_lower.value))


def normal(rng: np.random.Generator) -> Case:
    shift = (
        float(10.0 ** rng.uniform(-30.0, 4.0))
        if rng.random() < 0.3
        else float(10.0 ** rng.uniform(-3.0, 1.5))
    )
    return NormalPair(shift), _epsilon(rng, shift, 1.0, 0.5 * shift**2)


def responses(rng: np.random.Generator) -> Case:
    each = float(10.0 ** rng.uniform(-12.0, 2.5))
    times = int(rng.choice([1, 2, 3, 10, 57, 300]))
    jump = each * (2 * int(rng.integers(times + 1)) - times)
    near = rng.choice([jump, math.nextafter(jump, 0.0), math.nextafter(jump, math.inf), jump * rng.random()])
    return RandomizedResponses(each, times), float(max(0.0, near))


def discrete_gaussian(rng: np.random.Generator) -> Case:
    sigma, cells = float(10.0 ** rng.uniform(-3.0, 1.5)), int(rng.choice([1, 2]))
    jump = (int(rng.integers(1, 5 + int(8 * sigma))) - 0.5 * cells) / sigma**2
    near = rng.choice(
        [jump, math.nextafter(jump, 0.0), math.nextafter(jump, math.inf), jump * rng.random(), 0.0]
    )
    return DiscreteGaussianShift(sigma, cells), float(max(0.0, near))


KINDS: tuple[Callable[[np.random.Generator], Case], ...] = (
    symmetric_beta,
    beta,
    gamma,
    symmetric_beta,
    beta,
    gamma,
    normal,
    responses,
    discrete_gaussian,
)


def cases(seed: int, count: int) -> Iterator[Case]:
    rng = np.random.default_rng(seed)
    for number in range(count):
        yield KINDS[number % len(KINDS)](rng)


@dataclass
class Study:
    """How printed deltas compare with certified enclosures of the true ones."""

    counts: Counter[str] = field(default_factory=Counter)
    below: list[Case] = field(default_factory=list)
    unresolved: list[Case] = field(default_factory=list)
    loosest: list[tuple[float, Case]] = field(default_factory=list)

    def look_at(self, several: Iterable[Case]) -> Study:
        for profile, epsilon in several:
            printed, truth = profile.delta(epsilon), profile.enclosure(epsilon)
            assert truth is not None
            case = (profile, epsilon)
            if printed < truth.low:
                self.below.append(case)
                self.counts["below"] += 1
            elif not truth.is_narrow:
                self.unresolved.append(case)
                self.counts["unresolved"] += 1
            elif printed < truth.high:
                # Between two neighbouring floats: no violation, and no proof that there is none.
                self.unresolved.append(case)
                self.counts["within a rounding"] += 1
            else:
                self.counts["not below"] += 1
                excess = printed / truth.high - 1.0 if truth.high > 1e-290 else 0.0
                self.loosest = sorted([*self.loosest, (excess, case)], key=lambda one: -one[0])[:20]
        return self
