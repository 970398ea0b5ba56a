"""The graph that most likely lies behind a randomised response, pair by pair.

 1. A latent-position model is fitted to all bits (latent.py). It says how likely each pair is, but it has
    seen the pair's own bit, which Bayes' rule will count once more.
 2. So the bit's own pull is taken back: the score g of a pair moved its log-odds by about g times its
    leverage h, by the two regressions in which the pair takes part, times a factor c for the echo from all
    the other nodes. c is measured: the model is fitted again with some pairs held out, and c is the slope of
    (log-odds with the bit - log-odds without) against g h.
 3. The held-out pairs also calibrate the log-odds (posterior.py): their bits are fresh evidence.
 4. Log-odds and own bit give the probability of every pair; the likeliest are kept, as many as the debiased
    edge count says. Their probabilities, summed, say how many of them are true, and divided by that
    count which share of the true edges was found: the reconstruction rate.

Everything here reads the release alone and costs no privacy. And whoever has the release can do the same: the
reconstruction rate is what randomised response gives away, not an attack on it. It is an estimate: honest as
far as pairs with the same log-odds are alike, exact for held-out pairs, approximate in c for the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from veil.errors import InvalidArgument
from veil.numerics.graphs.degree_tilt import degree_tilt
from veil.numerics.graphs.latent import Latent, Signs, Singles, _Other, influence
from veil.numerics.graphs.latent_fit import fit
from veil.numerics.graphs.pairs import Codes, PairSpace
from veil.numerics.graphs.posterior import Calibration, calibrate, expected_edges, own_bit

# Entries of the matrix that the dense method takes on: some 15 bytes each.
MOST_ENTRIES = 400_000_000
_HELD_OUT_SHARE = 0.1
_HELD_OUT_ENOUGH = 1_000_000
_MOST_FOLDS = 10
_SEED = 86_243
_BLOCK = 512
# The echo c of a pair's own bit, before it is measured: 1.4 +- 0.2, as on the networks tried.
_ECHO, _ECHO_SPREAD = 1.4, 0.2
_ECHO_GROUPS = 50


@dataclass(frozen=True)
class Decoded:
    """The likeliest pairs, sorted by number, with their probabilities."""

    codes: Codes
    probabilities: NDArray[np.float64]
    # The debiased number of edges of the true graph, and how many of the chosen pairs are expected true.
    expected_edges: float
    expected_true: float

    @property
    def reconstruction_rate(self) -> float:
        """The estimated share of the true edges that the decoded graph holds."""
        return min(1.0, self.expected_true / self.expected_edges) if self.expected_edges > 0 else 0.0


@dataclass(frozen=True)
class PairOdds:
    """The probability of every pair of a space, given a release."""

    space: PairSpace
    flip: float
    ones: int
    matrix: Singles

    def of(self, codes: Codes) -> NDArray[np.float64]:
        rows, columns = self.space.ends(codes)
        return self.matrix[rows, columns].astype(np.float64)

    @property
    def expected_edges(self) -> float:
        return expected_edges(self.ones, self.space.count, self.flip)

    def likeliest(self, count: int) -> Codes:
        """The numbers of the `count` likeliest pairs, sorted."""
        flat = _pairs_of(self.space, self.matrix)
        count = min(max(count, 0), len(flat))
        if count == 0:
            return np.zeros(0, dtype=np.int64)
        chosen = np.argpartition(flat, len(flat) - count)[len(flat) - count :]
        return np.sort(chosen).astype(np.int64)


def _pairs_of(space: PairSpace, matrix: Singles) -> Singles:
    """The entries of a matrix in the order of their pairs' numbers."""
    if space.kind == "bipartite" or (space.kind == "directed" and space.loops):
        return matrix.ravel()
    if space.kind == "undirected":
        first = 0 if space.loops else 1
        return np.concatenate([matrix[i, i + first :] for i in range(space.rows)] or [matrix.ravel()])
    return matrix[~np.eye(space.rows, dtype=np.bool_)]


def decode_pairs(
    *,
    space: PairSpace,
    codes: Codes,
    flip: float,
    edges: int | None = None,
    degrees: NDArray[np.float64] | None = None,
    degree_scale: float | None = None,
) -> Decoded:
    """Decode a release: the sorted numbers of its edges, each bit flipped with probability `flip`."""
    odds = pair_odds(space=space, codes=codes, flip=flip, degrees=degrees, degree_scale=degree_scale)
    kept = round(odds.expected_edges) if edges is None else edges
    chosen = odds.likeliest(kept)
    chances = odds.of(chosen)
    return Decoded(chosen, chances, odds.expected_edges, float(chances.sum()))


