"""Some entry of a Dirichlet vector below a threshold: long vectors, against closed forms and sampling."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import betainc

from veil.vectors.corners import some_entry_below

from ..oracles.brute import published_delta_by_monte_carlo

# Two-sided normal tail beyond 4.5 standard errors: alpha = 7e-6 for each comparison.
LIMIT = 4.5


@pytest.mark.parametrize("entries", [4, 50, 500, 3000])
@pytest.mark.parametrize("rest", [0.0, 0.5, 40.0])
def test_unit_shapes_have_a_closed_form(entries: int, rest: float) -> None:
    # P[all of m unit entries >= g] = (1 - m g)^(m - 1 + rest)
    for share in (1e-12, 1e-6, 1e-3, 0.1, 0.6):
        threshold = share / entries
        exact = -math.expm1((entries - 1.0 + rest) * math.log1p(-entries * threshold))
        found = some_entry_below([(1.0, entries)], rest, threshold)
        assert exact * (1.0 - 1e-10) <= found <= min(1.0, exact * (1.0 + 1e-6))


@pytest.mark.parametrize(
    ("shapes", "rest", "threshold"),
    [
        ([0.3] * 3 + [2.0] * 9, 4.0, 1e-3),
        ([5.0] * 30, None, 0.008),
        pytest.param([2.0] * 400 + [7.0] * 100, 30.0, 5e-5, marks=pytest.mark.slow),
        ([40.0] * 10, 100.0, 0.045),
    ],
)
def test_against_sampling(shapes: list[float], rest: float | None, threshold: float) -> None:
    rng = np.random.default_rng(21)
    groups = [(shape, shapes.count(shape)) for shape in sorted(set(shapes))]
    found = some_entry_below(groups, rest or 0.0, threshold)
    frequency, error = published_delta_by_monte_carlo([*shapes, rest], threshold, 40_000, rng)
    assert abs(frequency - found) < LIMIT * error
    # Power: the figures of a threshold or of shapes that are 10 % off are told apart.
    for off in (0.9, 1.1):
        assert abs(frequency - some_entry_below(groups, rest or 0.0, off * threshold)) > LIMIT * error
    wider = [(1.1 * shape, count) for shape, count in groups]
    assert abs(frequency - some_entry_below(wider, rest or 0.0, threshold)) > LIMIT * error


@pytest.mark.parametrize("groups", [[(2.0, 500)], [(0.5, 3), (8.0, 20)], [(60.0, 5)]])
def test_grows_with_the_threshold(groups: list[tuple[float, int]]) -> None:
    entries = sum(count for _, count in groups)
    thresholds = np.geomspace(1e-6, 0.9, 15) / entries
    values = [some_entry_below(groups, 3.0, float(threshold)) for threshold in thresholds]
    assert all(later >= earlier * (1.0 - 1e-8) for earlier, later in pairwise(values))
    assert values[-1] > 10.0 * values[0]


@pytest.mark.parametrize("entries", [10, 500])
def test_grows_with_the_number_of_entries(entries: int) -> None:
    # the same vector of total shape 2000, with all or with half of the entries looked at
    many = some_entry_below([(3.0, entries)], 2000.0 - 3.0 * entries, 1e-4)
    fewer = some_entry_below([(3.0, entries // 2)], 2000.0 - 3.0 * (entries // 2), 1e-4)
    assert fewer < 0.6 * many


@pytest.mark.parametrize("scale", [1e3, pytest.param(1e5, marks=pytest.mark.slow), 1e7, 1e10])
def test_concentrated_vectors_are_not_understated(scale: float) -> None:
    # Half a dozen standard deviations below its mean each entry fails alone, so the union bound is tight.
    shape, rest = 0.1 * scale, 0.7 * scale
    mean, deviation = 0.1, math.sqrt(0.09 / scale)
    for distance in (4.0, 6.0, 10.0):
        threshold = mean - distance * deviation
        one = float(betainc(shape, 0.9 * scale, threshold))
        found = some_entry_below([(shape, 3)], rest, threshold)
        assert 3.0 * one - 3.0 * one * one <= found <= 3.0 * one * (1.0 + 1e-8)


@pytest.mark.parametrize(("shape", "threshold"), [(1e3, 0.3), (1e4, 0.31), (5e4, 0.3), (1e6, 0.32)])
def test_a_threshold_close_to_the_mean_of_large_shapes(shape: float, threshold: float) -> None:
    # One of three equal entries: the probability is the union of three beta tails, which hardly overlap.
    one = float(betainc(shape, 2.0 * shape, threshold))
    found = some_entry_below([(shape, 3)], 0.0, threshold)
    assert one * (1.0 - 1e-9) <= found <= min(1.0, 3.0 * one * (1.0 + 1e-8)) + math.ulp(0.0)
