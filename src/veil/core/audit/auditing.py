"""Attacking one's own mechanism: a lower bound on epsilon, exact where outputs are few.

Rounding, where outputs are few: `distribution` gives floats. Each is taken to be within a factor of
1 +- LAW_ERROR of the chance that it stands for; tests compare such laws with rationals and find them a
hundred times nearer. All else is computed in rationals. Over events E, epsilon(delta) is the largest
log((P(E) - delta) / Q(E)). It is reached where outputs are sorted by their ratio, at some first k of them
(Neyman and Pearson). What is returned is

    log((P(E) (1 - LAW_ERROR) - delta) / (Q(E) (1 + LAW_ERROR)))

for the best such E, rounded down: never above the truth, and short of it by about 2 LAW_ERROR at delta = 0.
So the comparison with a claim needs no tolerance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import binom

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.events import best_event
from veil.core.audit.subject import AuditPair, Reader
from veil.core.checks import delta_of, integer, within
from veil.core.errors import InvalidArgument
from veil.core.mechanism import Mechanism, kind_of
from veil.core.random.streams import Rng, generator

# One audit in a thousand million raises a false alarm: a thousand of them together, one in a million.
CONFIDENCE = 0.999_999_999
# Outputs that are drawn of each of the two values: more would not fit into memory.
_MOST_SAMPLES = 100_000_000
# Numbers that are held at once.
_AT_ONCE = 4_000_000
Law = Mapping[Any, float]
# 1.5e-11, of a probability.
LAW_ERROR = Fraction(1, 2**36)
WRONG_LAW = "the draws do not follow the law that the mechanism states"
WRONG_SUM = "the law that the mechanism states does not sum to one"


@dataclass(frozen=True, slots=True)
class Audit:
    """What an attack found.

    lower: epsilon is at least this (at the stated confidence, or surely if exact). claimed: what the
    mechanism claims at this delta. violated: the attack beat the claim, or found the fault named in `fault`.
    exact: by enumeration. confidence: a false alarm is rarer than one less this.
    """

    lower: float
    claimed: float
    violated: bool
    exact: bool
    confidence: float
    delta: float
    fault: str = ""

    def __str__(self) -> str:
        sure = "by enumeration" if self.exact else f"at confidence {self.confidence:.12g}"
        verdict = "VIOLATION" if self.violated else "no violation found"
        claim = f"claimed {self.claimed:.4g} at delta {self.delta:g}"
        text = f"{verdict}: epsilon >= {self.lower:.4g} {sure}, {claim}"
        return f"{text}; {self.fault}" if self.fault else text


def audit(
    mechanism: Mechanism,
    value: Any,
    neighbour: Any,
    *,
    samples: int = 100_000,
    confidence: float = CONFIDENCE,
    delta: float = 0.0,
    adjacency: Adjacency | None = None,
    rng: Any = None,
) -> Audit:
    """A lower bound on the epsilon that tells the value from the neighbour.

    Never hand in sensitive values: audit on made-up ones (`audit_pairs` makes some). Where the mechanism
    lists its outputs (`distribution`), the loss is computed from all of them, and draws are compared with
    that law. Otherwise an event is chosen on one half of the draws and measured on the other by
    Clopper-Pearson limits. No violation found does not mean that there is none.

    adjacency: the relation between the two; found from them if None. The draws must be independent:
    `audit_suite` tests that as well.
    """
    alpha = alpha_of(confidence)
    return audit_at(
        mechanism, value, neighbour, samples=samples, alpha=alpha, delta=delta, adjacency=adjacency, rng=rng
    )


def audit_at(
    mechanism: Mechanism,
    value: Any,
    neighbour: Any,
    *,
    samples: int,
    alpha: float,
    delta: float,
    adjacency: Adjacency | None,
    rng: Any,
) -> Audit:
    """The same by the chance alpha of a false alarm, which a confidence near one cannot say as well."""
    subject = kind_of(mechanism).audit
    delta = delta_of(delta)
    draws = integer("samples", samples, least=1000, most=_MOST_SAMPLES)
    shapes = [getattr(mechanism.validate(one), "shape", ()) for one in (value, neighbour)]
    if shapes[0] != shapes[1]:
        raise InvalidArgument("neighbour", expected=f"shape {shapes[0]}, as the value", found=f"{shapes[1]}")
    relation = mechanism.adjacency if adjacency is None else adjacency
    if relation is None:
        relation = relation_between(mechanism, value, neighbour)
    # Refuses, in its own words, a relation that the mechanism does not know.
    claimed = mechanism.profile(relation).epsilon(delta)
    check_neighbours(mechanism, relation, value, neighbour)
    stream, confidence, fault = generator(rng), 1.0 - alpha, ""
    laws = laws_of(mechanism, value, neighbour)
    if laws is not None:
        lower = exact_loss(*laws, delta)
        if lower > claimed:
            return Audit(lower, claimed, True, True, 1.0, delta)
        for item, law in zip((value, neighbour), laws, strict=True):
            fault = fault or _fault(mechanism, item, law, min(draws, subject.fitted), 0.5 * alpha, stream)
        if not fault:
            return Audit(lower, claimed, False, True, confidence, delta)
    else:
        fault = subject.fault(mechanism, value, stream)
    reader = subject.reader(mechanism, value, neighbour)
    first, second = (drawn_rows(mechanism, item, reader, draws, stream) for item in (value, neighbour))
    # Half of the error for each direction, and of that half for each limit.
    both_ways = (first, second), (second, first)
    lower = max(best_event(*rows, delta, alpha=0.5 * alpha) for rows in both_ways)
    return Audit(lower, claimed, lower > claimed or bool(fault), False, confidence, delta, fault)


def alpha_of(confidence: Any) -> float:
    """The chance of a false alarm that a confidence leaves."""
    expected = "a number of at least 0.5 and below 1"
    kept = within("confidence", confidence, 0.5, 1.0, expected=expected)
    if kept == 1.0:
        raise InvalidArgument("confidence", expected=expected, found="1")
    return 1.0 - kept


def _fault(mechanism: Any, value: Any, law: Law, draws: int, alpha: float, stream: Rng) -> str:
    """Whether what was enumerated is what is drawn: wrong with probability at most alpha."""
    if not adds_up(law):
        return WRONG_SUM
    subject = kind_of(mechanism).audit
    outputs = subject.keys(mechanism, subject.drawn(mechanism, value, draws, stream))
    return WRONG_LAW if misfit(law, outputs, alpha=alpha) else ""


def audit_pairs(mechanism: Mechanism, adjacency: Adjacency | None = None) -> list[AuditPair]:
    """Pairs of made-up neighbours on which to audit the mechanism, each with a name.

    adjacency: needed where the mechanism has none of its own.

    >>> from veil import vectors
    >>> from veil.core.audit.auditing import audit_pairs
    >>> audit_pairs(vectors.GeometricCounts(1.0, 3), vectors.Records("replace"))[0].name
    'from the first cell to the last, among large ones'
    """
    subject = kind_of(mechanism).audit
    relation = mechanism.adjacency if adjacency is None else adjacency
    if relation is None:
        raise InvalidArgument(
            "adjacency", expected="what a neighbour is: the mechanism itself does not say", found="None"
        )
    # Refuses, in its own words, a relation that the mechanism does not know.
    mechanism.profile(relation)
    pairs = subject.pairs(mechanism, relation)
    if not pairs:
        raise InvalidArgument("adjacency", expected="one with neighbours in the domain", found="none")
    for pair in pairs:
        check_neighbours(mechanism, relation, pair.value, pair.neighbour)
    return pairs


def relation_between(mechanism: Mechanism, value: Any, neighbour: Any) -> Adjacency:
    """The tightest adjacency under which the two are neighbours."""
    subject = kind_of(mechanism).audit
    return subject.relation(mechanism, mechanism.validate(value), mechanism.validate(neighbour))


def check_neighbours(mechanism: Mechanism, relation: Adjacency, value: Any, neighbour: Any) -> None:
    """Refuse two values that are further apart than the relation allows: their loss is no violation."""
    subject = kind_of(mechanism).audit
    apart = subject.apart(mechanism, relation, mechanism.validate(value), mechanism.validate(neighbour))
    if apart:
        raise InvalidArgument(
            "neighbour",
            expected=relation.words,
            found=apart,
            hint="State another adjacency to audit values further apart.",
        )


def drawn_rows(mechanism: Any, value: Any, reader: Reader, draws: int, stream: Rng) -> Floats:
    """So many outputs for the value, each as a row of numbers."""
    subject = kind_of(mechanism).audit
    size = max(1, subject.size(mechanism, mechanism.validate(value)))
    each = max(1, min(draws, _AT_ONCE // size))
    sizes = [min(each, draws - begin) for begin in range(0, draws, each)]
    rows = [reader(subject.drawn(mechanism, value, size, stream)) for size in sizes]
    return np.nan_to_num(np.concatenate(rows), nan=0.0, posinf=1e60, neginf=-1e60)


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
    missing, best = Fraction(delta), Fraction(0)
    above, below = Fraction(0), Fraction(0)
    for p, q in pairs:
        above += Fraction(p)
        below += Fraction(q)
        sure = above * (1 - LAW_ERROR) - missing
        if sure <= 0:
            continue
        if below == 0:
            return math.inf
        best = max(best, sure / (below * (1 + LAW_ERROR)))
    return log_below(best) if best > 1 else 0.0


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
