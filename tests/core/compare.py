"""Comparing floats with figures of arbitrary precision."""

from collections.abc import Callable
from typing import Any

from mpmath import mp, mpf

# How far an upper bound may lie above the truth, relatively.
TIGHT = 1e-10


def log_excess(log_value: float, truth: mpf) -> float:
    """log_value - log(truth): negative where the value is below the truth."""
    with mp.workdps(50):
        # What a probability has above 1 is the oracle's own error.
        return float(mpf(log_value) - mp.log(min(truth, mpf(1))))


def relative_error(value: float, truth: mpf) -> float:
    with mp.workdps(60):
        return float(abs(mpf(value) - truth) / abs(truth))


class Bounded:
    """A density that may be asked only so often: a search that never settles fails instead of hanging."""

    def __init__(self, density: Any, calls: int = 20_000) -> None:
        self._density, self._left = density, calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._density, name)
        return self._counted(found) if callable(found) else found

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise AssertionError("the density was evaluated without end")
            return function(*arguments)

        return call


def bounded(pair: Any) -> Any:
    """The tilted pair with both densities bounded."""
    for name in ("upper", "lower"):
        object.__setattr__(pair, name, Bounded(getattr(pair, name)))
    return pair
