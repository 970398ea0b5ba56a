"""What an accuracy costs, before any data is touched. (What a budget buys: `compare`.)"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from veil.core.adjacency import Adjacency
from veil.core.checks import choice, positive, within
from veil.core.errors import CannotCalibrate
from veil.core.kind import Progress
from veil.core.numerics.search import log_margin, safe_edge
from veil.core.plan import Plan
from veil.vectors.calibration import calibrated, names_for
from veil.vectors.expected_errors import METRICS, error_quantile
from veil.vectors.typical import typical_values

_SMALLEST, _LARGEST = 1e-3, 1e3


@dataclass(frozen=True, slots=True)
class NeededEpsilon:
    """The least epsilon at which one mechanism keeps to an error; None if none does."""

    name: str
    epsilon: float | None


@dataclass(frozen=True)
class EpsilonPlan(Plan):
    """The epsilon that each mechanism needs for an error, the least first.

    error, metric, confidence: what is to be kept to, how it is measured, and how surely. epsilon: the least.
    """

    rows: tuple[NeededEpsilon, ...]
    error: float
    metric: str
    confidence: float
    delta: float

    @property
    def epsilon(self) -> float:  # type: ignore[override]
        found = self.best.epsilon
        assert found is not None
        return found

    @property
    def best(self) -> NeededEpsilon:
        if self.rows[0].epsilon is None:
            raise CannotCalibrate(
                f"no mechanism keeps the {self.metric} error below {self.error:g} with an epsilon of at most "
                f"{_LARGEST:g}."
            )
        return self.rows[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "error": self.error,
            "metric": self.metric,
            "confidence": self.confidence,
            "delta": self.delta,
            "epsilon": {row.name: row.epsilon for row in self.rows},
        }


def needed_epsilons(
    adjacency: Adjacency,
    *,
    error: float,
    metric: str = "tv",
    confidence: float = 0.95,
    delta: float = 0.0,
    progress: Progress | None = None,
    **shape: Any,
) -> EpsilonPlan:
    """The least epsilon of every mechanism that covers the adjacency. shape: as in `least_epsilon`."""
    rows = []
    for name in names_for(adjacency):
        if progress is not None:
            progress(f"Searching the epsilon of {name}")
        try:
            found = least_epsilon(
                name, adjacency, error=error, metric=metric, confidence=confidence, delta=delta, **shape
            )
        except CannotCalibrate:
            found = None
        rows.append(NeededEpsilon(name, found))
    rows.sort(key=lambda row: math.inf if row.epsilon is None else row.epsilon)
    return EpsilonPlan(tuple(rows), error, metric, confidence, delta)


def least_epsilon(
    name: str,
    adjacency: Adjacency,
    *,
    size: int,
    error: float,
    metric: str = "tv",
    confidence: float = 0.95,
    delta: float = 0.0,
    typical: Any = None,
    records: int | None = None,
) -> float:
    """The smallest epsilon at which the named mechanism's error stays below `error` this surely.

    metric: "tv", "l1", "sup" or "kl". Found by simulation on public typical values, to one percent.

    >>> from veil import vectors
    >>> replaced = vectors.Records("replace")
    >>> need = vectors.least_epsilon("geometric", replaced, size=5, records=1000, error=0.01)
    >>> 0.5 < need < 2.0
    True
    """
    choice("mechanism", name, names_for(adjacency))
    choice("metric", metric, METRICS)
    error = positive("error", error)
    confidence = within("confidence", confidence, 0.0, 1.0, expected="a number between 0 and 1")
    values = typical_values(adjacency, size, typical, records)

    def margin(epsilon: float) -> float:
        try:
            mechanism = calibrated(
                name, adjacency, size=size, epsilon=epsilon, delta=delta, typical=typical, records=records
            )
        except CannotCalibrate:
            return -math.inf
        reached = error_quantile(mechanism, values, metric=metric, confidence=confidence)
        return log_margin(error, reached)

    high = 1.0
    while margin(high) < 0.0:
        high *= 4.0
        if high > _LARGEST:
            raise CannotCalibrate(
                f"{name}: no epsilon up to {_LARGEST:g} keeps the {metric} error below {error:g} "
                f"with confidence {confidence:g}."
            )
    low = high
    while margin(low) >= 0.0:
        low /= 4.0
        if low < _SMALLEST:
            return low * 4.0
    return safe_edge(margin, safe=min(high, low * 4.0), unsafe=low, relative=0.01)
