"""From log-odds that were found without a pair's own bit, and that bit, to the pair's probability.

Let x_ij be any number computed from the bits of the other pairs. Given the graph, the pair's own bit is
independent of it, so by Bayes

    logit P(a_ij = 1 | x, y) = logit f(x_ij) +- log((1 - q) / q),   f(x) = P(a = 1 | x),

plus for a bit of one and minus for a zero. And f can be learned from the bits themselves, without knowing one
edge: P(y = 1 | x) = q + (1 - 2q) f(x). `Calibration` fits it by maximum likelihood to pairs that the fit of x
has not seen. logit f is a broken line over x with slope near one and few bends (normal priors on slope and
bends): with few pairs hardly more than a shift, with many whatever the bits say.

What is exact: for a pair held out, x and y are independent given the graph. What is not: f treats pairs with
the same x alike, so a probability is right on average over such pairs, not for a single one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]
Signs = NDArray[np.int8]

_CELLS = 2_000
_KNOTS = 14
_SLOPE_SPREAD = 0.5
_BEND_SPREAD = 0.4
_MOST = 15.0


def expected_edges(ones: int, pairs: int, flip: float) -> float:
    """The debiased number of edges, kept between none and all."""
    return min(float(pairs), max(0.0, (ones - flip * pairs) / (1.0 - 2.0 * flip)))


def own_bit(flip: float) -> float:
    """How much a pair's own bit adds to or takes from its log-odds: epsilon."""
    return math.log1p(-flip) - math.log(flip)


@dataclass(frozen=True)
class Calibration:
    """logit f(x): a broken line, flat beyond its ends."""

    knots: Doubles
    heights: Doubles

    def __call__(self, values: Singles) -> Singles:
        return np.interp(values, self.knots, self.heights).astype(np.float32)


def calibrate(values: Singles, bits: Signs, flip: float, edges: float, pairs: int) -> Calibration:
    """Learn f from held-out pairs: their log-odds x and bits of +1 and -1."""
    density = min(max(edges / max(pairs, 1), 0.5 / max(pairs, 1)), 0.5)
    level = math.log(density / (1.0 - density))
    if len(values) < 2 or float(values.max() - values.min()) < 1e-6:
        return Calibration(np.array([0.0]), np.array([level]))
    low, high = float(values.min()), float(values.max())
    cells = np.minimum(((values - low) * (_CELLS / (high - low))).astype(np.int64), _CELLS - 1)
    count = np.bincount(cells, minlength=_CELLS).astype(np.float64)
    ones = np.bincount(cells, weights=bits > 0, minlength=_CELLS)
    centres = low + (np.arange(_CELLS) + 0.5) * ((high - low) / _CELLS)
    knots = _knots(centres, count)
    heights = _fit(centres, count, ones, knots, level, flip)
    # More log-odds must not mean less: f is meant to grow.
    return Calibration(knots, np.maximum.accumulate(heights))


def _knots(centres: Doubles, count: Doubles) -> Doubles:
    """Places for the bends: half of them where the pairs are, half where the likely edges are."""
    likely = count / (1.0 + np.exp(-centres))
    share = np.cumsum(0.5 * count / count.sum() + 0.5 * likely / likely.sum())
    wanted = np.linspace(0.002, 0.998, _KNOTS)
    places = np.unique(np.interp(wanted, share, centres))
    return places if len(places) > 1 else np.array([centres[0], centres[-1]])


def _fit(centres: Doubles, count: Doubles, ones: Doubles, knots: Doubles, level: float, flip: float) -> Doubles:
    """Fisher scoring for the heights, under the priors on the slope and the bends."""
    used = count > 0
    centres, count, ones = centres[used], count[used], ones[used]
    hats = np.stack([np.interp(centres, knots, row) for row in np.eye(len(knots))], axis=1)
    widths = np.diff(knots)
    slopes = np.diff(np.eye(len(knots)), axis=0) / widths[:, None]
    overall = (np.eye(len(knots))[-1] - np.eye(len(knots))[0]) / (knots[-1] - knots[0])
    bends = np.diff(slopes, axis=0) / _BEND_SPREAD
    prior = bends.T @ bends + np.outer(overall, overall) / _SLOPE_SPREAD**2
    target = overall / _SLOPE_SPREAD**2
    signal = 1.0 - 2.0 * flip
    heights = level + knots - float(np.average(centres, weights=count))
    for _ in range(60):
        p = 1.0 / (1.0 + np.exp(-np.clip(hats @ heights, -_MOST, _MOST)))
        chance = flip + signal * p
        lean = signal * p * (1.0 - p)
        score = (ones - count * chance) * lean / (chance * (1.0 - chance))
        information = count * lean**2 / (chance * (1.0 - chance))
        curvature = hats.T @ (information[:, None] * hats) + prior + 1e-6 * np.eye(len(knots))
        gradient = hats.T @ score + target - prior @ heights
        step = np.linalg.solve(curvature, gradient)
        heights = np.clip(heights + np.clip(step, -1.0, 1.0), -_MOST, _MOST)
        if float(np.abs(step).max()) < 1e-6:
            break
    return heights


def combined(prior: Singles, bits: Signs, flip: float) -> Singles:
    """The probability of each pair: its prior log-odds and its own bit."""
    odds = prior + np.float32(own_bit(flip)) * bits
    return np.float32(1.0) / (np.float32(1.0) + np.exp(-odds))
