"""The graph that most likely lies behind a randomised response, pair by pair.

 1. A latent-position model (latent.py) learns from the bits of all other pairs how likely a pair is; held-out
    pairs keep its own bit out of that and calibrate it (held_out.py).
 2. Bayes' rule adds the pair's own bit.
 3. The likeliest pairs are kept, as many as the debiased edge count says. Their probabilities, summed, say
    how many of them are true edges; divided by that count, which share of the true edges was found: the
    reconstruction rate. Where degrees are known, only pairs that leave every node within its degree are
    taken, in falling order of their probability. That is a greedy b-matching; its total probability is at
    least half of the best one's (Mestre, 2006).

Everything here reads the release alone and costs no privacy. And whoever has the release can do the same: the
reconstruction rate is what a randomised response gives away, not an attack on it. It is an estimate, honest
as far as pairs with the same log-odds are alike, and no bound: a better method may find more. On a graph
without structure (Erdos and Renyi) the probabilities are those of the bit alone, and nothing is gained.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from veil.core.arrays import Booleans, Floats
from veil.core.errors import InvalidArgument
from veil.core.numerics.compiled import compiled, one_thread
from veil.graphs.numerics.held_out import expected_edges, own_bit, prior_odds
from veil.graphs.numerics.latent import Signs, Singles
from veil.graphs.numerics.pairs import Codes, PairSpace

# Entries of the matrix that the dense method takes on: some 20 bytes each.
MOST_ENTRIES = 400_000_000
_FEWEST_PAIRS = 20
# From so many nodes on the products are large enough for several threads.
_MANY_NODES = 2_000
_BLOCK = 512
# Pairs that are looked at where degrees are known, in multiples of those that are wanted.
_DEEP = 15


@dataclass(frozen=True)
class PairChances:
    """The probability of every pair of a space, given a release."""

    space: PairSpace
    matrix: Singles

    def of(self, codes: Codes) -> Floats:
        """The probabilities of some pairs."""
        rows, columns = self.space.ends(codes)
        return self.matrix[rows, columns].astype(np.float64)

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
        if space.most_neighbours == space.columns:
            return self.matrix.ravel()
        return self.matrix[~np.eye(space.rows, dtype=np.bool_)]


def pair_chances(*, space: PairSpace, codes: Codes, flip: float) -> PairChances:
    """The probability of every pair, as a dense matrix, given a release: the sorted numbers of its edges.

    Each pair's bit was flipped with probability `flip`.
    """
    if not 0.0 <= flip < 0.5:
        raise InvalidArgument("flip", expected="a probability from 0 to below 1/2", found=str(flip))
    if space.rows * space.columns > MOST_ENTRIES:
        raise InvalidArgument(
            "graph",
            expected=f"a matrix of at most {MOST_ENTRIES:,} entries (20,000 nodes) to decode",
            found=f"{space.rows:,} x {space.columns:,}",
            hint="Decoding works on the whole matrix; the debiased statistics have no such limit.",
        )
    bits = _bits(space, codes)
    if flip == 0.0 or space.count < _FEWEST_PAIRS:
        # Nothing to decode, or too little to learn from: the bit alone.
        return PairChances(space, _by_the_bit(space, bits, flip, len(codes)))
    with one_thread() if max(space.rows, space.columns) < _MANY_NODES else nullcontext():
        odds, calibration = prior_odds(space, bits, flip, len(codes))
    for begin in range(0, len(odds), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        posterior = calibration(odds[rows]) + np.float32(own_bit(flip)) * bits[rows]
        posterior[bits[rows] == 0] = -np.inf
        odds[rows] = _logistic(posterior)
    return PairChances(space, odds)


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


def _bits(space: PairSpace, codes: Codes) -> Signs:
    """+1 and -1 for the bits of all pairs, on both triangles if undirected; 0 where there is no pair."""
    bits = np.full((space.rows, space.columns), -1, dtype=np.int8)
    rows, columns = space.ends(codes)
    bits[rows, columns] = 1
    if space.kind == "undirected":
        bits[columns, rows] = 1
    if space.most_neighbours < space.columns:
        np.fill_diagonal(bits, 0)
    return bits


def likeliest_within(chances: PairChances, falling: Codes) -> Codes:
    """The sorted numbers of the pairs; falling: the degrees there are, the largest first, of no stated node.

    The nodes of the largest expected degrees get the largest degrees.
    """
    expected = chances.matrix.sum(axis=1, dtype=np.float64)
    room = np.empty(len(expected), dtype=np.int64)
    room[np.argsort(-expected, kind="stable")] = falling
    top = chances.likeliest(_DEEP * max(int(falling.sum()) // 2, 1))
    order = top[np.argsort(-chances.of(top), kind="stable")]
    rows, columns = chances.space.ends(order)
    return np.sort(order[_taken(rows, columns, room)])


@compiled
def _taken(rows: Codes, columns: Codes, room: Codes) -> Booleans:
    taken = np.zeros(len(rows), dtype=np.bool_)
    for k in range(len(rows)):
        i, j = rows[k], columns[k]
        if room[i] > 0 and room[j] > 0:
            room[i] -= 1
            room[j] -= 1
            taken[k] = True
    return taken