def pair_odds(
    *,
    space: PairSpace,
    codes: Codes,
    flip: float,
    degrees: NDArray[np.float64] | None = None,
    degree_scale: float | None = None,
) -> PairOdds:
    """The probability of every pair, as a dense matrix."""
    _check(space, flip)
    bits = _bits(space, codes)
    symmetric = space.kind == "undirected"
    if flip == 0.0 or space.count < 2:
        return PairOdds(space, flip, len(codes), (bits > 0).astype(np.float32))
    odds, pull = _with_own_bit(fit(bits, flip, symmetric=symmetric), bits, flip)
    echo, calibration = _held_out(space, bits, flip, odds, pull, len(codes))
    pull *= np.float32(-echo)
    odds += pull
    del pull
    for begin in range(0, len(odds), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        odds[rows] = calibration(odds[rows]) + np.float32(own_bit(flip)) * bits[rows]
    odds[bits == 0] = -np.inf
    if degrees is not None and degree_scale is not None:
        tilt = degree_tilt(odds, np.asarray(degrees, dtype=np.float64), degree_scale).astype(np.float32)
        odds += tilt[:, None]
        odds += tilt[None, :]
    for begin in range(0, len(odds), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        odds[rows] = 1.0 / (1.0 + np.exp(-odds[rows]))
    return PairOdds(space, flip, len(codes), odds)


def _check(space: PairSpace, flip: float) -> None:
    if not 0.0 <= flip < 0.5:
        raise InvalidArgument("flip", expected="a probability below 1/2", found=str(flip))
    if space.rows * space.columns > MOST_ENTRIES:
        raise InvalidArgument(
            "graph",
            expected=f"at most {MOST_ENTRIES:,} entries of its matrix (20,000 nodes) to decode",
            found=f"{space.rows:,} x {space.columns:,}",
            hint="Decoding is dense. Use the debiased statistics of the release instead.",
        )


def _bits(space: PairSpace, codes: Codes) -> Signs:
    """+1 and -1 for the bits of all pairs, on both triangles if undirected; 0 where there is no pair."""
    bits = np.full((space.rows, space.columns), -1, dtype=np.int8)
    rows, columns = space.ends(codes)
    bits[rows, columns] = 1
    if space.kind == "undirected":
        bits[columns, rows] = 1
    if space.kind != "bipartite" and not space.loops:
        np.fill_diagonal(bits, 0)
    return bits


def _with_own_bit(model: Latent, bits: Signs, flip: float) -> tuple[Singles, Singles]:
    """The log-odds of all pairs as fitted, and the pull g h of each pair's own bit on them."""
    odds = np.empty(bits.shape, dtype=np.float32)
    pull = np.empty(bits.shape, dtype=np.float32)
    other = _Other.of(model.columns, model.signs)
    for begin in range(0, len(bits), _BLOCK):
        block = np.arange(begin, min(begin + _BLOCK, len(bits)))
        odds[block], _, score, leverage = influence(model.level, model.rows, other, bits, flip, block)
        pull[block] = score * leverage
    if model.symmetric:
        # The score of a pair is the same from both ends, its leverage is not.
        pull += pull.T.copy()
        return odds, pull
    other, turned = _Other.of(model.rows, model.signs), np.ascontiguousarray(bits.T)
    for begin in range(0, len(turned), _BLOCK):
        block = np.arange(begin, min(begin + _BLOCK, len(turned)))
        _, _, score, leverage = influence(model.level, model.columns, other, turned, flip, block)
        pull[:, block] += (score * leverage).T
    return odds, pull


def _held_out(
    space: PairSpace, bits: Signs, flip: float, odds: Singles, pull: Singles, ones: int
) -> tuple[float, Calibration]:
    """The echo of a pair's own bit and the calibration, both from pairs that a second fit has not seen."""
    without, before, pulls, fresh = [], [], [], []
    for codes in _folds(space):
        rows, columns = space.ends(codes)
        hidden = bits.copy()
        hidden[rows, columns] = 0
        if space.kind == "undirected":
            hidden[columns, rows] = 0
        model = fit(hidden, flip, symmetric=space.kind == "undirected")
        without.append(_odds_of(model, rows, columns))
        before.append(odds[rows, columns])
        pulls.append(pull[rows, columns])
        fresh.append(bits[rows, columns])
    outside, signs = np.concatenate(without), np.concatenate(fresh)
    echo = _echo(outside, np.concatenate(before), np.concatenate(pulls))
    edges = expected_edges(ones, space.count, flip)
    return echo, calibrate(outside, signs, flip, edges, space.count)


def _folds(space: PairSpace) -> list[Codes]:
    """Sets of pairs to hold out, a tenth of all at most: as many sets as give enough pairs together."""
    rng = np.random.Generator(np.random.PCG64(_SEED))
    size = min(int(space.count * _HELD_OUT_SHARE) + 1, _HELD_OUT_ENOUGH)
    if size * 20 < space.count:
        return [np.unique(rng.integers(0, space.count, size=size))]
    folds = int(min(_MOST_FOLDS, max(1, round(_HELD_OUT_ENOUGH / size))))
    mixed = rng.permutation(space.count)
    cuts = [space.count * k // _MOST_FOLDS for k in range(folds + 1)]
    return [np.sort(mixed[low:high]) for low, high in pairwise(cuts)]


def _odds_of(model: Latent, rows: Codes, columns: Codes) -> Singles:
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


def _echo(outside: Singles, inside: Singles, pull: Singles) -> float:
    """The slope of (inside - outside) against the pull, among pairs of like log-odds, likely edges first."""
    order = np.argsort(outside)
    weight = 1.0 / (1.0 + np.exp(-outside[order].astype(np.float64)))
    moved = (inside - outside)[order].astype(np.float64)
    by = pull[order].astype(np.float64)
    share = np.cumsum(weight)
    group = np.minimum((share / share[-1] * _ECHO_GROUPS).astype(np.int64), _ECHO_GROUPS - 1)
    total = np.maximum(np.bincount(group, weight, _ECHO_GROUPS), 1e-300)
    by -= (np.bincount(group, weight * by, _ECHO_GROUPS) / total)[group]
    moved -= (np.bincount(group, weight * moved, _ECHO_GROUPS) / total)[group]
    across, along = float(weight @ (by * moved)), float(weight @ (by * by))
    rest = float((weight**2) @ (by * moved) ** 2) if False else float((weight * by) @ (weight * by) * moved.var())
    # Precision-weighted with what was known before.
    precision = along**2 / rest if rest > 0.0 else 0.0
    known = 1.0 / _ECHO_SPREAD**2
    measured = across / along if along > 0.0 else _ECHO
    return (precision * measured + known * _ECHO) / (precision + known)
