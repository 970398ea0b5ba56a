"""Whether draws are independent: within a call, between calls, for two neighbours, and items of a batch.

The bounds of an audit hold for independent draws, and a stream that is used twice can undo a release however
good each draw looks alone. So it is tested apart. Take units of three draws x, s and c: x and s are those
that a fault would tie together, c is another draw for the same value as s. If draws are independent, s and c
can change places, so that for whatever h the sign of h(x, s) - h(x, c), where it has one, is a fair coin.
Units do not share draws, so their signs are independent, and the test is an exact binomial one, whatever the
law is: no bound on how often outputs are equal by chance is needed. Here h is: the same output; the same side
of a threshold, for some numbers of the output. The thresholds are medians of x and of all s and c, which are
the same however s and c stand.

Seeds of few bits come again sooner or later, but seldom in two calls that happen to be a unit. So calls of
two draws each are matched: any two that have an output in common. Matching looks at the two outputs of a call
without their order. If draws are independent, the order is a fair coin for every call, and so is whether the
equal ones stand at the same place in both calls of a match. If a seed came again, they always do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from veil.core.arrays import Floats
from veil.core.audit.events import row_keys
from veil.core.audit.subject import Reader
from veil.core.mechanism import kind_of

# Numbers of an output whose sides are compared.
_MOST_SIDES = 8
_KINDS = {
    "within": "draws of one call are not independent",
    "between": "draws of different calls are not independent: a stream was used again",
    "neighbours": "draws for different values share their noise: a stream was used again",
    "items": "items of one batch share their noise",
}
Unit = tuple[Floats, Floats, Floats]


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
    mechanism: Any,
    value: Any,
    neighbour: Any,
    *,
    calls: int,
    alpha: float,
    rng: Any = None,
    batches: Sequence[Any] = (),
) -> SeedReuse:
    """Test the independence of draws on so many calls for each of two values, two draws a call.

    rng: None, as in a release, or a generator that every call takes on from where the last one left it.
    batches: values of several items each, whose first and last items are compared.
    """
    reader = kind_of(mechanism).audit.reader(mechanism, value, neighbour)
    calls += calls % 2
    ours, theirs = (_called(mechanism, item, reader, calls, rng) for item in (value, neighbour))
    even, odd = ours[0::2], ours[1::2]
    units: list[tuple[str, Unit]] = [
        ("within", (even[:, 0], even[:, 1], odd[:, 1])),
        ("between", (even[:, 0], odd[:, 0], odd[:, 1])),
        ("neighbours", (ours[:, 0], theirs[:, 0], theirs[:, 1])),
        *(("items", _items(mechanism, batch, calls, rng)) for batch in batches),
    ]
    chances = [(kind, chance) for kind, unit in units for chance in _chances(*unit)]
    chances.append(("between", _sign_test(_matches(ours))))
    faulty = dict.fromkeys(kind for kind, chance in chances if chance < alpha / len(chances))
    fault = "; ".join(_KINDS[kind] for kind in faulty)
    return SeedReuse(fault, min(chance for _, chance in chances), len(chances), alpha)


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


def _items(mechanism: Any, batch: Any, calls: int, rng: Any) -> Unit:
    """The first item of a draw, the last item of the same draw, and the last item of another draw."""
    drawn = np.asarray(kind_of(mechanism).audit.drawn(mechanism, batch, 2 * calls, rng), dtype=np.float64)
    return drawn[0::2, 0], drawn[0::2, -1], drawn[1::2, -1]


def _chances(x: Floats, s: Floats, c: Floats) -> list[float]:
    """Of something as odd as the signs of each comparison: of whole outputs, and of sides of medians."""
    whole = [row_keys(rows) for rows in (x, s, c)]
    # Nothing here changes where some s and c change places.
    others = np.concatenate([s, c])
    middle, middle_of_others = np.median(x, axis=0), np.median(others, axis=0)
    # The share on the upper side, as near to a half as it comes.
    balance = np.abs((x > middle).mean(axis=0) - 0.5) + np.abs((others > middle_of_others).mean(axis=0) - 0.5)
    places = np.argsort(balance, kind="stable")[: 4 * _MOST_SIDES]
    places = places[np.unique(np.linspace(0, len(places) - 1, _MOST_SIDES).astype(np.int64))]
    sides = [(x > middle)[:, places], *((rows > middle_of_others)[:, places] for rows in (s, c))]
    return [_sign_test(gap) for one in (whole, sides) for gap in np.atleast_2d(_gaps(*one).T)]


def _gaps(x: NDArray[Any], s: NDArray[Any], c: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray((x == s).astype(np.int64) - (x == c).astype(np.int64))


def _matches(called: Floats) -> NDArray[np.int64]:
    """For calls matched by equal outputs: 1 where these stand at the same place, -1 where they do not.

    The rarest outputs match first: those that many calls have are equal by chance.
    """
    keys = row_keys(called.reshape(-1, called.shape[-1]))
    _, which, times = np.unique(keys, return_inverse=True, return_counts=True)
    calls = which.reshape(-1, 2)
    free = calls[:, 0] != calls[:, 1]
    signs = []
    for output in np.argsort(times, kind="stable")[np.count_nonzero(times < 2) :]:
        having = np.flatnonzero((calls == output).any(axis=1) & free)
        having = having[: len(having) // 2 * 2]
        free[having] = False
        first = calls[having, 0] == output
        signs.append(np.where(first[0::2] == first[1::2], 1, -1))
    return np.concatenate([np.empty(0, dtype=np.int64), *signs])


def _sign_test(gaps: NDArray[np.int64]) -> float:
    """The chance, of fair coins, of signs as uneven as these; two-sided."""
    ups, downs = int((gaps > 0).sum()), int((gaps < 0).sum())
    most, total = max(ups, downs), ups + downs
    if total == 0:
        return 1.0
    # P(Binomial(total, 1/2) >= most) is a regularised incomplete beta.
    return min(1.0, 2.0 * float(betainc(most, total - most + 1.0, 0.5)))
