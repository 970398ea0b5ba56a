"""The taxi zones of the data-driven chains paper: formulas by hand, and what the printed figures say."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from veil_papers.data_driven_chains import smallest_epsilon
from veil_papers.taxi_zones import (
    figure_3,
    least_frequencies,
    least_k,
    merged,
    rows_at,
    strongest,
    table_1,
)

import veil
from veil.errors import CannotCalibrate
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.samples.city import city_trips
from veil.vectors.published_bounds import published_delta
from veil.vectors.simplex import Simplex

Integers = NDArray[np.int64]

GAMMA = 1e-8
# All trips of the paper's Section 6.2.
TRIPS = 2_933_898
TABLE = np.array([[40, 25, 35, 20], [12, 90, 30, 60], [9, 11, 200, 80], [50, 60, 70, 15]])


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def epsilon_by_hand(least: float, records: float, zones: int, *, times: float = 1.0) -> float:
    """Equation (3) for a row of so many records whose least count is so large, at k = times * 3 / (2 eta)."""
    eta = least / records
    k = times * 1.5 / eta
    ratio = log_beta(k * eta, k * (1 - 2 * eta))
    ratio -= log_beta(k * (eta + 1 / records), k * (1 - 2 * eta - 1 / records))
    return ratio + k / records * math.log((1 - (zones - 1) * GAMMA) / GAMMA)


def delta_by_hand(k: float, zones: int, *, times: float = 1.0) -> float:
    """Equation (4) where k = times * 3 / (2 eta): of the count, only k matters."""
    return published_delta(k, Simplex(zones, floor=times * 1.5 / k), GAMMA)


def solve(function: Callable[[float], float], goal: float, low: float, high: float) -> float:
    """Where a growing function reaches the goal; infinite beyond."""
    if function(high) < goal:
        return math.inf
    while high / low > 1.0 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if function(middle) < goal else (low, middle)
    return high


def city(trips: int) -> Integers:
    table = city_trips(trips)
    origins, ends = (
        np.asarray(table[name].combine_chunks().indices.to_numpy(), dtype=np.int64)
        for name in ("pickup", "dropoff")
    )
    return np.bincount(63 * origins + ends, minlength=63 * 63).reshape(63, 63)


# The formulas


def test_floors_and_k_are_read_off_the_data() -> None:
    np.testing.assert_allclose(least_frequencies(TABLE), [20 / 120, 12 / 192, 9 / 300, 15 / 195], rtol=1e-15)
    # Rounded so that the least frequency is not below the floor.
    assert (least_frequencies(TABLE) <= TABLE.min(axis=1) / TABLE.sum(axis=1)).all()
    np.testing.assert_allclose(least_k(TABLE), [9.0, 24.0, 50.0, 19.5])
    rows = rows_at(TABLE, 2.0)
    assert isinstance(rows, BorderedRows)
    np.testing.assert_allclose(rows.k, 2.0 * least_k(TABLE))
    assert rows.records == (120, 192, 300, 195)
    # The table itself is inside what the mechanism asks for.
    assert rows.validate(TABLE) is not None


def test_table_1_by_hand() -> None:
    found = strongest(TABLE, gamma=GAMMA)
    rows = [epsilon_by_hand(row.min(), row.sum(), 4) for row in TABLE]
    assert found.zones == 4
    assert found.epsilon == pytest.approx(max(rows), rel=1e-9)
    # The row whose least count is least: the size of a row hardly matters.
    assert int(np.argmax(rows)) == 2
    assert found.delta == pytest.approx(max(delta_by_hand(k, 4) for k in least_k(TABLE)), rel=1e-6)
    for row in TABLE:
        star = smallest_epsilon(4, int(row.sum()), floor=row.min() / row.sum(), gamma=GAMMA)
        assert star == pytest.approx(epsilon_by_hand(row.min(), row.sum(), 4), rel=1e-9)


def test_empty_cells_have_no_finite_epsilon() -> None:
    holed = TABLE.copy()
    holed[1, 2] = 0
    found = strongest(holed, gamma=GAMMA)
    assert (found.epsilon, found.delta, found.exact) == (math.inf, 1.0, math.inf)


@pytest.mark.slow
def test_the_truth_is_below_what_is_printed() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        counts = rng.integers(1, 200, size=(5, 5))
        found = strongest(counts, gamma=GAMMA)
        assert 0.0 < found.exact <= found.epsilon
        # It is what the mechanism has at that delta, and no less.
        profile = rows_at(counts).profile(veil.vectors.Records("replace"))
        assert profile.delta(found.exact) <= found.delta * (1.0 + 1e-9)
        assert profile.delta(0.99 * found.exact) > found.delta


# Merging


def test_merging_by_hand() -> None:
    # c has the fewest trips and shares most with a: 3 + 4 against 1 + 2.
    counts = np.array([[10, 20, 3], [30, 40, 1], [4, 2, 5]])
    assert merged(counts, 2).tolist() == [[10 + 3 + 4 + 5, 20 + 2], [30 + 1, 40]]
    assert merged(counts, 3).tolist() == counts.tolist()
    assert merged(counts, 9).tolist() == counts.tolist()


def test_merging_loses_no_trip() -> None:
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 30, size=(12, 12))
    before = counts.copy()
    for zones in range(12, 1, -1):
        table = merged(counts, zones)
        assert table.shape == (zones, zones)
        assert table.sum() == counts.sum()
        # Step by step is the same as all at once.
        assert merged(merged(counts, min(zones + 1, 12)), zones).tolist() == table.tolist()
    assert (counts == before).all()


def falls(rows: Any) -> None:
    """Printed epsilons fall as zones are merged, but for gamma's share: (zones - 1) gamma."""
    for more, fewer in pairwise(rows):
        assert fewer.epsilon <= more.epsilon * (1.0 + 1e-6)
    for row in rows:
        assert row.exact <= row.epsilon
        assert 0.0 < row.delta <= 1.0


