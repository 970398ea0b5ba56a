"""Error bars of the stationary distribution on tables of many shapes: measured coverage and width."""

from __future__ import annotations

import numpy as np
import pytest

import veil
from tests.chains.shapes import SHAPES, noisy, table
from veil.chains.error_bars.counted_rows import NoisyRows
from veil.chains.error_bars.stationary_bars import _of_single_noises, stationary_bars
from veil.chains.estimation.transition_table import TableEstimate
from veil.chains.report.page import CountedReport
from veil.core.numerics.count_grid import Noise
from veil.matrices.chain import Chain
from veil.matrices.report.console import print_chain

_BUSIEST = 60


def coverage(
    shape: str, states: int, total: int, epsilon: float, releases: int
) -> tuple[float, float, float, float] | None:
    """Of the busiest and of all; the standard error; the width beside that of the best interval.

    Of the releases that have bars; None where hardly one has.
    """
    truth = table(shape, states, total, 20)
    shares = Chain(truth / truth.sum(axis=1, keepdims=True)).stationary()
    busiest = np.argsort(-shares)[:_BUSIEST]
    rng, noise = np.random.default_rng(21), Noise("geometric", 1.0 / epsilon)
    held, reach, gaps = [], [], []
    for _ in range(releases):
        values = noisy(truth, epsilon, rng)
        counts = TableEstimate.of(values, noise).counts
        chain = Chain(counts / counts.sum(axis=1, keepdims=True))
        low, high, why = stationary_bars(NoisyRows(values, noise, 1), chain, 0.95)
        if why is not None:
            continue
        held.append((low <= shares) & (shares <= high))
        reach.append(0.5 * (high - low))
        gaps.append(np.abs(chain.stationary() - shares))
    if len(held) < 0.1 * releases:
        return None
    of_busiest = np.mean(held, axis=0)[busiest].mean()
    error = np.std([one[busiest].mean() for one in held]) / np.sqrt(len(held))
    # Of the same coverage, known only to who has the truth.
    best = np.quantile(gaps, of_busiest, axis=0)
    wider = np.mean(reach, axis=0)[busiest].sum() / best[busiest].sum()
    return float(of_busiest), float(np.mean(held)), float(error), float(wider)


@pytest.mark.parametrize(
    ("shape", "epsilon"), [("outer", 1.0), pytest.param("block", 0.5, marks=pytest.mark.slow)]
)
def test_bars_cover_sparse_tables(shape: str, epsilon: float) -> None:
    """Five releases: a quick look, with an allowance of three standard errors."""
    found = coverage(shape, 30, 5_000, epsilon, 5)
    assert found is not None
    of_busiest, of_all, error, wider = found
    assert of_busiest >= 0.93 - 3.0 * error
    assert of_all >= 0.93 - 3.0 * error
    assert wider < 5.0


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["trips", "block"])
def test_bars_cover_tables_with_hardly_any_noise(shape: str) -> None:
    """Half of the releases have none at all. Twelve releases, an allowance of two standard errors."""
    found = coverage(shape, 30, 3_000, 8.0, 12)
    assert found is not None
    of_busiest, of_all, error, _ = found
    assert of_busiest >= 0.93 - 2.0 * error
    assert of_all >= 0.93 - 2.0 * error
    # Without what single noises do, 0.64 and 0.76.
    assert of_all > 0.85


@pytest.mark.parametrize("shape", ["trips", "block", "gravity", "heavy"])
def test_single_noises_are_reached_to_first_order(shape: str) -> None:
    """The noisy counts as they stand, 300 releases: 95 % but for chance (alpha 1e-4) and second order."""
    truth = table(shape, 30, 3_000, 26)
    shares = Chain(truth / truth.sum(axis=1, keepdims=True)).stationary()
    rng, noise, held = np.random.default_rng(27), Noise("geometric", 0.125), []
    rest = np.ones(truth.shape)
    for _ in range(300):
        values = noisy(truth, 8.0, rng)
        counts = np.maximum(values, 1e-9)
        known = TableEstimate(counts, counts, rest, counts, 0)
        found = Chain(counts / counts.sum(axis=1, keepdims=True)).stationary()
        reach = _of_single_noises(NoisyRows(values, noise, 1), known, found, 0.95)
        held.append(np.abs(found - shares) <= reach + 1e-9)
    assert np.mean(held) >= 0.93 - 3.7 * np.mean(held, axis=1).std() / np.sqrt(300)
    many = Noise("geometric", 1.0)
    assert (_of_single_noises(NoisyRows(values, many, 1), known, found, 0.95) == 0.0).all()


@pytest.mark.evidence
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize(("states", "total"), [(5, 500), (30, 3_000), (120, 30_000), (265, 360_000)])
@pytest.mark.parametrize("shape", SHAPES)
def test_bars_cover_tables_of_many_shapes(shape: str, states: int, total: int, epsilon: float) -> None:
    """200 releases: at least 93 %, less two standard errors, of the busiest and of all states."""
    found = coverage(shape, states, total, epsilon, 200)
    if found is None:
        # No bars, and the reason: see below.
        return
    of_busiest, of_all, error, wider = found
    assert of_busiest >= 0.93 - 2.0 * error
    assert of_all >= 0.93 - 2.0 * error
    assert wider < 2.0


@pytest.mark.slow
def test_where_a_release_says_too_little_there_are_no_bars_but_the_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A ring: what is next to what is known, where it is in the long run is not."""
    counts = veil.chains.TransitionCounts(table("ring", 40, 1_000, 22))
    out = veil.chains.release(counts, epsilon=0.5, rng=23)
    bars = veil.chains.intervals(out)
    assert bars.no_stationary is not None
    assert "too little" in bars.no_stationary
    assert (bars.stationary == [0.0, 1.0]).all()
    report = CountedReport.of_release(out)
    assert f"No error bars for shares of time: {bars.no_stationary}" in report.html()
    assert report.to_dict()["intervals"]["no_stationary"] == bars.no_stationary
    print_chain(report)
    assert "No error bars for shares of time" in capsys.readouterr().out


def test_where_it_says_enough_there_are_bars() -> None:
    counts = veil.chains.TransitionCounts(table("independent", 12, 20_000, 24))
    bars = veil.chains.intervals(veil.chains.release(counts, epsilon=1.0, rng=25))
    assert bars.no_stationary is None
    assert (bars.stationary[:, 1] - bars.stationary[:, 0] < 0.2).all()
