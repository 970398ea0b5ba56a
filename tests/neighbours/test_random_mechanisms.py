"""Mechanisms with random parameters: no pair that a short search finds is told apart better than claimed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.neighbours.random_studies import random_study


@pytest.mark.parametrize(
    "mechanisms",
    [
        pytest.param(4, id="some"),
        pytest.param(12, id="many", marks=pytest.mark.slow),
        pytest.param(2_000, id="all", marks=pytest.mark.evidence),
    ],
)
def test_no_random_mechanism_is_beaten(mechanisms: int) -> None:
    rng, pairs, near = np.random.default_rng(31), 0, Counter[str]()
    for number in range(mechanisms):
        study = random_study(rng)
        tally = study.run(number, starts=8, steps=8, short=mechanisms < 10)
        tally.close()
        pairs += tally.pairs
        near[tally.profile.kind] += max(tally.reached.values(), default=0.0) > 0.9
    print(f"\n{mechanisms:,} random mechanisms, {pairs:,} pairs; above 0.9 of the claim: {dict(near)}")
