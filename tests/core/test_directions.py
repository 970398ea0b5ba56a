"""Compositions in which one part goes forward and another backward, fixed beforehand or chosen on the way."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from veil.core.privacy.losses import Composed
from veil.core.privacy.pairs import GammaPair, RandomizedResponses

from .test_losses_asymmetric import Cells, gamma_cells


def product_delta(parts: list[Cells], signs: tuple[int, ...], epsilon: float) -> float:
    """delta of the product of coarser experiments, each in its direction: not above the truth."""
    p, q = np.ones(1), np.ones(1)
    for cells, sign in zip(parts, signs, strict=True):
        first, second = cells if sign > 0 else cells[::-1]
        p, q = np.outer(p, first).ravel(), np.outer(q, second).ravel()
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def adaptive_delta(first: Cells, second: Cells, sign: int, epsilon: float) -> float:
    """The direction of the second part is chosen, for the worse, after the answer of the first one."""
    p, q = first if sign > 0 else first[::-1]
    gains = [
        np.maximum(np.outer(p, one) - math.exp(epsilon) * np.outer(q, other), 0.0).sum(axis=1)
        for one, other in (second, second[::-1])
    ]
    return float(np.maximum(*gains).sum())


@pytest.mark.parametrize(
    "shapes", [[(0.5, 1.0), (0.5, 1.0)], [(0.5, 0.3), (8.0, 2.0)], [(3.0, 0.3), (3.0, 0.3), (0.8, 0.4)]]
)
@pytest.mark.slow
def test_no_combination_of_directions_is_above(shapes: list[tuple[float, float]]) -> None:
    cells = [gamma_cells(*shape, count=900 if len(shapes) == 2 else 90) for shape in shapes]
    composed = Composed.of(*((GammaPair(*shape), 1) for shape in shapes))
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        worst = max(
            product_delta(cells, signs, epsilon) for signs in itertools.product((1, -1), repeat=len(shapes))
        )
        assert worst <= composed.delta(epsilon)


@pytest.mark.slow
def test_directions_that_are_chosen_on_the_way_cost_more_and_are_charged() -> None:
    a, s = 0.5, 0.3
    cells, pair = gamma_cells(a, s, count=300), GammaPair(a, s)
    fixed, adaptive = Composed.of((pair, 2)), Composed.of((pair, 2), adaptive=True)
    gains = []
    for epsilon in (0.05, 0.3, 1.0):
        chosen = max(adaptive_delta(cells, cells, sign, epsilon) for sign in (1, -1))
        assert chosen <= adaptive.delta(epsilon)
        assert fixed.delta(epsilon) <= adaptive.delta(epsilon) <= 1.1 * fixed.delta(epsilon)
        gains.append(chosen / fixed.delta(epsilon))
    # Power: what the fixed directions cost does not cover the choice.
    assert max(gains) > 1.01


@pytest.mark.slow
def test_many_parts_count_by_the_larger_of_their_directions() -> None:
    pair = GammaPair(20.0, 1.0)
    many, few = pair.repeat(16), pair.repeat(15)
    assert few.delta(1.0) < many.delta(1.0) < 1.3 * few.delta(1.0)


def test_what_is_adaptive_stays_so() -> None:
    pair, other = GammaPair(3.0, 0.3), RandomizedResponses(0.3)
    inner = Composed.of((pair, 1), (other, 1), adaptive=True)
    outer = Composed.of((inner, 2), (GammaPair(4.0, 0.1), 1))
    assert isinstance(outer, Composed)
    assert outer.adaptive
    assert outer != Composed.of(((pair), 2), (other, 2), (GammaPair(4.0, 0.1), 1))