@pytest.mark.slow
def test_table_1_on_a_small_city() -> None:
    rows = table_1(city(50_000), (63, 40, 12, 8, 6))
    assert [row.zones for row in rows] == [63, 40, 12, 8, 6]
    falls(rows)
    # With so few trips most cells of 63 zones are empty; a dozen large ones have them all.
    assert rows[0].epsilon == math.inf
    assert 1.0 < rows[-1].epsilon < rows[2].epsilon < 10.0
    # The truth is less than half of it.
    assert all(row.exact < 0.5 * row.epsilon for row in rows[2:])


@pytest.mark.slow
def test_table_1_on_a_city_as_large_as_the_papers() -> None:
    counts = city(TRIPS)
    assert counts.sum() == TRIPS
    rows = table_1(counts)
    assert [row.zones for row in rows] == [63, 60, 55, 50, 45, 40, 35, 30]
    falls(rows)
    # As in the paper: hopeless at first, single digits in the end.
    assert rows[0].epsilon > 40.0
    assert rows[-1].epsilon < 10.0
    for row in rows:
        assert row.exact < 0.5 * row.epsilon or row.epsilon == math.inf
        assert merged(counts, row.zones).sum() == TRIPS


# Figure 3


@pytest.mark.slow
def test_figure_3() -> None:
    counts = merged(city(50_000), 8)
    times = (1.0, 1.5, 2.0, 3.0)
    points = figure_3(counts, times, draws=300, rng=np.random.default_rng(3))
    assert [point.times for point in points] == list(times)
    first = strongest(counts, gamma=GAMMA)
    assert (points[0].epsilon, points[0].delta, points[0].exact) == (first.epsilon, first.delta, first.exact)
    for point in points:
        rows = [epsilon_by_hand(row.min(), row.sum(), 8, times=point.times) for row in counts]
        assert point.epsilon == pytest.approx(max(rows), rel=1e-9)
        assert point.exact < 0.55 * point.epsilon
    # Less privacy, less error: by the square root of k.
    moved = [point.moved for point in points]
    assert moved == sorted(moved, reverse=True)
    assert moved[3] / moved[0] == pytest.approx(math.sqrt(1 / 3), rel=0.1)
    assert 0.0 < moved[3] < moved[0] < 0.2
    again = figure_3(counts, times, draws=300, rng=np.random.default_rng(3))
    assert again == points


