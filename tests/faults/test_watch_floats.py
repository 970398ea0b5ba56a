"""What the standard audit cannot see of floats: numbers of few bits behind the noise, and odd laws.

Each test accepts the truth with probability 1 - 1e-6.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

import veil
from tests.core.fit import ALPHA, laplace_pmf
from tests.faults.suites import TINY, plain


@pytest.mark.parametrize("bits", [24, 32])
def test_no_short_uniform_number_is_behind_the_noise(bits: int) -> None:
    """At a tiny scale the noise on an entry of 0 comes out as it is, and exp(-noise / scale) is uniform.

    Had it few bits, it would lie on a grid of odd multiples of 2^-(bits + 1), or of even ones.
    """
    mechanism = plain(veil.vectors.Laplace, TINY, veil.vectors.Simplex(2))
    drawn = mechanism.sample([1.0, 0.0], rng=9, size=2_000)[:, 1]
    uniform = np.exp(-drawn[(drawn > 0.0) & (drawn < TINY)] / TINY)
    assert len(uniform) > 400
    # The exponential is good to about 2^-52: that is 2^-19 of a step of the finer grid.
    places = np.ldexp(uniform, bits + 1)
    off = np.abs(places - np.rint(places))
    assert stats.kstest(off, stats.uniform(0.0, 0.5).cdf).pvalue > ALPHA


def test_noisy_counts_follow_their_law() -> None:
    """All outcomes of two noisy counts, against the law of the noise by brute force."""
    mechanism, value = veil.vectors.GeometricCounts(2.0, 2), (3, 5)
    noise = np.arange(-60, 61)
    chances_of = laplace_pmf(2.0)(noise).tolist()
    law: dict[float, float] = {}
    for (one, p), (other, q) in product(zip(noise.tolist(), chances_of, strict=True), repeat=2):
        first, second = max(0, value[0] + one), max(0, value[1] + other)
        share = first / (first + second) if first + second else 0.5
        law[share] = law.get(share, 0.0) + p * q
    drawn = mechanism.sample(value, rng=3, size=20_000)[:, 0]
    # The larger outcomes one by one, the rest together.
    large = [share for share, chance in law.items() if chance > 1e-3]
    counts = np.array([np.count_nonzero(drawn == share) for share in large])
    chances = np.array([law[share] for share in large])
    seen, expected = np.append(counts, len(drawn) - counts.sum()), np.append(chances, 1.0 - chances.sum())
    assert stats.chisquare(seen, len(drawn) * expected).pvalue > ALPHA
    # Power: a scale of 2.2 would be seen.
    wider = veil.vectors.GeometricCounts(2.2, 2).sample(value, rng=4, size=20_000)[:, 0]
    odd = np.array([np.count_nonzero(wider == share) for share in large])
    assert stats.chisquare(np.append(odd, len(wider) - odd.sum()), len(wider) * expected).pvalue < ALPHA
