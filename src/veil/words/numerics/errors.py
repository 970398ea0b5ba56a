"""How many symbols of a word a mechanism changes: the law of the number of errors, and its mean."""

from __future__ import annotations

import math

import numpy as np

from veil.core.arrays import Floats, Ints
from veil.core.numerics.compiled import compiled
from veil.words.numerics.counts import Counts, distance_weights, log_counts
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import (
    DEEPEST,
    LANES,
    NOTHING,
    POWERS,
    Scaled,
    Ways,
    checked_decay,
    checked_words,
    in_threads,
    last_scaled,
    read_lanes,
)

_ROWS_TOGETHER = 1024
# Gauss-Legendre points to a panel of the integral, and how far it reaches below and above its peak.
_POINTS = 24
_BELOW, _ABOVE = 5.0, 42.0
# Log-weights of points times classes that are held at a time.
_AT_A_TIME = 2**21


def exponential_pmf(graph: WordGraph, word: Ints, decay: float) -> Floats:
    """The probability of 0 ... n errors where P(v) is proportional to kappa(v) decay^errors."""
    logs = distance_weights(graph, word).logs() + np.arange(graph.length + 1) * math.log(checked_decay(decay))
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def expected_errors(graph: WordGraph, words: Ints, decay: float, *, threads: int = 2) -> Floats:
    """The expected number of errors for each row of words, P(v) proportional to kappa(v) decay^errors.

    Beside G there is D, the same sum with every word weighed by its errors; D / G at the beginning is the
    mean.
    """
    given, factor, ways = checked_words(graph, words), checked_decay(decay), Ways.of(graph)
    expected = np.empty(len(given))
    is_plain = ways.fits(graph.length, factor, 4 * LANES)
    scaled = ways if is_plain else ways.scaled()

    def expect(begin: int, end: int) -> None:
        if is_plain:
            _expect_plain(ways, factor, given[begin:end], expected[begin:end])
        else:
            _expect_scaled(scaled, math.frexp(factor), given[begin:end], expected[begin:end])

    in_threads(len(given), _ROWS_TOGETHER if is_plain else 1, threads, expect)
    return expected


def log_total(graph: WordGraph, word: Ints, decay: float) -> float:
    """log Z(w): the sum of weight(v) decay^d(v, w) over all words v as long as w."""
    ahead: Floats = graph.last.astype(np.float64)
    scale = 0.0
    for t in range(len(word) - 1, 0, -1):
        held = ahead * np.where(graph.symbol == word[t], 1.0, decay)
        sums = np.bincount(graph.sources, graph.weight * held[graph.targets], minlength=graph.size)
        top = float(sums.max())
        ahead, scale = sums / top, scale + math.log(top)
    begin = graph.first * graph.first_weight * np.where(graph.symbol == word[0], 1.0, decay)
    return math.log(float(begin @ ahead)) + scale


def log_weights(graph: WordGraph, words: Ints) -> Floats:
    """The logarithm of each word's own weight; zero unless the graph is weighted."""
    logs = np.zeros(len(words))
    if not graph.is_weighted:
        return logs
    edge = np.full((graph.size, graph.size), np.nan)
    edge[graph.sources, graph.targets] = np.log(graph.weight)
    at = graph.step[graph.size, words[:, 0]]
    logs += np.log(graph.first_weight[at])
    for t in range(1, words.shape[1]):
        ahead = graph.step[at, words[:, t]]
        logs += edge[at, ahead]
        at = ahead
    return logs


def permute_and_flip_pmf(counts: Counts | Floats | list[int], rate: float) -> Floats:
    """The probability of each distance l under permute-and-flip, with counts[l] words and p_l = exp(-rate l).

    P(l) = N_l p_l times the integral from 0 to 1 of (1 - p_l t)^(N_l - 1) prod_{j != l} (1 - p_j t)^(N_j) dt.
    """
    logs = log_counts(counts)
    return np.asarray(np.exp(log_phi(counts, rate) + logs - np.arange(len(logs)) * np.float64(rate)))


def log_phi(counts: Counts | Floats | list[int], rate: float) -> Floats:
    """The logarithm of P(l) / (N_l p_l) of permute-and-flip; minus infinity where no word is.

    Symbolic trajectories paper, equation (5).
    """
    logs = log_counts(counts)
    integrals = np.full(len(logs), -np.inf)
    kept = np.isfinite(logs)
    costs: Floats = np.flatnonzero(kept) * np.float64(rate)
    integrals[kept] = _log_integrals(logs[kept], costs)
    return integrals


