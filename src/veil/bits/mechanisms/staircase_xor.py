"""Records of bits by a staircase in the number of flipped bits (proofs in bits.md)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.domain import Bits, Table
from veil.bits.mechanisms.bit_mechanism import LARGEST_EPSILON, BitMechanism
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import integer, positive
from veil.core.errors import InvalidArgument
from veil.core.mechanism import adjacency_of
from veil.core.numerics.rounding import FUNCTION_ERROR, ULP, charged_times, float_above, rate_above
from veil.core.numerics.staircase import WordStaircase, free_counts, log_words_at, staircase
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import Kind, LogDelta, PrivacyProfile, order_of
from veil.core.privacy.rigorous import Enclosure, sums
from veil.core.random.exact_choice import sample_free_by_distance
from veil.core.random.streams import Rng

# The tables of the noise have an exact number for every weight.
MOST_BITS = 5_000
# Up to so many bits the chance of a step is summed up in a moment.
_MOST_EXACT = 256
# What the chance of a step loses to rounding, up to so many bits: its logarithms are of four factorials, each
# off by less than 1e-11, and of two weights of at most 256 steps down, each of at most 745 and off by 2e-15
# of itself; a sum of 2^16 terms loses less than 1e-11.
_SLACK = 1e-9

_steps = lru_cache(maxsize=256)(staircase)


@dataclass(frozen=True)
class StaircaseXor(BitMechanism):
    """Flip a random set of a record's bits, whose probability depends on its size by a staircase.

    columns: the bits of a record. epsilon: what a release costs. flips: how many bits of a record may differ
    between neighbours; None for all of them. rows: given, the noise spans a whole table of so many rows, and
    `flips` bits anywhere in it are hidden together.

    No epsilon-private mechanism has fewer wrong bits, in the worst case over tables.

    >>> from veil import bits
    >>> round(bits.StaircaseXor(16, 1.0).flip_rate, 4)
    0.4501
    """

    columns: int
    epsilon: float
    _: KW_ONLY
    flips: int | None = None
    rows: int | None = None
    name: ClassVar[str] = "StaircaseXor"

    def __post_init__(self) -> None:
        epsilon = positive("epsilon", self.epsilon, least=1e-6, most=LARGEST_EPSILON)
        object.__setattr__(self, "epsilon", epsilon)
        for name in ("columns", "rows", "flips"):
            number = getattr(self, name)
            if number is not None or name == "columns":
                object.__setattr__(self, name, integer(name, number, least=1))
        if self.protected > self.bits:
            expected = f"at most the {self.bits} bits there are"
            raise InvalidArgument("flips", expected=expected, found=str(self.flips))
        if self.bits > MOST_BITS:
            raise InvalidArgument(
                "columns" if self.rows is None else "rows",
                expected=f"noise over at most {MOST_BITS:,} bits together",
                found=f"{self.bits:,}",
                hint="RandomizedResponse(epsilon / flips) hides as much, with any number of bits.",
            )

    @property
    def bits(self) -> int:
        """Over how many bits the noise is drawn together."""
        return self.columns * (self.rows or 1)

    @property
    def protected(self) -> int:
        """How many bits may differ between neighbours."""
        return self.columns if self.flips is None else self.flips

    @property
    def domain(self) -> Bits:
        return Bits(self.columns, rows=self.rows)

    @property
    def adjacency(self) -> BitFlips:
        return BitFlips(self.protected, where="row" if self.rows is None else "anywhere")

    @property
    def steps(self) -> WordStaircase:
        """The weights of sets of 0, 1, 2 ... flipped bits."""
        return _steps(self.bits, 2, self.protected, self.epsilon)

    @property
    def flip_rate(self) -> float:
        return self.steps.expected_error / self.bits

    def sizes(self) -> Floats:
        """The probability of 0, 1, 2 ... flipped bits."""
        return self.steps.distances()

    def loss(self, near: BitFlips) -> float:
        each = rate_above(self.steps.decay)
        if self.rows is None and near.where == "anywhere":
            # The bits may be in different rows, of which each can go down a step with a single one.
            return charged_times(each, near.count * self._drops(1))
        return charged_times(each, self._drops(near.count))

    def _drops(self, count: int) -> int:
        """By how many steps the weights of two sets differ at most if they differ in `count` bits."""
        levels = self.steps.levels
        count = min(count, self.bits)
        return int((levels[count:] - levels[:-count]).max())

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """Exact up to the protected number of bits of a row: the loss is that of one step, or none."""
        near: BitFlips = adjacency_of(self, adjacency, BitFlips)
        # Built for a stated epsilon, and certified not to exceed it: charged as it stands.
        loss = self.epsilon if near == self.adjacency else self.loss(near)
        together = self.rows is not None or near.where == "row" or near.count == 1
        if together and near.count <= self.protected and self.bits <= _MOST_EXACT:
            return LazyResponse(loss, step_chance(self.steps, near.count))
        return RandomizedResponses(loss, kind="upper bound")

    def log_noise(self, tables: Any) -> Floats:
        ones = np.asarray(tables).sum(axis=-1)
        if self.rows is not None:
            return np.asarray(self.steps.log_weights[ones.sum(axis=-1)])
        return np.asarray(self.steps.log_weights[ones].sum(axis=-1))

    @cached_property
    def law(self) -> list[Fraction]:
        """How likely 0, 1, 2 ... flipped bits are, but for a common factor."""
        counts = free_counts(self.bits, 2)
        levels, (top, bottom) = self.steps.levels.tolist(), self.steps.decay.as_integer_ratio()
        # All of them times bottom^(the last level): whole numbers, which need no reducing.
        return [
            Fraction(n * top**level * bottom ** (levels[-1] - level))
            for n, level in zip(counts, levels, strict=True)
        ]

    def draw_noise(self, rng: Rng, times: int, rows: int, columns: int) -> Table:
        none = np.zeros((times * rows * columns // self.bits, self.bits), dtype=np.int32)
        drawn = sample_free_by_distance(rng, words=none, alphabet=2, law=self.law)
        return drawn.astype(np.bool_).reshape(times, rows, columns)


@dataclass(frozen=True)
class LazyResponse(PrivacyProfile):
    """A randomised response that is mostly silent.

    The loss is `each` with probability `chance`, -each with chance e^-each, and 0 otherwise.

    delta(epsilon) = chance (1 - e^(epsilon - each)), and both directions are alike. A larger chance only
    raises the curve, so one that is rounded up is safe.
    """

    each: float
    chance: float
    kind: Kind = "exact"

    def __post_init__(self) -> None:
        object.__setattr__(self, "pure_epsilon", self.each)

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._log_delta, self._log_delta

    def _log_delta(self, epsilon: float) -> float:
        # Exactly: next to the loss, rounding would hide all of it.
        gap = float_above(Fraction(self.each) - Fraction(epsilon))
        if gap <= 0.0 or self.chance <= 0.0:
            return -math.inf
        parts = math.log(self.chance), math.log(-math.expm1(-gap))
        return sum(parts) + 2.0 * FUNCTION_ERROR * (1.0 - sum(parts))

    def enclosure(self, epsilon: float) -> Enclosure:
        """With the chance as it is stored, rounded up."""
        return sums.lazy_response(self.each, self.chance, epsilon)

    def rdp(self, order: float) -> float:
        order = order_of(order)
        if self.chance <= 0.0:
            return 0.0
        up, all_of_it = (order - 1.0) * self.each, order * self.each
        if up > 700.0:
            # The moment is at most 1 + chance e^up.
            log = math.log(self.chance) + up
            one = max(log, 0.0) + math.log1p(math.exp(-abs(log)))
            rounding = 2.0 * FUNCTION_ERROR * (abs(math.log(self.chance)) + up + 2.0)
        else:
            # chance (e^up - 1 + e^-each (e^-up - 1)) is what the two outcomes add to 1; a product, in which
            # nothing cancels. The relative error of expm1(x) is that of x times at most 1 + x.
            more = self.chance * math.expm1(up) * -math.expm1(-all_of_it)
            one = math.log1p(more)
            relative = 4.0 * FUNCTION_ERROR + 2.0 * ULP * up
            rounding = FUNCTION_ERROR * one + relative * more / (1.0 + more)
        # Products of tiny numbers may underflow.
        return (one + rounding + 2.0**-1000) / (order - 1.0) * (1.0 + 4.0 * ULP)


@lru_cache(maxsize=256)
def step_chance(steps: WordStaircase, flips: int) -> float:
    """The largest A_j of bits.md for 1 <= j <= flips, rounded up; flips is at most the width of a step."""
    if steps.alphabet != 2 or not 1 <= flips <= min(steps.radius, steps.length):
        raise ValueError("the chance of one step needs bits, and no more flips than a step is wide")
    logs = log_words_at(steps.length, 2) + steps.log_weights
    log_total = float(np.logaddexp.reduce(logs))
    return min(1.0, max(_chance(steps, j, log_total) for j in range(1, flips + 1)) * (1.0 + _SLACK))


def _chance(steps: WordStaircase, j: int, log_total: float) -> float:
    a, c = np.arange(j + 1)[:, None], np.arange(steps.length - j + 1)[None, :]
    is_step = steps.levels[j - a + c] == steps.levels[a + c] + 1
    logs = log_words_at(j, 2)[:, None] + log_words_at(steps.length - j, 2)[None, :]
    logs = logs + steps.log_weights[a + c] - log_total
    return math.fsum(np.exp(logs[is_step]).tolist())
