"""Counts behind noisy counts: better than clipping and projecting, and no trouble at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from veil.core.numerics.denoise import Noise, denoised, independent_means, posterior

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def _noise(noise: Noise, shape: tuple[int, ...], seed: int) -> Integers:
    rng = np.random.default_rng(seed)
    if noise.kind == "gaussian":
        return np.rint(rng.normal(0.0, noise.scale, shape)).astype(np.int64)
    chance = -np.expm1(-1.0 / noise.scale)
    return rng.geometric(chance, shape) - rng.geometric(chance, shape)


def _table(states: int, size: float, seed: int) -> Integers:
    """Rows of uneven sizes over columns of uneven popularity, most cells empty or small."""
    rng = np.random.default_rng(seed)
    popularity = 1.0 / np.arange(1, states + 1)
    laws = rng.dirichlet(0.5 * states * popularity / popularity.sum(), states)
    sizes = np.maximum(np.rint(size * np.exp(rng.normal(0.0, 1.5, states))), 1.0).astype(np.int64)
    return np.array([rng.multinomial(sizes[row], laws[row]) for row in range(states)])


def _projected(noisy: Integers) -> Floats:
    """Each row on the simplex of its noisy sum, at the least Euclidean distance."""
    answer = np.empty(noisy.shape)
    for row, values in enumerate(noisy):
        falling = np.sort(values)[::-1]
        over = (np.cumsum(falling) - max(values.sum(), 1)) / np.arange(1, len(values) + 1)
        last = np.flatnonzero(falling > over)[-1]
        answer[row] = np.maximum(values - over[last], 0.0)
    return answer


def _rows(table: Floats | Integers) -> Floats:
    return np.asarray((table + 1e-9) / (table + 1e-9).sum(axis=1, keepdims=True))


def _row_gap(table: Integers, estimate: Floats | Integers) -> float:
    return float(0.5 * np.abs(_rows(table) - _rows(estimate)).sum(axis=1).mean())


def _joint_gap(table: Integers, estimate: Floats | Integers) -> float:
    return float(0.5 * np.abs(table / table.sum() - estimate / estimate.sum()).sum())


def _divergence(table: Integers, estimate: Floats) -> float:
    laws, guesses = _rows(table), _rows(estimate)
    return float((table.sum(axis=1) / table.sum() * (laws * np.log(laws / guesses)).sum(axis=1)).sum())


@pytest.mark.parametrize("kind", ["geometric", "gaussian"])
@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_sparse_tables_come_out_closer_than_by_clipping_or_projecting(kind: str, scale: float) -> None:
    noise = Noise("geometric", scale) if kind == "geometric" else Noise("gaussian", 1.4 * scale)
    table = _table(150, 30.0 * scale, seed=3)
    noisy = table + _noise(noise, table.shape, seed=4)
    estimate, clipped, projected = denoised(noisy, noise), np.maximum(noisy, 0), _projected(noisy)
    assert _row_gap(table, estimate) < 0.9 * _row_gap(table, clipped)
    assert _joint_gap(table, estimate) < 0.75 * _joint_gap(table, clipped)
    assert _row_gap(table, estimate) < 0.97 * _row_gap(table, projected)
    assert _joint_gap(table, estimate) < 0.99 * _joint_gap(table, projected)
    assert _divergence(table, estimate) < 0.8 * _divergence(table, np.maximum(noisy, 0) + 1e-3)
    assert _divergence(table, estimate) < 0.85 * _divergence(table, np.maximum(noisy, 0) + 0.5)


def test_rows_that_drown_fall_back_to_the_columns() -> None:
    rng = np.random.default_rng(5)
    law = rng.dirichlet(np.ones(12))
    table = np.array([rng.multinomial(size, law) for size in [20] * 40 + [50_000] * 10])
    noise = Noise("geometric", 20.0)
    noisy = table + _noise(noise, table.shape, seed=6)
    truth = np.repeat(table[:40].sum(axis=0, keepdims=True), 40, axis=0)
    gaps = [_row_gap(truth, rows[:40]) for rows in (denoised(noisy, noise), noisy.clip(0))]
    assert gaps[0] < 0.1 < 0.3 < gaps[1]


def test_large_counts_stay_as_they_are() -> None:
    table = np.array([[10**15, 10**12, 3], [5_000, 7_000, 9_000], [10**9, 2, 10**15 - 1]])
    answer = denoised(table, Noise("geometric", 10.0))
    large = table > 1_000
    assert (answer[large] == table[large]).all()
    assert (answer > 0.0).all()


@pytest.mark.parametrize("scale", [0.02, 0.25, 1.0, 5.9, 12.1, 300.0, 1e9])
@pytest.mark.parametrize("kind", ["geometric", "gaussian"])
def test_every_answer_is_positive_and_finite(kind: str, scale: float) -> None:
    noise = Noise("geometric", scale) if kind == "geometric" else Noise("gaussian", scale)
    deviation = max(1, int(scale))
    for table in (
        np.zeros((2, 2), dtype=np.int64),
        np.array([[0, 0], [0, 10**15]]),
        np.full((3, 3), -60 * deviation),
        np.array([[-5 * deviation, 5 * deviation, 0], [0, 0, 0], [40 * deviation, 1, -3]]),
        np.array([[1]]),
        np.arange(8).reshape(2, 4),
    ):
        answer = denoised(table, noise)
        assert answer.shape == table.shape
        assert np.isfinite(answer).all()
        assert (answer > 0.0).all()


def test_no_noise_to_speak_of_changes_nothing() -> None:
    table = _table(30, 100.0, seed=8)
    answer = denoised(table, Noise("geometric", 0.02))
    np.testing.assert_allclose(answer, table, atol=1e-6)


def test_the_order_of_rows_and_columns_does_not_matter() -> None:
    noise = Noise("geometric", 3.0)
    noisy = _table(40, 60.0, seed=9) + _noise(noise, (40, 40), seed=10)
    rng = np.random.default_rng(11)
    rows, columns = rng.permutation(40), rng.permutation(40)
    shuffled = denoised(noisy[rows][:, columns], noise)
    np.testing.assert_allclose(shuffled, denoised(noisy, noise)[rows][:, columns])
    np.testing.assert_allclose(denoised(noisy.T, noise), denoised(noisy, noise).T)


def test_a_larger_noisy_count_is_never_a_smaller_estimate() -> None:
    noise = Noise("geometric", 7.0)
    noisy = np.arange(-150.0, 150.0)
    for mean in (0.3, 20.0, 400.0):
        known = posterior(noisy, np.full(noisy.shape, mean), noise)
        assert (np.diff(known.mean) > -1e-9).all()
        assert (np.diff(known.median) >= -1e-9).all()


def test_scaling_counts_and_noise_scales_the_answer() -> None:
    # Above a noise of a few units, whether counts are whole does not matter.
    table = _table(60, 3_000.0, seed=12) * 10
    noisy = table + _noise(Noise("geometric", 60.0), table.shape, seed=13)
    once, tenfold = denoised(noisy, Noise("geometric", 60.0)), denoised(noisy * 10, Noise("geometric", 600.0))
    assert np.abs(tenfold / 10.0 - once).max() < 1.0


def test_public_zeros_stay_and_count_for_nothing() -> None:
    noise = Noise("geometric", 5.0)
    table = _table(30, 80.0, seed=14)
    support = np.random.default_rng(15).random((30, 30)) < 0.4
    support[:, 0] = True
    support[7] = False
    table[~support] = 0
    noisy = table + _noise(noise, table.shape, seed=16)
    answer = denoised(noisy, noise, support)
    assert (answer[support] > 0.0).all()
    assert (answer[~support] == 0.0).all()
    elsewhere = np.where(support, noisy, 10**6)
    assert (denoised(elsewhere, noise, support) == answer).all()
    assert _joint_gap(table, answer) < _joint_gap(table, denoised(noisy, noise))
    assert (denoised(noisy, noise, np.zeros((30, 30), dtype=bool)) == 0.0).all()


def test_a_stack_is_done_table_by_table() -> None:
    noise = Noise("gaussian", 4.0)
    stack = np.array([[_table(9, 50.0, seed=s) for s in (17, 18, 19)]]) + _noise(noise, (1, 3, 9, 9), seed=20)
    answer = denoised(stack, noise)
    assert answer.shape == (1, 3, 9, 9)
    for at in range(3):
        assert (answer[0, at] == denoised(stack[0, at], noise)).all()


def test_means_have_the_sums_that_they_were_given() -> None:
    table = np.array([[400.0, 100.0], [800.0, 200.0], [1200.0, 300.0]])
    means = independent_means(table, np.ones((3, 2), dtype=bool), Noise("geometric", 0.5))
    np.testing.assert_allclose(means, table, rtol=1e-3)
    assert posterior(table, means, Noise("geometric", 0.5)).estimate.shape == (3, 2)


def test_the_deviation_of_geometric_noise() -> None:
    noise = Noise("geometric", 3.0)
    gaps = np.arange(-200.0, 201.0)
    weights = noise.weights(gaps)
    assert noise.deviation == pytest.approx(np.sqrt((weights * gaps**2).sum() / weights.sum()), rel=1e-9)
    assert Noise("geometric", 1e-4).deviation == pytest.approx(0.0, abs=1e-12)


def test_a_law_learnt_elsewhere_is_followed_where_the_noise_hides_all() -> None:
    rng = np.random.default_rng(21)
    means = np.exp(rng.normal(5.0, 1.0, 300))
    quiet, loud = Noise("geometric", 1.0), Noise("geometric", 2_000.0)
    seen = (rng.poisson(means) + _noise(quiet, means.shape, seed=22)).astype(np.float64)
    learnt = posterior(seen, means, quiet).theta
    hidden = (rng.poisson(means) + _noise(loud, means.shape, seed=23)).astype(np.float64)
    alone, led = posterior(hidden, means, loud), posterior(hidden, means, loud, learnt, 300.0)
    assert np.abs(led.mean / means - 1.0).max() < 0.35
    assert np.abs(led.mean / means - 1.0).mean() < 0.25 * np.abs(alone.mean / means - 1.0).mean()
    assert led.theta.sum() == pytest.approx(1.0)
