"""All that Veil can do to catch a mechanism at once, with one false-alarm rate for the whole.

Whether draws are independent: within a call, between calls, and between the calls for two neighbours. The
bounds of an audit hold for independent draws, and a stream that is used twice can undo a release however good
each draw looks alone. So it is tested apart. Take units of three draws x, s and c: x and s are those that a
fault would tie together, c is another draw for the same value as s. If draws are independent, s and c can
change places, so that for whatever h the sign of h(x, s) - h(x, c), where it has one, is a fair coin. Units
do not share draws, so their signs are independent, and the test is an exact binomial one, whatever the law
is: no bound on how often outputs are equal by chance is needed. Here h is: the same output; the same side of
a threshold, for some numbers of the output. The thresholds are medians of all draws, which are the same
however s and c stand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.auditing import CONFIDENCE, Audit, alpha_of, audit_at, audit_pairs
from veil.core.audit.events import row_keys
from veil.core.audit.subject import AuditPair, Example, Reader
from veil.core.checks import integer, items, on_progress
from veil.core.errors import InvalidArgument
from veil.core.kind import every_kind
from veil.core.mechanism import Mechanism, kind_of
from veil.core.random.streams import generator

_CALLS = 400
# Where a mechanism has no finite epsilon at delta = 0: samples see most of its curve here.
_DELTA = 0.01
# Numbers of an output whose sides are compared.
_MOST_SIDES = 8
_KINDS = {
    "within": "draws of one call are not independent",
    "between": "draws of different calls are not independent: a stream was used again",
    "neighbours": "draws for different values share their noise: a stream was used again",
}


@dataclass(frozen=True, slots=True)
class SeedReuse:
    """What a test of independence found. fault: in words, or nothing. alpha: how often it is a false alarm.

    smallest: the least chance, among all that were looked at, of something as odd; times: how many.
    """

    fault: str
    smallest: float
    times: int
    alpha: float

    @property
    def found(self) -> bool:
        return bool(self.fault)


def seed_reuse(
    mechanism: Any, value: Any, neighbour: Any, *, calls: int, alpha: float, rng: Any = None
) -> SeedReuse:
    """Test the independence of draws on so many calls for each of two values, two draws a call.

    rng: None, as in a release, or a generator that every call takes on from where the last one left it.
    """
    reader = kind_of(mechanism).audit.reader(mechanism, value, neighbour)
    calls += calls % 2
    ours, theirs = (_called(mechanism, item, reader, calls, rng) for item in (value, neighbour))
    places, middles = _sides(ours, theirs)
    even, odd = ours[0::2], ours[1::2]
    units = {
        "within": (even[:, 0], even[:, 1], odd[:, 1]),
        "between": (even[:, 0], odd[:, 0], odd[:, 1]),
        "neighbours": (ours[:, 0], theirs[:, 0], theirs[:, 1]),
    }
    chances: dict[tuple[str, int], float] = {}
    for kind, unit in units.items():
        x, s, c = (row_keys(rows) for rows in unit)
        chances[kind, -1] = _sign_test((x == s).astype(int) - (x == c).astype(int))
        x, s, c = (rows[:, places] > middles for rows in unit)
        gaps = (x == s).astype(int) - (x == c).astype(int)
        for place in range(gaps.shape[1]):
            chances[kind, place] = _sign_test(gaps[:, place])
    faulty = dict.fromkeys(kind for (kind, _), chance in chances.items() if chance < alpha / len(chances))
    fault = "; ".join(_KINDS[kind] for kind in faulty)
    return SeedReuse(fault, min(chances.values()), len(chances), alpha)


def _called(mechanism: Any, value: Any, reader: Reader, calls: int, rng: Any) -> Floats:
    """What is seen of so many calls, two draws each: [call, draw, number]."""
    subject = kind_of(mechanism).audit
    drawn = [subject.drawn(mechanism, value, 2, rng) for _ in range(calls)]
    # Read all at once: most of the time goes into reading.
    joined = (
        np.concatenate(drawn) if isinstance(drawn[0], np.ndarray) else [one for two in drawn for one in two]
    )
    rows = reader(joined)
    return rows.reshape(calls, 2, rows.shape[1])


def _sides(ours: Floats, theirs: Floats) -> tuple[Any, Floats]:
    """Some numbers of the output that vary, and thresholds near their middle.

    They are the same whatever the order of the draws is.
    """
    rows = np.concatenate([ours.reshape(-1, ours.shape[-1]), theirs.reshape(-1, theirs.shape[-1])])
    middle = np.median(rows, axis=0)
    # The share on the upper side, as near to a half as it comes.
    balance = np.abs((rows > middle).mean(axis=0) - 0.5)
    places = np.argsort(balance, kind="stable")[: 4 * _MOST_SIDES]
    places = places[np.unique(np.linspace(0, len(places) - 1, _MOST_SIDES).astype(np.int64))]
    return places, middle[places]


def _sign_test(gaps: Any) -> float:
    """The chance, of fair coins, of signs as uneven as these; two-sided."""
    ups, downs = int((gaps > 0).sum()), int((gaps < 0).sum())
    most, total = max(ups, downs), ups + downs
    if total == 0:
        return 1.0
    # P(Binomial(total, 1/2) >= most) is a regularised incomplete beta.
    return min(1.0, 2.0 * float(betainc(most, total - most + 1.0, 0.5)))


@dataclass(frozen=True, slots=True)
class AuditSuite:
    """What a suite of audits found. A false alarm anywhere in it is rarer than 1 - confidence.

    pairs: the made-up neighbours. audits: what was found on each. reuse: the test of independent draws.
    """

    mechanism: Mechanism
    adjacency: Adjacency
    delta: float
    samples: int
    confidence: float
    pairs: tuple[AuditPair, ...]
    audits: tuple[Audit, ...]
    reuse: SeedReuse

    @property
    def rows(self) -> tuple[tuple[AuditPair, Audit], ...]:
        """Each pair with what was found on it."""
        return tuple(zip(self.pairs, self.audits, strict=True))

    @property
    def lower(self) -> float:
        """Epsilon is at least this: the largest bound of all pairs."""
        return max(one.lower for one in self.audits)

    @property
    def claimed(self) -> float:
        return self.audits[0].claimed

    @property
    def violated(self) -> bool:
        """Whether a claim was beaten, or a fault was found."""
        return bool(self.faults)

    @property
    def exact(self) -> bool:
        """Whether every pair was enumerated."""
        return all(one.exact for one in self.audits)

    @property
    def faults(self) -> tuple[str, ...]:
        """What was found, in words."""
        faults = []
        for pair, result in self.rows:
            if result.lower > result.claimed:
                faults.append(
                    f"{pair.name}: epsilon is at least {result.lower:.4g}, claimed {result.claimed:.4g}"
                )
            if result.fault:
                faults.append(f"{pair.name}: {result.fault}")
        return (*faults, self.reuse.fault) if self.reuse.found else tuple(faults)

    def __str__(self) -> str:
        count = len(self.pairs)
        looked = f"{count} pair{'' if count == 1 else 's'} of made-up neighbours"
        bound = f"epsilon >= {self.lower:.4g}, claimed {self.claimed:.4g} at delta {self.delta:g}"
        rate = f"a false alarm anywhere has probability at most {1.0 - self.confidence:.2g}"
        if self.violated:
            return f"VIOLATION: {'; '.join(self.faults)} ({looked}; {rate})"
        return f"no violation found on {looked}: {bound} ({rate})"


def audit_suite(
    mechanism: Mechanism,
    adjacency: Adjacency | None = None,
    *,
    delta: float | None = None,
    samples: int | None = None,
    confidence: float = CONFIDENCE,
    pairs: Sequence[AuditPair] | None = None,
    rng: Any = None,
    progress: Callable[[str], None] = lambda step: None,
) -> AuditSuite:
    """Audit the mechanism on made-up neighbours of every kind, and test that its draws are independent.

    1 - confidence is the chance of a false alarm in all of it together: an equal part goes to every pair
    (where it is divided between the two directions and the two limits of each) and to the test of
    independence.

    adjacency: needed where the mechanism has none of its own. delta: None for 0, or for 0.01 where the
    mechanism claims nothing at 0. samples: draws for each value; None for as many as take a few seconds.
    pairs: None for those of `audit_pairs`.

    >>> import veil
    >>> found = veil.audit_suite(veil.bits.RandomizedResponse(1.0), samples=1_000, rng=1)
    >>> found.violated, found.claimed
    (False, 1.0)
    """
    subject = kind_of(mechanism).audit
    relation = mechanism.adjacency if adjacency is None else adjacency
    chosen = audit_pairs(mechanism, relation) if pairs is None else items("pairs", pairs, expected="pairs")
    if not all(isinstance(pair, AuditPair) for pair in chosen):
        raise InvalidArgument("pairs", expected="veil.AuditPair of neighbours", found="others")
    if relation is None or not chosen:
        raise InvalidArgument("adjacency", expected="one, and a pair of neighbours at least", found="none")
    progress = on_progress("progress", progress)
    draws = subject.samples(mechanism) if samples is None else integer("samples", samples, least=1000)
    if delta is None:
        delta = 0.0 if math.isfinite(mechanism.profile(relation).epsilon(0.0)) else _DELTA
    share = alpha_of(confidence) / (len(chosen) + 1)
    stream = None if rng is None else generator(rng)
    audits = []
    same: dict[str, Any] = {"alpha": share, "delta": delta, "adjacency": relation, "rng": stream}
    for number, pair in enumerate(chosen, start=1):
        progress(f"{mechanism.name}, pair {number} of {len(chosen)}: {pair.name}")
        audits.append(audit_at(mechanism, pair.value, pair.neighbour, samples=draws, **same))
    progress(f"{mechanism.name}, whether draws are independent")
    last = chosen[-1]
    reuse = seed_reuse(
        mechanism, last.value, last.neighbour, calls=min(_CALLS, draws), alpha=share, rng=stream
    )
    return AuditSuite(mechanism, relation, delta, draws, confidence, tuple(chosen), tuple(audits), reuse)


def audit_examples() -> list[Example]:
    """Every mechanism that there is, with an adjacency where it has none of its own."""
    return [example for kind in every_kind() for example in kind.audit.examples()]
