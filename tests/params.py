"""Parameters of which a few are tried in `make test`, and all of them in `make test-slow`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def quick_first(values: Iterable[Any], *, quick: int = 1) -> list[Any]:
    """The first values as they are, the others marked as slow. A tuple holds several parameters."""
    return [value if number < quick else _slow(value) for number, value in enumerate(values)]


def _slow(value: Any) -> Any:
    if isinstance(value, ParameterSet):
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.slow], id=value.id)
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)


def mark_slow_parameters(items: Iterable[pytest.Item]) -> None:
    """Mark as slow what `mostly_slow(quick=...)` and `slow_for("id", ...)` of a test say is slow."""
    alike: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        mark, called = item.get_closest_marker("slow_for"), getattr(item, "callspec", None)
        if mark is not None and called is not None and called.id in mark.args:
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("mostly_slow") is not None and item.get_closest_marker("slow") is None:
            alike[item.nodeid.partition("[")[0]].append(item)
    for group in alike.values():
        mark = group[0].get_closest_marker("mostly_slow")
        assert mark is not None
        quick = {number * len(group) // mark.kwargs["quick"] for number in range(mark.kwargs["quick"])}
        for number, item in enumerate(group):
            if number not in quick:
                item.add_marker(pytest.mark.slow)
