"""The large cells of a noisy table: the same law as noise on every cell, then the threshold."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.core.fit import ALPHA, gaussian_pmf, laplace_pmf, mean_fits
from veil.chains.sparse import tails
from veil.chains.sparse.drawing import Kept, draw_kept
from veil.chains.sparse.tails import GaussianTail, GeometricTail, Steps, Tail
from veil.core.numerics.intervals import Arithmetic
from veil.core.random.discrete import sample_discrete_gaussian, sample_discrete_laplace
from veil.errors import InvalidData

COUNTS = np.array([0, 3, 0, 1])
FILLED = np.flatnonzero(COUNTS)
THRESHOLD = 2
# What a kept value is told apart by: not kept, at the threshold, one more, or beyond.
LEVELS = 4
TAILS: dict[str, Tail] = {
    "geometric": GeometricTail(Fraction(3, 2), THRESHOLD),
    "gaussian": GaussianTail(Fraction(4), THRESHOLD),
    # A threshold far below the deviation, where the proposals have a middle of their own.
    "wide gaussian": GaussianTail(Fraction(100), THRESHOLD),
}
PMF = {"geometric": laplace_pmf(1.5), "gaussian": gaussian_pmf(4.0), "wide gaussian": gaussian_pmf(100.0)}


def noise(tail: Tail, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    if isinstance(tail, GeometricTail):
        return sample_discrete_laplace(rng, scale=tail.scale, size=size)
    assert isinstance(tail, GaussianTail)
    return sample_discrete_gaussian(rng, variance=tail.variance, size=size)


def drawn(tail: Tail, rng: np.random.Generator) -> Kept:
    noisy = COUNTS[FILLED] + noise(tail, rng, len(FILLED))
    return draw_kept(rng, tail, cells=len(COUNTS), filled=FILLED, noisy=noisy)


def levels(kept: Kept, threshold: int) -> int:
    """Which of the outcomes a draw is."""
    level = np.zeros(len(COUNTS), dtype=np.int64)
    level[kept.cells] = np.minimum(kept.counts - threshold + 1, LEVELS - 1)
    return int(np.ravel_multi_index(tuple(level), (LEVELS,) * len(COUNTS)))


def dense_law(name: str, threshold: int) -> NDArray[np.float64]:
    """Of every outcome, its probability once all cells have noise."""
    support = np.arange(-400, 401)
    weights = PMF[name](support)
    each = []
    for count in COUNTS:
        level = np.clip(support + count - threshold + 1, 0, LEVELS - 1)
        each.append(np.bincount(level, weights, minlength=LEVELS))
    return np.array([math.prod(p) for p in itertools.product(*each)])


@pytest.mark.parametrize(
    "name", ["geometric", "gaussian", pytest.param("wide gaussian", marks=pytest.mark.slow)]
)
def test_sparse_and_dense_draws_have_the_same_law(name: str) -> None:
    tail, rng = TAILS[name], np.random.default_rng(11)
    draws = 6_000
    seen = np.bincount(
        [levels(drawn(tail, rng), THRESHOLD) for _ in range(draws)], minlength=LEVELS ** len(COUNTS)
    )

    def fits(threshold: int) -> float:
        """The p-value of the draws under the dense law with this threshold."""
        expected = draws * dense_law(name, threshold)
        common = expected >= 10.0
        observed = np.append(seen[common], seen[~common].sum())
        return float(stats.chisquare(observed, np.append(expected[common], expected[~common].sum())).pvalue)

    assert fits(THRESHOLD) > ALPHA
    # Power: a threshold that is off by one shows.
    assert fits(THRESHOLD + 1) < ALPHA
    assert fits(THRESHOLD - 1) < ALPHA


@pytest.mark.parametrize(
    "tail", [GeometricTail(Fraction(2), 17), GaussianTail(Fraction(9), 10)], ids=["geometric", "gaussian"]
)
def test_large_tables(tail: Tail) -> None:
    """How many empty cells pass, and where: as many as expected, anywhere alike, never a filled one."""
    rng, cells = np.random.default_rng(5), 10**9
    filled = np.sort(rng.choice(10**6, 5_000, replace=False))
    kept = draw_kept(rng, tail, cells=cells, filled=filled, noisy=np.zeros(len(filled), dtype=np.int64))
    empty, passing = cells - len(filled), tail.rate
    expected = empty * passing
    assert abs(len(kept.cells) - expected) < stats.norm.isf(ALPHA / 2) * math.sqrt(expected)
    assert (np.diff(kept.cells) > 0).all()
    assert kept.cells[-1] < cells
    assert not np.isin(kept.cells, filled).any()
    assert kept.counts.min() == tail.threshold
    uniform = (kept.cells + 0.5) / cells
    assert stats.kstest(uniform, "uniform").pvalue > ALPHA


def test_all_cells_filled_or_none() -> None:
    rng, tail = np.random.default_rng(2), TAILS["geometric"]
    everything = draw_kept(rng, tail, cells=3, filled=np.arange(3), noisy=np.array([5, 1, 2]))
    assert everything.cells.tolist() == [0, 2]
    assert everything.counts.tolist() == [5, 2]
    nothing = np.array([], dtype=np.int64)
    share = [len(draw_kept(rng, tail, cells=50, filled=nothing, noisy=nothing).cells) for _ in range(2_000)]
    assert mean_fits(np.array(share, dtype=float), 50 * tail.rate, 50 * tail.rate * (1 - tail.rate))
    with pytest.raises(InvalidData, match="rising numbers below 2"):
        draw_kept(rng, tail, cells=2, filled=np.array([1, 0]), noisy=np.array([1, 1]))


@pytest.mark.parametrize("name", list(TAILS))
def test_chance_of_passing(name: str) -> None:
    for threshold in (1, 3, 30):
        kind = type(TAILS[name])
        width = Fraction(3, 2) if kind is GeometricTail else Fraction(100 if "wide" in name else 4)
        tail: Tail = kind(width, threshold)  # type: ignore[call-arg]
        low, high = tail.chance(Arithmetic(40))
        assert 0 < low <= high
        assert Fraction(high) / Fraction(low) - 1 < Fraction(1, 10**30)
        exact = math.fsum(PMF[name](np.arange(threshold, threshold + 300)).tolist())
        assert float(low) == pytest.approx(exact, rel=1e-12)
        assert tail.skips.rate == pytest.approx(-math.log1p(-exact), rel=1e-12)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 10**9), Fraction(25, 2)])
def test_floats_and_intervals_agree(rate: Fraction) -> None:
    """What floats decide is what the same words stand for in real numbers."""
    steps = Steps(lambda a: a.number(rate))
    rng = np.random.default_rng(3)
    words = rng.integers(0, 2**64, 400, dtype=np.uint64)
    words[:3] = 0, 1, 2**64 - 1
    told = np.empty(len(words), dtype=np.int64)
    tails._count_steps(words, steps.rate, steps.error, told)
    # So small a number says too little of its logarithm, and a word of zero nothing.
    assert (told[3:] >= 0).mean() > 0.99
    assert told[0] == -1
    for word, step in zip(words.tolist(), told.tolist(), strict=True):
        if step >= 0:
            assert steps._settled(rng, word) == step


def test_acceptance_in_floats_and_intervals() -> None:
    tail, rng = GaussianTail(Fraction(100), 2), np.random.default_rng(4)
    words = rng.integers(0, 2**64, 400, dtype=np.uint64)
    proposed = rng.integers(0, 40, 400)
    verdict = np.empty(400, dtype=np.int8)
    tails._compare(words, proposed, float(tail._middle), 200.0, verdict)
    assert 100 < (verdict == 1).sum() < 300
    assert (verdict >= 0).mean() > 0.99
    for word, j, taken in zip(words.tolist(), proposed.tolist(), verdict.tolist(), strict=True):
        if taken >= 0:
            assert tails._exceeds(rng, word, (j - tail._middle) ** 2 / 200) == bool(taken)
