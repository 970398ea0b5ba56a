"""Which states reach each other, and what chains that fall apart have not."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import veil
from veil.matrices.chain_intake import Reducible


def test_a_reducible_chain() -> None:
    """One closed pair, one absorbing state, one way between them, one state that never returns."""
    chain = veil.Chain(
        {
            "start": {"left": 0.5, "a": 0.5},
            "left": {"left": 0.5, "end": 0.5},
            "a": {"b": 1.0},
            "b": {"a": 1.0},
            "end": {"end": 1.0},
        }
    )
    assert not chain.is_irreducible
    found = {frozenset(group.states): (group.closed, group.period) for group in chain.classes()}
    assert found == {
        frozenset({"a", "b"}): (True, 2),
        frozenset({"end"}): (True, 1),
        frozenset({"left"}): (False, 1),
        frozenset({"start"}): (False, 0),
    }
    assert [(group.closed, len(group.states)) for group in chain.classes()] == [
        (True, 2),
        (True, 1),
        (False, 1),
        (False, 1),
    ]
    assert chain.ergodicity(1) == 1.0
    assert chain.second_eigenvalue() == pytest.approx(1.0)
    assert chain.after(2, "start").tolist() == [0.0, 0.25, 0.0, 0.5, 0.25]


@pytest.mark.parametrize(
    "ask", ["stationary", "fundamental", "group_inverse", "condition", "mixing_time", "hitting_times",
            "entropy_rate", "period"],
)  # fmt: skip
def test_what_a_reducible_chain_has_not(ask: str) -> None:
    chain = veil.Chain([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(
        Reducible, match=r"expected an irreducible chain.* found 3 classes.*restrict"
    ) as caught:
        getattr(chain, ask)()
    assert caught.value.exit_code == 4
    assert "sizes 1, 1, 1" in str(caught.value)
    part = chain.restrict(chain.classes()[0].states)
    assert part.is_irreducible
    getattr(part, ask)()


@pytest.mark.parametrize(
    ("lengths", "period"), [((3,), 3), ((4, 6), 2), ((6, 9), 3), ((2, 3), 1), ((5, 1), 1), ((12, 18, 30), 6)]
)
def test_periods_are_the_gcd_of_the_cycles(lengths: tuple[int, ...], period: int) -> None:
    """Cycles of the given lengths through one common state."""
    size = 1 + sum(length - 1 for length in lengths)
    matrix, free = np.zeros((size, size)), 1
    for length in lengths:
        way = [0, *range(free, free + length - 1), 0]
        for i, j in pairwise(way):
            matrix[i, j] = 1.0
        free += length - 1
    matrix /= matrix.sum(axis=1, keepdims=True)
    order = np.random.default_rng(1).permutation(size)
    chain = veil.Chain(matrix[order][:, order])
    assert chain.period() == period
    assert (chain.mixing_time() == math.inf) == (period > 1)
    assert [group.period for group in chain.classes()] == [period]
