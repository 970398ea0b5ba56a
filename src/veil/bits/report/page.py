"""The report of a released table of bits: one HTML file that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from veil.bits.adjacency import BitFlips
from veil.bits.estimation import BitReading, estimates
from veil.bits.mechanisms.bit_mechanism import BitMechanism
from veil.bits.planning import BitPlan, plan_bits
from veil.bits.report.figures import shares_figure
from veil.core.privacy.beliefs import beliefs, best_guess
from veil.core.record import Release
from veil.report import figures
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
            picture=figures.svg(self.shares_figure()),
        )

    def shares_figure(self) -> Figure:
        return shares_figure(self.reading.labels, *self.reading.shares)
