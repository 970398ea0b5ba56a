"""All comparisons and growths, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from bench.work import Found, Task, Work


def _later(module: str, function: str = "run") -> Callable[[Work], Found]:
    """The function of a module that is imported when it is needed: some take a while."""

    def run(work: Work) -> Found:
        found: Found = getattr(import_module(f"bench.{module}"), function)(work)
        return found

    return run


_ACCURACY = ("counts", "chains", "sequences", "words", "bits", "graphs", "composition")
_SPEED = ("vectors", "bits", "chains", "counting", "exactness", "words", "graphs")
_GROWTH = ("entries", "records", "words", "nodes")

TASKS = (
    *(Task(f"accuracy.{name}", "accuracy", _later(f"accuracy.{name}")) for name in _ACCURACY),
    *(Task(f"speed.{name}", "speed", _later(f"speed.{name}")) for name in _SPEED),
    *(Task(f"growth.{name}", "growth", _later("growth", name)) for name in _GROWTH),
)
