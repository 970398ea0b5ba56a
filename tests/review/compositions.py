"""Random compositions of 2 to 50 parts: what Veil claims, and lower bounds of the truth in all directions.

One part may go from the first neighbour to the second where another goes from the second to the first: of n
parts with a pair that is not symmetric, any number may go forward.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial, reduce
from typing import Any

import numpy as np
from flint import arb

from tests.review.divergences import ball, normal_divergence
from tests.review.loss_laws import (
    BITS,
    Line,
    LossLaw,
    beta_line,
    cells_for,
    deviation,
    gamma_line,
    gaussian_law,
    lazy_law,
    response_law,
    sum_divergence,
)
from tests.review.tails import precision
from veil.bits.mechanisms.staircase_xor import LazyResponse
from veil.core.privacy.pairs import (
    BetaPair,
    DiscreteGaussianShift,
    GammaPair,
    NormalPair,
    RandomizedResponses,
    SymmetricBetaPair,
)
from veil.core.privacy.profile import PrivacyProfile


@dataclass(frozen=True, eq=False)
class Part:
    """A profile that is used so many times. forward, backward: the laws of its loss.

    A symmetric pair has no law backward, a normal one, known by its shift, has none at all.
    """

    name: str
    profile: PrivacyProfile
    times: int
    spread: float
    forward: LossLaw | None
    backward: LossLaw | None = None
    shift: Fraction = Fraction(0)

    def law(self, ahead: int) -> LossLaw:
        """The loss of all of them, so many forward and the others backward."""
        assert self.forward is not None
        if self.backward is None:
            return self.forward.repeated(self.times)
        ways = [(self.forward, ahead), (self.backward, self.times - ahead)]
        return reduce(LossLaw.together, [law.repeated(many) for law, many in ways if many])


@dataclass(frozen=True, eq=False)
class Truth:
    """The composition in one combination of directions: losses on different lattices, and a normal pair."""

    name: str
    laws: Sequence[LossLaw]
    square: Fraction

    def divergence(self, epsilon: Fraction) -> arb:
        """A lower bound of E_epsilon; exact where all laws are."""
        laws = sorted(self.laws, key=lambda law: len(law.masses))
        rest: Callable[[Fraction], arb] = self._normal if self.square else laws.pop().divergence
        for law in reversed(laws):
            rest = partial(sum_divergence, law, rest)
        return rest(epsilon)

    def _normal(self, epsilon: Fraction) -> arb:
        with precision(BITS):
            if epsilon >= 0:
                return _normal(self._shift, epsilon)
            up = ball(epsilon).exp()
            return 1 - up + up * _normal(self._shift, -epsilon)

    @cached_property
    def _shift(self) -> Fraction:
        """The root of the sum of the squared shifts, or a hair less."""
        scale = 2**160
        return Fraction(math.isqrt(int(self.square * scale * scale)), scale)

    def renyi(self, order: Fraction) -> arb:
        """A lower bound of the Renyi divergence: those of independent pairs add up."""
        with precision(BITS):
            logs = sum((law.log_moment(order) for law in self.laws), arb(0))
            return logs / ball(order - 1) + ball(order * self.square / 2)


@lru_cache(maxsize=20_000)
def _normal(shift: Fraction, epsilon: Fraction) -> arb:
    return normal_divergence(shift, epsilon)


@dataclass(frozen=True, eq=False)
class Composition:
    parts: Sequence[Part]

    @property
    def name(self) -> str:
        return " + ".join(f"{part.times} x {part.name}" for part in self.parts)

    @cached_property
    def profile(self) -> PrivacyProfile:
        """What Veil says of it, however the parts are put together."""
        whole: PrivacyProfile | None = None
        for at, part in enumerate(self.parts):
            alone = part.profile
            if at % 2 and part.times > 1:
                alone = reduce(lambda one, other: one.compose(other), [alone] * part.times)
            else:
                alone = alone.repeat(part.times)
            whole = alone if whole is None else whole.compose(alone)
        assert whole is not None
        return whole

    @property
    def spread(self) -> float:
        return math.sqrt(sum(part.times * part.spread**2 for part in self.parts))

    def truths(self, rng: np.random.Generator) -> Iterator[Truth]:
        """All forward, all backward, and some in which they go different ways."""
        free = [part for part in self.parts if part.backward is not None]
        ways = [tuple(part.times for part in free), tuple(0 for _ in free)]
        ways += [tuple(int(rng.integers(part.times + 1)) for part in free) for _ in range(3)]
        square = sum((part.times * part.shift**2 for part in self.parts), Fraction(0))
        for way in dict.fromkeys(ways):
            ahead = iter(way)
            laws: dict[Fraction, LossLaw] = {}
            for part in self.parts:
                if part.forward is not None:
                    law = part.law(part.times if part.backward is None else next(ahead))
                    known = laws.get(law.step)
                    laws[law.step] = law if known is None else known.together(law)
            yield Truth(f"{self.name}, forward {way}", list(laws.values()), square)

    def epsilons(self, rng: np.random.Generator, many: int) -> list[float]:
        """None, those that the losses usually have, and far ones."""
        spread = self.spread
        sizes = [
            spread * abs(float(rng.normal(0.0, 3.0))) + 0.5 * spread**2 * rng.random() for _ in range(many)
        ]
        return [0.0, *sizes[2:], spread * float(rng.uniform(6.0, 12.0))]


# Parts


def responses(rng: np.random.Generator, times: int) -> Part:
    each, many = float(10.0 ** rng.uniform(-2.0, 0.7)), int(rng.integers(1, 4))
    profile = RandomizedResponses(each, many)
    return Part(repr(profile), profile, times, each * math.sqrt(many), response_law(each).repeated(many))


def lazy(rng: np.random.Generator, times: int) -> Part:
    each = float(10.0 ** rng.uniform(-2.0, 0.7))
    chance = float(rng.uniform(0.05, 1.0) / (1.0 + math.exp(-each)) * (1.0 - 1e-9))
    profile = LazyResponse(each, chance)
    return Part(repr(profile), profile, times, each * math.sqrt(chance), lazy_law(each, chance))


def discrete_gaussian(rng: np.random.Generator, times: int) -> Part:
    sigma, cells = float(10.0 ** rng.uniform(-0.3, 0.9)), int(rng.integers(1, 3))
    profile = DiscreteGaussianShift(sigma, cells)
    return Part(repr(profile), profile, times, math.sqrt(cells) / sigma, gaussian_law(sigma, cells))


def normal(rng: np.random.Generator, times: int) -> Part:
    shift = float(10.0 ** rng.uniform(-1.5, 0.5))
    return Part(f"NormalPair({shift!r})", NormalPair(shift), times, shift, None, shift=Fraction(shift))


def on_line(rng: np.random.Generator, times: int, spread: float) -> Part:
    """A beta or gamma pair whose loss spreads about so far; all of one composition share a lattice."""
    kind = str(rng.choice(["gamma", "gamma", "skewed", "skewed", "symmetric"]))
    shapes = [float(10.0 ** rng.uniform(-0.5, 2.3)) for _ in range(2)]
    shapes = {"gamma": shapes[:1], "skewed": shapes, "symmetric": shapes[:1] * 2}[kind]
    tilt = spread * float(rng.uniform(0.6, 1.6)) / deviation(*shapes)
    step, reach = cells_for(spread)
    line, profile, name = _pair(kind, shapes, tilt, step, reach)
    backward = None if kind == "symmetric" else line.law(forward=False)
    return Part(name, profile, times, tilt * deviation(*shapes), line.law(forward=True), backward)


def _pair(kind: str, shapes: list[float], tilt: float, step: Fraction, reach: int) -> tuple[Line, Any, str]:
    if kind == "gamma":
        name = f"GammaPair({shapes[0]!r}, {tilt!r})"
        return gamma_line(shapes[0], tilt, step, reach), GammaPair(shapes[0], tilt), name
    low, rest = shapes
    line = beta_line(low, rest, tilt, step, reach)
    if kind == "skewed":
        return line, BetaPair(low, rest, tilt), f"BetaPair({low!r}, {rest!r}, {tilt!r})"
    return line, SymmetricBetaPair(low, tilt), f"SymmetricBetaPair({low!r}, {tilt!r})"


def _times(rng: np.random.Generator) -> int:
    return int(rng.choice([1, 1, 2, 3, 5, 10, 25]))


def discrete(rng: np.random.Generator) -> Composition:
    """Two or three discrete pairs, or one and a normal one."""
    makers = [responses, lazy, discrete_gaussian]
    many = int(rng.choice([1, 2, 2, 3]))
    parts = [makers[int(rng.integers(3))](rng, _times(rng) if many < 3 else 1) for _ in range(many)]
    if rng.random() < 0.3:
        parts = [*parts[:1], normal(rng, _times(rng)), normal(rng, 1)]
    return Composition(parts) if sum(part.times for part in parts) > 1 else discrete(rng)


def continuous(rng: np.random.Generator) -> Composition:
    """One to three beta and gamma pairs, now and then with a discrete or a normal one."""
    spread, many = float(10.0 ** rng.uniform(-1.5, 0.2)), int(rng.choice([1, 2, 2, 3]))
    parts = [on_line(rng, _times(rng), spread) for _ in range(many)]
    if rng.random() < 0.3:
        parts = [*parts[:2], responses(rng, int(rng.integers(1, 4)))]
    return Composition(parts) if sum(part.times for part in parts) > 1 else continuous(rng)
