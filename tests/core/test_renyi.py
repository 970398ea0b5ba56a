"""Profiles from Renyi divergences: never below the truth, alone or composed."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import veil
from tests.core.loss_bins import gamma_losses, gaussian_losses, response_losses
from tests.oracles.hockey import normal_hockey_stick
from veil.core.arrays import Floats
from veil.core.privacy import renyi
from veil.core.privacy.pairs import DiscreteGaussianShift, GammaPair, NormalPair, RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.privacy.renyi import RenyiProfile
from veil.errors import InvalidArgument, NoGuarantee
from veil.vectors.contribution_profiles import gamma_contributions, gaussian_contributions
from veil.vectors.counts import Contributions

EPSILONS = (0.0, 1e-9, 0.05, 0.3, 1.0, 2.0, 5.0, 12.0, 40.0)


def _normal(shift: float) -> RenyiProfile:
    return RenyiProfile(lambda orders: 0.5 * shift**2 * orders)


@pytest.mark.parametrize("shift", [0.01, 0.3, 1.0, 4.0])
def test_normal_noise(shift: float) -> None:
    upper, exact = _normal(shift), NormalPair(shift)
    for epsilon in EPSILONS:
        truth = normal_hockey_stick(shift, 1.0, epsilon)
        assert upper.delta(epsilon) >= truth * (1 - mpmath.mpf(1e-15))
        assert upper.delta(epsilon) >= exact.delta(epsilon) * (1.0 - 1e-9)
        if 1e-12 < truth < 1e-3:
            # The best that can be had of divergences is within a factor of about sqrt(2 pi) orders.
            assert upper.delta(epsilon) <= 200.0 * float(truth)


@pytest.mark.parametrize(
    "exact",
    [
        GammaPair(10.0, 1.0),
        GammaPair(0.5, 0.2),
        GammaPair(300.0, 30.0),
        DiscreteGaussianShift(0.6, 1),
        DiscreteGaussianShift(3.0, 2),
        RandomizedResponses(0.7, 3),
        NormalPair(0.8),
    ],
    ids=str,
)
def test_own_divergences_give_a_curve_above(exact: PrivacyProfile) -> None:
    def divergence(orders: Floats) -> Floats:
        return np.array([_rdp(exact, float(order)) for order in orders])

    upper = RenyiProfile(divergence)
    for epsilon in EPSILONS:
        assert upper.delta(epsilon) >= exact.delta(epsilon) * (1.0 - 1e-9)
    for delta in (0.1, 1e-3, 1e-9):
        assert upper.epsilon(delta) >= exact.epsilon(delta) * (1.0 - 1e-9)


def _rdp(profile: PrivacyProfile, order: float) -> float:
    try:
        return profile.rdp(order)
    except (NoGuarantee, OverflowError):
        return math.inf


def _proved_log_delta(divergence: Callable[[Any], Any], epsilon: float) -> Any:
    """Proposition 12 of Canonne, Kamath, Steinke on the same orders, in high precision."""
    with mpmath.workdps(50):
        found = []
        for order in map(mpmath.mpf, renyi._ORDERS.tolist()):
            less = order - 1
            gap = less * (divergence(order) - mpmath.mpf(epsilon))
            found.append(gap + order * mpmath.log(1 - 1 / order) - mpmath.log(less))
        return min(mpmath.mpf(0), *found)


@pytest.mark.parametrize("shift", [1e-4, 0.02, 0.5, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 30.0])
def test_rounded_up(shift: float, epsilon: float) -> None:
    half = mpmath.mpf(0.5 * shift**2)
    truth = _proved_log_delta(lambda order: half * order, epsilon)
    found = _normal(shift)._log_delta(epsilon)
    assert found >= truth
    assert found <= truth + abs(truth) * 1e-9 + 1e-9


@pytest.mark.slow
def test_a_missing_rounding_is_seen() -> None:
    """The plain formula in floating point is below the proved bound somewhere."""

    def plain(shift: float, epsilon: float) -> float:
        orders = renyi._ORDERS
        less = orders - 1.0
        bounds = 0.5 * shift**2 * orders
        logs = less * (bounds - epsilon) + orders * np.log1p(-1.0 / orders) - np.log(less)
        return min(0.0, float(logs.min()))

    rng = np.random.default_rng(1)
    low = kept = 0
    for shift, epsilon in zip(rng.uniform(0.01, 1.0, 60), rng.uniform(0.1, 5.0, 60), strict=True):
        truth = _proved_log_delta(_times(mpmath.mpf(0.5 * float(shift) ** 2)), float(epsilon))
        low += plain(float(shift), float(epsilon)) < truth
        kept += _normal(float(shift))._log_delta(float(epsilon)) >= truth
    assert low > 5
    assert kept == 60


def _times(rate: Any) -> Callable[[Any], Any]:
    return lambda order: rate * order


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-3, 5.0), st.floats(0.0, 50.0), st.floats(1e-15, 0.5))
def test_curve_falls_and_is_inverted_on_the_safe_side(shift: float, epsilon: float, delta: float) -> None:
    profile = _normal(shift)
    assert 0.0 <= profile.delta(epsilon) <= 1.0
    assert profile.delta(epsilon + 0.1) <= profile.delta(epsilon)
    assert profile.delta(profile.epsilon(delta)) <= delta
    assert profile.delta(profile.reach(delta)) <= delta * (1.0 + 1e-9)


def test_nothing_known_is_nothing_promised() -> None:
    unknown = RenyiProfile(lambda orders: np.full(len(orders), np.inf))
    assert unknown.delta(100.0) == 1.0
    assert unknown.epsilon(1e-6) == math.inf
    assert unknown.pure_epsilon == math.inf
    assert unknown.reach(1e-9) == math.inf
    with contextlib.suppress(NoGuarantee):
        assert unknown.compose(unknown).delta(1.0) == 1.0


def test_a_number_that_is_none_is_not_taken_for_a_bound() -> None:
    """Not a number at some orders: those are left out, like the infinite ones."""
    holes = RenyiProfile(lambda orders: np.where(orders < 3.0, np.nan, 0.5 * orders))
    assert holes.delta(5.0) >= _normal(1.0).delta(5.0)


def test_kind_and_order() -> None:
    profile = _normal(1.0)
    assert profile.kind == "upper bound"
    assert profile.rdp(2.0) == 1.0
    for order in (1.0, 0.5, math.nan):
        with pytest.raises(InvalidArgument):
            profile.rdp(order)


# Composed with others.


def _not_below(profile: PrivacyProfile, losses: Any, loosest: float) -> None:
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
        truth = losses.delta(epsilon)
        assert profile.delta(epsilon) >= truth * (1.0 - 1e-9) - 1e-15
        if truth > 1e-9:
            assert profile.delta(epsilon) <= max(loosest * truth, 1e-3)


def test_composed_with_itself() -> None:
    one = gaussian_contributions(6.0, Contributions(3))
    losses = gaussian_losses(6.0, 3)
    _not_below(one.repeat(2), losses + losses, 1e5)
    _not_below(one.compose(one).compose(one), losses + losses + losses, 1e5)


@pytest.mark.slow
def test_composed_with_other_kinds() -> None:
    first = gaussian_contributions(6.0, Contributions(3))
    losses = gaussian_losses(6.0, 3)
    _not_below(first.compose(RandomizedResponses(0.4)), losses + response_losses(0.4), 1e5)
    _not_below(RandomizedResponses(0.4).compose(first), losses + response_losses(0.4), 1e5)
    other = gaussian_contributions(8.0, Contributions(2, 2))
    more = gaussian_losses(8.0, 2) + gaussian_losses(8.0, -2)
    _not_below(first.compose(other), losses + more, 1e5)
    gammas = gamma_contributions(40.0, 1.5, Contributions(2))
    for cells in ((43.0, 40.0), (40.0, 43.0)):
        _not_below(first.compose(gammas), losses + gamma_losses(*cells), 1e6)
    exact = GammaPair(40.0, 1.5)
    for p, q in ((41.5, 40.0), (40.0, 41.5)):
        _not_below(first.compose(exact), losses + gamma_losses(p, q), 1e6)


def test_composed_curve_is_above_each_part() -> None:
    one, other = (
        gaussian_contributions(5.0, Contributions(2)),
        gamma_contributions(50.0, 1.0, Contributions(2)),
    )
    both = one.compose(other)
    for epsilon in (0.2, 1.0, 3.0):
        truth = max((gaussian_losses(5.0, 2)).delta(epsilon), gamma_losses(50.0, 52.0).delta(epsilon))
        assert both.delta(epsilon) >= truth


def test_a_half_divergence_is_seen_when_composed() -> None:
    wrong = RenyiProfile(
        lambda orders: 0.5 * gaussian_contributions(6.0, Contributions(3)).divergence(orders)
    )
    losses = gaussian_losses(6.0, 3) + gaussian_losses(6.0, 3) + gaussian_losses(6.0, 3)
    with pytest.raises(AssertionError):
        _not_below(RenyiProfile(lambda orders: 3.0 * wrong.divergence(orders)), losses, 1e9)


def test_strata_of_users_take_the_worst() -> None:
    from veil.matrices.row_profiles import worst_of

    small, large = (
        gaussian_contributions(5.0, Contributions(2)),
        gaussian_contributions(5.0, Contributions(4)),
    )
    worst = worst_of([small, large])
    for epsilon in (0.1, 1.0, 3.0):
        assert worst.delta(epsilon) == large.delta(epsilon)
    assert worst.kind == "upper bound"
    assert worst.rdp(3.0) == large.rdp(3.0)


def test_a_gaussian_part_that_is_calibrated_holds_by_the_exact_sum() -> None:
    from tests.core.loss_bins import exact_gaussian_delta

    change = Contributions(5, 2)
    found = veil.calibrate(
        lambda rate: veil.vectors.DiscreteGaussianCounts(1.0 / rate, 9), change, epsilon=1.0, delta=1e-5
    )
    assert exact_gaussian_delta(found.sigma, (5, -2), 1.0) <= 1e-5
    assert found.profile(change).delta(1.0) <= 1e-5
