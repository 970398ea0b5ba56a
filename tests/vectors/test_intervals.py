"""Error bars cover as often as they say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import veil
from veil.errors import InvalidArgument
from veil.vectors.accuracy import (
    concentration,
    largest_entry_failure,
    largest_entry_quantile,
    published_concentration,
    total_variation_failure,
)

TRUTH = np.array([0.45, 0.25, 0.15, 0.1, 0.05])


def _coverage(release: Any, draws: Any, truth: Any, **options: Any) -> float:
    limits = veil.vectors.intervals(replace(release, value=draws), **options)
    return float(((limits[..., 0] <= truth) & (truth <= limits[..., 1])).mean())


@pytest.mark.slow
@pytest.mark.parametrize("smooth", [False, True])
def test_coverage_for_vectors(smooth: bool) -> None:
    # 4,000 x 5 entries at 95 %: the standard error is at most 0.0035 (entries of a vector are dependent)
    mechanism = veil.vectors.Dirichlet(40.0, veil.vectors.Simplex(5, floor=0.05), smooth=smooth)
    release = veil.release(mechanism, TRUTH, adjacency=veil.vectors.Transfer(0.01), delta=1e-3, rng=1)
    draws = mechanism.sample(TRUTH, rng=2, size=4000)
    assert 0.94 < _coverage(release, draws, TRUTH, confidence=0.95) < 0.96
    assert 0.48 < _coverage(release, draws, TRUTH, confidence=0.5) < 0.52
    # power: bars of a mechanism with half the noise do not cover
    sharper = replace(release, mechanism=replace(mechanism, k=160.0))
    assert _coverage(sharper, draws, TRUTH, confidence=0.95) < 0.8


@pytest.mark.parametrize("size", [300, pytest.param(4000, marks=pytest.mark.slow)])
def test_coverage_for_counts(size: int) -> None:
    counts = (TRUTH * 200).astype(int)
    mechanism = veil.vectors.DirichletCounts(1.5, 20.0, 5)
    release = veil.release(mechanism, counts, adjacency=veil.vectors.Records("replace"), delta=1e-3, rng=1)
    draws = mechanism.sample(counts, rng=2, size=size)
    # Cutting at 0 and 1 can only add coverage.
    assert 0.94 < _coverage(release, draws, counts / 200, records=200) < 0.98


def test_what_error_bars_need() -> None:
    counts = veil.release(
        veil.vectors.DirichletCounts(1.5, 20.0, 3), [1, 2, 3], adjacency=veil.vectors.Records(), delta=1e-3
    )
    with pytest.raises(InvalidArgument, match="records"):
        veil.vectors.intervals(counts)
    noisy = veil.release(veil.vectors.GeometricCounts(1.5, 3), [1, 2, 3], adjacency=veil.vectors.Records())
    with pytest.raises(InvalidArgument, match="GeometricCounts"):
        veil.vectors.intervals(noisy)
    with pytest.raises(InvalidArgument, match="confidence"):
        veil.vectors.intervals(counts, confidence=95, records=6)


def test_published_concentration_is_false() -> None:
    """ERRATA 16: p = (0.1, ..., 0.1), theta = 0.9: the theorem's k fails with probability 0.997."""
    p, theta = np.full(10, 0.1), 0.9
    mu = float(np.sqrt(-np.log(theta) / (2 * 11.0)))
    assert published_concentration(mu, theta) == pytest.approx(10.0)
    draws = np.random.default_rng(3).dirichlet(10.0 * p, size=20_000)
    failure = (np.abs(draws - p).max(axis=1) > mu).mean()
    assert failure == pytest.approx(0.997, abs=0.002)
    assert failure > theta


def test_repaired_concentration_holds() -> None:
    p, theta, mu = np.full(10, 0.1), 0.05, 0.1
    k = concentration(10, mu, theta)
    draws = np.random.default_rng(4).dirichlet(k * p, size=20_000)
    errors = np.abs(draws - p)
    assert (errors.max(axis=1) > mu).mean() <= theta
    assert largest_entry_failure(10, k, mu) == pytest.approx(theta, rel=1e-9)
    exact = largest_entry_quantile(k * p, p, theta)
    assert exact < mu
    assert (errors.max(axis=1) > exact).mean() <= theta
    for distance in (0.1, 0.2, 0.3):
        assert (0.5 * errors.sum(axis=1) > distance).mean() <= total_variation_failure(10, k, distance)