def _log_integrals(logs: Floats, costs: Floats) -> Floats:
    """The logarithm of each class's integral: over x = -log t, of exp(-x - A(t)) / (1 - p_l t).

    A(t) = -sum_j N_j log(1 - p_j t) is at least K t, K = sum_j N_j p_j. So the integrand vanishes for x below
    log K - 5 (e^-148), and beyond log K + 42 what is left is a part of e^-42. In between panels of length one
    are enough: where the integrand is not negligible, A is moderate and so is, by convexity, its change.
    """
    peak = float(np.logaddexp.reduce(logs - costs))
    low, high = max(0.0, peak - _BELOW), peak + _ABOVE
    panels = math.ceil(high - low)
    points, parts = np.polynomial.legendre.leggauss(_POINTS)
    edges = np.linspace(low, high, panels + 1)
    half = (high - low) / panels / 2.0
    x = (edges[:-1, None] + half * (points + 1.0)).ravel()
    part = np.tile(np.log(parts * half), panels)
    sums = np.full(len(logs), -np.inf)
    together = max(1, _AT_A_TIME // len(logs))
    for begin in range(0, len(x), together):
        here = slice(begin, begin + together)
        exponents = -costs[None, :] - x[here, None]
        missing = _log_of_complement(exponents)
        with np.errstate(over="ignore"):
            # log(-log(1 - q)) is log q, to 16 digits, for small q; q itself may be below the range of floats.
            sizes = np.where(exponents < -37.0, exponents, np.log(-missing))
            total = np.exp(logs + sizes).sum(axis=1)
        terms = (part[here] - x[here] - total)[:, None] - missing
        top = np.maximum(sums, terms.max(axis=0))
        top_or_zero = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            sums = top_or_zero + np.log(np.exp(sums - top_or_zero) + np.exp(terms - top_or_zero).sum(axis=0))
    return sums


def _log_of_complement(exponents: Floats) -> Floats:
    """log(1 - exp(y)) for y < 0, accurate at both ends; never quite 0."""
    near = exponents > -0.7
    logs_of_rest = np.log1p(-np.exp(np.maximum(np.minimum(exponents, -0.5), -700.0)))
    logs_of_rest[near] = np.log(-np.expm1(exponents[near]))
    return logs_of_rest


@compiled
def _expect_plain(ways: Ways, decay: float, words: Ints, found: Floats) -> None:
    rows, length = words.shape
    size, symbol, starts, targets, weight, last, _ = ways
    total, errors = np.empty((size + 1, LANES)), np.empty((size + 1, LANES))
    ahead, counted = np.empty((size, LANES)), np.empty((size, LANES))
    read = np.empty((LANES, length), dtype=np.int32)
    for group in range(0, rows, LANES):
        read_lanes(words, group, read)
        for x in range(size):
            for lane in range(LANES):
                total[x, lane] = 1.0 if last[x] else 0.0
                errors[x, lane] = 0.0
        for t in range(length - 1, -1, -1):
            for z in range(size):
                for lane in range(LANES):
                    wrong = symbol[z] != read[lane, t]
                    factor = decay if wrong else 1.0
                    ahead[z, lane] = factor * total[z, lane]
                    counted[z, lane] = factor * (errors[z, lane] + (total[z, lane] if wrong else 0.0))
            # Before the first position there is only the row of the ways to begin.
            for x in range(size if t == 0 else 0, size + 1 if t == 0 else size):
                for lane in range(LANES):
                    total[x, lane] = 0.0
                    errors[x, lane] = 0.0
                for edge in range(starts[x], starts[x + 1]):
                    z, factor = targets[edge], weight[edge]
                    for lane in range(LANES):
                        total[x, lane] += factor * ahead[z, lane]
                        errors[x, lane] += factor * counted[z, lane]
        for lane in range(min(LANES, rows - group)):
            found[group + lane] = errors[size, lane] / total[size, lane]


@compiled
def _expect_scaled(ways: Ways, decay: Scaled, words: Ints, found: Floats) -> None:
    """With exponents; here the second number of a node is the mean D / G itself, so it needs none."""
    rows, length = words.shape
    size, symbol, starts, targets, weight, _, raised = ways
    values, means = np.empty((2, size + 1)), np.empty((2, size + 1))
    exponents = np.empty((2, size + 1), dtype=np.int32)
    for row in range(rows):
        now = 0
        last_scaled(ways, values[now], exponents[now])
        means[now] = 0.0
        for t in range(length - 1, -1, -1):
            value, exponent, mean = values[now], exponents[now], means[now]
            now = 1 - now
            for z in range(size):
                if symbol[z] != words[row, t]:
                    value[z] *= decay[0]
                    exponent[z] += decay[1]
                    mean[z] += 1.0
            for x in range(size if t == 0 else 0, size + 1 if t == 0 else size):
                top = NOTHING
                for edge in range(starts[x], starts[x + 1]):
                    z = targets[edge]
                    if value[z] > 0.0:
                        top = max(top, exponent[z] + raised[edge])
                total = errors = 0.0
                for edge in range(starts[x], starts[x + 1]):
                    z = targets[edge]
                    below = top - (exponent[z] + raised[edge])
                    if value[z] > 0.0 and below < DEEPEST:
                        term = weight[edge] * value[z] * POWERS[below]
                        total += term
                        errors += term * mean[z]
                mantissa, shift = math.frexp(total)
                values[now, x] = mantissa
                exponents[now, x] = top + shift if total > 0.0 else NOTHING
                means[now, x] = errors / total if total > 0.0 else 0.0
        found[row] = means[now, size]
