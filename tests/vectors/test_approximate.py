"""The quick stand-ins have the distribution of the exact samplers."""

import numpy as np
import pytest
from scipy import stats

from tests.core.fit import ALPHA, chi_square, gaussian_pmf, laplace_pmf
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

DRAWS = 60_000


@pytest.mark.parametrize("scale", [0.3, 1.0, 25.0])
def test_laplace(scale: float) -> None:
    sample = GeometricCounts(scale, 2).simulated_noise(np.random.default_rng(1), (DRAWS,))
    assert chi_square(sample, laplace_pmf(scale)) > ALPHA
    assert chi_square(sample, laplace_pmf(1.1 * scale)) < ALPHA


@pytest.mark.parametrize("sigma", [0.3, 1.0, 20.0])
def test_gaussian(sigma: float) -> None:
    sample = DiscreteGaussianCounts(sigma, 2).simulated_noise(np.random.default_rng(2), (DRAWS,))
    assert chi_square(sample, gaussian_pmf(sigma**2)) > ALPHA
    assert chi_square(sample, gaussian_pmf((1.1 * sigma) ** 2)) < ALPHA


@pytest.mark.parametrize("sigma", [9e3, 1.1e4, 1e5])
def test_wide_gaussian(sigma: float) -> None:
    sample = DiscreteGaussianCounts(sigma, 2).simulated_noise(np.random.default_rng(3), (DRAWS,))
    assert stats.kstest(sample / sigma, stats.norm.cdf).pvalue > ALPHA
    assert stats.kstest(sample / sigma * 1.08, stats.norm.cdf).pvalue < ALPHA


def test_shapes() -> None:
    rng = np.random.default_rng(4)
    for sample in (
        GeometricCounts(2.0, 2).simulated_noise(rng, (3, 4, 5)),
        DiscreteGaussianCounts(2.0, 2).simulated_noise(rng, (3, 4, 5)),
        DiscreteGaussianCounts(2e4, 2).simulated_noise(rng, (3, 4, 5)),
    ):
        assert sample.shape == (3, 4, 5)
        assert np.issubdtype(sample.dtype, np.integer)