@pytest.mark.slow
def test_algorithm_2_end_to_end() -> None:
    """From the counts to a charged release: at the least k, at more, and refused below it."""
    counts = merged(city(50_000), 8)
    floors, least = least_frequencies(counts), strongest(counts, gamma=GAMMA)
    options: dict[str, Any] = {
        "delta": least.delta,
        "mechanism": "published",
        "change": "replace",
        "floor": floors.tolist(),
        "rng": 1,
    }
    with pytest.raises(CannotCalibrate, match=f"at least {least.exact:.3g}"):
        veil.chains.release(counts, epsilon=0.99 * least.exact, **options)
    out = veil.chains.release(counts, epsilon=1.01 * least.exact, **options)
    assert out.epsilon <= 1.01 * least.exact
    assert out.delta == least.delta
    (part,) = out.mechanism.parts  # type: ignore[attr-defined]
    assert isinstance(part.mechanism, BorderedRows)
    assert (np.array(part.mechanism.k) >= least_k(counts) * (1.0 - 1e-9)).all()
    # What the paper prints for the same release is more than twice as much.
    assert part.mechanism.published(gamma=GAMMA).epsilon > 2.0 * out.epsilon
    assert len(out.assumptions) == 2


# The printed numbers


@pytest.mark.parametrize(
    ("zones", "printed", "least", "low", "high"),
    [
        # One trip of a row as large as those of the busiest zones.
        (63, 45.39, 1, 1.5e5, 1.7e5),
        (55, 19.82, 2, 5.0e3, 6.0e3),
        (50, 4.690, 9, 1.0e5, 1.3e5),
        (40, 3.730, 10, 4.0e3, 5.5e3),
        (40, 3.730, 11, 5.5e4, 7.0e4),
        (35, 3.078, 12, 4.0e3, 5.0e3),
        (35, 3.078, 13, 3.0e4, 4.5e4),
    ],
)
def test_table_1_fits_whole_counts(zones: int, printed: float, least: int, low: float, high: float) -> None:
    """Each printed epsilon is the formula's, for a least count that is a small whole number."""
    records = solve(lambda n: epsilon_by_hand(least, n, zones), printed, zones * least, 1e9)
    assert low < records < high
    # No more trips than there are, and room for all zones.
    assert zones * least < records < TRIPS / 10
    assert epsilon_by_hand(least, records, zones) == pytest.approx(printed, abs=1e-6)


def test_table_1_fits_no_other_count() -> None:
    """45.39 needs a cell with one trip: two never come near it; 3.73 needs about ten, not five or twenty."""
    assert epsilon_by_hand(2, TRIPS, 63) < 45.39 < epsilon_by_hand(1, TRIPS, 63)
    assert epsilon_by_hand(13, TRIPS, 40) < 3.73 < epsilon_by_hand(8, 8 * 40, 40)


@pytest.mark.slow
def test_the_delta_of_the_text_fits_and_that_of_the_introduction_does_not() -> None:
    """3.73 and 5.19 are 1.4 times apart in k; so are 3e-6 and 5e-9 in their deltas, not 6e-6 and 5e-9."""
    for least, records in ((10, 4_684), (11, 61_286)):
        times = solve(lambda t, c=least, n=records: epsilon_by_hand(c, n, 40, times=t), 5.19, 1.0, 3.0)  # type: ignore[misc]
        assert times == pytest.approx(1.4, abs=0.01)
    later = {}
    for printed in (3e-6, 6e-6):
        k = solve(lambda k: delta_by_hand(k, 40), printed, 100.0, 1e6)
        later[printed] = delta_by_hand(1.4 * k, 40, times=1.4)
    assert 4e-9 < later[3e-6] < 7e-9
    assert later[6e-6] > 1.2e-8


@pytest.mark.parametrize("zones", [63, 50, 40, 30])
def test_the_strongest_privacy_of_the_text_fits_no_table(zones: int) -> None:
    """(2.68, 0.0214) at gamma = 1e-8: a row with such a delta and no larger epsilon has too many trips.

    Of a least count c, both grow with the number of trips N: k = 1.5 N / c.
    """
    largest = 0.0
    for least in range(1, 40):
        reached = solve(lambda n, c=least: epsilon_by_hand(c, n, zones), 2.685, zones * least, TRIPS)  # type: ignore[misc]
        records = min(reached, TRIPS)
        if epsilon_by_hand(least, records, zones) <= 2.685:
            largest = max(largest, delta_by_hand(1.5 * records / least, zones))
    assert 0.0 < largest < 0.0214 / 3
