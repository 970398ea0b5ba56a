"""From log-odds that were found without a pair's own bit, and that bit, to the pair's probability.

Let x_ij be any number computed from the bits of the other pairs. Given the graph, the pair's own bit is
independent of it, so by Bayes

    logit P(a_ij = 1 | x, y) = logit f(x_ij) +- log((1 - q) / q),   f(x) = P(a = 1 | x),

plus for a bit of one and minus for a zero. And f can be learned from the bits themselves, without knowing one
edge: P(y = 1 | x) = q + (1 - 2q) f(x). `Calibration` fits it by maximum likelihood to pairs that the fit of x
has not seen. logit f is a broken line over x with normal priors on its slope and its bends, both of mean 0:
without evidence it is flat, which claims no structure; with many pairs it is whatever the bits say.

What is exact: for a pair held out, x and y are independent given the graph. What is not: f treats pairs with
the same x alike, so a probability is right on average over such pairs, not for a single one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from veil.core.arrays import Floats
from veil.graphs.numerics.latent import Signs, Singles

_CELLS = 2_000
_KNOTS = 14
# The slope of logit f is 0 +- 1 before the bits have spoken: where there is no structure, none is claimed.
_SLOPE_SPREAD = 1.0
_BEND_SPREAD = 0.4
_MOST = 15.0
_TRACE = 1e-3


def expected_edges(ones: int, pairs: int, flip: float) -> float:
    """The debiased number of edges, kept between none and all."""
    return min(float(pairs), max(0.0, (ones - flip * pairs) / (1.0 - 2.0 * flip)))


def own_bit(flip: float) -> float:
    """How much a pair's own bit adds to or takes from its log-odds: epsilon."""
    return math.log1p(-flip) - math.log(flip)


@dataclass(frozen=True)
class Calibration:
    """logit f(x): a broken line, flat beyond its ends."""

    knots: Floats
    heights: Floats

    def __call__(self, values: Singles) -> Singles:
        return np.interp(values, self.knots, self.heights).astype(np.float32)


def calibrate(values: Singles, bits: Signs, flip: float, edges: float, pairs: int) -> Calibration:
    """Learn f from held-out pairs: their log-odds x and bits of +1 and -1."""
    least = 0.5 / max(pairs, 1)
    density = min(max(edges * 2.0 * least, least), 1.0 - least)
    level = math.log(density / (1.0 - density))
    if len(values) < 2 or float(values.max() - values.min()) < 1e-6:
        return Calibration(np.array([0.0]), np.array([level]))
    low, high = float(values.min()), float(values.max())
    cells = np.minimum(((values - low) * (_CELLS / (high - low))).astype(np.int64), _CELLS - 1)
    count = np.bincount(cells, minlength=_CELLS).astype(np.float64)
    ones = np.bincount(cells[bits > 0], minlength=_CELLS).astype(np.float64)
    centres = low + (np.arange(_CELLS, dtype=np.float64) + 0.5) * ((high - low) / _CELLS)
    knots = _knots(centres, count)
    used = count > 0
    heights = np.interp(centres, knots, _fit(centres[used], count[used], ones[used], knots, level, flip))
    # Where f is flat, pairs would tie and their numbers decide: let the log-odds decide, by a trace of slope.
    risen = _rising(heights[used], count[used]) + _TRACE * centres[used]
    return Calibration(centres[used], _level(risen, count[used], density))


def _rising(heights: Floats, count: Floats) -> Floats:
    """More log-odds must not mean less: neighbours out of order get their mean probability."""
    chances = 1.0 / (1.0 + np.exp(-heights))
    total, weight, size = [0.0], [0.0], [0]
    for chance, pairs in zip(chances.tolist(), count.tolist(), strict=True):
        part, width, cells = chance * pairs, pairs, 1
        while size[-1] and total[-1] * width >= part * weight[-1]:
            part, width, cells = part + total.pop(), width + weight.pop(), cells + size.pop()
        total.append(part)
        weight.append(width)
        size.append(cells)
    means = np.repeat(np.array(total[1:]) / np.array(weight[1:]), size[1:])
    means = np.clip(means, 1.0 / (1.0 + math.exp(_MOST)), 1.0 / (1.0 + math.exp(-_MOST)))
    risen: Floats = np.log(means / (1.0 - means))
    return risen


def _level(heights: Floats, count: Floats, density: float) -> Floats:
    """Shift all heights so that the probabilities sum to the debiased number of edges."""
    low, high = -2.0 * _MOST, 2.0 * _MOST
    for _ in range(60):
        shift = 0.5 * (low + high)
        mean = float(np.average(1.0 / (1.0 + np.exp(-heights - shift)), weights=count))
        low, high = (shift, high) if mean < density else (low, shift)
    return heights + 0.5 * (low + high)


def _knots(centres: Floats, count: Floats) -> Floats:
    """Places for the bends: half of them where the pairs are, half where the likely edges are."""
    likely = count / (1.0 + np.exp(-centres))
    share = np.cumsum(0.5 * count / count.sum() + 0.5 * likely / likely.sum())
    wanted = np.linspace(0.002, 0.998, _KNOTS)
    places = np.unique(np.interp(wanted, share, centres))
    return places if len(places) > 1 else np.array([centres[0], centres[-1]])


def _fit(centres: Floats, count: Floats, ones: Floats, knots: Floats, level: float, flip: float) -> Floats:
    """Fisher scoring for the heights, under the priors on the slope and the bends."""
    hats = np.stack([np.interp(centres, knots, row) for row in np.eye(len(knots))], axis=1)
    widths = np.diff(knots)
    slopes = np.diff(np.eye(len(knots)), axis=0) / widths[:, None]
    overall = (np.eye(len(knots))[-1] - np.eye(len(knots))[0]) / (knots[-1] - knots[0])
    bends = np.diff(slopes, axis=0) / _BEND_SPREAD
    prior = bends.T @ bends + np.outer(overall, overall) / _SLOPE_SPREAD**2
    signal = 1.0 - 2.0 * flip
    heights = np.full(len(knots), level)
    for _ in range(60):
        p = 1.0 / (1.0 + np.exp(-np.clip(hats @ heights, -_MOST, _MOST)))
        chance = flip + signal * p
        lean = signal * p * (1.0 - p)
        score = (ones - count * chance) * lean / (chance * (1.0 - chance))
        information = count * lean**2 / (chance * (1.0 - chance))
        curvature = hats.T @ (information[:, None] * hats) + prior + 1e-6 * np.eye(len(knots))
        gradient = hats.T @ score - prior @ heights
        step = np.linalg.solve(curvature, gradient)
        heights = np.clip(heights + np.clip(step, -1.0, 1.0), -_MOST, _MOST)
        if float(np.abs(step).max()) < 1e-6:
            break
    return heights
