"""Whether draws are independent: within a call, between calls, and between the calls for two neighbours.

The bounds of an audit hold for independent draws, and a stream that is used twice can undo a release
however good each draw looks alone. So it is tested apart. Take units of three draws x, s and c: x and s are
those that a fault would tie together, c is another draw for the same value as s. If draws are independent,
s and c can change places, so that for whatever h the sign of h(x, s) - h(x, c), where it has one, is a fair
coin. Units do not share draws, so their signs are independent, and the test is an exact binomial one,
whatever the law is: no bound on how often outputs are equal by chance is needed. Here h is: the same
output; the same side of a threshold, for some numbers of the output. The thresholds are medians of all
draws, which are the same however s and c stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc

from veil.core.arrays import Floats
from veil.core.audit.events import row_keys
from veil.core.audit.subject import Reader
from veil.core.kinds import kind_of

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
    sides = _sides(ours, theirs)
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
        x, s, c = (_above(rows, sides) for rows in unit)
        gaps = (x == s).astype(int) - (x == c).astype(int)
        for place in range(gaps.shape[1]):
            chances[kind, place] = _sign_test(gaps[:, place])
    found = dict.fromkeys(kind for (kind, _), chance in chances.items() if chance < alpha / len(chances))
    fault = "; ".join(_KINDS[kind] for kind in found)
    return SeedReuse(fault, min(chances.values()), len(chances), alpha)


def _called(mechanism: Any, value: Any, reader: Reader, calls: int, rng: Any) -> Floats:
    """What is seen of so many calls, two draws each: [call, draw, number]."""
    subject = kind_of(mechanism).audit
    found = [subject.drawn(mechanism, value, 2, rng) for _ in range(calls)]
    # Read all at once: most of the time goes into reading.
    joined = (
        np.concatenate(found) if isinstance(found[0], np.ndarray) else [one for two in found for one in two]
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


def _above(rows: Floats, sides: tuple[Any, Floats]) -> Any:
    places, middle = sides
    return rows[:, places] > middle


def _sign_test(gaps: Any) -> float:
    """The chance, of fair coins, of signs as uneven as these; two-sided."""
    ups, downs = int((gaps > 0).sum()), int((gaps < 0).sum())
    most, total = max(ups, downs), ups + downs
    if total == 0:
        return 1.0
    # P(Binomial(total, 1/2) >= most) is a regularised incomplete beta.
    return min(1.0, 2.0 * float(betainc(most, total - most + 1.0, 0.5)))
