"""Some entry of a Dirichlet vector below a threshold: small vectors, against quadrature."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc

from veil.vectors.corners import some_entry_below

from ..oracles.brute import published_delta_by_quadrature

ORACLE = 1e-9  # relative accuracy of the quadrature
TIGHT = 1e-6


def found_and_exact(shapes: list[float], rest: float | None, threshold: float) -> tuple[float, float]:
    found = some_entry_below([(shape, 1) for shape in shapes], rest or 0.0, threshold)
    return found, published_delta_by_quadrature([*shapes, rest], threshold)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(10.0 ** rng.uniform(low, high))


def assert_tight(cases: list[tuple[list[float], float | None, float]], least: float) -> None:
    wrong = []
    for case in cases:
        found, exact = found_and_exact(*case)
        assert exact > least
        if not exact * (1.0 - ORACLE) <= found <= exact * (1.0 + TIGHT):
            wrong.append((found / exact - 1.0, *case))
    assert wrong == []


@pytest.mark.parametrize(
    ("entries", "tries"),
    [
        (1, 15),
        (2, 10),
        (3, 3),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in ((1, 60), (2, 50), (3, 12))),
    ],
)
def test_against_quadrature(entries: int, tries: int) -> None:
    rng = np.random.default_rng(entries)
    cases: list[tuple[list[float], float | None, float]] = []
    for _ in range(tries):
        shapes = [log_uniform(rng, -1.0, 1.7) for _ in range(entries)]
        rest = None if entries > 1 and rng.random() < 0.3 else log_uniform(rng, -1.0, 1.7)
        cases.append((shapes, rest, log_uniform(rng, -3.0, -0.02) / entries))
    assert_tight(cases, least=0.0)


@pytest.mark.parametrize(
    ("shapes", "rest", "threshold", "size"),
    [
        ([4.0, 4.0, 4.0], None, 2e-4, 1e-12),
        ([4.0, 9.0], 20.0, 2e-5, 1e-14),
        ([30.0, 40.0, 20.0], 10.0, 5e-3, 1e-25),
        ([60.0, 60.0], 300.0, 2e-2, 1e-30),
        ([100.0, 120.0], None, 2e-2, 1e-107),
        ([200.0, 300.0], 500.0, 2e-2, 1e-132),
    ],
)
def test_tiny_probabilities_keep_their_digits(
    shapes: list[float], rest: float | None, threshold: float, size: float
) -> None:
    found, exact = found_and_exact(shapes, rest, threshold)
    assert size * 1e-3 < exact < size * 1e3
    assert exact * (1.0 - ORACLE) <= found <= exact * (1.0 + TIGHT)


@pytest.mark.parametrize("shape", [0.01, 0.3, 1.0, 25.0, 800.0])
@pytest.mark.parametrize("rest", [0.05, 2.0, 400.0])
def test_one_entry_is_an_incomplete_beta(shape: float, rest: float) -> None:
    compared = 0
    for threshold in (1e-6, 1e-3, 0.02, 0.3, 0.7, 0.97):
        exact = float(betainc(shape, rest, threshold))
        if exact > 1e-200:
            found = some_entry_below([(shape, 1)], rest, threshold)
            assert exact * (1.0 - 1e-12) <= found <= min(1.0, exact * (1.0 + 1e-7))
            compared += 1
    assert compared >= 2


@pytest.mark.slow_for("shapes0-30.0")
@pytest.mark.parametrize(("shapes", "rest"), [([0.05, 0.4], 30.0), ([3.0, 0.02], None), ([2.0, 900.0], 5.0)])
def test_likely_failures_raise_no_warning(shapes: list[float], rest: float | None) -> None:
    for threshold in (0.1, 0.2, 0.3, 0.4, 0.45, 0.48):
        found, exact = found_and_exact(shapes, rest, threshold)
        assert exact * (1.0 - ORACLE) <= found <= min(1.0, exact * (1.0 + TIGHT))


@pytest.mark.parametrize("tries", [10, pytest.param(60, marks=pytest.mark.slow)])
def test_between_its_largest_part_and_the_union_bound(tries: int) -> None:
    rng = np.random.default_rng(8)
    for _ in range(tries):
        shapes = [log_uniform(rng, -0.5, 1.5) for _ in range(int(rng.integers(2, 8)))]
        rest, threshold = log_uniform(rng, -1.0, 2.0), log_uniform(rng, -4.0, -0.7) / len(shapes)
        total = sum(shapes) + rest
        parts = [float(stats.beta.cdf(threshold, shape, total - shape)) for shape in shapes]
        found = some_entry_below([(shape, 1) for shape in shapes], rest, threshold)
        assert max(parts) * (1.0 - 1e-12) <= found <= min(1.0, sum(parts) * (1.0 + 1e-8))


@pytest.mark.parametrize("threshold", [0.0, -0.1])
def test_nothing_is_below_zero(threshold: float) -> None:
    assert some_entry_below([(2.0, 3)], 1.0, threshold) == 0.0


@pytest.mark.parametrize("threshold", [0.25, 0.3, 1.0, 2.0])
def test_not_all_can_be_above_a_large_threshold(threshold: float) -> None:
    assert some_entry_below([(2.0, 4)], 1.0, threshold) == 1.0


def test_never_zero_where_something_may_fail() -> None:
    found = some_entry_below([(1e4, 2)], 1e4, 1e-9)
    assert found == math.ulp(0.0)


def test_equal_entries_may_be_grouped_or_not() -> None:
    together = some_entry_below([(1.5, 3), (4.0, 2)], 2.0, 0.03)
    apart = some_entry_below([(1.5, 1), (4.0, 2), (1.5, 2)], 2.0, 0.03)
    assert together == pytest.approx(apart, rel=1e-8)
