"""Renyi divergences against numerical integration and direct sums."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from tests.params import quick_first
from veil.core.privacy.pairs import (
    DiscreteGaussianShift,
    GammaPair,
    NormalPair,
    RandomizedResponses,
    SymmetricBetaPair,
)
from veil.core.privacy.profile import PrivacyProfile
from veil.errors import InvalidArgument


def integrate(log_p: Callable[[mpf], mpf], log_q: Callable[[mpf], mpf], order: float, span: float) -> float:
    """log of the integral of p^order q^(1 - order) over the line, divided by order - 1."""
    with mp.workdps(16):
        cuts = [mpf(span) * i / 30 for i in range(-30, 31)]
        total = mp.quad(lambda u: mp.exp(order * log_p(u) + (1 - order) * log_q(u)), cuts)
        return float(mp.log(total) / (order - 1))


def logit_beta(a: float, b: float) -> Callable[[mpf], mpf]:
    constant = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return lambda u: -a * mp.log1p(mp.exp(-u)) - b * mp.log1p(mp.exp(u)) - constant


def log_gamma(shape: float) -> Callable[[mpf], mpf]:
    return lambda u: shape * u - mp.exp(u) - mp.loggamma(shape)


@pytest.mark.slow
@pytest.mark.parametrize(("a", "s"), quick_first([(2.0, 0.5), (40.0, 1.5), (1.0, 0.9)]))
@pytest.mark.parametrize("share", [0.1, 0.8])
def test_beta_pairs(a: float, s: float, share: float) -> None:
    order = 1.0 + share * a / s
    exact = integrate(logit_beta(a + s, a), logit_beta(a, a + s), order, 60.0 / (a * (1.0 - share)) + 10.0)
    assert SymmetricBetaPair(a, s).rdp(order) == pytest.approx(exact, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("a", "s"), quick_first([(2.0, 0.5), (40.0, 1.5), (1.0, 0.9)]))
@pytest.mark.parametrize("share", [0.1, 0.8])
def test_gamma_pairs_take_the_worse_direction(a: float, s: float, share: float) -> None:
    order = 1.0 + share * a / s
    span = 60.0 / (a * (1.0 - share)) + 10.0
    more, less = log_gamma(a + s), log_gamma(a)
    exact = max(integrate(more, less, order, span), integrate(less, more, order, span))
    assert GammaPair(a, s).rdp(order) == pytest.approx(exact, rel=1e-9)


def test_normal_pairs() -> None:
    for order in (1.01, 2.0, 30.0):
        assert NormalPair(0.7).rdp(order) == pytest.approx(0.5 * order * 0.49, rel=1e-15)


@pytest.mark.parametrize("kind", [SymmetricBetaPair, GammaPair])
@pytest.mark.parametrize(("a", "s"), [(1.0, 0.5), (3.0, 1.0), (0.25, 2.0), (1e6, 1e3)])
def test_infinite_exactly_from_the_critical_order_on(kind: Any, a: float, s: float) -> None:
    critical = 1.0 + a / s  # of the mechanism: 1 + floor / transfer
    pair = kind(a, s)
    assert math.isfinite(pair.rdp(1.0 + (critical - 1.0) * (1.0 - 1e-9)))
    for order in (critical, critical * (1.0 + 1e-9), critical + 5.0, 1e9):
        assert pair.rdp(order) == math.inf


@pytest.mark.parametrize("each", [1e-3, 0.4, 5.0, 300.0, 800.0])
@pytest.mark.parametrize("times", [1, 3])
def test_randomised_responses(each: float, times: int) -> None:
    for order in (1.1, 2.0, 40.0):
        with mp.workdps(40):
            yes = 1 / (1 + mp.exp(-mpf(each)))
            no = 1 / (1 + mp.exp(mpf(each)))
            exponent = mpf(order)
            one = mp.log(yes**exponent * no ** (1 - exponent) + no**exponent * yes ** (1 - exponent))
            exact = float(times * one / (exponent - 1))
        assert RandomizedResponses(each, times).rdp(order) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("sigma", [0.4, 1.0, 6.0])
def test_discrete_gaussian_noise_is_bounded_by_the_continuous_one(sigma: float, cells: int) -> None:
    z = np.arange(-400, 401, dtype=float)
    for order in (1.5, 4.0, 20.0):
        moved, plain = -((z - 1.0) ** 2) / (2.0 * sigma**2), -(z**2) / (2.0 * sigma**2)
        log_total = math.log(np.exp(plain).sum())
        terms = order * moved + (1.0 - order) * plain
        top = terms.max()
        exact = cells * (top + math.log(np.exp(terms - top).sum()) - log_total) / (order - 1.0)
        found = DiscreteGaussianShift(sigma, cells).rdp(order)
        assert found >= exact * (1.0 - 1e-12)
        if order.is_integer():  # a whole shift of a discrete Gaussian is again one: no loss at all
            assert found == pytest.approx(exact, rel=1e-9)


PAIRS: list[PrivacyProfile] = [
    SymmetricBetaPair(30.0, 1.0),
    GammaPair(30.0, 1.0),
    NormalPair(0.3),
    RandomizedResponses(0.4, 3),
    DiscreteGaussianShift(3.0, 1),
]


@pytest.mark.parametrize("profile", PAIRS)
def test_grows_with_the_order_and_bounds_the_profile(profile: PrivacyProfile) -> None:
    orders = [1.1, 1.5, 2.0, 4.0, 8.0, 16.0]
    values = [profile.rdp(order) for order in orders]
    assert values == sorted(values)
    for delta in (1e-3, 1e-8):
        converted = min(
            v + math.log(1.0 / delta) / (order - 1.0) for v, order in zip(values, orders, strict=True)
        )
        assert profile.epsilon(delta) <= converted


@pytest.mark.parametrize("profile", PAIRS)
@pytest.mark.parametrize("order", [1.0, 0.5, 0.0, -2.0, math.nan, "2", None])
def test_an_order_that_is_not_above_one(profile: PrivacyProfile, order: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^order: "):
        profile.rdp(order)
