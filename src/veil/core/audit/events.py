"""Choosing the event on which an audit measures, and measuring it.

The bound. Draw n outputs for each of two neighbours. On the even draws choose an event E, by whatever means;
on the odd ones, which are independent of that choice, count how often it happens. With Clopper-Pearson limits
p of P(E) from below and q of Q(E) from above, each wrong with probability at most alpha/2,

    epsilon(delta) >= log((p - delta) / q)

but for a chance of alpha, since (epsilon, delta)-privacy says P(E) <= e^epsilon Q(E) + delta for every E.
What the event was chosen from costs no confidence, so that anything may be tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainccinv, betaincinv

from veil.core.arrays import Floats
from veil.core.audit.mark_events import Likelier, learned_scores
from veil.core.audit.marks import Marks
from veil.core.audit.seen import Seen

_THRESHOLDS = 400
_MOST_COLUMNS, _MOST_MODES = 64, 12
# Standard errors by which means differ that are taken to differ.
_SURE = 3.0
# The inverse of the incomplete beta is good to far more digits than this (tests compare with rationals).
_INVERSE = 1e-9
# Draws of which the limits are kept.
_MOST_KEPT = 20_000

Statistic = Callable[[Seen], Floats]
Limit = Callable[[Any, int, float], Any]


class Event(NamedTuple):
    """A lower bound on log((P - delta)/Q). plain: the one that events other than of the last bits give.

    The two are not right together: where `bound` is wrong with probability alpha, so is `plain`.
    """

    bound: float
    plain: float


def best_event(first: Seen, second: Seen, delta: float, *, alpha: float) -> Event:
    """A lower bound on log((P - delta)/Q) over events, P from the first draws and Q from the second.

    Wrong with probability at most alpha. Tried are thresholds on the columns that differ most, on a linear
    combination of all, on how much more often whole rows came up, single values of a column, and values of
    the marks.
    """
    half = first[::2], second[::2]
    # What was learned from draws looks better on them than it is: it is compared on others.
    some, rest = (first[::4], second[::4]), (first[2::4], second[2::4])
    plain = _best(
        [
            *((one, half) for one in _given(half[0].numbers, half[1].numbers)),
            *((one, rest) for one in _learned(some[0].numbers, some[1].numbers)),
        ],
        delta,
        alpha,
    )
    of_bits = _best([(one, rest) for one in _learned_marks(*some, delta, alpha)], delta, alpha)
    bounds = [_counted(one, first[1::2], second[1::2], delta, alpha) for one in (plain, of_bits)]
    return Event(bounds[0] if plain.score >= of_bits.score else bounds[1], bounds[0])


class _Chosen(NamedTuple):
    """An event that was chosen: that so much times the sign is reached; and how good it looked."""

    score: float = -math.inf
    statistic: Statistic | None = None
    sign: float = 1.0
    threshold: float = 0.0


def _best(tried: list[tuple[Statistic, tuple[Seen, Seen]]], delta: float, alpha: float) -> _Chosen:
    """The best event of all statistics, each with the draws that it is compared on."""
    best = _Chosen()
    for statistic, (one, other) in tried:
        for score, sign, threshold in _best_thresholds(statistic(one), statistic(other), delta, alpha):
            if score > best.score:
                best = _Chosen(score, statistic, sign, threshold)
    return best


def _counted(event: _Chosen, first: Seen, second: Seen, delta: float, alpha: float) -> float:
    """The bound that a chosen event gives, on draws that it was not chosen from."""
    if event.statistic is None:
        return 0.0
    hits = [int((event.sign * event.statistic(seen) >= event.threshold).sum()) for seen in (first, second)]
    return max(0.0, float(log_ratio_bound(hits[0], len(first), hits[1], len(second), delta, alpha)))


def _apart(first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """By how much the means of each column differ, its spread, and the one in terms of the other."""
    spread = np.sqrt(first.var(axis=0) + second.var(axis=0))
    gap = first.mean(axis=0) - second.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return gap, spread, np.where(spread > 0.0, gap / spread, np.where(gap == 0.0, 0.0, np.inf))


def _given(first: Floats, second: Floats) -> Iterator[Statistic]:
    """The columns that differ most, and values that come up again and again: entries that are not random."""
    _, _, apart = _apart(first, second)
    order = np.argsort(-np.abs(apart), kind="stable")
    for column in order[:_MOST_COLUMNS].tolist():
        yield _column(column)
    for column in order[:_MOST_MODES].tolist():
        values, counts = np.unique(first[:, column], return_counts=True)
        yield _equals(column, float(values[np.argmax(counts)]))


def _learned(first: Floats, second: Floats) -> Iterator[Statistic]:
    """A linear combination of the columns that surely differ, and how much likelier whole rows are."""
    gap, spread, apart = _apart(first, second)
    sure = (spread > 1e-100) & (np.abs(apart) * math.sqrt(len(first)) > _SURE)
    if sure.any():
        weights = np.divide(gap, spread**2, out=np.zeros_like(gap), where=sure)
        weights = weights / np.abs(weights).max()
        yield lambda seen: np.asarray(seen.numbers @ weights)
    likelier = _by_whole_rows(first, second)
    if likelier is not None:
        yield likelier


def _learned_marks(first: Seen, second: Seen, delta: float, alpha: float) -> Iterator[Statistic]:
    """Which values of the marks are likelier."""

    def bound(hits_a: Any, total_a: int, hits_b: Any, total_b: int) -> Any:
        return log_ratio_bound(hits_a, total_a, hits_b, total_b, delta, alpha)

    for score in learned_scores(first.marks, second.marks, bound):
        yield _marked(score)


def _marked(score: Callable[[Marks], Floats]) -> Statistic:
    return lambda seen: score(seen.marks)


def _column(place: int) -> Statistic:
    return lambda seen: np.asarray(seen.numbers[:, place])


def _equals(place: int, value: float) -> Statistic:
    return lambda seen: (seen.numbers[:, place] == value).astype(np.float64)


def _by_whole_rows(first: Floats, second: Floats) -> Statistic | None:
    """How much more often a whole row came up in the first; None where rows hardly ever come up twice."""
    ahead, behind = row_keys(first), row_keys(second)
    score = Likelier.learned(ahead, behind)
    if len(score.keys) > (len(ahead) + len(behind)) // 10:
        return None
    return lambda seen: score(row_keys(seen.numbers))


def row_keys(rows: Floats) -> Any:
    """Each row as one thing that can be compared."""
    # A zero may have a sign, which is none of its value.
    plain = np.ascontiguousarray(rows + 0.0)
    return plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1]))).ravel()


def _best_thresholds(
    a: Floats, b: Floats, delta: float, alpha: float
) -> Iterator[tuple[float, float, float]]:
    """The best event "at least so much" and the best "at most so much": bound, sign and threshold."""
    pooled, a, b = np.sort(np.concatenate([a, b])), np.sort(a), np.sort(b)
    places = np.linspace(0.0, len(pooled) - 1.0, _THRESHOLDS).astype(np.int64)
    thresholds = np.unique(pooled[places])
    above = [len(one) - np.searchsorted(one, thresholds, side="left") for one in (a, b)]
    below = [np.searchsorted(one, thresholds, side="right") for one in (a, b)]
    for sign, hits in ((1.0, above), (-1.0, below)):
        scores = np.atleast_1d(log_ratio_bound(hits[0], len(a), hits[1], len(b), delta, alpha))
        best = int(np.argmax(scores))
        yield float(scores[best]), sign, sign * float(thresholds[best])


def log_ratio_bound(hits_a: Any, total_a: int, hits_b: Any, total_b: int, delta: float, alpha: float) -> Any:
    """log of ((lower limit of P) - delta) / (upper limit of Q); half of alpha on each limit."""
    p_low, q_high = lower_limit(hits_a, total_a, 0.5 * alpha), upper_limit(hits_b, total_b, 0.5 * alpha)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(p_low - delta, 0.0)) - np.log(q_high)


def lower_limit(hits: Any, total: int, tail: float) -> Any:
    """Clopper and Pearson: above the true chance with probability at most `tail`."""
    return _looked_up(_lower_limit, hits, total, tail)


def upper_limit(hits: Any, total: int, tail: float) -> Any:
    """Clopper and Pearson: below the true chance with probability at most `tail`."""
    return _looked_up(_upper_limit, hits, total, tail)


def _looked_up(limit: Limit, hits: Any, total: int, tail: float) -> Any:
    """The limit; of few draws those for all numbers of hits are kept, as they are asked for many times."""
    if total > _MOST_KEPT:
        return limit(hits, total, tail)
    return _all_limits(limit, total, tail)[hits]


@lru_cache(maxsize=16)
def _all_limits(limit: Limit, total: int, tail: float) -> Floats:
    return np.asarray(limit(np.arange(total + 1), total, tail))


def _lower_limit(hits: Any, total: int, tail: float) -> Any:
    hits = np.asarray(hits, dtype=np.float64)
    limit = betaincinv(np.maximum(hits, 0.5), total - hits + 1.0, tail)
    return np.where(hits > 0, limit * (1.0 - _INVERSE), 0.0)


def _upper_limit(hits: Any, total: int, tail: float) -> Any:
    hits = np.asarray(hits, dtype=np.float64)
    limit = betainccinv(hits + 1.0, np.maximum(total - hits, 0.5), tail)
    return np.where(hits < total, np.minimum(limit * (1.0 + _INVERSE), 1.0), 1.0)
