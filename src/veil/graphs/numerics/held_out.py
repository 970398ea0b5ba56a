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

Either way the calibration rests on held-out pairs alone.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from veil.graphs.numerics.latent import Latent, OtherSide, Side, Signs, Singles, influence
from veil.graphs.numerics.latent_fit import fit
from veil.graphs.numerics.pairs import Codes, PairSpace
from veil.graphs.numerics.posterior import Calibration, calibrate, expected_edges

_SHARE = 10
_ENOUGH = 1_000_000
_SEED = 86_243
_BLOCK = 512
# The echo before it is measured: on the Facebook graph it came out between 1.3 and 1.7.
_ECHO, _ECHO_SPREAD = 1.4, 0.2
_GROUPS = 50


def prior_odds(space: PairSpace, bits: Signs, flip: float, ones: int) -> tuple[Singles, Calibration]:
    """The log-odds of all pairs without their own bits, and what they stand for."""
    symmetric = space.kind == "undirected"
    folds = _folds(space)
    exact = len(folds) == _SHARE
    odds = np.zeros(bits.shape, dtype=np.float32)
    if not exact:
        odds, pull = _with_own_bit(fit(bits, flip, symmetric=symmetric), bits, flip)
    parts = [_without(space, bits, flip, codes) for codes in folds]
    outside = np.concatenate(parts)
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
    found = np.empty(len(rows), dtype=np.float32)
    for begin in range(0, len(rows), 2**16):
        part = slice(begin, begin + 2**16)
        found[part] = np.einsum("ik,ik->i", model.rows.place[rows[part]], seen[columns[part]])
    found += model.columns.place[columns, 0]
    found += np.float32(model.level)
    return found


def _with_own_bit(model: Latent, bits: Signs, flip: float) -> tuple[Singles, Singles]:
    """The log-odds of all pairs as fitted, and the pull g h of each pair's own bit on them."""
    odds, pull = _one_side(model, model.rows, model.columns, bits, flip)
    if model.symmetric:
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
    for begin in range(0, len(bits), _BLOCK):
        block = np.arange(begin, min(begin + _BLOCK, len(bits)))
        odds[block], score, leverage = influence(model.level, own, other, bits, flip, block)
        pull[block] = score * leverage
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
