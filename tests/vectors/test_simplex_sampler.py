"""Back onto the simplex: the projection is the nearest point, by its optimality conditions and by search."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from veil.vectors.projection import normalise, project
from veil.vectors.shrinkage import NoiseLaw, shrunk

POINTS = arrays(np.float64, st.integers(2, 7), elements=st.floats(-5.0, 5.0))


def nearest_by_search(point: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every set of positive entries is tried: the plane's nearest point, if it lies in the simplex."""
    # In rationals: two candidates that are 1e-9 apart are at the same distance in floats.
    exact = [Fraction(entry) for entry in point.tolist()]
    best: Fraction | None = None
    found: list[Fraction] = []
    for mask in range(1, 2**point.size):
        kept = [bool(mask >> i & 1) for i in range(point.size)]
        above = (sum(itertools.compress(exact, kept), Fraction(-1))) / sum(kept)
        candidate = [
            entry - above if stays else Fraction(0) for entry, stays in zip(exact, kept, strict=True)
        ]
        distance = sum(((one - other) ** 2 for one, other in zip(candidate, exact, strict=True)), Fraction(0))
        if min(candidate) >= 0 and (best is None or distance < best):
            best, found = distance, candidate
    return np.array([float(entry) for entry in found])


@settings(derandomize=True, max_examples=50, deadline=None)
@given(POINTS)
def test_projection_is_the_nearest_point(point: NDArray[np.float64]) -> None:
    assert project(point) == pytest.approx(nearest_by_search(point), abs=1e-12)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(arrays(np.float64, st.integers(2, 60), elements=st.floats(-1e3, 1e3)))
def test_projection_satisfies_the_optimality_conditions(point: NDArray[np.float64]) -> None:
    found = project(point)
    assert found.min() >= 0.0
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    # One level is subtracted from every positive entry; no other entry lies above that level.
    level = (point - found)[found > 0.0]
    assert np.ptp(level) <= 1e-9
    assert (point[found == 0.0] <= level.max() + 1e-9).all()


def test_an_off_centre_projection_is_told_apart() -> None:
    point = np.array([0.9, 0.4, -0.2])
    assert project(point) == pytest.approx([0.75, 0.25, 0.0])
    assert normalise(point) != pytest.approx(project(point), abs=1e-2)


@pytest.mark.parametrize("onto", [normalise, project])
def test_probability_vectors_stay_where_they_are(onto: object) -> None:
    assert callable(onto)
    vectors = np.random.default_rng(1).dirichlet([0.5] * 6, size=50)
    assert onto(vectors) == pytest.approx(vectors, abs=1e-14)


def shrink(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return shrunk(points, NoiseLaw("laplace", 0.3, whole=False), total=1.0)


@pytest.mark.parametrize("onto", [normalise, project, shrink])
def test_rows_are_treated_apart_and_the_input_is_kept(onto: object) -> None:
    assert callable(onto)
    points = np.random.default_rng(2).normal(0.2, 1.0, size=(4, 3, 5))
    before = points.copy()
    found = onto(points)
    assert found.shape == points.shape
    for index in np.ndindex(4, 3):
        assert found[index] == pytest.approx(onto(points[index]), abs=1e-15)
    assert (points == before).all()
    found[:] = 0.0
    assert (points == before).all()


@settings(derandomize=True, max_examples=50, deadline=None)
@given(POINTS)
def test_normalising(point: NDArray[np.float64]) -> None:
    found = normalise(point)
    kept = np.maximum(point, 0.0)
    exact = kept / kept.sum() if kept.sum() > 0.0 else np.full(point.size, 1.0 / point.size)
    assert found == pytest.approx(exact, abs=1e-15)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("row", [[-1.0, -2.0, -3.0, -4.0], [0.0, 0.0, 0.0, 0.0], [-0.0, -1e-300, 0.0, -5.0]])
def test_nothing_left_is_uniform(row: list[float]) -> None:
    batch = np.array([row, [1.0, 1.0, 2.0, 0.0]])
    assert normalise(batch)[0].tolist() == [0.25] * 4
    assert normalise(batch)[1].tolist() == [0.25, 0.25, 0.5, 0.0]


@pytest.mark.parametrize("point", [[1e15, 0.0, 0.0], [-1e15, -1e15 + 4.0, 0.0], [1e-300, 1e-300, 1e-300]])
def test_far_away_points_still_land_on_the_simplex(point: list[float]) -> None:
    found = project(np.array(point))
    assert np.isfinite(found).all()
    assert found.min() >= 0.0
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


def test_whole_numbers_are_taken() -> None:
    assert normalise(np.array([3, -1, 1])).tolist() == [0.75, 0.0, 0.25]
    assert project(np.array([3, -1, 1])).tolist() == [1.0, 0.0, 0.0]
