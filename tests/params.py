"""Parameters of which a few are tried in `make test`, and all of them in `make test-slow`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def quick_first(values: Iterable[Any], *, quick: int = 1) -> list[Any]:
    """The first values as they are, the others marked as slow. A tuple is the values of several parameters."""
    return [
        value if number < quick else pytest.param(*_parts(value), marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
