"""A latent-position model of a graph, fitted to the bits that a randomised response released.

Each pair (i, j) is joined with log-odds

    eta_ij = level + a_i + c_j + sum_k u_ik v_jk,

a_i and c_j being how busy the two nodes are, u_i and v_j where they lie. An undirected graph has one set of
nodes: c = a and v_jk = s_k u_jk with signs s_k = +-1 (-1: nodes that lie alike avoid each other). Sums of
products in the log-odds say with ten numbers a node what a low-rank matrix of probabilities needs hundreds
for: that many small groups are dense inside and nearly empty between.

What is released is a bit y_ij that equals the edge a_ij but with probability q. With p = 1/(1 + e^-eta):

    P(y = 1) = r = q + (1 - 2q) p,
    score of eta        g = P(a = 1 | y) - p,
    its information     w = ((1 - 2q) p (1 - p))^2 / (r (1 - r)).

A node's numbers are then a weighted regression on the other nodes' numbers, done by Newton's steps, in
blocks of nodes. Every number has a normal prior of mean 0, whose variance is the mean square found (so that
a direction in which nothing is to be seen dies out), and a normal posterior, of which the variances are
kept and enter everywhere that a square does (a variational mean field): the information of a regression on
uncertain numbers, the pull towards 0 that this uncertainty causes, and the uncertainty of eta.

The mean field treats nodes as independent and so is too sure; WIDENING multiplies its variances. It was found
by trial, like the numbers of places and sweeps in latent_fit.py: on one release of the Facebook graph at
each of several epsilon, by the true edges kept. Other networks only showed whether it holds there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Places
from veil.core.numerics.compiled import compiled

Singles = NDArray[np.float32]
Signs = NDArray[np.int8]

WIDENING = 1.5
# Nodes that take their step together; the others see it at once.
_BLOCK = 512
# A full Newton step of all nodes of a block at a time goes too far; so does a single very long one.
_DAMPING = 0.8
_LONGEST = 20.0
# What the logistic function loses in slope when its argument is uncertain: 1 / sqrt(1 + variance pi/8).
_SLOPE = np.float32(math.pi / 8.0)


@dataclass
class Side:
    """The nodes of one side: column 0 how busy, the others where; `spread` is the variance of each number."""

    place: Singles
    spread: Singles
    prior: Singles


@dataclass
class Latent:
    """A fitted model. `columns is rows` for an undirected graph."""

    level: float
    signs: Singles
    rows: Side
    columns: Side


@compiled
def weigh(eta: Singles, spread: Singles, bits: Signs, flip: float, score: Singles, weight: Singles) -> None:
    """The score and the information of every pair of a block; a pair whose bit is unknown (0) has none."""
    signal = np.float32(1.0 - 2.0 * flip)
    low = np.float32(flip)
    one = np.float32(1.0)
    odds_one = np.float32((1.0 - flip) / flip)
    for i in range(eta.shape[0]):
        for j in range(eta.shape[1]):
            bit = bits[i, j]
            if bit == 0:
                score[i, j] = 0.0
                weight[i, j] = 0.0
                continue
            x = eta[i, j] / np.sqrt(one + _SLOPE * max(spread[i, j], np.float32(0.0)))
            p = one / (one + np.exp(-x))
            r = low + signal * p
            edge, none = (p * odds_one, one - p) if bit > 0 else (p, (one - p) * odds_one)
            score[i, j] = edge / (edge + none) - p
            lean = signal * p * (one - p)
            weight[i, j] = lean * lean / (r * (one - r))


@dataclass
class OtherSide:
    """One side as the other's regressions see it, with all products of two numbers of a node."""

    seen: Singles
    spread: Singles
    offset: Singles
    offset_spread: Singles
    products: Singles

    @classmethod
    def of(cls, side: Side, signs: Singles) -> OtherSide:
        # 1 and the signed places, with their variances.
        seen, spread = side.place * signs, side.spread.copy()
        seen[:, 0], spread[:, 0] = 1.0, 0.0
        first, second = np.triu_indices(seen.shape[1])
        products = seen[:, first] * seen[:, second]
        return cls(seen, spread, side.place[:, 0].copy(), side.spread[:, 0].copy(), products)

    def refresh(self, side: Side, signs: Singles, block: Places) -> None:
        part = OtherSide.of(Side(side.place[block], side.spread[block], side.prior), signs)
        self.seen[block], self.spread[block], self.products[block] = part.seen, part.spread, part.products
        self.offset[block], self.offset_spread[block] = part.offset, part.offset_spread


def regressions(
    level: float, own: Side, other: OtherSide, bits: Signs, flip: float, block: Places
) -> tuple[Singles, Singles, Singles, Singles, Singles]:
    """Those of a block of nodes on all others: eta, score and information of each pair; and of each node the
    information matrix, and the part of it that the others' uncertainty adds."""
    place, spread = own.place[block], own.spread[block]
    eta = place @ other.seen.T
    eta += (other.offset + np.float32(level))[None, :]
    variance = (place**2) @ other.spread.T
    variance += spread @ (other.seen**2 + other.spread).T
    variance += other.offset_spread[None, :]
    score, weight = np.empty_like(eta), np.empty_like(eta)
    weigh(eta, variance, bits[block], flip, score, weight)
    size = other.seen.shape[1]
    first, second = np.triu_indices(size)
    packed = weight @ other.products
    matrices = np.empty((len(weight), size, size), dtype=np.float32)
    matrices[:, first, second] = packed
    matrices[:, second, first] = packed
    pull = weight @ other.spread
    diagonal = np.arange(size)
    matrices[:, diagonal, diagonal] += pull + 1.0 / own.prior
    return eta, score, weight, matrices, pull


def sweep(model: Latent, own: Side, other_side: Side, bits: Signs, flip: float, order: Places) -> None:
    """One Newton step of every node of a side, block by block, and then of the common level."""
    other = OtherSide.of(other_side, model.signs)
    slope = information = 0.0
    for begin in range(0, len(order), _BLOCK):
        block = order[begin : begin + _BLOCK]
        place = own.place[block]
        _, score, weight, matrices, pull = regressions(model.level, own, other, bits, flip, block)
        gradient = score @ other.seen - pull * place - place / own.prior
        inverse = np.linalg.inv(matrices)
        step = np.einsum("ikl,il->ik", inverse, gradient)
        length = np.sqrt(np.maximum(np.einsum("ik,ik->i", step, gradient), 1e-12))
        step *= (_DAMPING * np.minimum(1.0, _LONGEST / length))[:, None]
        own.place[block] = place + step
        own.spread[block] = np.einsum("ikk->ik", inverse) * np.float32(WIDENING)
        if other_side is own:
            other.refresh(own, model.signs, block)
        slope += float(score.sum())
        information += float(weight.sum())
    # Of the variances as they were before the widening: with it, a direction without evidence would grow.
    squares = own.place**2 + own.spread / np.float32(WIDENING)
    own.prior = np.maximum(squares.mean(axis=0), np.float32(1e-6))
    if information > 0:
        model.level += 0.5 * max(-1.0, min(1.0, slope / information))
