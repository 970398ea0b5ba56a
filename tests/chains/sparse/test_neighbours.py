"""All small logs with and without somebody: what changes, against what a sparse release is charged."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.core.exact_losses import charge
from veil.chains.adjacency import Transitions
from veil.chains.mechanisms.sparse_chain import SparseChain
from veil.chains.sparse.auditing import counted
from veil.chains.sparse.noise import SparseNoise

STATES, CAP, LONGEST = 2, 2, 5
GEOMETRIC = SparseNoise("geometric", 3.0), SparseNoise("geometric", 7.0)
GAUSSIAN = SparseNoise("gaussian", 3.0), SparseNoise("gaussian", 7.0)


def tables(mechanism: SparseChain, cap: int | None, log: list[tuple[int, ...]]) -> list[NDArray[Any]]:
    counts = counted(mechanism, cap, log)
    return [np.asarray(counts.matrix).ravel(), *counts.margins()]


def moves(mechanism: SparseChain, unit: str, change: str) -> list[list[NDArray[Any]]]:
    """By how much the tables of all pairs of small neighbouring logs differ."""
    people = [seq for size in range(LONGEST + 1) for seq in product(range(STATES), repeat=size)]
    found = []
    if unit == "user":
        alone = [tables(mechanism, CAP, [seq]) for seq in people]
        nobody = tables(mechanism, CAP, [])
        others = alone if change == "replace" else [nobody]
        for one, two in product(alone, others):
            found.append([a - b for a, b in zip(one, two, strict=True)])
        return found
    # Single transitions, as sequences of two.
    steps: list[tuple[int, ...]] = list(product(range(STATES), repeat=2))
    for step in steps:
        others_of: list[list[tuple[int, ...]]] = [[]]
        if change == "replace":
            others_of = [[(step[0], end)] for end in range(STATES)]
        for other in others_of:
            one, two = tables(mechanism, None, [step]), tables(mechanism, None, other)
            found.append([a - b for a, b in zip(one, two, strict=True)])
    return found


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("change", ["add-remove", "replace"])
@pytest.mark.parametrize("unit", ["event", "user"])
def test_no_neighbour_moves_further_than_is_charged(unit: str, change: str, once: bool) -> None:
    if once and unit == "event":
        pytest.skip("each pair once a user is for users")
    adjacency = Transitions(unit, change, CAP if unit == "user" else None)
    for noises in (GEOMETRIC, GAUSSIAN):
        mechanism = SparseChain(STATES, *noises, 2, once=once)
        scales = [Fraction(noises[0].scale), *[Fraction(noises[1].scale)] * 2]
        worst = Fraction()
        for move in moves(mechanism, unit, change):
            sizes = [np.abs(part).sum() if noises is GEOMETRIC else (part**2).sum() for part in move]
            power = 1 if noises is GEOMETRIC else 2
            parts = zip(sizes, scales, strict=True)
            worst = max(worst, sum((int(size) / scale**power for size, scale in parts), Fraction()))
        profile = mechanism.profile(adjacency)
        if noises is GEOMETRIC:
            assert worst <= charge(mechanism, adjacency)
            # And hardly less: what is charged is reached by somebody, where nobody stands in their own way.
            if change == "add-remove":
                assert worst >= Fraction(profile.pure_epsilon) * Fraction(999_999, 1_000_000)
        else:
            assert worst / 2 <= Fraction(profile.zcdp())
            if (change, once) == ("add-remove", False):
                assert worst / 2 >= Fraction(profile.zcdp()) * Fraction(999_999, 1_000_000)


def test_a_cap_that_is_forgotten_is_found() -> None:
    """The search sees one transition more than is charged."""
    mechanism = SparseChain(STATES, *GEOMETRIC, 2)
    adjacency = Transitions("user", "add-remove", CAP)
    people = product(range(STATES), repeat=LONGEST)
    worst = max(sum(np.abs(part).sum() for part in tables(mechanism, CAP + 1, [seq])) for seq in people)
    assert worst > 3 * CAP
    with pytest.raises(AssertionError):
        assert worst / 3 <= adjacency.on("transitions").total
