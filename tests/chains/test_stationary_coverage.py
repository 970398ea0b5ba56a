"""Error bars of the stationary distribution on tables of many shapes: measured coverage and width."""

from __future__ import annotations

import numpy as np
import pytest

from tests.chains.shapes import noisy, table
from veil.chains.error_bars.counted_rows import NoisyRows
from veil.chains.error_bars.stationary_bars import stationary_bars
from veil.chains.estimation.transition_table import TableEstimate
from veil.core.numerics.count_grid import Noise
from veil.matrices.chain import Chain

_BUSIEST = 60


def coverage(shape: str, states: int, total: int, epsilon: float, releases: int) -> tuple[float, ...]:
    """Of the busiest and of all; the standard error; the width beside that of the best interval."""
    truth = table(shape, states, total, 20)
    shares = Chain(truth / truth.sum(axis=1, keepdims=True)).stationary()
    busiest = np.argsort(-shares)[:_BUSIEST]
    rng, noise = np.random.default_rng(21), Noise("geometric", 1.0 / epsilon)
    held, reach, gaps = [], [], []
    for _ in range(releases):
        values = noisy(truth, epsilon, rng)
        counts = TableEstimate.of(values, noise).counts
        chain = Chain(counts / counts.sum(axis=1, keepdims=True))
        low, high, _ = stationary_bars(NoisyRows(values, noise, 1), chain, 0.95)
        held.append((low <= shares) & (shares <= high))
        reach.append(0.5 * (high - low))
        gaps.append(np.abs(chain.stationary() - shares))
    of_busiest = np.mean(held, axis=0)[busiest].mean()
    error = np.std([one[busiest].mean() for one in held]) / np.sqrt(releases)
    # Of the same coverage, known only to who has the truth.
    best = np.quantile(gaps, of_busiest, axis=0)
    wider = np.mean(reach, axis=0)[busiest].sum() / best[busiest].sum()
    return float(of_busiest), float(np.mean(held)), float(error), float(wider)


@pytest.mark.parametrize(
    ("shape", "epsilon"), [("outer", 1.0), pytest.param("block", 0.5, marks=pytest.mark.slow)]
)
def test_bars_cover_sparse_tables(shape: str, epsilon: float) -> None:
    """Five releases: a quick look, with an allowance of three standard errors."""
    of_busiest, of_all, error, wider = coverage(shape, 30, 5_000, epsilon, 5)
    assert of_busiest >= 0.93 - 3.0 * error
    assert of_all >= 0.93 - 3.0 * error
    assert wider < 5.0


@pytest.mark.evidence
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize(("states", "total"), [(5, 500), (30, 3_000), (120, 30_000), (265, 360_000)])
@pytest.mark.parametrize("shape", ["outer", "gravity", "block", "heavy", "independent"])
def test_bars_cover_tables_of_many_shapes(shape: str, states: int, total: int, epsilon: float) -> None:
    """200 releases: at least 93 %, less two standard errors, of the busiest and of all states."""
    of_busiest, of_all, error, wider = coverage(shape, states, total, epsilon, 200)
    assert of_busiest >= 0.93 - 2.0 * error
    assert of_all >= 0.93 - 2.0 * error
    assert wider < 2.0
