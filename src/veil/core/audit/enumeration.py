"""Enumeration: the exact loss where outputs are few, and whether draws follow the law that was enumerated.

Rounding: `distribution` gives floats. Each is taken to be within a factor of 1 +- LAW_ERROR of the chance
that it stands for; tests compare such laws with rationals and find them a hundred times nearer. All else is
computed in rationals. Over events E, epsilon(delta) is the largest log((P(E) - delta) / Q(E)). It is reached
where outputs are sorted by their ratio, at some first k of them (Neyman and Pearson). What is returned is

    log((P(E) (1 - LAW_ERROR) - delta) / (Q(E) (1 + LAW_ERROR)))

for the best such E, rounded down: never above the truth, and short of it by about 2 LAW_ERROR at delta = 0.
So the comparison with a claim needs no tolerance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from scipy.stats import binom

from veil.core.mechanism import kind_of
from veil.core.random.streams import Rng

Law = Mapping[Any, float]
# 1.5e-11, of a probability.
LAW_ERROR = Fraction(1, 2**36)
WRONG_LAW = "the draws do not follow the law that the mechanism states"
WRONG_SUM = "the law that the mechanism states does not sum to one"


def laws_of(mechanism: Any, value: Any, neighbour: Any) -> tuple[Law, Law] | None:
    """All outputs for the two with their probabilities, where they can be listed."""
    if not hasattr(mechanism, "distribution"):
        return None
    check = getattr(mechanism, "can_enumerate", None)
    if not (check(value) if check is not None else getattr(mechanism, "is_enumerable", True)):
        return None
    return mechanism.distribution(value), mechanism.distribution(neighbour)


def exact_loss(first: Law, second: Law, delta: float) -> float:
    """The smallest epsilon at which both directions have at most this delta, not rounded up."""
    return max(_one_way(first, second, delta), _one_way(second, first, delta))


def adds_up(law: Law) -> bool:
    """Whether the probabilities sum to one, as far as their rounding lets one see."""
    return abs(sum(map(Fraction, law.values()), Fraction(-1))) <= LAW_ERROR


def _one_way(first: Law, second: Law, delta: float) -> float:
    pairs = [(p, second.get(output, 0.0)) for output, p in first.items() if p > 0.0]
    pairs.sort(key=lambda pair: math.inf if pair[1] == 0.0 else pair[0] / pair[1], reverse=True)
    # Floats times one large power of two are whole numbers.
    unit = max(number.as_integer_ratio()[1] for number in (delta, *chain.from_iterable(pairs)))
    law_unit = LAW_ERROR.denominator
    less, more = law_unit - LAW_ERROR.numerator, law_unit + LAW_ERROR.numerator
    missing, above, below = _times(delta, unit) * law_unit, 0, 0
    best = 0, 1
    for p, q in pairs:
        above += _times(p, unit)
        below += _times(q, unit)
        sure = above * less - missing
        if sure <= 0:
            continue
        if below == 0:
            return math.inf
        if sure * best[1] > best[0] * below * more:
            best = sure, below * more
    return log_below(Fraction(*best)) if best[0] > best[1] else 0.0


def _times(number: float, unit: int) -> int:
    """A float times a power of two that makes it whole."""
    top, bottom = number.as_integer_ratio()
    return top * (unit // bottom)


def log_below(ratio: Fraction) -> float:
    """A float that is not above the logarithm of a rational of at least 1."""
    above, below = math.log(ratio.numerator), math.log(ratio.denominator)
    # Each logarithm is good to two units in the last place, and so is what is left of them.
    return max(0.0, above - below - 2.0**-49 * (above + below))


def misfit(law: Law, drawn: Sequence[Hashable], *, alpha: float) -> bool:
    """Whether the draws are surely not from the law: wrong with probability at most alpha.

    Binomial tests, exact and two-sided, of every output and of every symbol in every place, with alpha
    divided among them.
    """
    counts = Counter(drawn)
    if any(law.get(output, 0.0) == 0.0 for output in counts):
        return True
    expected: dict[Hashable, float] = dict(law)
    seen: dict[Hashable, int] = {output: counts[output] for output in law}
    for output, chance in law.items():
        # That a place of an output holds a symbol.
        places = enumerate(output) if isinstance(output, tuple) and len(output) > 1 else ()
        for event in (("place", place, symbol) for place, symbol in places):
            expected[event] = expected.get(event, 0.0) + chance
            seen[event] = seen.get(event, 0) + counts[output]
    chances = np.minimum(np.array([expected[event] for event in seen]), 1.0)
    hits = np.array([seen[event] for event in seen])
    tails = np.minimum(binom.cdf(hits, len(drawn), chances), binom.sf(hits - 1, len(drawn), chances))
    # A chance that sums to a hair less than one makes what always happens no wonder.
    tails = np.where(chances > 1.0 - 1e-9, 1.0, tails)
    return bool(tails.min() < 0.999 * alpha / (2.0 * len(hits)))


def law_fault(mechanism: Any, value: Any, law: Law, draws: int, alpha: float, stream: Rng) -> str:
    """Whether what was enumerated is what is drawn: wrong with probability at most alpha."""
    if not adds_up(law):
        return WRONG_SUM
    subject = kind_of(mechanism).audit
    outputs = subject.keys(mechanism, subject.drawn(mechanism, value, draws, stream))
    return WRONG_LAW if misfit(law, outputs, alpha=alpha) else ""
