"""The laws of mechanisms on graphs, by their definitions: largest losses between two graphs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
from flint import arb

from tests.neighbours.bit_laws import Noise
from tests.neighbours.bits import Edges
from tests.neighbours.discrete import Law
from tests.review.divergences import ball
from tests.review.tails import precision
from veil.graphs import PrivateGraph
from veil.graphs.mechanisms.private_graph import triangle_costs
from veil.graphs.numerics.degrees import DegreeProfile
from veil.graphs.numerics.ladder import Ladder, ladder_rule
from veil.graphs.numerics.triangles import Integers


def pairs_law(edges: Edges, nodes: int, rate: Fraction) -> Law:
    """Every pair of nodes flipped on its own."""
    pairs = list(combinations(range(nodes), 2))
    law = {}
    for number in range(2 ** len(pairs)):
        out = frozenset(pair for place, pair in enumerate(pairs) if (number >> place) & 1)
        wrong = len(out ^ edges)
        law[out] = rate**wrong * (1 - rate) ** (len(pairs) - wrong)
    return law


def both_halves_law(edges: Edges, nodes: int, noise: Noise) -> Law:
    """The whole matrix xor noise; an edge is released if both halves show it."""
    law: Counter[Edges] = Counter()
    for flips, chance in noise.items():
        shown = {
            (i, j): ((min(i, j), max(i, j)) in edges) ^ bool(flips[i][j])
            for i in range(nodes)
            for j in range(nodes)
            if i != j
        }
        out = frozenset(pair for pair in combinations(range(nodes), 2) if shown[pair] and shown[pair[::-1]])
        law[out] += chance  # type: ignore[assignment]
    return {out: Fraction(chance) for out, chance in law.items()}


def private_graph_loss(mechanism: PrivateGraph, first: Edges, second: Edges, nodes: int) -> arb:
    """The largest loss of the pairs and of all facts: they are drawn on their own, so that these add up."""
    costs = {name: Fraction(cost) for name, cost in mechanism.costs.items()}
    with precision(160):
        total = arb(0)
        if mechanism.response is not None:
            rate = Fraction(mechanism.response.flip_rate)
            total += len(first ^ second) * ball((1 - rate) / rate).log()
        if "edges" in costs:
            total += ball(costs["edges"] * abs(len(first) - len(second)))
        if "degrees" in costs:
            one, other = (_profile(edges, nodes) for edges in (first, second))
            total += ball(costs["degrees"] / 2 * int(np.abs(one - other).sum()))
        if "triangles" in costs:
            total += _triangle_loss(mechanism.costs["triangles"], first, second, nodes)
        return total


def _profile(edges: Edges, nodes: int) -> Integers:
    degrees = np.bincount([end for edge in edges for end in edge] or [0], minlength=nodes)
    degrees = degrees if edges else np.zeros(nodes, dtype=np.int64)
    return DegreeProfile.among(nodes).of(degrees)


def _shared(edges: Edges, nodes: int, pair: tuple[int, int]) -> set[int]:
    ends = [{node for edge in edges if end in edge for node in edge if node != end} for end in pair]
    return (ends[0] & ends[1]) - set(pair)


@cache
def sensitivities(edges: Edges, nodes: int) -> list[int]:
    """The largest number of nodes that any two share, in any graph that 0, 1, 2 ... edges lead to.

    By the graphs themselves: those at each distance one after the other.
    """
    pairs = list(combinations(range(nodes), 2))
    seen, now = {edges}, {edges}
    found: list[int] = []
    while not found or found[-1] < nodes - 2:
        most = max(len(_shared(graph, nodes, pair)) for graph in now for pair in pairs)
        found.append(max([most, *found[-1:]]))
        now = {graph ^ {pair} for graph in now for pair in pairs} - seen
        seen |= now
    return found


def triangles(edges: Edges, nodes: int) -> int:
    return sum(
        all(pair in edges for pair in combinations(three, 2)) for three in combinations(range(nodes), 3)
    )


def rung(ladder: Ladder, offset: int) -> int:
    """On which rung an output so far from the count lies."""
    reach, number = ladder.first, 0
    widths = ladder.widths.tolist()
    while abs(offset) > reach:
        reach += widths[min(number, len(widths) - 1)]
        number += 1
    return number


def total_weight(ladder: Ladder) -> Fraction:
    """The sum of all weights, to the end of the ladder that has none."""
    decay, widths = ladder.decay, [int(width) for width in ladder.widths]
    total = Fraction(2 * ladder.first + 1)
    for number, width in enumerate(widths, start=1):
        total += 2 * width * decay**number
    return total + 2 * widths[-1] * decay ** (len(widths) + 1) / (1 - decay)


def _ends(ladder: Ladder) -> list[int]:
    """The last output of each rung and the first one of the next, as far as rungs differ, and a few more."""
    ends, widths = [ladder.first], [int(width) for width in ladder.widths]
    for width in [*widths, *[widths[-1]] * 3]:
        ends.append(ends[-1] + width)
    return [0, *ends, *(end + 1 for end in ends)]


def _triangle_loss(epsilon: float, first: Edges, second: Edges, nodes: int) -> arb:
    counting, sharing = triangle_costs(epsilon)
    rule = ladder_rule(nodes, counting)
    laws = []
    for edges in (first, second):
        found = sensitivities(edges, nodes)
        ladder = rule.with_sensitivities(np.array(found))
        laws.append((triangles(edges, nodes), ladder, total_weight(ladder), found[0]))
    worst = Fraction(0)
    # Within two rungs of both nothing changes: the first and the last output of each are enough.
    for out in sorted(
        {count + sign * far for count, ladder, *_ in laws for far in _ends(ladder) for sign in (-1, 1)}
    ):
        chances = [ladder.decay ** rung(ladder, out - count) / total for count, ladder, total, _ in laws]
        worst = max(worst, chances[0] / chances[1], chances[1] / chances[0])
    with precision(160):
        return ball(worst).log() + ball(Fraction(sharing) * abs(laws[0][3] - laws[1][3]))
