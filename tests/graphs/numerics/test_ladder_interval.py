"""Bounds on the error of a ladder: they hold, and are not much wider than they need be."""

from __future__ import annotations

import numpy as np
import pytest

from tests.graphs.numerics.small import published_rule, random_graph, rungs_of, total_weight
from veil.errors import InvalidArgument
from veil.graphs.numerics.ladder import Ladder, ladder_reach, ladder_rule
from veil.graphs.numerics.local_sensitivity import triangle_sensitivity


def beyond(ladder: Ladder, reach: int) -> float:
    """The chance of an offset beyond, by adding up; from the end, so that no digits are lost."""
    offsets = np.arange(reach + 1, reach + 60_000)
    outside = (2.0 * float(ladder.decay) ** rungs_of(ladder, offsets).astype(float)).sum()
    return float(outside / float(total_weight(ladder)))


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("published", [False, True])
def test_reach(epsilon: float, confidence: float, published: bool) -> None:
    rule = published_rule(60, epsilon) if published else ladder_rule(60, epsilon)
    for seed, chance in enumerate((0.02, 0.1, 0.4, 0.9)):
        sensitivity = triangle_sensitivity(random_graph(60, chance, seed))
        ladder = rule.ladder(sensitivity)
        shared = int(sensitivity.at(np.array([0]))[0])
        exact = ladder_reach(rule, least=shared, most=shared, confidence=confidence)
        loose = ladder_reach(rule, least=max(shared - 5, 0), most=shared + 5, confidence=confidence)
        assert beyond(ladder, exact) <= (1.0 - confidence) * (1.0 + 1e-9)
        assert loose >= exact
        assert beyond(ladder, loose) <= (1.0 - confidence) * (1.0 + 1e-9)


def test_reach_is_tight_where_all_is_known() -> None:
    """With one possible ladder the bound is the quantile itself."""
    rule = ladder_rule(60, 1.0, floor=58)
    ladder = rule.ladder(triangle_sensitivity(random_graph(60, 0.2, 1)))
    reach = ladder_reach(rule, least=0, most=58, confidence=0.9)
    assert beyond(ladder, reach) <= 0.1 < beyond(ladder, reach - 1)


def test_arguments() -> None:
    rule = ladder_rule(60, 1.0)
    with pytest.raises(InvalidArgument, match="confidence"):
        ladder_reach(rule, least=0, most=5, confidence=1.0)
    with pytest.raises(InvalidArgument, match="most"):
        ladder_reach(rule, least=6, most=5, confidence=0.9)
    # Bounds from noise may lie outside what is possible.
    wide = ladder_reach(rule, least=-7, most=10**6, confidence=0.9)
    assert wide >= ladder_reach(rule, least=0, most=58, confidence=0.9)
