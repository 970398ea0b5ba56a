"""When trips start and how long they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.trips.model.fields import Effect, Sums, field
from veil.trips.tables import DURATIONS, HOURS, LENGTHS, Layout

_HOUR, _BLOCK, _BOTH = 1.5, 1.0, 0.5


@dataclass(frozen=True, eq=False)
class Times:
    """hours: the law of the hour. starting, ending: how much likelier each hour is for trips from, and to,
    each block [hour, block]. weekdays: the law of the day. durations: of minutes by bin, for each range of
    lengths.
    """

    hours: Floats
    starting: Floats
    ending: Floats
    weekdays: Floats
    durations: Floats

    @classmethod
    def of(cls, noisy: Mapping[str, Floats], scales: Mapping[str, float], layout: Layout) -> Times:
        """From noisy tables."""
        laws = []
        for name in ("hours and starts", "hours and ends"):
            table = noisy[name]
            hour, block = (side.ravel() for side in np.indices(table.shape))
            effects = [
                Effect(hour, _HOUR), Effect(block, _BLOCK), Effect(np.arange(table.size), _BOTH)
            ]  # fmt: skip
            means = field([Sums(table.ravel(), scales[name])], effects, np.zeros(table.size))
            laws.append(means.reshape(table.shape))
        hours = laws[0].sum(axis=1) + laws[1].sum(axis=1)
        likelier = [
            law / law.sum(axis=0) / (law.sum(axis=1) / law.sum())[:, None] for law in laws
        ]  # fmt: skip
        starting, ending = likelier
        return cls(
            hours / hours.sum(),
            starting,
            ending,
            _law(noisy["weekdays"]),
            np.stack([_law(row) for row in noisy["durations"]]),
        )

    def as_written(self) -> Times:
        """As files hold them."""
        return Times(
            *(np.asarray(getattr(self, one.name), np.float32).astype(np.float64) for one in fields(self))
        )

    def draw(self, rng: np.random.Generator, start: Any, end: Any, moves: Any) -> tuple[Any, Any, Floats]:
        """Weekdays, seconds of the day and durations in seconds of trips between these blocks."""
        size = len(start)
        chance = np.cumsum(self.hours[:, None] * self.starting[:, start] * self.ending[:, end], axis=0)
        hour = (rng.random(size) * chance[-1] > chance).sum(axis=0)
        second = np.minimum(hour, HOURS - 1) * 3600 + rng.integers(0, 3600, size)
        row = np.searchsorted(LENGTHS, moves, side="right") - 1
        sums = np.cumsum(self.durations, axis=1)[row]
        bin_ = np.minimum((rng.random(size)[:, None] * sums[:, -1:] > sums).sum(axis=1), len(DURATIONS) - 1)
        least = np.array([*DURATIONS, 2 * DURATIONS[-1] - DURATIONS[-2]], dtype=np.float64)
        minutes = least[bin_] + rng.random(size) * (least[bin_ + 1] - least[bin_])
        days = rng.choice(len(self.weekdays), size, p=self.weekdays / self.weekdays.sum())
        return days, second, np.maximum(60.0 * minutes, 1.0)


def _law(noisy: Floats) -> Floats:
    kept = np.maximum(noisy, 0.0) + 1e-6
    return np.asarray(kept / kept.sum())
