"""The best weights in the Hamming distance when up to b symbols of a free word are protected.

All words of n symbols over m letters are allowed, neighbours differ in at most b symbols, and the private
word v of w has the probability f(d(v, w)) / Z. Z = sum_l N(l) f(l) with N(l) = C(n, l) (m - 1)^l is the same
for every w.

Privacy. The loss is at most epsilon exactly if f(i) <= e^epsilon f(j) for all distances with |i - j| <= b.
Enough: |d(v, w) - d(v, w')| <= d(w, w') <= b. Needed: for d(v, w) = i > j, let w' agree with v in i - j more
places than w does; then d(v, w') = j and d(w, w') = i - j; and the other way round.

The best f. Let the cost c(l) grow with the distance (here c(l) = l). The least expected cost is that of a
staircase f(l) = e^{-epsilon h(l)} that drops by e^{-epsilon} at `first`, `first` + b, `first` + 2b ... for
some 1 <= first <= b. Proof. Let E be the least expected cost, so that f is best exactly if it makes J(f) =
sum_l (c(l) - E) N(l) f(l) least, which is 0. The sum's factors are <= 0 up to some distance T and > 0
beyond: J falls if f grows up to T or shrinks beyond T.
 1. f may be taken to fall. Replace f(l) by max f over [l, T] for l <= T and by min f over [T + 1, l] beyond;
    then raise what is below f(T + 1) up to T to f(T + 1). J does not grow. No condition is broken: each new
    value is an old one f(k) with k between l and T (or T + 1), so two places at most b apart take old values
    of places at most b apart, or the order of the two new values settles the condition. What is left to ask
    is f(l) <= e^epsilon f(min(l + b, n)).
 2. f may be taken as e^{-epsilon h} with whole h. Of a linear function on a cone without lines, cut by sum N
    f = 1, the least value is at an extreme ray, on which n independent conditions are equalities: f(l) = f(l
    + 1) or f(l) = e^epsilon f(min(l + b, n)). They tie all values together by factors e^epsilon. So h rises
    in steps of one, and its steps are at least b apart.
 3. The steps are exactly b apart and begin at or before b. Fix f(T + 1). Beyond T every step is best as
    early as possible, up to T as late as possible; a gap of more than b between the last step up to T and
    the first beyond can be closed from one of the two sides. Both ways J does not grow.

No mechanism does better. Let any epsilon-private mechanism on these words have expected cost at most K for
every w. Average it over the permutations of the places and of the letters in each place: P'(v | w) is the
mean of P(gv | gw). It is as private, its cost is a mean of costs at most K, and it depends on d(v, w) alone,
because the group carries every pair of words to every other pair at the same distance. So it is one of the f
above, and K is not below the best staircase. For b = 1 this is randomised response, symbol by symbol.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import xlogy

from veil.core.arrays import Floats, Places
from veil.core.numerics.log_gamma import log_gammas
from veil.core.numerics.rounding import decay_above, float_below, stated


@lru_cache(maxsize=16)
def log_words_at(length: int, alphabet: int) -> Floats:
    """The logarithm of N(l), the number of words at distance l, for l = 0 ... length."""
    far = np.arange(length + 1.0)
    factorials, _ = log_gammas(far + 1.0)
    logs = factorials[-1] - factorials - factorials[::-1] + xlogy(far, alphabet - 1.0)
    logs.setflags(write=False)
    return np.asarray(logs)


@dataclass(frozen=True)
class WordStaircase:
    """Words at distance l weigh decay^levels[l]; `first` is the distance of the first step down."""

    length: int
    alphabet: int
    radius: int
    first: int
    decay: float

    @cached_property
    def levels(self) -> Places:
        """How many steps down the words at distance 0 ... length are."""
        return (np.arange(self.length + 1, dtype=np.int64) + self.radius - self.first) // self.radius

    def weights(self) -> list[Fraction]:
        """f(0) ... f(length) as exact numbers: f(l) <= e^epsilon f(l + radius) holds without rounding."""
        down = Fraction(self.decay)
        return [down ** int(level) for level in self.levels]

    @property
    def log_weights(self) -> Floats:
        return np.asarray(self.levels * math.log(self.decay))

    def distances(self) -> Floats:
        """The probability of each distance, rounded."""
        logs = log_words_at(self.length, self.alphabet) + self.log_weights
        return np.asarray(np.exp(logs - np.logaddexp.reduce(logs)))

    @property
    def expected_error(self) -> float:
        return float(self.distances() @ np.arange(self.length + 1))


def staircase(length: int, alphabet: int, radius: int, epsilon: float) -> WordStaircase:
    """The epsilon-private weights with the least expected Hamming error; proved at the head of the file.

    The first step is chosen with rounded numbers, which only touches the accuracy. The privacy rests on the
    decay alone, and that is rounded upwards.

    >>> steps = staircase(5, 2, 2, 5.0)
    >>> steps.levels.tolist(), round(steps.expected_error, 3)
    ([0, 1, 1, 2, 2, 3], 0.155)
    """
    decay = decay_above(float_below(stated(epsilon)))
    candidates = [
        WordStaircase(length, alphabet, radius, first, decay)
        for first in range(1, max(1, min(radius, length)) + 1)
    ]
    return min(candidates, key=lambda steps: steps.expected_error)


def free_counts(length: int, alphabet: int) -> list[int]:
    """The numbers of words at the distances 0 ... n where every word is possible: C(n, l) (m - 1)^l."""
    counts = [1]
    for far in range(length):
        counts.append(counts[-1] * (length - far) * (alphabet - 1) // (far + 1))
    return counts
