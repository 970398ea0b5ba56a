"""Parameters of which a few are tried in `make test`, and all of them in `make test-slow`."""

from __future__ import annotations

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
