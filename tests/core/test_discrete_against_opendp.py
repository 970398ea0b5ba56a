"""Two implementations of the same noise: ours and OpenDP's."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.core.fit import ALPHA
from tests.params import quick_first
from veil.core.random.discrete import sample_discrete_gaussian, sample_discrete_laplace

dp: Any = pytest.importorskip("opendp.prelude")

DRAWS = 20_000


@pytest.fixture(autouse=True)
def _contrib() -> None:
    dp.enable_features("contrib")


def same_distribution(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """The p-value of a chi-square test of homogeneity; rare values are joined."""
    edges = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0.02, 0.98, 25)))
    bins = np.concatenate([[-np.inf], edges + 0.5, [np.inf]])
    table = np.array([np.histogram(sample, bins)[0] for sample in (first, second)])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def opendp_laplace(scale: float) -> NDArray[np.int64]:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    return np.array(dp.m.make_laplace(*space, scale=scale)([0] * DRAWS))


def opendp_gaussian(scale: float) -> NDArray[np.int64]:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    return np.array(dp.m.make_gaussian(*space, scale=scale)([0] * DRAWS))


def our_laplace(scale: float) -> NDArray[np.int64]:
    return sample_discrete_laplace(np.random.default_rng(1), scale=Fraction(scale), size=DRAWS)


def our_gaussian(scale: float) -> NDArray[np.int64]:
    return sample_discrete_gaussian(np.random.default_rng(1), variance=Fraction(scale) ** 2, size=DRAWS)


@pytest.mark.slow
@pytest.mark.parametrize(("ours", "theirs"), [(our_laplace, opendp_laplace), (our_gaussian, opendp_gaussian)])
@pytest.mark.parametrize("scale", quick_first([20.0, 0.75]))
def test_same_noise_and_a_wrong_scale_is_seen(
    ours: Callable[[float], NDArray[np.int64]], theirs: Callable[[float], NDArray[np.int64]], scale: float
) -> None:
    assert same_distribution(ours(scale), theirs(scale)) > ALPHA
    assert same_distribution(ours(1.25 * scale), theirs(scale)) < ALPHA
