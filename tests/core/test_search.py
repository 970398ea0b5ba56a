"""The edge of the safe side: what is returned is always safe."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.core.numerics.rounding import log_margin, safe_edge


class Counted:
    """A margin that remembers where it was asked, and how often."""

    def __init__(self, margin: Callable[[float], float]) -> None:
        self._margin = margin
        self.seen: dict[float, float] = {}
        self.calls = 0

    def __call__(self, point: float) -> float:
        self.calls += 1
        self.seen[point] = self._margin(point)
        return self.seen[point]


EDGES = st.floats(1e-9, 1e9)
KINDS = st.sampled_from(["line", "cube", "log", "step", "infinite", "half infinite", "stairs", "exponential"])


def margin_at(edge: float, kind: str) -> Callable[[float], float]:
    """A decreasing margin that is zero, or changes sign, at the edge."""
    return {
        "line": lambda x: edge - x,
        "cube": lambda x: (1.0 - x / edge) ** 3,
        "log": lambda x: math.log(edge) - math.log(x) if x > 0.0 else math.inf,
        "step": lambda x: 1.0 if x <= edge else -1e-9,
        "infinite": lambda x: math.inf if x <= edge else -math.inf,
        "half infinite": lambda x: 1.0 - x / edge if x <= edge else -math.inf,
        "stairs": lambda x: math.floor(64.0 * (1.0 - x / edge)) / 64.0,
        "exponential": lambda x: math.exp(min(1.0 - x / edge, 300.0)) - 1.0,
    }[kind]


@pytest.mark.slow
@settings(derandomize=True, max_examples=400, deadline=None)
@given(EDGES, KINDS, st.floats(1.0001, 1e6), st.booleans())
def test_the_result_was_seen_to_be_safe_and_is_near_the_edge(
    edge: float, kind: str, spread: float, from_zero: bool
) -> None:
    margin = Counted(margin_at(edge, kind))
    found = safe_edge(margin, safe=0.0 if from_zero else edge / spread, unsafe=edge * spread)
    assert margin.seen[found] >= 0.0
    assert found == pytest.approx(edge, rel=2e-13)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(EDGES, KINDS.filter(lambda kind: kind != "stairs"), st.floats(1.0001, 1e6))
def test_the_safe_side_may_be_above(edge: float, kind: str, spread: float) -> None:
    falling = margin_at(edge, kind)
    margin = Counted(lambda x: -falling(x))
    found = safe_edge(margin, safe=edge * spread, unsafe=0.0)
    assert margin.seen[found] >= 0.0
    assert found == pytest.approx(edge, rel=2e-13)


@pytest.mark.parametrize("kind", ["line", "log", "exponential"])
def test_smooth_margins_need_few_evaluations(kind: str) -> None:
    # Bisection alone would need 45.
    for edge in (0.3, 1.7, 1e4):
        margin = Counted(margin_at(edge, kind))
        safe_edge(margin, safe=edge / 7.0, unsafe=edge * 2.0)
        assert margin.calls <= 25


@pytest.mark.parametrize("kind", ["step", "infinite", "stairs", "cube", "half infinite"])
def test_rough_margins_need_no_more_than_twice_a_bisection(kind: str) -> None:
    margin = Counted(margin_at(3.0, kind))
    safe_edge(margin, safe=1.0, unsafe=8.0)
    assert margin.calls <= 150


def test_a_coarse_search_is_as_safe() -> None:
    margin = Counted(margin_at(2.0, "log"))
    found = safe_edge(margin, safe=1.0, unsafe=8.0, relative=1e-2)
    assert margin.seen[found] >= 0.0
    assert 2.0 * 0.98 <= found <= 2.0
    assert margin.calls < 12


def test_a_margin_that_is_not_a_number_counts_as_unsafe() -> None:
    found = safe_edge(lambda x: 1.0 if x <= 1.0 else math.nan, safe=0.5, unsafe=4.0)
    assert found <= 1.0


def test_ends_that_touch() -> None:
    assert safe_edge(lambda x: 1.0 - x, safe=1.0, unsafe=1.0 + 1e-15) == 1.0


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.floats(5e-324, 1.0), st.floats(5e-324, 1.0))
def test_log_margin_has_the_sign_of_the_comparison(limit: float, reached: float) -> None:
    assert (log_margin(limit, reached) >= 0.0) == (reached <= limit)
    neighbour = math.nextafter(limit, 1.0)
    assert log_margin(limit, limit) == 0.0
    if neighbour > limit:
        assert log_margin(limit, neighbour) < 0.0


def test_log_margin_of_nothing_is_infinite() -> None:
    assert log_margin(1e-9, 0.0) == math.inf
