"""Does a sample fit a distribution? One threshold for all tests of the samplers."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

# Every statistical test accepts the truth with probability 1 - 1e-6.
ALPHA = 1e-6

Integers = NDArray[np.int64]


def laplace_pmf(scale: float) -> Callable[[Integers], NDArray[np.float64]]:
    q = math.exp(-1.0 / scale)
    return lambda z: np.asarray((1.0 - q) / (1.0 + q) * q ** np.abs(z))


def gaussian_pmf(variance: float) -> Callable[[Integers], NDArray[np.float64]]:
    reach = math.ceil(40.0 * math.sqrt(variance)) + 2
    total = math.fsum(math.exp(-z * z / (2.0 * variance)) for z in range(-reach, reach + 1))
    return lambda z: np.asarray(np.exp(-(z.astype(float) ** 2) / (2.0 * variance)) / total)


def chi_square(sample: Integers, pmf: Callable[[Integers], NDArray[np.float64]]) -> float:
    """The p-value of a sample of whole numbers; cells that expect fewer than 10 are joined at each end."""
    reach = int(np.abs(sample).max()) + 1
    support = np.arange(-reach, reach + 1)
    expected = sample.size * pmf(support)
    common = expected >= 10.0
    low, high = support[common].min(), support[common].max()
    observed = np.array([np.count_nonzero(sample == z) for z in range(low, high + 1)], dtype=float)
    inside = expected[(support >= low) & (support <= high)]
    rest = sample.size - inside.sum()
    observed = np.append(observed, sample.size - observed.sum())
    inside = np.append(inside, rest)
    if rest < 1e-6:
        observed, inside = observed[:-1], inside[:-1]
    return float(stats.chisquare(observed, inside).pvalue)


def mean_fits(sample: NDArray[np.float64], mean: float, variance: float) -> bool:
    """Whether the mean of independent draws is as stated (normal approximation, two-sided ALPHA)."""
    limit = float(stats.norm.isf(ALPHA / 2.0))
    return bool(abs(sample.mean() - mean) <= limit * math.sqrt(variance / sample.size))
