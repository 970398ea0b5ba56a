"""Several records of one contributor: never below the truth, for any way to spread them."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest

import veil
from tests.core.loss_bins import (
    Losses,
    exact_gaussian_delta,
    gamma_losses,
    partitions,
    together,
)
from veil.core.numerics.log_gamma import log_gammas
from veil.core.privacy.pairs import GammaPair
from veil.core.privacy.renyi import _ORDERS, RenyiProfile
from veil.vectors import contribution_profiles as module
from veil.vectors.contribution_profiles import gamma_contributions, gaussian_contributions
from veil.vectors.counts import Contributions

# A sum of 1e5 rounded terms.
SLACK = 1e-11


def _gaussian_spreads(change: Contributions) -> list[tuple[int, ...]]:
    """All ways for the added and the removed records to fall into cells, none shared."""
    return [
        (*up, *(-down for down in downs))
        for up in partitions(change.added)
        for downs in partitions(change.removed)
    ]


@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("change", [(1, 0), (2, 0), (4, 0), (2, 1), (3, 3), (5, 2)])
def test_gaussian_is_not_below_the_truth(sigma: float, change: tuple[int, int]) -> None:
    bound = Contributions(*change)
    profile = gaussian_contributions(sigma, bound)
    rate = math.hypot(*change) / sigma
    for epsilon in (0.0, 0.3, 1.0, rate, 0.5 * rate**2, 0.5 * rate**2 + 3.0 * rate, rate**2 + 7.0 * rate):
        truths = [exact_gaussian_delta(sigma, shifts, epsilon) for shifts in _gaussian_spreads(bound)]
        assert profile.delta(epsilon) >= max(truths) * (1.0 - SLACK)


def test_gaussian_is_not_far_from_the_truth() -> None:
    """What a Renyi bound gives away: less than a factor of 60 in delta, a twelfth of epsilon."""
    profile = gaussian_contributions(30.0, Contributions(10))
    for epsilon in (0.5, 1.0, 2.0):
        truth = exact_gaussian_delta(30.0, (10,), epsilon)
        assert truth < profile.delta(epsilon) < 60.0 * truth


def test_one_cell_is_worst_for_gaussian_noise() -> None:
    for epsilon in (0.5, 1.5, 3.0):
        truths = {shifts: exact_gaussian_delta(3.0, shifts, epsilon) for shifts in partitions(5)}
        assert max(truths, key=truths.__getitem__) == (5,)


@pytest.mark.parametrize("sigma", [0.7, 2.0])
def test_gaussian_with_one_record_is_above_the_exact_profile(sigma: float) -> None:
    exact = veil.vectors.DiscreteGaussianCounts(sigma, 3)
    for change, records in ((Contributions(1), "add-remove"), (Contributions(1, 1), "replace")):
        upper, truth = gaussian_contributions(sigma, change), exact.profile(veil.vectors.Records(records))
        assert exact.profile(change).delta(0.7) == truth.delta(0.7)
        for epsilon in (0.0, 0.1, 1.0, 4.0, 9.0):
            assert upper.delta(epsilon) >= truth.delta(epsilon) * (1.0 - 1e-9)


# Gamma variables, of which Dirichlet rows are made.


def _gamma_cells(prior: float, scale: float, ups: tuple[int, ...], downs: tuple[int, ...]) -> list[Losses]:
    return [
        *(gamma_losses(prior + scale * records, prior) for records in ups),
        *(gamma_losses(prior, prior + scale * records) for records in downs),
    ]


GAMMAS = [(10.0, 1.0), (3.0, 2.5), (100.0, 2.0), (0.8, 0.1)]


@pytest.mark.parametrize(("prior", "scale"), GAMMAS)
@pytest.mark.parametrize(
    "change",
    [(1, 0), (2, 0), (1, 1), *(pytest.param(c, marks=pytest.mark.slow) for c in ((3, 0), (2, 1), (2, 2)))],
)
def test_gamma_is_not_below_the_truth(prior: float, scale: float, change: tuple[int, int]) -> None:
    bound = Contributions(*change)
    profile = gamma_contributions(prior, scale, bound)
    for ups in partitions(bound.added):
        for downs in partitions(bound.removed):
            for pair in ((ups, downs), (downs, ups)):
                losses = together(_gamma_cells(prior, scale, *pair))
                for epsilon in (0.0, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0):
                    assert profile.delta(epsilon) >= losses.delta(epsilon) * (1.0 - 1e-9) - 1e-13


def test_the_bins_agree_with_the_exact_pair() -> None:
    for p, q in ((12.0, 10.0), (10.0, 12.0)):
        losses = gamma_losses(p, q, step=2.0**-12)
        exact = GammaPair(10.0, 2.0).delta(0.6)
        assert losses.delta(0.6) <= exact
        assert max(gamma_losses(a, b, 2.0**-12).delta(0.6) for a, b in ((p, q), (q, p))) == pytest.approx(
            exact, rel=2e-3
        )


@pytest.mark.parametrize(("prior", "scale"), GAMMAS)
def test_gamma_with_one_record_is_above_the_exact_profile(prior: float, scale: float) -> None:
    exact, upper = GammaPair(prior, scale), gamma_contributions(prior, scale, Contributions(1))
    for epsilon in (0.0, 0.1, 0.4, 1.0, 2.0, 5.0):
        assert upper.delta(epsilon) >= exact.delta(epsilon) * (1.0 - 1e-9)
    counts = veil.vectors.DirichletCounts(scale, prior, 4)
    assert counts.profile(Contributions(1)).delta(0.4) == exact.delta(0.4)


def _brute_divergence(prior: float, scale: float, change: Contributions, order: float) -> Any:
    """The largest over all ways to spread the records, in both directions."""
    with mpmath.workdps(60):
        shifted = {u: mpmath.mpf(prior) + mpmath.mpf(scale) * u for u in range(max(change.added, 1) + 1)}
        more = {u: _moment(order, shifted[u], shifted[0]) for u in shifted}
        less = {u: _moment(order, shifted[0], shifted[u]) for u in shifted}

        def worst(moments: dict[int, Any], number: int) -> Any:
            return max(sum((moments[u] for u in cells), mpmath.mpf(0)) for cells in partitions(number))

        one = worst(more, change.added) + worst(less, change.removed)
        other = worst(less, change.added) + worst(more, change.removed)
        return max(one, other) / (mpmath.mpf(order) - 1)


def _moment(order: float, p: Any, q: Any) -> Any:
    """log E_Q[(P/Q)^order] for gamma variables, in high precision; infinite if there is none."""
    exact = mpmath.mpf(order)
    tilted = exact * p - (exact - 1) * q
    if tilted <= 0:
        return mpmath.inf
    return mpmath.loggamma(tilted) - exact * mpmath.loggamma(p) + (exact - 1) * mpmath.loggamma(q)


@pytest.mark.parametrize(("prior", "scale"), [*GAMMAS, (10.0, 10.0), (30.0, 3.0), (1e5, 40.0), (0.3, 0.1)])
@pytest.mark.parametrize("change", [(1, 0), (3, 2), (6, 6)])
def test_dynamic_programming_is_brute_force(prior: float, scale: float, change: tuple[int, int]) -> None:
    bound = Contributions(*change)
    orders = _ORDERS[::8]
    edges = 1.0 + prior / scale / np.arange(1, bound.added + 1)
    orders = orders[(np.abs(orders[:, None] / edges - 1.0) > 1e-9).all(axis=1)]
    found = gamma_contributions(prior, scale, bound).divergence(orders)
    for order, ours in zip(orders.tolist(), found.tolist(), strict=True):
        truth = _brute_divergence(prior, scale, bound, order)
        assert mpmath.mpf(ours) >= truth, (order, ours)
        if mpmath.isfinite(truth):
            # Looser only by rounding, which near order 1 is divided by next to nothing.
            assert ours <= float(truth) * (1.0 + 1e-9) + 1e-9 * prior / (order - 1.0)
        else:
            assert ours == math.inf


@pytest.mark.parametrize(("prior", "scale", "records"), [(21.0, 0.7, 3), (27.0, 0.3, 9)])
def test_not_below_the_truth_at_the_last_order(prior: float, scale: float, records: int) -> None:
    """Order 11 is the last, but for a hair, at which there is a divergence, and is among those tried."""
    order = float(_ORDERS[60])
    change = Contributions(records)
    truth = _brute_divergence(prior, scale, change, order)
    assert mpmath.mpf(gamma_contributions(prior, scale, change).rdp(order)) >= truth


def test_more_records_reveal_more() -> None:
    for make in (partial(gaussian_contributions, 2.0), partial(gamma_contributions, 40.0, 0.7)):
        for epsilon in (0.1, 1.0, 3.0):
            table = np.array(
                [
                    [make(Contributions(added, removed)).delta(epsilon) for removed in range(4)]
                    for added in range(1, 5)
                ]
            )
            assert (np.diff(table, axis=0) >= 0.0).all()
            assert (np.diff(table, axis=1) >= 0.0).all()
            # Added and removed may be exchanged.
            assert np.array_equal(table[:3, 1:4], table[:3, 1:4].T)


def test_less_noise_reveals_more() -> None:
    change = Contributions(3, 1)
    deltas = [gaussian_contributions(sigma, change).delta(1.0) for sigma in (8.0, 4.0, 2.0, 1.0)]
    assert deltas == sorted(deltas)
    deltas = [gamma_contributions(50.0, scale, change).delta(1.0) for scale in (0.2, 0.4, 0.8, 1.6)]
    assert deltas == sorted(deltas)
    deltas = [gamma_contributions(prior, 0.5, change).delta(1.0) for prior in (400.0, 100.0, 25.0, 6.0)]
    assert deltas == sorted(deltas)


# Planted faults: the tests above must be able to see them.


def _seen(profile: RenyiProfile, change: Contributions, sigma: float) -> bool:
    return any(
        profile.delta(epsilon) < exact_gaussian_delta(sigma, shifts, epsilon) * (1.0 - SLACK)
        for epsilon in (0.3, 1.0, 2.0, 4.0)
        for shifts in _gaussian_spreads(change)
    )


def test_planted_faults_of_gaussian_noise_are_seen() -> None:
    change, sigma = Contributions(3, 2), 3.0
    good = gaussian_contributions(sigma, change)
    assert not _seen(good, change, sigma)
    assert _seen(RenyiProfile(lambda orders: 0.5 * good.divergence(orders)), change, sigma)
    # The records that go forgotten; the squares of single records added in place of the square of the sum.
    assert _seen(gaussian_contributions(sigma, Contributions(3)), change, sigma)
    assert _seen(gaussian_contributions(sigma, Contributions(2, 1)), change, sigma)


def test_planted_faults_of_gamma_variables_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    prior, scale, change = 10.0, 1.0, Contributions(3)
    losses = [
        together(_gamma_cells(prior, scale, *pair))
        for cells in partitions(3)
        for pair in ((cells, ()), ((), cells))
    ]

    def below(profile: RenyiProfile) -> bool:
        return any(
            profile.delta(epsilon) < one.delta(epsilon) for one in losses for epsilon in (0.5, 1.0, 2.0, 4.0)
        )

    good = gamma_contributions(prior, scale, change)
    assert not below(good)
    assert below(RenyiProfile(lambda orders: 0.5 * good.divergence(orders)))
    # Only the records one to a cell, not all of them in one.
    single = gamma_contributions(prior, scale, Contributions(1))
    assert below(RenyiProfile(lambda orders: 3.0 * single.divergence(orders)))
    # One direction only.
    monkeypatch.setattr(module, "_less", module._more)
    assert below(gamma_contributions(prior, scale, change))


def test_rounding_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the allowance for rounding some divergence lies below the truth."""
    change = Contributions(3, 2)

    def below() -> int:
        orders = _ORDERS[40:130:3]
        found = gamma_contributions(1e5, 40.0, change).divergence(orders)
        return sum(
            mpmath.mpf(ours) < _brute_divergence(1e5, 40.0, change, order)
            for order, ours in zip(orders.tolist(), found.tolist(), strict=True)
        )

    assert below() == 0
    monkeypatch.setattr(module, "ULP", 0.0)
    monkeypatch.setattr(module, "log_gammas", lambda x: (log_gammas(x)[0], np.zeros_like(x)))
    assert below() > 0
