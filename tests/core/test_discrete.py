"""Exact discrete noise against its probabilities."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.core.fit import ALPHA, chi_square, gaussian_pmf, laplace_pmf
from veil.core.random.discrete import _Bits, sample_discrete_gaussian, sample_discrete_laplace

DRAWS = 40_000
SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)]
VARIANCES = [Fraction(1, 5), Fraction(1), Fraction(50, 7), Fraction(400)]


@pytest.mark.parametrize("scale", SCALES)
def test_discrete_laplace_fits_and_a_wrong_scale_is_seen(scale: Fraction) -> None:
    sample = sample_discrete_laplace(np.random.default_rng(1), scale=scale, size=DRAWS)
    assert sample.dtype == np.int64
    assert chi_square(sample, laplace_pmf(float(scale))) > ALPHA
    for off in (0.9, 1.1):
        assert chi_square(sample, laplace_pmf(off * float(scale))) < ALPHA


@pytest.mark.parametrize("variance", VARIANCES)
def test_discrete_gaussian_fits_and_a_wrong_variance_is_seen(variance: Fraction) -> None:
    sample = sample_discrete_gaussian(np.random.default_rng(2), variance=variance, size=DRAWS)
    assert sample.dtype == np.int64
    assert chi_square(sample, gaussian_pmf(float(variance))) > ALPHA
    for off in (0.8, 1.2):
        assert chi_square(sample, gaussian_pmf(off * float(variance))) < ALPHA


def test_an_even_zero_is_seen() -> None:
    # The classic fault: a sign drawn for zero as well, which doubles its probability.
    sample = sample_discrete_laplace(np.random.default_rng(3), scale=Fraction(2), size=DRAWS)
    assert chi_square(sample, laplace_pmf(2.0)) > ALPHA
    rng = np.random.default_rng(4)
    faulty = (rng.geometric(-np.expm1(-0.5), DRAWS) - 1) * rng.choice([-1, 1], DRAWS)
    assert chi_square(faulty, laplace_pmf(2.0)) < ALPHA


@pytest.mark.parametrize("scale", [Fraction(10**12 + 1, 7), Fraction(10**15)])
def test_wide_discrete_laplace_looks_continuous(scale: Fraction) -> None:
    sample = sample_discrete_laplace(np.random.default_rng(5), scale=scale, size=DRAWS) / float(scale)
    assert stats.kstest(sample, stats.laplace.cdf).pvalue > ALPHA
    assert stats.kstest(sample * 1.08, stats.laplace.cdf).pvalue < ALPHA


@pytest.mark.parametrize("variance", [Fraction(10**20 + 1, 3), Fraction(10**12)])
def test_wide_discrete_gaussian_looks_normal(variance: Fraction) -> None:
    sample = sample_discrete_gaussian(np.random.default_rng(6), variance=variance, size=DRAWS)
    scaled = sample / float(variance) ** 0.5
    assert stats.kstest(scaled, stats.norm.cdf).pvalue > ALPHA
    assert stats.kstest(scaled * 1.08, stats.norm.cdf).pvalue < ALPHA


@pytest.mark.parametrize("size", [0, 1, 17])
def test_sizes(size: int) -> None:
    assert sample_discrete_laplace(np.random.default_rng(7), scale=Fraction(2), size=size).shape == (size,)
    assert sample_discrete_gaussian(np.random.default_rng(7), variance=Fraction(2), size=size).shape == (
        size,
    )


def positions(sample: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    return sample[: sample.size // width * width].reshape(-1, width)


@pytest.mark.slow
def test_every_position_is_randomised_the_same_way() -> None:
    rng = np.random.default_rng(8)
    draws = np.stack([sample_discrete_laplace(rng, scale=Fraction(3), size=6) for _ in range(4000)])
    for column in draws.T:
        assert chi_square(column, laplace_pmf(3.0)) > ALPHA
    still = draws[:, -1] * 0
    assert chi_square(still, laplace_pmf(3.0)) < ALPHA


def test_consecutive_draws_are_independent() -> None:
    sample = sample_discrete_gaussian(np.random.default_rng(9), variance=Fraction(9), size=DRAWS)
    pairs = positions(sample, 2)
    table = np.histogram2d(pairs[:, 0], pairs[:, 1], bins=[[-99, -2, 0, 3, 99]] * 2)[0]
    assert stats.chi2_contingency(table).pvalue > ALPHA
    repeated = np.histogram2d(pairs[:, 0], pairs[:, 0], bins=[[-99, -2, 0, 3, 99]] * 2)[0]
    assert stats.chi2_contingency(repeated).pvalue < ALPHA


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 64, 100])
def test_uniform_whole_numbers(bound: int) -> None:
    bits = _Bits(np.random.default_rng(10))
    counts = np.bincount([bits.below(bound) for _ in range(20_000)], minlength=bound)
    assert counts.size == bound
    assert bound == 1 or stats.chisquare(counts).pvalue > ALPHA


@pytest.mark.parametrize("bound", [2**64 - 1, 2**64, 2**64 + 1, 2**127 + 3, 10**50])
def test_uniform_whole_numbers_of_any_size(bound: int) -> None:
    bits = _Bits(np.random.default_rng(11))
    values = [bits.below(bound) for _ in range(4000)]
    assert all(0 <= value < bound for value in values)
    assert stats.kstest(np.array([value / bound for value in values]), stats.uniform.cdf).pvalue > ALPHA
    # The low bits are as random as the high ones.
    assert stats.binomtest(sum(value % 2 for value in values), 4000).pvalue > ALPHA


def test_seeds_repeat() -> None:
    first, again, other = (
        sample_discrete_gaussian(np.random.default_rng(seed), variance=Fraction(30), size=50)
        for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()
