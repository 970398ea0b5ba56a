"""The report of a released table of bits: one HTML file that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.estimation import BitReading, estimates
from veil.bits.mechanisms.bit_mechanism import BitMechanism
from veil.bits.planning import BitPlan, plan_bits
from veil.core.privacy.beliefs import beliefs, best_guess
from veil.core.record import Release
from veil.report.figures import BLUE, GREY, axes_of, short_labels, svg
from veil.report.page import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_ROWS = 40
_SHOWN_PAIRS = 10


@dataclass(frozen=True)
class BitReport:
    """All that the page shows, computed from the release and public facts alone."""

    release: Release[Any]
    reading: BitReading
    plan: BitPlan

    @classmethod
    def of(cls, release: Release[Any]) -> BitReport:
        """Post-processing, and a plan: costs no privacy."""
        reading = estimates(release)
        near = cast("BitFlips", release.adjacency)
        columns = len(reading.labels)
        plan = plan_bits(
            columns,
            release.epsilon,
            unit="row" if near.where == "row" else "bit",
            flips=near.count if near.where == "anywhere" or near.count < columns else None,
            rows=reading.rows,
        )
        return cls(release, reading, plan)

    @property
    def adjacency(self) -> BitFlips:
        return cast("BitFlips", self.release.adjacency)

    @property
    def flip_rate(self) -> float:
        return cast("BitMechanism", self.release.mechanism).flip_rate

    @property
    def columns(self) -> list[tuple[str, float, float, float]]:
        """Each column's estimated share of ones, and its interval."""
        share, low, high = self.reading.shares
        return [
            (label, min(max(float(share[i]), 0.0), 1.0), float(low[i]), float(high[i]))
            for i, label in enumerate(self.reading.labels[:_MOST_ROWS])
        ]

    @property
    def says_nothing(self) -> bool:
        _, low, high = self.reading.shares
        return float((high - low).min()) > 0.9

    @cached_property
    def pairs(self) -> list[tuple[str, str, float, float]]:
        """The pairs of columns that go together most surely."""
        return self.reading.associations()[:_SHOWN_PAIRS]

    def html(self) -> str:
        """The page."""
        return page(
            "bits.html",
            package="veil.bits.report",
            report=self,
            release=self.release,
            guess=best_guess(self.release.profile),
            beliefs=beliefs(self.release.worst_loss),
            picture=svg(self.shares_figure()),
        )

    def shares_figure(self) -> Figure:
        """The estimated share of ones in each column with its interval, a dot for each column."""
        share, low, high = self.reading.shares
        count = min(len(share), _MOST_ROWS)
        names = short_labels(list(self.reading.labels[:count]))
        figure, axes = axes_of(7.2, 0.9 + 0.27 * count)
        places = np.arange(count)[::-1]
        inside = np.clip(share[:count], 0.0, 1.0)
        axes.hlines(places, low[:count], high[:count], color=BLUE, linewidth=2.2, alpha=0.55)
        axes.plot(inside, places, "o", color=BLUE, markersize=5)
        axes.set_yticks(places, names)
        axes.set_ylim(-0.7, count - 0.3)
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel("estimated share of ones in the true table, with a 95 % interval")
        axes.grid(axis="x", color=GREY, alpha=0.25)
        return figure
