"""Strata by length: plans from public numbers, and estimates without the bias of one cap."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.chains.sequences import Floats, Population, gap, geometric_noise, synthetic
from veil.chains.strata import (
    Strata,
    combined_strata,
    guessed_lengths,
    planned_cap,
    planned_shares,
    planned_strata,
    stratum_weights,
)
from veil.core.numerics.denoise import Noise, denoised


def _estimate(people: Population, strata: Strata, epsilon: float, lengths: Floats, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    noises = [Noise("geometric", cap / epsilon) for _, cap in strata]
    shape = (people.states, people.states)
    noise = [geometric_noise(law, shape, rng) for law in noises]
    return combined_strata(people.strata(strata) + np.array(noise), noises, strata, lengths).counts


def _one_cap(people: Population, cap: int, epsilon: float, seed: int) -> Floats:
    noise = Noise("geometric", cap / epsilon)
    table = people.strata(((2, cap),))[0]
    return denoised(table + geometric_noise(noise, table.shape, np.random.default_rng(seed)), noise)


@pytest.fixture(scope="module")
def people() -> Population:
    rng = np.random.default_rng(1)
    lengths = np.minimum(rng.pareto(1.8, 60_000) * 4.0 + 1.0, 2_000.0).astype(np.int64)
    return synthetic(6, lengths, rng)


@pytest.mark.slow
def test_strata_beat_every_single_cap(people: Population) -> None:
    truth = people.second().sum(axis=0)
    lengths = np.bincount(people.lengths).astype(np.float64)
    for given in (None, lengths):
        strata = planned_strata(6, 60_000, 1.0, given)
        ours = np.mean([gap(truth, _estimate(people, strata, 1.0, lengths, seed)) for seed in range(4)])
        for cap in (1, 3, 10, 30, 100, 300):
            single = np.mean([gap(truth, _one_cap(people, cap, 1.0, seed)) for seed in range(4)])
            assert ours < 0.9 * single, cap


def test_a_cap_of_ten_costs_little(people: Population) -> None:
    truth = people.second().sum(axis=0)
    lengths = np.bincount(people.lengths).astype(np.float64)
    strata = planned_strata(6, 60_000, 1.0, lengths, cap=10)
    assert max(cap for _, cap in strata) == 10
    ours = gap(truth, _estimate(people, strata, 1.0, lengths, 5))
    assert ours < 0.4 * gap(truth, _one_cap(people, 10, 1.0, 5))


def test_lengths_that_lie_are_held_to_the_sums(people: Population) -> None:
    # A histogram with long users who are not there: the strata themselves know better.
    truth = people.second().sum(axis=0)
    lengths = np.zeros(5_000)
    lengths[: people.lengths.max() + 1] = np.bincount(people.lengths)
    strata = planned_strata(6, 60_000, 1.0, lengths)
    good = gap(truth, _estimate(people, strata, 1.0, lengths, 6))
    lengths[strata[-1][0] + 5] += 2_000.0
    assert gap(truth, _estimate(people, strata, 1.0, lengths, 6)) < 2.0 * good


@pytest.mark.parametrize("states", [2, 17, 100, 1_000])
@pytest.mark.parametrize("users", [0.0, 10.0, 1e3, 1e5, 1e7])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_plans_are_in_order(states: int, users: float, epsilon: float) -> None:
    for length in (2.0, 5.0, 200.0):
        strata = planned_strata(states, users, epsilon, mean_length=length)
        leasts = [least for least, _ in strata]
        assert leasts[0] == 2
        assert leasts == sorted(set(leasts))
        assert all(cap >= 1 for _, cap in strata)
        assert len(strata) <= 20
        assert all(a <= b for (_, a), (_, b) in pairwise(strata))


def test_more_of_anything_public_allows_more_strata() -> None:
    sizes = [len(planned_strata(17, users, 1.0)) for users in (1e3, 1e4, 1e5, 1e6, 1e7)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    assert len(planned_strata(17, 1e5, 0.1)) < len(planned_strata(17, 1e5, 4.0))
    assert len(planned_strata(100, 1e5, 1.0)) < len(planned_strata(5, 1e5, 1.0))


def test_lengths_that_are_known_are_used() -> None:
    lengths = np.zeros(60)
    lengths[50] = 100_000.0
    assert planned_strata(17, 1e5, 1.0, lengths) == ((2, 49),)
    assert planned_cap(289, 1.0, lengths) == 49
    assert planned_cap(289, 1.0, np.zeros(9), least=4) == 3


def test_guessed_lengths_hold_all_users() -> None:
    for mean in (1.0, 2.0, 5.0, 200.0):
        lengths = guessed_lengths(1e6, mean)
        assert lengths.sum() == pytest.approx(1e6, rel=1e-3)
        assert (lengths >= 0.0).all()


def test_shares_add_up_to_one() -> None:
    for second in (False, True):
        shares = planned_shares(second=second)
        assert sum(shares) == pytest.approx(1.0, abs=1e-12)
        assert (shares.second > 0.0) is second


def test_empty_strata() -> None:
    rng = np.random.default_rng(3)
    busy = rng.random((5, 5)) < 0.6
    strata = ((2, 2), (4, 6), (8, 14))
    noises = [Noise("geometric", float(cap)) for _, cap in strata]
    noisy = np.array([geometric_noise(law, (5, 5), rng) for law in noises])
    noisy[1] += 300 * busy
    lengths = np.array([0.0, 5.0, 0.0, 0.0, 900.0, 300.0])
    for users in (lengths, np.zeros(3)):
        found = combined_strata(noisy, noises, strata, users)
        assert np.isfinite(found.counts).all()
        assert (found.counts > 0.0).all()
        np.testing.assert_allclose(found.laws.sum(axis=(1, 2)), 1.0)


def test_weights_beyond_the_longest() -> None:
    made, counted = stratum_weights(((2, 1), (4, 5), (16, 9)), np.array([0.0, 9.0, 3.0]))
    assert made.tolist() == counted.tolist() == [3.0, 0.0, 0.0]
