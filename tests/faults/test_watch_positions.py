"""The contract's audits once more with everything turned round: the last positions are where slips happen.

A count without noise varies all the same once the row is divided by its sum, and the standard deviation of a
constant is not nought but a rounding error: that each position varies says little. What counts is that
neighbours that differ there cannot be told apart.
"""

from __future__ import annotations

import numpy as np
import pytest

import veil

from ..contracts.cases import CASES, Case, one_entry_not_randomised

pytestmark = pytest.mark.slow

# Which entries are protected is told by their places, which cannot be turned round.
TURNED = [case for case in CASES if getattr(case.mechanism.domain, "protected", None) is None]
every_mechanism = pytest.mark.parametrize("case", TURNED, ids=[case.name for case in TURNED])


def _turned(value: object) -> np.ndarray:
    return np.flip(np.array(value))


@every_mechanism
def test_no_violation_at_the_end(case: Case) -> None:
    # alpha = 1e-9 for each case; the seed is fixed.
    found = veil.audit(
        case.mechanism,
        _turned(case.value),
        _turned(case.neighbour),
        samples=8_000,
        delta=case.delta,
        adjacency=case.adjacency,
        rng=7,
    )
    assert not found.violated, str(found)


@every_mechanism
def test_a_last_entry_that_is_kept_would_be_found(case: Case) -> None:
    faulty = one_entry_not_randomised(case.mechanism)
    faulty_last = faulty._sampler

    def sampler(value: object, *, rng: object, size: int | None) -> np.ndarray:
        draws = faulty_last(np.flip(np.array(value)), rng=rng, size=size)
        axes = tuple(range(1, np.ndim(draws)))
        return np.flip(draws, axis=axes)

    faulty._sampler = sampler
    found = veil.audit(
        faulty,
        _turned(case.value),
        _turned(case.neighbour),
        samples=4_000,
        delta=case.delta,
        adjacency=case.adjacency,
        rng=8,
    )
    assert found.violated, str(found)


@every_mechanism
def test_no_position_is_constant(case: Case) -> None:
    draws = case.mechanism.sample(case.value, rng=2, size=400)
    assert (draws != draws[0]).any(axis=0).all()
