"""Lengths behind a noisy histogram: close where users are many, an end where they are none."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.chains.sequences import gap, geometric_noise
from veil.chains.lengths import smoothed_lengths, spread_lengths
from veil.core.numerics.denoise import Noise

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def _bins() -> list[int]:
    bounds = list(range(1, 101))
    while bounds[-1] < 1_000_000:
        bounds.append(round(bounds[-1] * 1.15))
    return bounds


BINS = _bins()


def _histogram(lengths: Integers) -> Integers:
    places = np.searchsorted(BINS, lengths, side="right") - 1
    return np.bincount(places, minlength=len(BINS))


def _lengths(kind: str, users: int) -> Integers:
    rng = np.random.default_rng(1)
    drawn = {
        "short": rng.geometric(0.5, users),
        "heavy": np.minimum(rng.pareto(1.7, users) * 3.0 + 1.0, 20_000.0),
        "peaked": rng.poisson(20.0, users),
        "one": np.full(users, 24),
        "long": rng.geometric(1.0 / 200.0, users),
        "block": rng.integers(1, 13, users),
        "geometric": rng.geometric(0.1, users),
        "seven": np.full(users, 7),
        "two": np.where(rng.random(users) < 0.5, 2, 30),
        "lognormal": np.rint(rng.lognormal(np.log(20.0) - 0.32, 0.8, users)),
    }[kind]
    whole: Integers = np.maximum(drawn, 1).astype(np.int64)
    return whole


def _estimate(lengths: Integers, epsilon: float, seed: int = 2) -> Floats:
    noise = Noise("geometric", 1.0 / epsilon)
    noisy = _histogram(lengths) + geometric_noise(noise, (len(BINS),), np.random.default_rng(seed))
    return smoothed_lengths(noisy, noise, BINS)


@pytest.mark.parametrize(("kind", "part"), [("short", 0.5), ("heavy", 0.7), ("peaked", 0.9), ("one", 0.5)])
def test_closer_than_clipping(kind: str, part: float) -> None:
    lengths = _lengths(kind, 30_000)
    noise = Noise("geometric", 20.0)
    noisy = _histogram(lengths) + geometric_noise(noise, (len(BINS),), np.random.default_rng(2))
    clipped = gap(_histogram(lengths), np.maximum(noisy, 0))
    assert gap(_histogram(lengths), smoothed_lengths(noisy, noise, BINS)) < part * clipped


@pytest.mark.parametrize("kind", ["short", "heavy", "peaked", "one", "long"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_number_of_transitions_is_not_made_up_of_noise(kind: str, epsilon: float) -> None:
    lengths = _lengths(kind, 100_000)
    exact = spread_lengths(_estimate(lengths, epsilon), BINS)
    made = float((exact * (np.arange(len(exact)) - 1.0)).sum())
    # How long the few longest are cannot be known; the noise of all bins alone would be many times the sum.
    assert made == pytest.approx((lengths - 1).sum(), rel=0.4)
    assert exact.sum() == pytest.approx(len(lengths), rel=0.02)


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize(
    ("kind", "users", "scale", "limit"),
    [
        # The mean total variation of twelve releases; what was measured stands behind.
        ("block", 300, 10.0, 0.26),  # 0.20
        ("block", 1000, 10.0, 0.08),  # 0.05
        ("block", 300, 2.5, 0.07),  # 0.05
        ("geometric", 300, 10.0, 0.24),  # 0.17
        ("geometric", 3000, 10.0, 0.07),  # 0.05
        ("peaked", 300, 10.0, 0.3),  # 0.23
        ("seven", 300, 10.0, 0.04),  # 0.01
        ("two", 1000, 10.0, 0.05),  # 0.02
        ("lognormal", 300, 10.0, 0.33),  # 0.25
        ("lognormal", 1000, 10.0, 0.17),  # 0.12
    ],
)
def test_few_users(kind: str, users: int, scale: float, limit: float) -> None:
    lengths = _lengths(kind, users)
    truth = np.bincount(lengths)
    gaps, means = [], []
    for seed in range(12):
        exact = spread_lengths(_estimate(lengths, 1.0 / scale, seed), BINS)
        longest = max(len(exact), len(truth))
        gaps.append(gap(np.pad(truth, (0, longest - len(truth))), np.pad(exact, (0, longest - len(exact)))))
        means.append(float((exact * np.arange(len(exact))).sum() / exact.sum()))
    assert np.mean(gaps) < limit
    assert np.median(means) == pytest.approx(lengths.mean(), rel=0.25)
    # No outlier of the noise becomes a user of a million states.
    assert max(means) < 3.0 * lengths.mean()


@pytest.mark.slow
def test_nobody_in_sight() -> None:
    for seed in range(50):
        exact = spread_lengths(_estimate(np.zeros(0, dtype=np.int64), 0.1, seed), BINS)
        assert 1.0 <= (exact * np.arange(len(exact))).sum() / exact.sum() < 100.0


def test_an_answer_is_not_random() -> None:
    lengths = _lengths("block", 300)
    assert _estimate(lengths, 0.1).tolist() == _estimate(lengths, 0.1).tolist()


def test_exact_lengths_within_wide_bins() -> None:
    lengths = _lengths("heavy", 1_000_000)
    exact = spread_lengths(_histogram(lengths).astype(np.float64), BINS)
    truth = np.bincount(lengths, minlength=len(exact))
    assert exact.sum() == pytest.approx(len(lengths))
    # What is left is that the true counts of single long lengths are random themselves.
    assert gap(truth[: len(exact)], exact) < 0.01
    within = exact[BINS[100] : BINS[101]]
    assert (np.diff(within) < 0.0).all()


@pytest.mark.parametrize("noisy", [[0] * 7, [-9, -8, 3, -2, 4, 1, -6], [10**15, 0, 0, 0, 0, 0, 10**15]])
def test_edges(noisy: list[int]) -> None:
    answer = smoothed_lengths(noisy, Noise("geometric", 2.0), range(1, 8))
    assert np.isfinite(answer).all()
    assert (answer >= 0.0).all()
    assert answer.sum() > 0.0
    assert spread_lengths(answer, range(1, 8)).sum() == pytest.approx(answer.sum())


def test_one_bin_and_nobody() -> None:
    assert smoothed_lengths([500], Noise("gaussian", 2.0), [1]).tolist() == [500.0]
    assert spread_lengths(np.zeros(3), [1, 2, 3]).sum() == 0.0
