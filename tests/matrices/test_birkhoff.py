"""The nearest doubly stochastic matrix, by enumeration and by its certificate; the noise, by its law."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import optimize, stats

from tests.core.fit import ALPHA, chi_square, laplace_pmf
from veil.matrices.samplers import birkhoff
from veil.matrices.samplers.birkhoff import project_birkhoff, sample_zero_sum_rows

Floats = NDArray[np.float64]


def _planes() -> tuple[Floats, Floats]:
    """For every set of entries of a 3 x 3 matrix that may differ from zero: x -> A x + b, the nearest
    matrix (as 9 numbers) with these entries and all sums one, where there is such a matrix."""
    sums = np.array([np.outer(np.eye(3)[i], np.ones(3)).ravel() for i in range(3)])
    sums = np.vstack([sums, [np.outer(np.ones(3), np.eye(3)[i]).ravel() for i in range(3)]])
    linear, constant = [], []
    for kept in product((0.0, 1.0), repeat=9):
        mask = np.diag(kept)
        inverse = np.linalg.pinv(sums @ mask)
        offset = mask @ inverse @ np.ones(6)
        if np.allclose(sums @ offset, 1.0):
            linear.append(mask - mask @ inverse @ sums @ mask)
            constant.append(offset)
    return np.array(linear), np.array(constant)


LINEAR, CONSTANT = _planes()


def nearest_by_enumeration(point: Floats) -> Floats:
    candidates = LINEAR @ point.ravel() + CONSTANT
    inside = candidates[candidates.min(axis=1) >= -1e-12]
    best: Floats = inside[np.argmin(((inside - point.ravel()) ** 2).sum(axis=1))]
    return best.reshape(3, 3)


def gap(point: Floats, found: Floats) -> float:
    """The largest <point - found, P - found> over permutations P: zero only at the nearest matrix.

    The squared distance to the nearest matrix is at most this.
    """
    rest = point - found
    rows, columns = optimize.linear_sum_assignment(-rest)
    return float(rest[rows, columns].sum() - (rest * found).sum())


def is_doubly_stochastic(matrices: Floats, tolerance: float = 1e-12) -> bool:
    sums = np.concatenate([matrices.sum(axis=-1), matrices.sum(axis=-2)], axis=-1)
    return bool(matrices.min() >= 0.0 and np.abs(sums - 1.0).max() <= tolerance)


@settings(derandomize=True, max_examples=40, deadline=None)
@given(arrays(np.float64, (3, 3), elements=st.floats(-2.0, 2.0)))
def test_projection_is_the_nearest_matrix(point: Floats) -> None:
    found = project_birkhoff(point)
    assert found == pytest.approx(nearest_by_enumeration(point), abs=1e-9)
    assert is_doubly_stochastic(found, 4e-15)


def test_projection_agrees_with_a_general_solver() -> None:
    rng = np.random.default_rng(1)
    sums = [{"type": "eq", "fun": lambda x, i=i: x.reshape(3, 3)[i].sum() - 1.0} for i in range(3)]
    sums += [{"type": "eq", "fun": lambda x, i=i: x.reshape(3, 3)[:, i].sum() - 1.0} for i in range(2)]
    for _ in range(8):
        point = rng.normal(1 / 3, 0.5, (3, 3))
        solved = optimize.minimize(
            lambda x, point=point: ((x - point.ravel()) ** 2).sum(),
            np.full(9, 1 / 3),
            method="SLSQP",
            bounds=[(0.0, 1.0)] * 9,
            constraints=sums,
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert project_birkhoff(point).ravel() == pytest.approx(solved.x, abs=1e-5)


@pytest.mark.parametrize("size", [2, 5, 10, 60])
@pytest.mark.parametrize("spread", [1e-3, 0.05, 0.5, 5.0])
def test_larger_matrices_have_their_certificate(size: int, spread: float) -> None:
    rng = np.random.default_rng(size)
    for truth in (np.full((size, size), 1.0 / size), np.eye(size)):
        point = truth + rng.laplace(0.0, spread, (size, size))
        found = project_birkhoff(point)
        assert is_doubly_stochastic(found, 4e-15)
        assert gap(point, found) <= 1e-14 * size * (1.0 + np.abs(point).max())


@pytest.mark.parametrize("size", [5, 20, 60])
def test_optimality_conditions(size: int) -> None:
    rng = np.random.default_rng(size)
    point = 1.0 / size + rng.normal(0.0, 1.0 / size, (size, size))
    found = project_birkhoff(point)
    # One number for each row and column is added to the positive entries; with it no other one is positive.
    rows, columns = np.nonzero(found)
    design = np.zeros((rows.size, 2 * size))
    design[np.arange(rows.size), rows] = 1.0
    design[np.arange(rows.size), size + columns] = 1.0
    levels = np.linalg.lstsq(design, (found - point)[rows, columns], rcond=None)[0]
    moved = point + levels[:size, None] + levels[None, size:]
    assert np.abs(np.maximum(moved, 0.0) - found).max() <= 1e-12


@pytest.mark.parametrize(
    ("size", "spread"),
    [
        (10, 0.05),
        (30, 0.5),
        pytest.param(30, 0.05, marks=pytest.mark.slow),
        pytest.param(100, 0.05, marks=pytest.mark.slow),
    ],
)
def test_projection_agrees_with_alternating_projections(size: int, spread: float) -> None:
    point = 1.0 / size + np.random.default_rng(3).laplace(0.0, spread, (size, size))
    # Dykstra's algorithm between the plane of unit sums and the non-negative matrices.
    slow, correction = birkhoff.centre(point), np.zeros_like(point)
    for _ in range(5000):
        positive = np.maximum(slow + correction, 0.0)
        correction = slow + correction - positive
        slow = birkhoff.centre(positive)
    assert np.abs(project_birkhoff(point) - slow).max() <= 1e-10


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.integers(2, 6).flatmap(lambda n: arrays(np.float64, (n, n), elements=st.integers(-3, 3))))
def test_ties_and_zeros(point: Floats) -> None:
    found = project_birkhoff(point)
    assert is_doubly_stochastic(found)
    assert gap(point, found) <= 1e-12


def test_another_way_back_is_told_apart() -> None:
    point = np.array([[0.9, 0.4, -0.2], [0.1, 0.6, 0.5], [0.3, -0.3, 0.4]])
    assert gap(point, project_birkhoff(point)) <= 1e-14
    scaled = np.maximum(point, 1e-3)
    for _ in range(500):
        scaled /= scaled.sum(axis=1, keepdims=True)
        scaled /= scaled.sum(axis=0)
    assert is_doubly_stochastic(scaled)
    assert gap(point, scaled) > 1e-2


@pytest.mark.parametrize("size", [2, 3, 30])
@pytest.mark.parametrize("far", [1e3, 1e6, 1e12])
def test_far_away_points_still_land_in_the_set(size: int, far: float) -> None:
    rng = np.random.default_rng(4)
    points = rng.normal(0.0, far, (20, size, size))
    found = project_birkhoff(points)
    assert is_doubly_stochastic(found)
    assert max(gap(point, one) for point, one in zip(points, found, strict=True)) <= 1e-13 * size * far


def test_doubly_stochastic_matrices_stay_where_they_are() -> None:
    rng = np.random.default_rng(5)
    for size in (2, 4, 9):
        weights = rng.dirichlet(np.ones(5), size=30)
        shuffles = np.array([np.eye(size)[rng.permutation(size)] for _ in range(5)])
        matrices = np.einsum("bk,kij->bij", weights, shuffles)
        assert project_birkhoff(matrices) == pytest.approx(matrices, abs=1e-14)
        found = project_birkhoff(matrices + rng.normal(0.0, 0.3, matrices.shape))
        assert project_birkhoff(found) == pytest.approx(found, abs=1e-14)


def test_no_truth_is_further_away_than_before() -> None:
    rng = np.random.default_rng(6)
    points = rng.normal(0.25, 0.6, (200, 4, 4))
    found = project_birkhoff(points)
    for truth in (np.eye(4), np.full((4, 4), 0.25)):
        before = np.linalg.norm(birkhoff.centre(points) - truth, axis=(1, 2))
        assert (np.linalg.norm(found - truth, axis=(1, 2)) <= before + 1e-12).all()


def test_batches_are_treated_apart_and_the_input_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(birkhoff, "_AT_A_TIME", 40)
    points = (
        np.random.default_rng(7).normal(0.2, 1.0, (3, 4, 5, 5))
        * np.array([0.1, 1.0, 10.0])[:, None, None, None]
    )
    before = points.copy()
    found = project_birkhoff(points)
    assert found.shape == points.shape
    for index in np.ndindex(3, 4):
        assert found[index] == pytest.approx(project_birkhoff(points[index]), abs=1e-12)
    assert (points == before).all()


def test_even_without_convergence_the_result_is_in_the_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(birkhoff, "_MOST_STEPS", 0)
    points = np.random.default_rng(8).normal(0.2, 1.0, (50, 6, 6))
    for steps in (0, 3):
        monkeypatch.setattr(birkhoff, "_POLISHING_STEPS", steps)
        assert is_doubly_stochastic(project_birkhoff(points))


def zero_sum_law(size: int, scale: int, reach: int) -> dict[tuple[int, ...], float]:
    """The law of a row by brute force."""
    ahead = product(range(-reach, reach + 1), repeat=size - 1)
    rows = [(*part, -sum(part)) for part in ahead]
    weights = np.exp(-np.abs(np.array(rows)).sum(axis=1) / scale)
    return dict(zip(rows, (weights / weights.sum()).tolist(), strict=True))


def fits(drawn: NDArray[np.int64], law: dict[tuple[int, ...], float]) -> float:
    """The p-value of a chi-square test; rows that expect fewer than 10 are joined."""
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    seen = dict(zip(map(tuple, found.tolist()), counts.tolist(), strict=True))
    common = [row for row, mass in law.items() if mass * len(drawn) >= 10.0]
    observed = np.array([seen.get(row, 0) for row in common], dtype=float)
    expected = len(drawn) * np.array([law[row] for row in common])
    rest = len(drawn) - expected.sum()
    return float(
        stats.chisquare(np.append(observed, len(drawn) - observed.sum()), np.append(expected, rest)).pvalue
    )


@pytest.mark.parametrize(
    ("size", "scale", "reach"), [(3, 2, 30), (3, 4, 50), pytest.param(4, 2, 22, marks=pytest.mark.slow)]
)
def test_zero_sum_rows_have_their_law(size: int, scale: int, reach: int) -> None:
    drawn = sample_zero_sum_rows(np.random.default_rng(9), scale=scale, shape=(40_000, size))
    assert (drawn.sum(axis=1) == 0).all()
    assert fits(drawn, zero_sum_law(size, scale, reach)) > ALPHA


def test_other_laws_are_told_apart() -> None:
    rng = np.random.default_rng(10)
    drawn = sample_zero_sum_rows(rng, scale=4, shape=(40_000, 3))
    assert fits(drawn, zero_sum_law(3, 5, 60)) < ALPHA
    # The classic fault: the totals without their acceptance step.
    totals = birkhoff._geometric(rng, 2, 40_000 * 5).reshape(-1, 5).sum(axis=1)
    faulty = birkhoff._compositions(rng, totals, 3) - birkhoff._compositions(rng, totals, 3)
    assert fits(faulty, zero_sum_law(3, 4, 50)) < ALPHA


def test_two_entries_are_a_geometric_number_and_its_opposite() -> None:
    drawn = sample_zero_sum_rows(np.random.default_rng(11), scale=8, shape=(40_000, 2))
    assert chi_square(drawn[:, 0], laplace_pmf(4.0)) > ALPHA
    assert chi_square(drawn[:, 0], laplace_pmf(5.0)) < ALPHA


@pytest.mark.parametrize("size", [2, 3, 10, 40])
def test_large_scales_have_the_stated_variance(size: int) -> None:
    # The kurtosis of an entry is at most 6, so five standard errors are below 5 sqrt(5 / draws).
    scale, draws = 2**43, 200_000 // size
    drawn = sample_zero_sum_rows(np.random.default_rng(12), scale=scale, shape=(draws, size)) / scale
    variance = (2 * size - 1) * (size - 1) / (size * (size + 1))
    for column in (0, size - 1):
        ratio = drawn[:, column].var() / variance
        assert abs(ratio - 1.0) <= 5.0 * math.sqrt(5.0 / draws)
    assert np.abs(drawn).sum(axis=1).mean() == pytest.approx(size - 1, rel=0.02)


def test_shapes_and_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(birkhoff, "_AT_A_TIME", 60)
    first = sample_zero_sum_rows(np.random.default_rng(13), scale=2**20, shape=(3, 4, 5))
    again = sample_zero_sum_rows(np.random.default_rng(13), scale=2**20, shape=(3, 4, 5))
    assert first.shape == (3, 4, 5)
    assert np.array_equal(first, again)
    assert len(np.unique(first[..., 0])) == 12
