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
from typing import Any

import numpy as np
from scipy.special import betainccinv, betaincinv

from veil.core.arrays import Floats

_THRESHOLDS = 400
_MOST_COLUMNS, _MOST_MODES = 64, 12
# Standard errors by which means differ that are taken to differ.
_SURE = 3.0
# The inverse of the incomplete beta is good to far more digits than this (tests compare with rationals).
_INVERSE = 1e-9

Statistic = Callable[[Floats], Floats]


def best_event(first: Floats, second: Floats, delta: float, *, alpha: float) -> float:
    """A lower bound on log((P - delta)/Q) over events, P from the first rows and Q from the second.

    Wrong with probability at most alpha. Tried are thresholds on the columns that differ most, on a linear
    combination of all, on how much more often whole rows came up, and single values of a column.
    """
    best, chosen = -math.inf, None
    given = [(statistic, (first[::2], second[::2])) for statistic in _given(first[::2], second[::2])]
    # What was learned from draws looks better on them than it is: it is compared on others.
    learned = [(statistic, (first[2::4], second[2::4])) for statistic in _learned(first[::4], second[::4])]
    for statistic, rows in (*given, *learned):
        a, b = statistic(rows[0]), statistic(rows[1])
        for sign in (1.0, -1.0):
            score, threshold = _best_threshold(sign * a, sign * b, delta, alpha)
            if score > best:
                best, chosen = score, (statistic, sign, threshold)
    if chosen is None:
        return 0.0
    statistic, sign, threshold = chosen
    hits = [int((sign * statistic(both[1::2]) >= threshold).sum()) for both in (first, second)]
    totals = len(first) // 2, len(second) // 2
    return max(0.0, float(log_ratio_bound(hits[0], totals[0], hits[1], totals[1], delta, alpha)))


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
        yield lambda rows: np.asarray(rows @ weights)
    likelier = _by_whole_rows(first, second)
    if likelier is not None:
        yield likelier


def _column(place: int) -> Statistic:
    return lambda rows: np.asarray(rows[:, place])


def _equals(place: int, value: float) -> Statistic:
    return lambda rows: (rows[:, place] == value).astype(np.float64)


def _by_whole_rows(first: Floats, second: Floats) -> Statistic | None:
    """How much more often a whole row came up in the first; None where rows hardly ever come up twice."""
    both = row_keys(np.concatenate([first, second]))
    keys, which = np.unique(both, return_inverse=True)
    if len(keys) > len(both) // 10:
        return None
    ahead = np.bincount(which[: len(first)], minlength=len(keys))
    behind = np.bincount(which[len(first) :], minlength=len(keys))
    scores = np.log((ahead + 1.0) / (behind + 1.0))

    def score(rows: Floats) -> Floats:
        these = row_keys(rows)
        places = np.minimum(np.searchsorted(keys, these), len(keys) - 1)
        return np.where(keys[places] == these, scores[places], 0.0)

    return score


def row_keys(rows: Floats) -> Any:
    """Each row as one thing that can be compared."""
    # A zero may have a sign, which is none of its value.
    plain = np.ascontiguousarray(rows + 0.0)
    return plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1]))).ravel()


def _best_threshold(a: Floats, b: Floats, delta: float, alpha: float) -> tuple[float, float]:
    pooled = np.concatenate([a, b])
    thresholds = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, _THRESHOLDS), method="higher"))
    above_a = len(a) - np.searchsorted(np.sort(a), thresholds, side="left")
    above_b = len(b) - np.searchsorted(np.sort(b), thresholds, side="left")
    scores = np.atleast_1d(log_ratio_bound(above_a, len(a), above_b, len(b), delta, alpha))
    best = int(np.argmax(scores))
    return float(scores[best]), float(thresholds[best])


def log_ratio_bound(hits_a: Any, total_a: int, hits_b: Any, total_b: int, delta: float, alpha: float) -> Any:
    """log of ((lower limit of P) - delta) / (upper limit of Q); half of alpha on each limit."""
    p_low, q_high = lower_limit(hits_a, total_a, 0.5 * alpha), upper_limit(hits_b, total_b, 0.5 * alpha)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(p_low - delta, 0.0)) - np.log(q_high)


def lower_limit(hits: Any, total: int, tail: float) -> Any:
    """Clopper and Pearson: above the true chance with probability at most `tail`."""
    hits = np.asarray(hits, dtype=np.float64)
    limit = betaincinv(np.maximum(hits, 0.5), total - hits + 1.0, tail)
    return np.where(hits > 0, limit * (1.0 - _INVERSE), 0.0)


def upper_limit(hits: Any, total: int, tail: float) -> Any:
    """Clopper and Pearson: below the true chance with probability at most `tail`."""
    hits = np.asarray(hits, dtype=np.float64)
    limit = betainccinv(hits + 1.0, np.maximum(total - hits, 0.5), tail)
    return np.where(hits < total, np.minimum(limit * (1.0 + _INVERSE), 1.0), 1.0)
