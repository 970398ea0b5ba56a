"""The graph that most likely lies behind a randomised response, pair by pair.

 1. A latent-position model (latent.py) learns from the bits of all other pairs how likely a pair is; held-out
    pairs keep its own bit out of that and calibrate it (held_out.py, posterior.py).
 2. Bayes' rule adds the pair's own bit; noisy degrees, if there are any, tilt the result (degree_tilt.py).
 3. The likeliest pairs are kept, as many as the debiased edge count says. Their probabilities, summed, say
    how many of them are true edges; divided by that count, which share of the true edges was found: the
    reconstruction rate.

Everything here reads the release alone and costs no privacy. And whoever has the release can do the same: the
reconstruction rate is what a randomised response gives away, not an attack on it. It is an estimate, honest
as far as pairs with the same log-odds are alike, and no bound: a better method may find more. On a graph
without structure (Erdos and Renyi) the probabilities are those of the bit alone, and nothing is gained.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veil.core.errors import InvalidArgument
from veil.core.numerics.threads import one_thread
from veil.graphs.numerics.degree_tilt import degree_tilt
from veil.graphs.numerics.held_out import prior_odds
from veil.graphs.numerics.latent import Signs, Singles
from veil.graphs.numerics.pairs import Codes, PairSpace
from veil.graphs.numerics.posterior import expected_edges, own_bit

Doubles = NDArray[np.float64]

# Entries of the matrix that the dense method takes on: some 20 bytes each.
MOST_ENTRIES = 400_000_000
_FEWEST_PAIRS = 20
# From so many nodes on the products are large enough for several threads.
_MANY_NODES = 2_000
_BLOCK = 512


@dataclass(frozen=True)
class Decoded:
    """The likeliest pairs, sorted by number, with their probabilities."""

    codes: Codes
    probabilities: Doubles
    # The debiased number of edges of the true graph, and how many of the chosen pairs are expected true.
    expected_edges: float
    expected_true: float

    @property
    def reconstruction_rate(self) -> float:
        """The estimated share of the true edges that the decoded graph holds."""
        return min(1.0, self.expected_true / self.expected_edges) if self.expected_edges > 0 else 0.0


@dataclass(frozen=True)
class PairChances:
    """The probability of every pair of a space, given a release with `ones` edges."""

    space: PairSpace
    flip: float
    ones: int
    matrix: Singles

    def of(self, codes: Codes) -> Doubles:
        """The probabilities of some pairs."""
        rows, columns = self.space.ends(codes)
        return self.matrix[rows, columns].astype(np.float64)

    @property
    def expected_edges(self) -> float:
        """The debiased number of edges."""
        return expected_edges(self.ones, self.space.count, self.flip)

    def likeliest(self, count: int) -> Codes:
        """The numbers of the `count` likeliest pairs, sorted."""
        flat = self._in_order()
        count = min(count, len(flat))
        if count == 0:
            return np.zeros(0, dtype=np.int64)
        chosen = np.argpartition(flat, len(flat) - count)[len(flat) - count :]
        return np.sort(chosen).astype(np.int64)

    def _in_order(self) -> Singles:
        """The probabilities in the order of the pairs' numbers."""
        space = self.space
        if space.kind == "undirected":
            first = 0 if space.loops else 1
            parts = [self.matrix[i, i + first :] for i in range(space.rows)]
            return np.concatenate(parts) if parts else self.matrix.ravel()
        if space.kind == "bipartite" or space.loops:
            return self.matrix.ravel()
        return self.matrix[~np.eye(space.rows, dtype=np.bool_)]


def decode_pairs(
    *,
    space: PairSpace,
    codes: Codes,
    flip: float,
    edges: int | None = None,
    degrees: Doubles | None = None,
    degree_scale: float | None = None,
) -> Decoded:
    """Decode a release: the sorted numbers of its edges, each pair's bit flipped with probability `flip`.

    `edges` is how many pairs to keep (else the debiased number of edges); `degrees` are separate noisy
    answers for the degrees of an undirected graph, `degree_scale` their noise's standard deviation.
    """
    chances = pair_chances(space=space, codes=codes, flip=flip, degrees=degrees, degree_scale=degree_scale)
    kept = round(chances.expected_edges) if edges is None else edges
    if kept < 0:
        raise InvalidArgument("edges", expected="a number of edges, 0 or more", found=str(kept))
    chosen = chances.likeliest(kept)
    found = chances.of(chosen)
    return Decoded(chosen, found, chances.expected_edges, float(found.sum()))


def pair_chances(
    *,
    space: PairSpace,
    codes: Codes,
    flip: float,
    degrees: Doubles | None = None,
    degree_scale: float | None = None,
) -> PairChances:
    """The probability of every pair, as a dense matrix."""
    _check(space, flip, degrees, degree_scale)
    bits = _bits(space, codes)
    if flip == 0.0 or space.count < _FEWEST_PAIRS:
        # Nothing to decode, or too little to learn from: the bit alone.
        return PairChances(space, flip, len(codes), _by_the_bit(space, bits, flip, len(codes)))
    with one_thread() if max(space.rows, space.columns) < _MANY_NODES else nullcontext():
        odds, calibration = prior_odds(space, bits, flip, len(codes))
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
        odds[rows] = _logistic(odds[rows])
    return PairChances(space, flip, len(codes), odds)


def _logistic(odds: Singles) -> Singles:
    # Beyond 80 the exponential overflows in single precision and the answer is 0 or 1 anyway.
    chances: Singles = np.float32(1.0) / (np.float32(1.0) + np.exp(-np.clip(odds, -80.0, 80.0)))
    chances[np.isneginf(odds)] = 0.0
    return chances


def _by_the_bit(space: PairSpace, bits: Signs, flip: float, ones: int) -> Singles:
    if flip == 0.0:
        return (bits > 0).astype(np.float32)
    share = expected_edges(ones, space.count, flip) / max(space.count, 1)
    share = min(max(share, 1e-9), 1.0 - 1e-9)
    chances = _logistic(np.float32(np.log(share / (1.0 - share))) + np.float32(own_bit(flip)) * bits)
    chances[bits == 0] = 0.0
    return chances


def _check(space: PairSpace, flip: float, degrees: Doubles | None, degree_scale: float | None) -> None:
    if not 0.0 <= flip < 0.5:
        raise InvalidArgument("flip", expected="a probability from 0 to below 1/2", found=str(flip))
    if space.rows * space.columns > MOST_ENTRIES:
        raise InvalidArgument(
            "graph",
            expected=f"a matrix of at most {MOST_ENTRIES:,} entries (20,000 nodes) to decode",
            found=f"{space.rows:,} x {space.columns:,}",
            hint="Decoding works on the whole matrix; the debiased statistics have no such limit.",
        )
    if (degrees is None) != (degree_scale is None):
        raise InvalidArgument(
            "degree_scale", expected="degrees and their scale together", found="one of them"
        )
    if degrees is None or degree_scale is None:
        return
    if space.kind != "undirected" or np.shape(degrees) != (space.rows,):
        raise InvalidArgument(
            "degrees",
            expected=f"one number for each of the {space.rows:,} nodes of an undirected graph",
            found=f"shape {np.shape(degrees)} for a graph that is {space.kind}",
        )
    if not degree_scale > 0.0:
        raise InvalidArgument("degree_scale", expected="a number above 0", found=str(degree_scale))


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
