"""Degrees behind noisy ones: what changes with an edge, and how good the estimates are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.graphs.numerics.small import matrices, pairs, total_variation
from tests.params import quick_first
from veil.graphs.numerics.degrees import (
    L1_SENSITIVITY,
    DegreeProfile,
    degree_distribution,
    falling,
    isotonic,
    isotonic_degrees,
)

Integers = NDArray[np.int64]


def noise(scale: float, size: int, rng: np.random.Generator) -> Integers:
    chance = -np.expm1(-1.0 / scale)
    return np.asarray(rng.geometric(chance, size) - rng.geometric(chance, size))


def heavy_tailed(nodes: int, seed: int) -> Integers:
    rng = np.random.default_rng(seed)
    return np.minimum(rng.pareto(1.3, nodes) * 8 + rng.poisson(3, nodes), nodes / 4).astype(np.int64)


@pytest.mark.parametrize("cut", [0, 1, 2, 4])
def test_sensitivity_of_all_graphs_of_five_nodes(cut: int) -> None:
    profile = DegreeProfile(5, cut)
    found = np.array([profile.of(row) for row in matrices(5).sum(axis=1)])
    assert found.shape == (2**10, profile.size)
    numbers = np.arange(2**10)
    changes = [np.abs(found - found[numbers ^ 1 << at]).sum(axis=1).max() for at in range(len(pairs(5)))]
    assert max(changes) == L1_SENSITIVITY


@pytest.mark.parametrize("cut", [0, 3, 20, 99])
def test_profile_without_noise(cut: int) -> None:
    degrees = heavy_tailed(100, 3)
    profile = DegreeProfile(100, cut)
    found = profile.degrees(profile.of(degrees), scale=0.01)
    assert found.tolist() == np.sort(degrees)[::-1].tolist()


def test_cut_is_public_and_within_bounds() -> None:
    assert DegreeProfile.among(4039).cut == 191
    assert [DegreeProfile.among(nodes).cut for nodes in (1, 2, 5)] == [0, 1, 4]
    for nodes in (1, 2, 3):
        profile = DegreeProfile.among(nodes)
        assert profile.degrees(profile.of(np.zeros(nodes, dtype=np.int64)), scale=2.0).tolist() == [0] * nodes


def test_better_than_isotonic_regression() -> None:
    """Mean error and total variation: the published way, the posterior of the same sequence, the profile."""
    rng = np.random.default_rng(1)
    errors, gaps = np.zeros(3), np.zeros(3)
    for seed in range(4):
        degrees = np.sort(heavy_tailed(3000, seed))[::-1]
        true = degree_distribution(degrees, nodes=3000)
        rows, profile = DegreeProfile(3000, 0), DegreeProfile.among(3000)
        noisy = rows.of(degrees) + noise(2.0, rows.size, rng)
        asked = profile.of(degrees) + noise(2.0, profile.size, rng)
        answers = [isotonic_degrees(noisy), rows.degrees(noisy, scale=2.0), profile.degrees(asked, scale=2.0)]
        for at, answer in enumerate(answers):
            assert (np.diff(answer) <= 0).all()
            assert answer.min() >= 0
            assert answer.max() < 3000
            errors[at] += np.abs(answer - degrees).mean() / 4
            gaps[at] += total_variation(degree_distribution(answer, nodes=3000), true) / 4
    assert errors[1] < 0.75 * errors[0]
    assert errors[2] < 0.75 * errors[1]
    assert gaps[1] < 0.7 * gaps[0]
    assert gaps[2] < 0.7 * gaps[1]


@pytest.mark.parametrize(
    "truth",
    [
        np.zeros(5000, dtype=np.int64),
        np.append(10**6, np.ones(3000, dtype=np.int64)),
        np.repeat([10**6, 10**5, 3, 0], [1500, 1500, 1500, 1500]),
        np.arange(4000, 0, -1),
        np.array([7]),
    ],
    ids=["nought", "star", "cliffs", "slope", "one"],
)
@pytest.mark.parametrize("scale", quick_first([2.0, 0.05, 40.0]))
def test_extremes(truth: Integers, scale: float) -> None:
    """Long flat stretches and great steps: no trouble with tiny chances, and never worse than isotonic."""
    noisy = truth + noise(scale, len(truth), np.random.default_rng(7))
    found = falling(noisy, scale=scale, most=2 * 10**6)
    assert (np.diff(found) <= 0).all()
    plain = np.abs(isotonic(noisy, most=2 * 10**6) - truth).mean()
    assert np.abs(found - truth).mean() <= 1.3 * plain + 3.0 * scale / np.sqrt(len(truth))


def test_wild_answers_do_no_harm() -> None:
    """Nothing that is handed in is refused: far-off numbers, all at the bounds."""
    for value in (-(10**9), 10**9):
        assert set(falling(np.full(50, value), scale=1.0, most=10).tolist()) <= {0, 1, 9, 10}
    assert falling(np.zeros(0, dtype=np.int64), scale=1.0, most=5).size == 0
    assert falling(np.array([3, 9]), scale=1.0, most=0).tolist() == [0, 0]


def test_distribution() -> None:
    assert degree_distribution(np.array([0, 2, 2, 1]), nodes=4).tolist() == [0.25, 0.25, 0.5, 0.0]
