"""The exact samplers that work on many numbers at a time: samples against probabilities, and faults seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.core.fit import ALPHA
from tests.core.scripted import enumerated, mutated
from tests.params import quick_first
from veil.core.random import discrete, exact_tables
from veil.core.random.discrete import sample_discrete_gaussian, sample_discrete_laplace
from veil.core.random.exact_tables import Law
from veil.core.random.streams import generator, random_words

DRAWS = 1_000_000
SLOW_DRAWS = 20_000

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
# P(Z <= z) of whole numbers z.
Cumulative = Callable[[Integers], Floats]


def laplace_cumulative(scale: float) -> Cumulative:
    def cumulative(z: Integers) -> Floats:
        tail = np.exp(-np.where(z < 0, -z, z + 1) / scale) / (1.0 + math.exp(-1.0 / scale))
        return np.asarray(np.where(z < 0, tail, 1.0 - tail))

    return cumulative


def gaussian_cumulative(sigma: float) -> Cumulative:
    reach = math.ceil(40.0 * sigma) + 2
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    summed = np.cumsum(weights) / weights.sum()
    return lambda z: np.asarray(summed[np.clip(z + reach, 0, 2 * reach)])


def p_value(sample: Integers, cumulative: Cumulative, scale: float) -> float:
    """Chi-square over about 80 bins that do not depend on the sample; 10 or more are expected in each."""
    edges = np.unique(np.rint(np.concatenate([scale * np.linspace(-5.0, 5.0, 81), [-2, -1, 0, 1]]))).astype(
        np.int64
    )
    kept: list[int] = []
    before = 0.0
    for edge in edges.tolist():
        up_to = sample.size * float(cumulative(np.array([edge]))[0])
        if up_to - before >= 10.0 and sample.size - up_to >= 10.0:
            kept.append(edge)
            before = up_to
    bounds = np.array(kept, dtype=np.int64)
    expected = sample.size * np.diff(cumulative(bounds), prepend=0.0, append=1.0)
    observed = np.bincount(np.searchsorted(bounds, sample, side="left"), minlength=len(bounds) + 1)
    return float(stats.chisquare(observed, expected).pvalue) if kept else 1.0


@pytest.mark.parametrize("scale", quick_first([1.0, 1e6, 1 / 3, 7.3, 1e3, 1e12], quick=2))
def test_laplace_fits_and_three_percent_are_seen(scale: float) -> None:
    sample = sample_discrete_laplace(np.random.default_rng(1), scale=Fraction(scale), size=DRAWS)
    assert sample.dtype == np.int64
    assert sample.shape == (DRAWS,)
    assert p_value(sample, laplace_cumulative(scale), scale) > ALPHA
    for off in (0.97, 1.03):
        assert p_value(sample, laplace_cumulative(off * scale), scale) < ALPHA


@pytest.mark.parametrize("sigma", quick_first([1.0, 1e3, 0.3, 7.3], quick=2))
def test_gaussian_fits_and_three_percent_are_seen(sigma: float) -> None:
    sample = sample_discrete_gaussian(np.random.default_rng(2), variance=Fraction(sigma) ** 2, size=DRAWS)
    assert sample.dtype == np.int64
    assert p_value(sample, gaussian_cumulative(sigma), sigma) > ALPHA
    for off in (0.97, 1.03):
        assert p_value(sample, gaussian_cumulative(off * sigma), sigma) < ALPHA


def test_a_tiny_scale_gives_zeros() -> None:
    # At scale 0.05 a draw differs from zero with probability 4e-9: of 1e5 draws none does, up to 4e-4. No
    # sample tells 0.05 from 0.0515; test_discrete_law.py does.
    for scale in (0.05, 1e-6):
        assert not sample_discrete_laplace(np.random.default_rng(3), scale=Fraction(scale), size=10**5).any()
    tiny = Fraction(1e-3) ** 2
    assert not sample_discrete_gaussian(np.random.default_rng(3), variance=tiny, size=10**5).any()


@pytest.mark.parametrize("modulus", quick_first([257, 2, 3, 16]))
def test_low_digits_of_wide_noise_are_even(modulus: int) -> None:
    for sample in (
        sample_discrete_laplace(np.random.default_rng(4), scale=Fraction(1e12), size=DRAWS),
        sample_discrete_gaussian(np.random.default_rng(5), variance=Fraction(1e5) ** 2, size=DRAWS),
    ):
        assert stats.chisquare(np.bincount(sample % modulus, minlength=modulus)).pvalue > ALPHA
        # One draw in twenty is a multiple of the modulus.
        stuck = np.where(np.arange(DRAWS) % 20 == 0, sample - sample % modulus, sample)
        assert stats.chisquare(np.bincount(stuck % modulus)).pvalue < ALPHA


def test_the_default_generator_fits_too() -> None:
    sample = sample_discrete_laplace(generator(), scale=Fraction(40.5), size=DRAWS)
    assert p_value(sample, laplace_cumulative(40.5), 40.5) > ALPHA
    sample = sample_discrete_gaussian(generator(), variance=Fraction(40.5) ** 2, size=DRAWS)
    assert p_value(sample, gaussian_cumulative(40.5), 40.5) > ALPHA


@pytest.mark.parametrize("name", ["pcg", "aes"])
def test_words_are_the_raw_words_of_the_generator(name: str) -> None:
    def fresh() -> Any:
        from randomgen import AESCounter

        return np.random.PCG64(6) if name == "pcg" else AESCounter(key=6)

    words = random_words(np.random.Generator(fresh()), 1000)
    assert (words == fresh().random_raw(1000)).all()


FAULTS = [
    ("kept = ~(negative & (magnitudes == 0))", "kept = np.ones(count, dtype=np.bool_)"),
    ("-magnitudes, magnitudes)[kept]", "magnitudes, magnitudes)[kept]"),
    ("kept &= ~rejected", "pass"),
    ("term * top // (bottom * k)", "term * top // (bottom * (k + 1))"),
    ("ratio = exp_minus(law.rate, precision)", "ratio = exp_minus(2 * law.rate, precision)"),
    ("change = _product(ratio, ratio, precision)", "change = ratio"),
]


@pytest.mark.parametrize(("old", "new"), quick_first(FAULTS, quick=2))
def test_planted_faults_are_seen(old: str, new: str) -> None:
    faulty = mutated(exact_tables, old, new)
    seen = []
    for law, cumulative in (
        (Law.laplace(Fraction(2)), laplace_cumulative(2.0)),
        (Law.laplace(Fraction(40)), laplace_cumulative(40.0)),
        (Law.gaussian(Fraction(50)), gaussian_cumulative(50.0**0.5)),
    ):
        sample = faulty.sample_in_blocks(np.random.default_rng(7), law, DRAWS)
        # Bins of one number each, to see what happens inside a block.
        seen.append(p_value(sample, cumulative, 8.0) < ALPHA)
    assert any(seen)


# Where the scale leaves 64 bits: the sampler that draws one number at a time.


@pytest.mark.slow
@pytest.mark.parametrize("bits", quick_first([54, 57]))
def test_huge_scales_are_drawn_one_by_one(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("not in blocks")

    monkeypatch.setattr(discrete, "sample_in_blocks", never)
    scale = Fraction(2**bits + 1)
    laplace = sample_discrete_laplace(np.random.default_rng(8), scale=scale, size=SLOW_DRAWS)
    assert stats.kstest(laplace / float(scale), stats.laplace.cdf).pvalue > ALPHA
    variance = (2 * scale) ** 2
    gaussian = sample_discrete_gaussian(np.random.default_rng(9), variance=variance, size=SLOW_DRAWS)
    assert stats.kstest(gaussian / (2.0 * float(scale)), stats.norm.cdf).pvalue > ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("bits", quick_first([53, 52]))
def test_just_below_the_limit_is_fast_and_fits(bits: int) -> None:
    scale = 2**bits + Fraction(1, 3)
    assert Law.laplace(scale).block_bits <= exact_tables.MOST_BLOCK_BITS
    sample = sample_discrete_laplace(np.random.default_rng(10), scale=scale, size=DRAWS)
    assert p_value(sample, laplace_cumulative(float(scale)), float(scale)) > ALPHA
    sample = sample_discrete_gaussian(np.random.default_rng(11), variance=scale**2, size=DRAWS)
    assert stats.kstest(sample / float(scale), stats.norm.cdf).pvalue > ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("scale", quick_first([1.0, 1 / 3, 7.3, 1e3]))
def test_one_by_one_has_the_same_distribution(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discrete, "MOST_BLOCK_BITS", -1)
    sample = sample_discrete_laplace(np.random.default_rng(12), scale=Fraction(scale), size=SLOW_DRAWS)
    assert p_value(sample, laplace_cumulative(scale), scale) > ALPHA
    variance = Fraction(scale) ** 2
    sample = sample_discrete_gaussian(np.random.default_rng(13), variance=variance, size=SLOW_DRAWS)
    assert p_value(sample, gaussian_cumulative(scale), scale) > ALPHA
    assert p_value(sample, gaussian_cumulative(1.15 * scale), scale) < ALPHA


def series_fits(module: Any, top: int, bottom: int) -> bool:
    """Whether exp(-top / bottom) lies between what enumerated paths say and what the open ones could add."""
    found = enumerated(lambda bits: module._bernoulli_exp_at_most_one(bits, top, bottom), Fraction(1, 10**6))
    open_mass = 1 - sum(found.values())
    assert 0 <= open_mass < Fraction(1, 400)
    true, least = Fraction(math.exp(-top / bottom)), found.get(True, Fraction(0))
    rounding = Fraction(1, 10**15)
    return least - rounding <= true <= least + open_mass + rounding


@pytest.mark.parametrize(("top", "bottom"), [(0, 1), (1, 1), (1, 2), (2, 3), (3, 4)])
def test_series_by_enumeration(top: int, bottom: int) -> None:
    assert series_fits(discrete, top, bottom)


@pytest.mark.parametrize(
    ("old", "new"),
    [("k = 1\n", "k = 2\n"), ("bottom * k)", "bottom * (k + 1))"), ("k % 2 == 1", "k % 2 == 0")],
)
def test_an_error_in_the_series_is_seen(old: str, new: str) -> None:
    assert not series_fits(mutated(discrete, old, new), 1, 2)


def laplace_fits(module: Any, scale: int) -> bool:
    found = enumerated(lambda bits: module._discrete_laplace(bits, scale, 1), Fraction(1, 10**5))
    open_mass = 1 - sum(found.values())
    assert 0 < open_mass < 0.12
    q = math.exp(-1.0 / scale)
    exact = {z: (1.0 - q) / (1.0 + q) * q ** abs(z) for z in range(-4, 5)}
    return all(found.get(z, 0) <= exact[z] <= found.get(z, 0) + open_mass for z in exact)


@pytest.mark.slow
@pytest.mark.parametrize("scale", quick_first([1, 2]))
def test_one_laplace_draw_by_enumeration(scale: int) -> None:
    assert laplace_fits(discrete, scale)
    kept_zero = mutated(discrete, "        if size:\n            return -size", "        return -size")
    assert not laplace_fits(kept_zero, scale)
