"""Which states may be named: each by itself, the likelier the more users it has (proof in selection.md).

The chance of being named, as a function of the number of users n, is the largest one that (epsilon, delta)
allows for a state whose number of users changes by one (Desfontaines, Voss and Gipson, PETS 2022):

    p(0) = 0,   p(n + 1) = min(r p(n) + delta, 1 - (1 - p(n) - delta) / r, 1),   r <= e^epsilon.

Here r is a rational number, and each p(n) is rounded down to a multiple of 2^-128: then the chances are
exact, and both inequalities between neighbours still hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from veil.core.arrays import Booleans
from veil.core.checks import delta_of, integer, positive
from veil.core.errors import InvalidArgument
from veil.core.numerics.rounding import ULP, charged_below, float_above, float_below, stated
from veil.core.privacy.losses import Composed
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import Kind, LogDelta, PrivacyProfile, calibrate
from veil.core.random.exact_tables import exp_minus
from veil.core.random.streams import WORD, Rng, one_word, random_words
from veil.vectors.counts import Integers

# Chances are multiples of 2^-_BITS: two words of random bits decide.
_BITS = 2 * WORD
# r is e^epsilon rounded down to so many bits.
_FINE = 64
# Numbers of users beyond it are named in any case, or delta is too small to be told from 0.
_MOST_USERS = 1_000_000
_LEAST_DELTA = 2.0**-100


@dataclass(frozen=True, slots=True)
class Selection:
    """How states are named.

    each, leak: the epsilon and the delta of one state. states: those of one user, at most.
    """

    each: float
    leak: float
    states: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "each", positive("each", self.each, least=1e-6, most=100.0))
        leak = delta_of(self.leak)
        if not _LEAST_DELTA <= leak < 1.0:
            raise InvalidArgument("leak", expected="a number above 0 and below 1", found=f"{leak:g}")
        object.__setattr__(self, "leak", leak)
        object.__setattr__(self, "states", integer("states", self.states, least=1))

    @classmethod
    def given(cls, value: Any) -> Selection:
        """The selection, or what `describe` says of one."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict) or set(value) != {"each", "leak", "states"}:
            raise InvalidArgument("selection", expected="each, leak and states", found="something else")
        return cls(**value)

    def describe(self) -> dict[str, float]:
        """Its parameters."""
        return {"each": self.each, "leak": self.leak, "states": self.states}

    @property
    def chances(self) -> tuple[int, ...]:
        """p(0), p(1), ... up to the first that is 1, as multiples of 2^-128."""
        return _chances(self.each, self.leak)

    @property
    def middle(self) -> int:
        """The number of users from which on a state is more likely named than not."""
        return next(n for n, chance in enumerate(self.chances) if 2 * chance >= 1 << _BITS)

    def draw(self, rng: Rng, users: Integers) -> Booleans:
        """Which states are named."""
        chances = self.chances
        places = np.minimum(users, len(chances) - 1)
        sure = 1 << _BITS
        # A word below the first 64 bits of a chance is below it; equal to them, it is open.
        heads = np.array([min(chance, sure - 1) >> WORD for chance in chances], dtype=np.uint64)
        words = random_words(rng, len(users))
        named = words < heads[places]
        for row in np.flatnonzero(words == heads[places]).tolist():
            rest = chances[places[row]] - (int(words[row]) << WORD)
            named[row] = one_word(rng) < rest
        named[places == len(chances) - 1] = True
        return np.asarray(named)

    @property
    def surely(self) -> int:
        """The number of users from which on a state is named in 95 of 100 releases."""
        return next(n for n, chance in enumerate(self.chances) if 20 * chance >= 19 << _BITS)

    def profile_with(self, counting: PrivacyProfile, *, people: int = 1) -> PrivacyProfile:
        """Of the names and what is counted of the named states, together. people: 2 where one is replaced."""
        states = people * self.states
        none = (1 - Fraction(self.leak)) ** states
        together = Composed.of((RandomizedResponses(self.each), states), (counting, 1), adaptive=True)
        return LeakingProfile(base=together, leak=float_above(1 - none))


@lru_cache(maxsize=16)
def _chances(each: float, leak: float) -> tuple[int, ...]:
    # e^epsilon from below: its inverse from above.
    _, above = exp_minus(Fraction(each), 2 * _FINE)
    r = Fraction((1 << 3 * _FINE) // above, 1 << _FINE)
    one, delta = 1 << _BITS, Fraction(leak) * (1 << _BITS)
    chances = [0]
    while chances[-1] < one:
        p = chances[-1]
        grown = min(r * p + delta, one - (one - p - delta) / r, Fraction(one))
        chances.append(math.floor(grown))
        if chances[-1] <= p or len(chances) > _MOST_USERS:
            raise InvalidArgument("leak", expected="a larger delta", found=f"{leak:g}")
    return tuple(chances)


@dataclass(frozen=True, kw_only=True)
class LeakingProfile(PrivacyProfile):
    """Everything may come out with probability `leak`; otherwise what `base` says."""

    base: PrivacyProfile
    leak: float
    kind: Kind = field(default="upper bound", init=False)

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        one, other = map(self._leaking, self.base.log_deltas())
        return one, other

    def _leaking(self, log_delta: LogDelta) -> LogDelta:
        def leaking(epsilon: float) -> float:
            total = self.leak + math.exp(min(0.0, log_delta(epsilon)))
            return min(0.0, math.log(min(1.0, total * (1.0 + 8.0 * ULP))) + 4.0 * ULP)

        return leaking

    def _log_delta(self, epsilon: float) -> float:
        base = 0.0 if epsilon >= self.base.pure_epsilon else self.base.delta(epsilon)
        return min(0.0, math.log(min(1.0, (self.leak + base) * (1.0 + 8.0 * ULP))) + 4.0 * ULP)

    def covers(self, epsilon: float, delta: float) -> bool:
        left = Fraction(delta_of(delta)) - Fraction(self.leak)
        if left < 0:
            return False
        if left == 0:
            return charged_below(epsilon) >= self.base.pure_epsilon
        return self.base.covers(epsilon, float_below(left))


def needs_delta_for_names() -> InvalidArgument:
    """The error where nothing may come out that is not in every neighbour's."""
    return InvalidArgument(
        "delta",
        expected="a number above 0, since states that nobody listed are named",
        found="0",
        hint="1e-6 is usual; it should be far below one over the number of people.",
    )


def chosen_selection(epsilon: float, delta: float, states: int) -> Selection:
    """The selection within this budget whose middle is lowest: equal shares, or the exact composition."""
    if delta <= 0.0:
        raise needs_delta_for_names()
    leak = Fraction(delta)
    plain = Selection(float_below(stated(epsilon) / states), float_below(leak / states), states)
    if states == 1:
        return plain
    half = float_below(leak / 2)
    each = calibrate(
        lambda rate: _Responses(rate, states), None, epsilon=epsilon, delta=half, relative=1e-9
    ).rate
    closer = Selection(each, float_below(leak / 2 / states), states)
    return min((plain, closer), key=lambda one: one.middle)


@dataclass(frozen=True)
class _Responses:
    rate: float
    times: int

    def profile(self, adjacency: object = None) -> PrivacyProfile:
        return RandomizedResponses(self.rate, self.times)
