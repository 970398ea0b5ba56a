"""The zCDP and Renyi filters: limits against an independent computation, sums, never beyond."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import veil
from tests.ledger.places import COUNTS, MOSTLY_IN_A_FILE, NEAR, NOISE, release
from veil.errors import BudgetExceeded, InvalidArgument, NoGuarantee, VeilError
from veil.ledger.accounting import USUAL_ORDERS, Rule
from veil.ledger.amounts import Amount

GAUSS = veil.vectors.DiscreteGaussianCounts(20.0, 3)
BUDGETS = st.tuples(st.floats(0.05, 20.0), st.floats(-40.0, -3.0).map(math.exp))


def delta_at(order: Any, divergence: Any, epsilon: Any) -> Any:
    """delta of a mechanism whose divergence is known (Canonne, Kamath, Steinke 2020, Proposition 12)."""
    order, divergence, epsilon = (mpmath.mpf(value) for value in (order, divergence, epsilon))
    return mpmath.exp((order - 1) * (divergence - epsilon)) * (1 - 1 / order) ** order / (order - 1)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(BUDGETS)
def test_the_limit_of_zcdp(budget: tuple[float, float]) -> None:
    """At the limit some order proves (epsilon, delta); a little beyond it none does."""
    epsilon, delta = budget
    with mpmath.workdps(40):
        limit = mpmath.mpf(str(Rule.of("zcdp", Amount(epsilon), Amount(delta)).limits["rho"]))
        orders = 1.0 + 10.0 ** (np.arange(-120, 281) / 40)

        def least(rho: Any) -> Any:
            # Where it is least is found in floats; how much it is there, with all digits.
            rough = (orders - 1.0) * (float(rho) * orders - epsilon) + orders * np.log1p(-1.0 / orders)
            best = mpmath.mpf(orders[np.argmin(rough - np.log(orders - 1.0))])
            near = [best + (best - 1) * mpmath.mpf(i) / 1_000 for i in range(-60, 61)]
            return min(delta_at(order, rho * order, epsilon) for order in near)

        assert least(limit) <= delta * (1 + mpmath.mpf(10) ** -5)
        assert least(limit * (1 - mpmath.mpf(10) ** -5)) <= delta
        assert least(limit * mpmath.mpf("1.001")) > delta


@settings(max_examples=60, deadline=None)
@given(BUDGETS)
def test_the_limits_of_renyi(budget: tuple[float, float]) -> None:
    """Each order at its limit proves its share of delta, and the shares add up to no more than delta."""
    epsilon, delta = budget
    with mpmath.workdps(40):
        try:
            limits = Rule.of("renyi", Amount(epsilon), Amount(delta)).limits
        except InvalidArgument:
            return
        shares = []
        for line, limit in limits.items():
            order = float(line.removeprefix("order "))
            share = delta_at(order, str(limit), epsilon)
            shares.append(share)
            assert share <= mpmath.mpf(delta) / len(limits)
            # Not far below, where there is room at all.
            if limit > 0.01:
                assert delta_at(order, str(limit * Amount("1.001")), epsilon) > mpmath.mpf(delta) / len(
                    limits
                )
        assert mpmath.fsum(shares) <= delta


def test_orders_that_are_kept_have_room() -> None:
    rule = Rule.of("renyi", Amount(1), Amount("1e-6"))
    assert set(rule.limits) <= {f"order {order:g}" for order in USUAL_ORDERS}
    assert all(limit > 0 for limit in rule.limits.values())
    one = Rule.of("renyi", Amount(1), Amount("1e-6"), [32.5])
    assert list(one.limits) == ["order 32.5"]
    with pytest.raises(InvalidArgument, match="room"):
        Rule.of("renyi", Amount("0.1"), Amount("1e-9"), [2.0])


@pytest.mark.parametrize("order", [32.0000001, 1.2000001, 12345.678])
def test_an_order_is_kept_as_it_was_given(order: float) -> None:
    """The divergence that is charged is that of the order whose limit it is held against."""
    rule = Rule.of("renyi", Amount(50), Amount("0.1"), [order])
    assert [float(line.removeprefix("order ")) for line in rule.limits] == [order]


def allowed(dataset: veil.ledger.dataset.Dataset, mechanism: Any, most: int = 5_000) -> int:
    for made in range(most):
        try:
            veil.release(mechanism, COUNTS, adjacency=NEAR, delta=1e-9, ledger=dataset)
        except BudgetExceeded:
            return made
    raise AssertionError("never refused")


@MOSTLY_IN_A_FILE
def test_gaussians_against_the_closed_form(ledger: veil.Ledger) -> None:
    """rho of a Gaussian of scale 20 is 1/800: exactly as many as the limit holds, far more than basic."""
    dataset = ledger.open("zcdp", epsilon=1, delta=1e-6, accounting="zcdp", adjacency=NEAR)
    rho = GAUSS.profile(NEAR).zcdp()
    assert rho == pytest.approx(1 / 800, rel=1e-6)
    expected = int(Fraction(str(dataset.budget.lines["rho"])) / Fraction(rho))
    made = allowed(dataset, GAUSS)
    assert made in (expected, expected - 1)
    assert made * Fraction(rho) <= Fraction(str(dataset.budget.lines["rho"]))
    assert (dataset.remaining.epsilon, dataset.remaining.delta) == (None, None)
    basic = ledger.open("basic", epsilon=1, delta=1e-6, adjacency=NEAR)
    assert allowed(basic, GAUSS) < made
    assert ledger.verify().datasets == ["basic", "zcdp"]


@pytest.mark.mostly_slow(quick=1)
@MOSTLY_IN_A_FILE
@pytest.mark.parametrize("mechanism", [NOISE, GAUSS, veil.vectors.GeometricCounts(40.0, 3)])
def test_renyi_never_goes_beyond(ledger: veil.Ledger, mechanism: Any) -> None:
    """What was let through is (epsilon, delta)-private by exact composition, with room to spare."""
    dataset = ledger.open("trips", epsilon=1, delta=1e-6, accounting="renyi", adjacency=NEAR)
    made = allowed(dataset, mechanism)
    assert made > 1
    assert mechanism.profile(NEAR).repeat(made).delta(1.0) <= 1e-6
    within = [dataset.spent.lines[line] <= limit for line, limit in dataset.budget.lines.items()]
    assert any(within)


@MOSTLY_IN_A_FILE
def test_mixed_kinds_under_a_filter(ledger: veil.Ledger) -> None:
    """Pure and Gaussian mechanisms share a filter; their costs add up line by line."""
    dataset = ledger.open("trips", epsilon=3, delta=1e-6, accounting="zcdp", adjacency=NEAR)
    release(dataset)
    veil.release(GAUSS, COUNTS, adjacency=NEAR, delta=1e-9, ledger=dataset)
    expected = NOISE.profile(NEAR).zcdp() + GAUSS.profile(NEAR).zcdp()
    found = dataset.spent.lines["rho"]
    assert Fraction(str(found)) >= Fraction(expected)
    assert float(found) == pytest.approx(expected, rel=1e-9)
    assert dataset.spent.delta == 1e-9


def test_what_a_filter_does_not_know(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=3, delta=1e-3, accounting="zcdp", adjacency=NEAR)
    with pytest.raises(InvalidArgument, match="epsilon and delta alone"):
        dataset.reserve(epsilon=0.1, description={"name": "test"})
    with pytest.raises((NoGuarantee, VeilError), match="zCDP"):
        veil.release(
            veil.vectors.DirichletCounts(2.2, 100, 3),
            [40, 35, 25],
            adjacency=NEAR,
            delta=1e-6,
            ledger=dataset,
        )
    assert len(dataset.entries()) == 1
