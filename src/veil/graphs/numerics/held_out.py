"""Log-odds of pairs that do not know the pair's own bit, and their calibration, by holding pairs out.

The model of latent.py is fitted to all bits, those of the pair included, and Bayes' rule is about to count
that bit again. It must be taken back first.

A small graph is fitted ten times, each time without a tenth of its pairs: every pair gets log-odds from a fit
that has never seen it, and that is exact. A large graph is fitted once more only, without up to a tenth.
There the pull of a pair's own bit is taken back by c g h: its score g moved its log-odds by g h, the leverage
h being the sum over the two regressions in which the pair takes part; and c > 1 is the echo of that move from
all the other nodes, which follow it. (Near the noise edge a single bit moves a direction more than
regressions with fixed neighbours say: for eigenvectors that is the divided difference of the shrinkage
function.) c is measured on the held-out pairs: the slope of (log-odds with the bit - log-odds without)
against g h. That one c serves all pairs is an approximation.

Either way the calibration rests on held-out pairs alone. Let x_ij be any number computed from the bits of the
other pairs. Given the graph, the pair's own bit is independent of it, so by Bayes

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
from itertools import pairwise

import numpy as np
from scipy.optimize import isotonic_regression

from veil.core.arrays import Floats
from veil.graphs.numerics.latent import Latent, OtherSide, Side, Signs, Singles, regressions
from veil.graphs.numerics.latent_fit import fit
from veil.graphs.numerics.pairs import Codes, PairSpace

_SHARE = 10
_ENOUGH = 1_000_000
_SEED = 86_243
_BLOCK = 512
# The echo before it is measured: on the Facebook graph it came out between 1.3 and 1.7.
_ECHO, _ECHO_SPREAD = 1.4, 0.2
_GROUPS = 50
_CELLS = 2_000
_KNOTS = 14
# Bends are further apart than this, in log-odds.
_NEAREST = 1e-4
# The slope of logit f is 0 +- 1 before the bits have spoken: where there is no structure, none is claimed.
_SLOPE_SPREAD = 1.0
_BEND_SPREAD = 0.4
_MOST = 15.0
_TRACE = 1e-3


def prior_odds(space: PairSpace, bits: Signs, flip: float, ones: int) -> tuple[Singles, Calibration]:
    """The log-odds of all pairs without their own bits, and what they stand for."""
    symmetric = space.kind == "undirected"
    folds = _folds(space)
    exact = len(folds) == _SHARE
    odds = np.zeros(bits.shape, dtype=np.float32)
    if not exact:
        odds, pull = _with_own_bit(fit(bits, flip, symmetric=symmetric), bits, flip)
    outside = np.concatenate([_without(space, bits, flip, codes) for codes in folds])
    rows, columns = space.ends(np.concatenate(folds))
    if exact:
        odds[rows, columns] = outside
        if symmetric:
            odds[columns, rows] = outside
    else:
        pull *= np.float32(-_echo(outside, odds[rows, columns], pull[rows, columns]))
        odds += pull
    edges = expected_edges(ones, space.count, flip)
    return odds, calibrate(outside, bits[rows, columns], flip, edges, space.count)


def _folds(space: PairSpace) -> list[Codes]:
    """Sets of pairs to hold out: ten that make up all pairs, or one."""
    rng = np.random.Generator(np.random.PCG64(_SEED))
    if space.count > _ENOUGH * _SHARE:
        return [np.unique(rng.integers(0, space.count, size=_ENOUGH))]
    mixed = rng.permutation(space.count)
    cuts = [space.count * k // _SHARE for k in range(_SHARE + 1)]
    folds = [np.sort(mixed[low:high]) for low, high in pairwise(cuts)]
    return folds if space.count <= _ENOUGH else folds[:1]


def _without(space: PairSpace, bits: Signs, flip: float, codes: Codes) -> Singles:
    """The log-odds of some pairs by a fit that sees all pairs but these."""
    rows, columns = space.ends(codes)
    hidden = bits.copy()
    hidden[rows, columns] = 0
    if space.kind == "undirected":
        hidden[columns, rows] = 0
    return odds_of(fit(hidden, flip, symmetric=space.kind == "undirected"), rows, columns)


def odds_of(model: Latent, rows: Codes, columns: Codes) -> Singles:
    """The log-odds of single pairs."""
    seen = model.columns.place * model.signs
    seen[:, 0] = 1.0
    products = np.empty(len(rows), dtype=np.float32)
    for begin in range(0, len(rows), 2**16):
        part = slice(begin, begin + 2**16)
        products[part] = np.einsum("ik,ik->i", model.rows.place[rows[part]], seen[columns[part]])
    products += model.columns.place[columns, 0]
    products += np.float32(model.level)
    return products


def _with_own_bit(model: Latent, bits: Signs, flip: float) -> tuple[Singles, Singles]:
    """The log-odds of all pairs as fitted, and the pull g h of each pair's own bit on them."""
    odds, pull = _one_side(model, model.rows, model.columns, bits, flip)
    if model.columns is model.rows:
        # The score of a pair is the same from both ends, its leverage is not.
        pull += pull.T.copy()
    else:
        pull += _one_side(model, model.columns, model.rows, np.ascontiguousarray(bits.T), flip)[1].T
    return odds, pull


def _one_side(
    model: Latent, own: Side, other_side: Side, bits: Signs, flip: float
) -> tuple[Singles, Singles]:
    odds, pull = np.empty(bits.shape, dtype=np.float32), np.empty(bits.shape, dtype=np.float32)
    other = OtherSide.of(other_side, model.signs)
    first, second = np.triu_indices(other.seen.shape[1])
    for begin in range(0, len(bits), _BLOCK):
        block = np.arange(begin, min(begin + _BLOCK, len(bits)))
        odds[block], score, _, matrices, _ = regressions(model.level, own, other, bits, flip, block)
        packed = np.linalg.inv(matrices).astype(np.float32, copy=False)[:, first, second]
        packed[:, first != second] *= np.float32(2.0)
        # The leverage: how far a unit of score moves the log-odds.
        pull[block] = score * (packed @ other.products.T)
    return odds, pull


def _echo(outside: Singles, inside: Singles, pull: Singles) -> float:
    """The slope of (inside - outside) against the pull, among pairs of like log-odds, likely edges first."""
    order = np.argsort(outside)
    weight = 1.0 / (1.0 + np.exp(-outside[order].astype(np.float64)))
    moved = (inside - outside)[order].astype(np.float64)
    by = pull[order].astype(np.float64)
    share = np.cumsum(weight)
    group = np.minimum((share / share[-1] * _GROUPS).astype(np.int64), _GROUPS - 1)
    total = np.maximum(np.bincount(group, weight, _GROUPS), 1e-300)
    by -= (np.bincount(group, weight * by, _GROUPS) / total)[group]
    moved -= (np.bincount(group, weight * moved, _GROUPS) / total)[group]
    along, across = float(weight @ (by * by)), float(weight @ (by * moved))
    if along <= 0.0:
        return _ECHO
    # Weighed by precision with what was known before.
    variance = float((weight * by) @ (weight * by)) * float(moved.var()) / along**2
    trust = _ECHO_SPREAD**2 / (_ECHO_SPREAD**2 + variance)
    return trust * across / along + (1.0 - trust) * _ECHO


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
    means = isotonic_regression(chances, weights=count).x
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
    # Bends between places that are next to one another would be divisions by next to nothing.
    places = places[np.diff(places, prepend=-np.inf) > _NEAREST]
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
