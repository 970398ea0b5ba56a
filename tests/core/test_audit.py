"""The audit itself: exact where it can be, honest where it cannot."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

import veil
from tests.oracles.words import permute_and_flip_law
from veil.core.audit.auditing import relation_between
from veil.core.audit.enumeration import (
    LAW_ERROR,
    WRONG_LAW,
    WRONG_SUM,
    exact_loss,
    log_below,
    misfit,
)
from veil.core.audit.events import best_event, lower_limit, upper_limit
from veil.core.audit.seen import Seen
from veil.core.privacy.pairs import RandomizedResponses
from veil.errors import InvalidArgument
from veil.vectors.counts import Counts


class Coin:
    """Randomised response on the first of two counts: few outputs, so it can be enumerated."""

    name = "Coin"
    domain = Counts(2)
    adjacency = veil.vectors.Records("replace")

    def __init__(self, claimed: float, true: float, drawn: float | None = None) -> None:
        self.claimed, self.true, self.drawn = claimed, true, true if drawn is None else drawn

    def validate(self, value: Any) -> Any:
        return self.domain.validate(value)

    def sample(self, value: Any, *, rng: Any = None, size: int | None = None) -> Any:
        flips = np.random.default_rng(rng).random(size) > 1 / (1 + math.exp(-self.drawn))
        return flips != bool(value[0])

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
    found = veil.audit(Coin(1.0, 1.0), [1, 0], [0, 1], rng=1)
    assert found.exact
    assert 1.0 - 1e-10 < found.lower <= 1.0
    assert not found.violated


def test_exact_audit_finds_the_smallest_excess() -> None:
    found = veil.audit(Coin(1.0, 1.0 + 1e-9), [1, 0], [0, 1])
    assert found.violated
    assert found.lower == pytest.approx(1.0 + 1e-9, abs=1e-10)
    assert "VIOLATION" in str(found)


def test_exact_audit_at_a_delta() -> None:
    found = veil.audit(Coin(1.0, 1.0), [1, 0], [0, 1], delta=0.1, rng=1)
    assert found.lower == pytest.approx(RandomizedResponses(1.0).epsilon(0.1), rel=1e-9)
    assert found.lower <= found.claimed


def test_exact_audit_of_disjoint_outputs_is_infinite() -> None:
    class Open(Coin):
        def distribution(self, value: Any) -> dict[Any, float]:
            return {value[0]: 1.0}

    found = veil.audit(Open(1.0, 1.0), [1, 0], [0, 1])
    assert found.lower == math.inf
    assert found.violated


@pytest.mark.slow
def test_draws_that_do_not_follow_the_stated_law_are_found() -> None:
    """The law on paper keeps the claim; what is drawn does not (alpha 1e-9)."""
    found = veil.audit(Coin(1.0, 1.0, drawn=1.4), [1, 0], [0, 1], rng=1)
    assert found.violated
    assert not found.exact
    assert found.fault == WRONG_LAW in str(found)

    class Short(Coin):
        def distribution(self, value: Any) -> dict[Any, float]:
            return {output: 0.99 * chance for output, chance in super().distribution(value).items()}

    assert veil.audit(Short(1.0, 1.0), [1, 0], [0, 1], rng=1).fault == WRONG_SUM


def test_the_fit_rejects_and_accepts() -> None:
    law = {(i, j): 1 / 6 for i in range(2) for j in range(3)}
    rng = np.random.default_rng(3)
    fair = [
        (int(i), int(j)) for i, j in zip(rng.integers(2, size=4000), rng.integers(3, size=4000), strict=True)
    ]
    assert not misfit(law, fair, alpha=1e-9)
    assert misfit(law, [(0 if i < 400 else a, b) for i, (a, b) in enumerate(fair)], alpha=1e-9)
    assert misfit(law, [*fair, (0, 7)], alpha=1e-9)


# Enumeration against brute force


def every_event(p: dict[int, float], q: dict[int, float], delta: float) -> float:
    """The largest log((P - delta) / Q) over all events and both directions, in rationals."""
    best = 0.0
    events = chain.from_iterable(combinations(p, size) for size in range(1, len(p) + 1))
    for event in events:
        for one, other in ((p, q), (q, p)):
            above = sum((Fraction(one[output]) for output in event), Fraction(0)) - Fraction(delta)
            below = sum((Fraction(other[output]) for output in event), Fraction(0))
            if above > 0:
                best = max(best, math.inf if below == 0 else float(math.log(above / below)))
    return best


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.05, 0.3])
def test_the_exact_loss_is_that_of_the_best_event(delta: float) -> None:
    rng = np.random.default_rng(5)
    for case in range(60):
        size = int(rng.integers(2, 8))
        p, q = rng.dirichlet(np.full(size, 0.5)), rng.dirichlet(np.full(size, 0.5))
        if case % 5 == 0:
            q[0] = 0.0
        laws = [dict(enumerate(law.tolist())) for law in (p, q)]
        truth, found = every_event(laws[0], laws[1], delta), exact_loss(laws[0], laws[1], delta)
        # Never above, and short by no more than the rounding that is allowed for.
        assert found <= truth
        if truth < math.inf:
            # The part of a law that is above delta may be small: then its rounding weighs more.
            assert found == pytest.approx(truth, abs=1e-7 if delta else 1e-10)
        else:
            assert found == math.inf


def test_a_logarithm_is_not_rounded_up() -> None:
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 60
        for top, bottom in ((3, 2), (10**300, 7), (2**1000 + 1, 2**1000), (1, 1)):
            true = (Decimal(top) / Decimal(bottom)).ln()
            assert Decimal(log_below(Fraction(top, bottom))) <= true
            assert float(true) - log_below(Fraction(top, bottom)) < 1e-11


@pytest.mark.slow
def test_enumerated_laws_are_near_their_rationals() -> None:
    """What the rounding of `distribution` is taken to be, against the definitions, a hundred times over."""
    table = np.array([[1, 0, 1]], dtype=bool)
    response, staircase = veil.bits.RandomizedResponse(2.3), veil.bits.StaircaseXor(3, 1.7, flips=2)
    flip, decay = Fraction(response.flip_rate), Fraction(staircase.steps.decay)
    levels = staircase.steps.levels.tolist()
    words = veil.words.ExponentialWords(veil.words.ChainWords({0: [1, 2], 1: [0, 1], 2: [0]}, 5), 3.0)
    word = words.language.enumerate()[3]
    long = veil.words.ExponentialWords(veil.words.FreeWords(2, 12), 40.0)
    rules: list[tuple[Any, Any, Any]] = [
        (long, (0,) * 12, lambda k: Fraction(long.decay) ** k),
        (response, table, lambda k: flip**k * (1 - flip) ** (3 - k)),
        (staircase, table, lambda k: decay ** levels[k]),
        (words, word, lambda k: Fraction(words.decay) ** k),
    ]
    for mechanism, value, weight in rules:
        law = mechanism.distribution(value)
        true = tuple(np.asarray(value).ravel().astype(int).tolist())
        weights = {out: weight(sum(a != b for a, b in zip(out, true, strict=True))) for out in law}
        total = sum(weights.values(), Fraction(0))
        worst = max(abs(Fraction(law[out]) * total / weights[out] - 1) for out in law)
        assert worst < LAW_ERROR / 100
    flip_words = veil.words.PermuteAndFlip(words.language, 3.0)
    listed = list(words.language.enumerate())
    oracle = permute_and_flip_law(listed, word, flip_words.rate)
    stated = flip_words.distribution(word)
    assert max(abs(stated[out] / oracle[out] - 1.0) for out in listed) < LAW_ERROR / 100


# Limits


def tail_above(hits: int, total: int, chance: Fraction) -> Fraction:
    """P(at least so many hits), exactly."""
    return sum(
        (math.comb(total, k) * chance**k * (1 - chance) ** (total - k) for k in range(hits, total + 1)),
        Fraction(0),
    )


@pytest.mark.parametrize("tail", [0.025, 2.5e-10])
def test_the_limits_are_on_the_safe_side(tail: float) -> None:
    total = 60
    for hits in (0, 1, 7, 30, 59, 60):
        low = Fraction(float(lower_limit(hits, total, tail)))
        high = Fraction(float(upper_limit(hits, total, tail)))
        assert tail_above(hits, total, low) <= Fraction(tail) or low == 0
        # P(at most so many) = P(at least so many misses).
        assert tail_above(total - hits, total, 1 - high) <= Fraction(tail) or high == 1
        if hits > 0:
            assert tail_above(hits, total, low * Fraction(10_001, 10_000)) > Fraction(tail) * Fraction(
                999, 1000
            )


@pytest.mark.slow
def test_the_bound_is_wrong_no_more_often_than_stated() -> None:
    """Of 400 audits of two equal laws at alpha = 0.05 at most 60 give an alarm (chance of more: 1e-13)."""
    rng = np.random.default_rng(11)
    alarms = 0
    for _ in range(400):
        first, second = rng.normal(size=(2, 200, 1))
        alarms += best_event(Seen.of(first), Seen.of(second), 0.0, alpha=0.05).bound > 0.0
    assert alarms <= 60


# Sampled audits


def test_statistical_bound_is_below_the_truth_and_not_idle() -> None:
    found = veil.audit(veil.vectors.GeometricCounts(1.0, 2), [40, 40], [41, 40], samples=30_000, rng=1)
    assert not found.exact
    assert 0.6 < found.lower <= found.claimed == 1.0
    assert "no violation found" in str(found)


def test_reused_seeds_are_caught() -> None:
    """A generator that starts anew for every draw: the outputs of neighbours never overlap."""

    class Reused(veil.vectors.GeometricCounts):
        def noise(self, rng: Any, shape: tuple[int, ...]) -> Any:
            one = super().noise(np.random.default_rng(0), shape[-1:])
            return np.broadcast_to(one, shape)

    assert veil.audit(Reused(1.0, 3), [40, 40, 9], [41, 40, 9], samples=2_000, rng=1).violated


def test_relation_between_neighbours() -> None:
    vectors, counts = veil.vectors.Laplace(0.1, veil.vectors.Simplex(3)), veil.vectors.GeometricCounts(1.0, 3)
    relation = relation_between(vectors, [0.5, 0.3, 0.2], [0.4, 0.4, 0.2])
    assert isinstance(relation, veil.vectors.Transfer)
    assert relation.mass == pytest.approx(0.1)
    spread = relation_between(vectors, [0.5, 0.3, 0.2], [0.2, 0.5, 0.3])
    assert isinstance(spread, veil.vectors.L1)
    assert spread.distance == pytest.approx(0.6)
    assert relation_between(counts, [1, 2, 3], [1, 2, 4]) == veil.vectors.Records("add-remove")
    assert relation_between(counts, [1, 2, 3], [1, 3, 2]) == veil.vectors.Records("replace")
    for mechanism, value, other in (
        (vectors, [0.5, 0.3, 0.2], [0.5, 0.3, 0.2]),
        (counts, [1, 2, 3], [1, 2, 5]),
        (counts, [1, 2, 3], [2, 3, 4]),
        (counts, [1, 2, 3], [[1, 2, 3]]),
    ):
        with pytest.raises(InvalidArgument, match="neighbour"):
            relation_between(mechanism, value, other)


@pytest.mark.parametrize(
    ("mechanism", "adjacency", "value", "far"),
    [
        (
            veil.vectors.Laplace(0.1, veil.vectors.Simplex(3)),
            veil.vectors.Transfer(0.1),
            [0.5, 0.3, 0.2],
            [0.3, 0.5, 0.2],
        ),
        (
            veil.vectors.Laplace(0.1, veil.vectors.Simplex(3)),
            veil.vectors.Transfer(0.1),
            [0.5, 0.3, 0.2],
            [0.4, 0.35, 0.25],
        ),
        (veil.vectors.GeometricCounts(1.0, 3), veil.vectors.Records(), [1, 2, 3], [2, 1, 3]),
        (veil.vectors.GeometricCounts(1.0, 3), veil.vectors.Records("replace"), [1, 2, 3], [1, 2, 4]),
        (veil.vectors.GeometricCounts(1.0, 3), veil.vectors.Contributions(2), [1, 2, 3], [4, 2, 3]),
        (
            veil.matrices.RowByRow(veil.vectors.Laplace(0.1, veil.vectors.Simplex(2)), rows=2),
            veil.matrices.Rows(1, veil.vectors.Transfer(0.1)),
            [[0.5, 0.5], [0.5, 0.5]],
            [[0.45, 0.55], [0.45, 0.55]],
        ),
        (
            veil.matrices.DoublyStochastic(0.1, 2),
            veil.matrices.Rectangle(0.1),
            np.eye(2),
            [[0.8, 0.2], [0.2, 0.8]],
        ),
    ],
)
def test_values_further_apart_than_the_claim_are_refused(
    mechanism: Any, adjacency: Any, value: Any, far: Any
) -> None:
    """Their loss would be taken for a violation."""
    with pytest.raises(InvalidArgument, match="neighbour"):
        veil.audit(mechanism, value, far, adjacency=adjacency, samples=1_000)


def test_bad_arguments() -> None:
    mechanism = veil.vectors.GeometricCounts(1.0, 2)
    with pytest.raises(InvalidArgument, match="samples"):
        veil.audit(mechanism, [1, 2], [2, 2], samples=10)
    for confidence in (2.0, 1.0, 0.1):
        with pytest.raises(InvalidArgument, match="confidence"):
            veil.audit(mechanism, [1, 2], [2, 2], confidence=confidence)
