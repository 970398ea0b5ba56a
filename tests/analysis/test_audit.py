"""The audit itself: exact where it can be, honest where it cannot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import veil
from veil.analysis.audit import relation_between
from veil.domains.counts import Counts
from veil.errors import InvalidArgument
from veil.privacy.responses import RandomizedResponses


class Coin:
    """Randomised response on the first of two counts: few outputs, so it can be enumerated."""

    name = "Coin"
    domain = Counts(2)
    adjacency = veil.Records("replace")

    def __init__(self, claimed: float, true: float) -> None:
        self.claimed, self.true = claimed, true

    def validate(self, value: Any) -> Any:
        return self.domain.validate(value)

    def sample(self, value: Any, *, rng: Any = None, size: int | None = None) -> Any:
        raise AssertionError("an exact audit does not sample")

    def profile(self, adjacency: Any = None) -> veil.PrivacyProfile:
        return RandomizedResponses(self.claimed)

    def assumptions(self, adjacency: Any = None) -> tuple[str, ...]:
        return ()

    def describe(self) -> dict[str, Any]:
        return {}

    def distribution(self, value: Any) -> dict[Any, float]:
        keep = 1 / (1 + math.exp(-self.true))
        return {bool(value[0]): keep, not value[0]: 1 - keep}


def test_exact_audit_agrees_with_the_truth() -> None:
    found = veil.audit(Coin(1.0, 1.0), [1, 0], [0, 1])
    assert found.exact
    assert found.lower == pytest.approx(1.0, rel=1e-12)
    assert not found.violated


def test_exact_audit_finds_the_smallest_excess() -> None:
    found = veil.audit(Coin(1.0, 1.001), [1, 0], [0, 1])
    assert found.violated
    assert found.lower == pytest.approx(1.001)
    assert "VIOLATION" in str(found)


def test_exact_audit_at_a_delta() -> None:
    found = veil.audit(Coin(1.0, 1.0), [1, 0], [0, 1], delta=0.1)
    assert found.lower == pytest.approx(RandomizedResponses(1.0).epsilon(0.1), rel=1e-9)


def test_exact_audit_of_disjoint_outputs_is_infinite() -> None:
    class Open(Coin):
        def distribution(self, value: Any) -> dict[Any, float]:
            return {value[0]: 1.0}

    found = veil.audit(Open(1.0, 1.0), [1, 0], [0, 1])
    assert found.lower == math.inf
    assert found.violated


def test_statistical_bound_is_below_the_truth_and_not_idle() -> None:
    found = veil.audit(veil.GeometricCounts(1.0, 2), [40, 40], [41, 40], samples=30_000, rng=1)
    assert not found.exact
    assert 0.6 < found.lower <= found.claimed == 1.0


def test_reused_seeds_are_caught() -> None:
    """A generator that starts anew for every draw: the outputs of neighbours never overlap."""

    class Reused(veil.GeometricCounts):
        def _draw(self, rng: Any, value: Any, size: int | None) -> Any:
            return super()._draw(np.random.default_rng(0), np.tile(value, (size or 1, 1)) * 0 + value, None)

        def noise(self, rng: Any, shape: tuple[int, ...]) -> Any:
            one = super().noise(np.random.default_rng(0), shape[-1:])
            return np.broadcast_to(one, shape)

    assert veil.audit(Reused(1.0, 3), [40, 40, 9], [41, 40, 9], samples=2_000, rng=1).violated


def test_relation_between_neighbours() -> None:
    vectors, counts = veil.Laplace(0.1, veil.Simplex(3)), veil.GeometricCounts(1.0, 3)
    relation = relation_between(vectors, [0.5, 0.3, 0.2], [0.4, 0.4, 0.2])
    assert isinstance(relation, veil.Transfer)
    assert relation.mass == pytest.approx(0.1)
    assert relation_between(counts, [1, 2, 3], [1, 2, 4]) == veil.Records("add-remove")
    assert relation_between(counts, [1, 2, 3], [1, 3, 2]) == veil.Records("replace")
    for mechanism, value, other in (
        (vectors, [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]),
        (vectors, [0.5, 0.3, 0.2], [0.5, 0.3, 0.2]),
        (counts, [1, 2, 3], [1, 2, 5]),
        (counts, [1, 2, 3], [2, 3, 4]),
        (counts, [1, 2, 3], [[1, 2, 3]]),
    ):
        with pytest.raises(InvalidArgument, match="neighbour"):
            relation_between(mechanism, value, other)


def test_bad_arguments() -> None:
    mechanism = veil.GeometricCounts(1.0, 2)
    with pytest.raises(InvalidArgument, match="samples"):
        veil.audit(mechanism, [1, 2], [2, 2], samples=10)
    with pytest.raises(InvalidArgument, match="confidence"):
        veil.audit(mechanism, [1, 2], [2, 2], confidence=2.0)
