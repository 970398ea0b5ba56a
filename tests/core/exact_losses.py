"""The worst loss of every mechanism with a finite epsilon at delta = 0, from the numbers that are drawn with.

A loss is a rational and a sum of logarithms of rationals: it is compared by balls, as closely as it takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import combinations, product
from typing import Any

import numpy as np
from flint import arb, ctx

import veil
from veil.bits.mechanisms.randomized_response import RandomizedResponse
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.mechanisms.sparse_chain import SparseChain
from veil.core.numerics.rounding import stated
from veil.graphs.mechanisms.private_graph import triangle_costs
from veil.graphs.numerics.ladder import ladder_rule
from veil.trips.tables import UNIT
from veil.words.mechanisms.exponential_words import ExponentialFamily
from veil.words.numerics.tables import rounding_loss

# Of the graphs whose facts are asked for.
NODES = 9


@dataclass(frozen=True)
class Loss:
    """rational + the sum of times * log(ratio)."""

    rational: Fraction = Fraction(0)
    logs: tuple[tuple[int, Fraction], ...] = ()

    def __add__(self, other: Loss) -> Loss:
        return Loss(self.rational + other.rational, self.logs + other.logs)

    def times(self, many: int) -> Loss:
        return Loss(many * self.rational, tuple((many * times, ratio) for times, ratio in self.logs))

    def is_at_most(self, claim: Fraction) -> bool:
        """Decided by balls that are made smaller until they are on one side; a tie of rationals is exact."""
        logs = [(times, ratio) for times, ratio in self.logs if times and ratio != 1]
        if not logs:
            return self.rational <= claim
        before = ctx.prec
        try:
            for bits in (128, 256, 512, 2048, 8192):
                ctx.prec = bits
                rest = ball(self.rational - claim)
                for times, ratio in logs:
                    rest += times * ball(ratio).log()
                if rest > 0 or rest < 0:
                    return bool(rest < 0)
        finally:
            ctx.prec = before
        raise AssertionError("too close to be told apart")


def ball(number: Fraction) -> arb:
    return arb(number.numerator) / arb(number.denominator)


def charge(mechanism: Any, adjacency: Any) -> Fraction:
    """What is charged at delta = 0: the decimal that is written, or the float where that is less."""
    profile = mechanism.profile(adjacency)
    assert profile.epsilon(0.0) == profile.pure_epsilon
    return stated(profile.pure_epsilon)


@singledispatch
def exact_loss(mechanism: Any, adjacency: Any) -> Loss:
    """The worst loss between neighbours. Every mechanism with a finite one has a line here."""
    raise NotImplementedError(f"the exact loss of {mechanism.name} is not written down")


# Trips


@exact_loss.register
def _(mechanism: veil.trips.PrivateTrips, adjacency: Any) -> Loss:
    """Of all tables together, each of which moves by at most UNIT; the more costly size of them."""
    sizes = ("small", "large") if mechanism.size == "auto" else (mechanism.size,)
    losses = [
        sum((Fraction(UNIT, mechanism.scale(share)) for share in mechanism.shares(one).values()), Fraction(0))
        for one in sizes
    ]
    return Loss(max(losses))


# Bits


@exact_loss.register
def _(mechanism: RandomizedResponse, adjacency: Any) -> Loss:
    rate = Fraction(mechanism.flip_rate)
    return Loss(logs=((adjacency.count, (1 - rate) / rate),))


@exact_loss.register
def _(mechanism: veil.bits.StaircaseXor, adjacency: Any) -> Loss:
    levels: list[int] = mechanism.steps.levels.tolist()

    def drops(count: int) -> int:
        pairs = product(range(len(levels)), repeat=2)
        return max(levels[i] - levels[j] for i, j in pairs if abs(i - j) <= count)

    apart = mechanism.rows is None and adjacency.where == "anywhere"
    many = adjacency.count * drops(1) if apart else drops(adjacency.count)
    return Loss(logs=((many, 1 / Fraction(mechanism.steps.decay)),))


@exact_loss.register
def _(mechanism: veil.bits.Xor, adjacency: Any) -> Loss:
    return Loss(worst_flips(mechanism.noise, adjacency.count, adjacency.where)[-1])


@exact_loss.register
def _(mechanism: veil.bits.XorBlocks, adjacency: Any) -> Loss:
    in_row = adjacency.where == "row"
    tables = mechanism.bands if in_row else [[block for band in mechanism.bands for block in band]]
    return Loss(max(_spread(blocks, adjacency) for blocks in tables))


def _spread(blocks: Sequence[Any], adjacency: Any) -> Fraction:
    best = [Fraction(0)] * (adjacency.count + 1)
    for block in blocks:
        costs = worst_flips(block.noise, adjacency.count, adjacency.where)
        best = [max(best[k - j] + costs[j] for j in range(k + 1)) for k in range(len(best))]
    return best[-1]


def energy_matrix(noise: Any) -> list[list[Fraction]]:
    """Pi, entry by entry, as the noise is described."""
    columns, cells = noise.columns, range(noise.rows * noise.columns)

    def entry(a: int, b: int) -> Fraction:
        (i, p), (j, q) = divmod(a, columns), divmod(b, columns)
        if i == j:
            return Fraction(float(noise.theta[p, q]))
        if noise.pairs is None:
            return Fraction(0 if noise.common is None else float(noise.common[p, q]))
        block = noise.pairs.get((min(i, j), max(i, j)))
        return Fraction(0 if block is None else float(block[p, q] if i < j else block[q, p]))

    return [[entry(a, b) for b in cells] for a in cells]


def worst_flips(noise: Any, count: int, where: str) -> list[Fraction]:
    """The most that up to 0, 1 ... count changed bits change the energy: all signed changes of bits.md."""
    matrix = energy_matrix(noise)
    unit = math.lcm(*(value.denominator for row in matrix for value in row))
    whole = np.array([[int(value * unit) for value in row] for row in matrix], dtype=object)
    worst = [0] * (count + 1)
    for size in range(1, min(count, len(matrix)) + 1):
        worst[size] = worst[size - 1]
        for cells in combinations(range(len(matrix)), size):
            if where == "row" and len({cell // noise.columns for cell in cells}) > 1:
                continue
            for signs in product((1, -1), repeat=size):
                pulls = np.array(signs, dtype=object) @ whole[list(cells)]
                inside = sum(pulls[cell] for cell in cells)
                outside = sum(2 * pull for pull in np.delete(pulls, cells) if pull > 0)
                worst[size] = max(worst[size], inside + outside)
    for size in range(len(matrix) + 1, count + 1):
        worst[size] = worst[size - 1]
    return [Fraction(value, unit) for value in worst]


# Graphs


@exact_loss.register
def _(mechanism: veil.graphs.XorGraph, adjacency: Any) -> Loss:
    return Loss(worst_flips(mechanism.noise, 2 * adjacency.count, "anywhere")[-1])


@exact_loss.register
def _(mechanism: veil.graphs.PrivateGraph, adjacency: Any) -> Loss:
    total = Loss()
    for name in mechanism.statistics:
        if name == "triangles":
            counting, sharing = triangle_costs(mechanism.costs[name])
            total += Loss(Fraction(sharing), ((1, ladder_rule(NODES, counting).loss_factor),))
        else:
            # Discrete Laplace noise whose scale is the sensitivity over this very float.
            total += Loss(Fraction(mechanism.costs[name]))
    if mechanism.response is not None:
        total += exact_loss(mechanism.response, veil.bits.BitFlips(1))
    return total.times(adjacency.count)


# Words


@exact_loss.register
def _(mechanism: ExponentialFamily, adjacency: Any) -> Loss:
    decay = Fraction(mechanism.decay)
    if mechanism.is_free:
        return Loss(logs=((adjacency.radius * adjacency.words_each, 1 / decay),))
    words = mechanism.language.enumerate().rows
    apart = (words[:, None, :] != words[None, :, :]).sum(axis=2)
    weights = [_weight(mechanism.graph, word) for word in words.tolist()]
    totals = [sum(w * decay ** int(d) for w, d in zip(weights, row, strict=True)) for row in apart]
    # Some word has the smallest quotient of powers: at the end of the change that the other one is at.
    ratios = [
        decay ** -int(apart[i, j]) * totals[j] / totals[i]
        for i, j in product(range(len(words)), repeat=2)
        if 0 < apart[i, j] <= adjacency.radius
    ]
    each = Loss(Fraction(rounding_loss(mechanism.graph)), ((1, max(ratios)),))
    return each.times(adjacency.words_each)


def _weight(graph: Any, word: list[int]) -> Fraction:
    node = int(graph.step[graph.size, word[0]])
    weight = Fraction(float(graph.first_weight[node]))
    for symbol in word[1:]:
        ahead = int(graph.step[node, symbol])
        begin, end = int(graph.starts[node]), int(graph.starts[node + 1])
        place = begin + graph.targets[begin:end].tolist().index(ahead)
        weight, node = weight * Fraction(float(graph.weight[place])), ahead
    return weight


@exact_loss.register
def _(mechanism: veil.words.SequentialWords, adjacency: Any) -> Loss:
    return Loss(logs=((adjacency.radius * adjacency.words_each, 1 / Fraction(mechanism.decay)),))


@exact_loss.register
def _(mechanism: veil.words.PermuteAndFlip, adjacency: Any) -> Loss:
    each = 2 * adjacency.radius * Fraction(mechanism.rate) + Fraction(mechanism._rounding)
    return Loss(adjacency.words_each * each)


@exact_loss.register
def _(mechanism: veil.words.StaircaseWords, adjacency: Any) -> Loss:
    steps = mechanism.steps(mechanism.language.length)
    drops = math.ceil(min(adjacency.radius, mechanism.language.length) / mechanism.radius)
    return Loss(logs=((drops * adjacency.words_each, 1 / Fraction(steps.decay)),))


@exact_loss.register
def _(mechanism: veil.words.EachWord, adjacency: Any) -> Loss:
    each = exact_loss(mechanism.mechanism, veil.words.Hamming(adjacency.radius))
    return each.times(adjacency.words_each)


# Vectors, matrices and chains


@exact_loss.register
def _(mechanism: veil.vectors.GeometricCounts, adjacency: Any) -> Loss:
    change = getattr(adjacency, "contributions", adjacency)
    return Loss((change.added + change.removed) / Fraction(mechanism.scale))


@exact_loss.register
def _(mechanism: veil.vectors.Laplace, adjacency: Any) -> Loss:
    return Loss(2 * mechanism.domain.largest_move(adjacency) / Fraction(mechanism.scale))


@exact_loss.register
def _(mechanism: veil.matrices.RowByRow, adjacency: Any) -> Loss:
    rows = adjacency.changed if mechanism.rows is None else adjacency.among(mechanism.rows)
    return exact_loss(mechanism.mechanism, adjacency.each).times(rows)


@exact_loss.register
def _(mechanism: veil.matrices.DoublyStochastic, adjacency: Any) -> Loss:
    mass, rows = adjacency.exchange(mechanism.size)
    moved = math.ceil(Fraction(mass) / Fraction(mechanism.step)) + 2 * adjacency.entries(mechanism.size) - 3
    return Loss(rows * Fraction(2 * moved, mechanism.scale_in_steps))


@exact_loss.register
def _(mechanism: PrivateChain, adjacency: Any) -> Loss:
    total = Loss()
    for part in mechanism.parts:
        total += exact_loss(part.mechanism, adjacency.on(part.of, part.cap))
    return total


@exact_loss.register
def _(mechanism: SparseChain, adjacency: Any) -> Loss:
    change = adjacency.on("transitions")
    scales = (mechanism.transitions.scale, mechanism.margins.scale, mechanism.margins.scale)
    return Loss((change.added + change.removed) * sum(1 / Fraction(scale) for scale in scales))
