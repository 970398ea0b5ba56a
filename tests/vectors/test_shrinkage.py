"""Shares behind noisy numbers, by empirical Bayes: right where clipping is wrong, never far off elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from veil.vectors import DiscreteGaussianCounts, Gaussian, GeometricCounts, Laplace, Simplex
from veil.vectors import shrinkage as module
from veil.vectors.shrinkage import NoiseLaw, shrunk

LAWS: list[tuple[Literal["laplace", "normal"], float, bool]] = [
    ("laplace", 0.2, True),
    ("laplace", 2.0, True),
    ("laplace", 30.0, True),
    ("normal", 4.0, True),
    ("laplace", 0.02, False),
    ("normal", 0.02, False),
]


@pytest.mark.parametrize("law", LAWS)
def test_what_comes_out_are_positive_probability_vectors(
    law: tuple[Literal["laplace", "normal"], float, bool],
) -> None:
    noise = NoiseLaw(*law)
    points = np.random.default_rng(3).normal(0.0, 30.0 * noise.scale, size=(7, 11))
    points[0], points[1] = -1e9 * noise.scale, 1e9 * noise.scale
    for found in (shrunk(points, noise), shrunk(points, noise, total=1.0)):
        assert found.shape == points.shape
        assert (found > 0.0).all()
        assert found.sum(axis=-1) == pytest.approx(1.0, abs=1e-12)


def test_without_noise_to_speak_of_counts_stay_as_they_are() -> None:
    counts = np.array([5, 0, 120, 3, 0, 71])
    found = shrunk(counts, NoiseLaw("laplace", 0.05, whole=True))
    assert found == pytest.approx(counts / counts.sum(), abs=1e-6)


def test_large_entries_are_taken_as_they_stand() -> None:
    noisy = np.array([4_000.0, 3_017.0, 2.0, -3.0])
    found = shrunk(noisy, NoiseLaw("laplace", 10.0, whole=True))
    assert found[0] / found[1] == pytest.approx(4_000 / 3_017, rel=1e-12)


def test_order_does_not_matter() -> None:
    noisy = np.random.default_rng(1).normal(5.0, 10.0, 40)
    order = np.random.default_rng(2).permutation(40)
    noise = NoiseLaw("normal", 10.0, whole=False)
    assert shrunk(noisy, noise)[order] == pytest.approx(shrunk(noisy[order], noise), rel=1e-9)


@pytest.mark.parametrize("law", LAWS[1:])
def test_long_vectors_come_out_like_short_ones(
    law: tuple[Literal["laplace", "normal"], float, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entries that are alike are taken together in long vectors: what that changes is far below the noise."""
    noise, rng = NoiseLaw(*law), np.random.default_rng(4)
    noisy = noise.scale * (rng.gamma(0.3, 10.0, 700) + rng.laplace(size=700))
    noisy[:3] = [-15.0 * noise.scale, 40.0 * noise.scale, 1e3 * noise.scale]
    noisy = np.rint(noisy) if noise.whole else noisy
    together = shrunk(noisy, noise)
    monkeypatch.setattr(module, "_MANY", 10_000)
    apart = shrunk(noisy, noise)
    assert 0.5 * np.abs(together - apart).sum() < 2e-3
    if noise.whole and noise.scale <= 64:
        assert together == pytest.approx(apart, rel=1e-9)


def _mean_tv(mechanism: GeometricCounts, counts: NDArray[np.int64], draws: int = 300) -> float:
    drawn = mechanism.simulate(counts, rng=np.random.default_rng(6), size=draws)
    return 0.5 * float(np.abs(drawn - counts / counts.sum()).sum(axis=-1).mean())


SHAPES = {
    "empty": np.where(np.arange(100) < 5, 200, 0),
    "one": np.where(np.arange(100) == 3, 1_000, 0),
    "even": np.full(100, 10),
    "zipf": np.rint(200 / np.arange(1, 101)).astype(int),
    "linear": np.arange(1, 101),
}


@pytest.mark.parametrize("shape", list(SHAPES))
def test_it_is_never_far_from_the_best_simple_way_back_and_often_much_better(shape: str) -> None:
    counts = SHAPES[shape].astype(np.int64)
    errors = {
        onto: _mean_tv(GeometricCounts(5.0, 100, onto=onto), counts)
        for onto in ("normalisation", "projection", "shrinkage")
    }
    simple = min(errors["normalisation"], errors["projection"])
    assert errors["shrinkage"] < 1.2 * simple
    if shape in ("empty", "even"):
        assert errors["shrinkage"] < 0.8 * simple
    if shape in ("empty", "one"):
        assert errors["shrinkage"] < 0.4 * errors["normalisation"]


@pytest.mark.parametrize(
    "mechanism",
    [
        GeometricCounts(3.0, 6, onto="shrinkage"),
        DiscreteGaussianCounts(3.0, 6, onto="shrinkage"),
        Laplace(0.02, Simplex(6), onto="shrinkage"),
        Gaussian(0.02, Simplex(6), onto="shrinkage"),
    ],
    ids=lambda mechanism: mechanism.name,
)
def test_it_is_post_processing_of_the_same_noise(mechanism: object) -> None:
    """Another way back changes neither the noise nor the profile; the law says what the noise is."""
    assert isinstance(mechanism, (GeometricCounts, DiscreteGaussianCounts, Laplace, Gaussian))
    value = [50, 20, 0, 1, 30, 0]
    shares = [count / 101 for count in value] if isinstance(mechanism, (Laplace, Gaussian)) else value
    clipped = replace(mechanism, onto="normalisation")
    drawn, other = mechanism.sample(shares, rng=5), clipped.sample(shares, rng=5)
    noisy = mechanism.simulate_noisy(shares, rng=np.random.default_rng(8), size=20_000)
    gaps = (noisy - np.asarray(shares)).ravel()
    if mechanism.law.kind == "laplace":
        assert np.abs(gaps).mean() == pytest.approx(mechanism.law.scale, rel=0.03)
    else:
        assert gaps.std() == pytest.approx(mechanism.law.scale, rel=0.03)
    assert not np.allclose(drawn, other)
    assert np.argmax(drawn) == np.argmax(other)
