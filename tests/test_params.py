"""Parameters that are slow: the marks that say so, on tests that look at their own."""

from __future__ import annotations

import pytest


def _is_slow(request: pytest.FixtureRequest) -> bool:
    return request.node.get_closest_marker("slow") is not None


@pytest.mark.mostly_slow(quick=2)
@pytest.mark.parametrize("number", range(6))
def test_quick_ones_are_spread_over_all(number: int, request: pytest.FixtureRequest) -> None:
    assert _is_slow(request) is (number not in (0, 3))


@pytest.mark.slow_for("b")
@pytest.mark.parametrize("letter", ["a", "b"])
def test_some_are_named(letter: str, request: pytest.FixtureRequest) -> None:
    assert _is_slow(request) is (letter == "b")
