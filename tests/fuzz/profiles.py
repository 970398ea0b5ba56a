"""How many examples each test tries: a quarter in `make test`, all of them in `make test-slow`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

# VEIL_FUZZ=20 tries twenty times as many, and other ones in every run.
TIMES = int(os.environ.get("VEIL_FUZZ", "1"))
Test = Callable[..., None]


def examples_of(count: int) -> settings:
    """The settings of a test that tries so many examples: always the same ones, but in a long run."""
    return settings(
        max_examples=count * TIMES,
        derandomize=TIMES == 1,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def tries(count: int, **strategies: Any) -> Callable[[Test], Test]:
    """A test that tries so many examples of these strategies; a quarter of them is a test of its own."""

    def decorate(test: Test) -> Test:
        runs = {number: examples_of(number)(given(**strategies)(test)) for number in (-(-count // 4), count)}
        first, all_of_them = runs
        left = inspect.signature(runs[count]).parameters

        def run(**arguments: Any) -> None:
            runs[arguments.pop("examples")](**arguments)

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        added = inspect.Parameter("examples", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = inspect.Signature([*left.values(), added])  # type: ignore[attr-defined]
        amounts = [first, pytest.param(all_of_them, marks=pytest.mark.slow)]
        marked: Test = pytest.mark.parametrize("examples", amounts)(run)
        return marked

    return decorate
