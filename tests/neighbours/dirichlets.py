"""Two Dirichlet vectors with any shapes: how well they are told apart, from below.

The entries that gain, those that lose and the rest are three groups. How a group's mass is divided within it,
how the gaining and the losing group share theirs, and how much both have of the whole are independent beta
variables under either law: nothing of the vector is left out but how the rest is divided, which has the same
law.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb
from scipy import special

from tests.neighbours.cells import beta_cells, beta_edges, both
from tests.review.divergences import added_divergence, shifted_bound

Shapes = Sequence[Fraction]
BetaPair = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
# Cells of a coordinate, by how many coordinates there are.
CELLS = {1: 400, 2: 120, 3: 40, 4: 16}
# What the rounding of entries may change.
_HAIR = Fraction(1, 10**12)
_ROUGH = {1: 120, 2: 50, 3: 20, 4: 10}


def coordinates(first: Shapes, second: Shapes) -> list[BetaPair]:
    """The beta variables whose law differs, but for rounding: the shapes under either law."""
    groups = [
        [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if (a > b) - (a < b) == sign]
        for sign in (1, -1, 0)
    ]
    gain, lose, rest = groups
    pairs = []
    for group in (gain, lose):
        for place in range(len(group) - 1):
            one, others = group[place], group[place + 1 :]
            pairs.append(_split(first, second, [one], others))
    if gain and lose:
        pairs.append(_split(first, second, gain, lose))
    if rest:
        pairs.append(_split(first, second, gain + lose, rest))
    return [pair for pair in pairs if _differs(*pair)]


def _differs(first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction]) -> bool:
    """By more than the rounding of floats; what is left out is not counted, and the bound is one still."""
    return any(abs(a - b) > _HAIR * (a + b) for a, b in zip(first, second, strict=True))


def _split(first: Shapes, second: Shapes, left: Sequence[int], right: Sequence[int]) -> BetaPair:
    def shapes(law: Shapes) -> tuple[Fraction, Fraction]:
        zero = Fraction(0)
        return sum((law[i] for i in left), zero), sum((law[i] for i in right), zero)

    return shapes(first), shapes(second)


def divergences(first: Shapes, second: Shapes, epsilon: float) -> list[arb]:
    """E_epsilon in both directions: exactly where one or two shapes differ, otherwise not above it."""
    moved = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    if len(moved) == 1:
        (i,) = moved
        low, high = sorted((first[i], second[i]))
        others = sum(first) - first[i]
        return [added_divergence(low, others, high - low, epsilon, gained=gained) for gained in (True, False)]
    if len(moved) == 2 and (first[moved[0]] > second[moved[0]]) != (first[moved[1]] > second[moved[1]]):
        p, q = ((law[moved[0]], law[moved[1]]) for law in (first, second))
        return [shifted_bound(p, q, epsilon), shifted_bound(q, p, epsilon)]
    pairs = coordinates(first, second)
    return both([beta_cells(*pair, CELLS[len(pairs)]) for pair in pairs], epsilon)


def rough(first: Shapes, second: Shapes, epsilon: float) -> float:
    """About the larger of both, in floats: for searches only."""
    laws = [np.ones(1), np.ones(1)]
    pairs = coordinates(first, second)
    for pair in pairs:
        edges = np.array(beta_edges(*pair, _ROUGH[len(pairs)]))
        for side, (a, b) in enumerate(pair):
            below = special.betainc(float(a), float(b), special.expit(edges))
            above = special.betainc(float(b), float(a), special.expit(-edges))
            # Each difference from the side on which it does not cancel.
            steps = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
            cells = np.concatenate([below[:1], steps, above[-1:]])
            laws[side] = np.multiply.outer(laws[side], cells).ravel()
    p, q = laws
    top = np.exp(epsilon)
    return float(max(np.maximum(p - top * q, 0.0).sum(), np.maximum(q - top * p, 0.0).sum()))
