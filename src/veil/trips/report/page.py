"""The report of released trips: one HTML file with maps that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from veil.core.privacy.profile import beliefs, best_guess
from veil.core.record import Release
from veil.report import figures
from veil.report.page import page
from veil.trips.area_flows import Flow, flows
from veil.trips.measuring import frequent_patterns
from veil.trips.model.trip_model import TripModel
from veil.trips.report.figures import days_figure, durations_figure, hours_figure, lengths_figure
from veil.trips.report.maps import block_flows, place_map
from veil.trips.synthetic_trips import SyntheticTrips

_FLOWS, _ROUTES, _ROUTE = 12, 8, 5
_SMALL, _HALF = 196.0, 310.0
_PERIODS = (
    ("0 to 6 h", 0, 6),
    ("6 to 9 h", 6, 9),
    ("9 to 12 h", 9, 12),
    ("12 to 15 h", 12, 15),
    ("15 to 19 h", 15, 19),
    ("19 to 24 h", 19, 24),
)
_MORNING = (6, 10)


@dataclass(frozen=True)
class TripReport:
    """All that the page shows, computed from the release and public facts alone."""

    release: Release[Any]
    trips: SyntheticTrips

    @classmethod
    def of(cls, release: Release[Any], trips: SyntheticTrips) -> TripReport:
        """Post-processing: costs no privacy."""
        return cls(release, trips)

    @property
    def model(self) -> TripModel:
        model: TripModel = self.release.value
        return model

    @property
    def visits(self) -> Any:
        """How often synthetic trips visit each place."""
        return np.bincount(self.trips.paths.codes, minlength=len(self.model.places))

    @property
    def largest(self) -> list[Flow]:
        """The largest flows between different areas."""
        return [flow for flow in flows(self.release, blocks=self.blocks) if flow.origin != flow.destination][
            :_FLOWS
        ]

    @property
    def blocks(self) -> int:
        """The finest areas whose pairs were measured."""
        return 8 if "pairs of 8 x 8 blocks" in self.release.tables else 4

    @cached_property
    def routes(self) -> list[tuple[str, int]]:
        """The sequences of places that most trips show."""
        labels = self.model.places.labels
        found = frequent_patterns(self.trips.paths, len(labels), _ROUTE)[:_ROUTES]
        return [(" → ".join(labels[code] for code in pattern), number) for pattern, number in found]

    def maps(self) -> dict[str, str]:
        """The maps, by what they show."""
        model, places = self.model, self.model.places
        lines = block_flows(places, model.flows, model.layout.blocks[self.blocks])
        drawn = {
            "visits": place_map(
                places, self.visits, "Where trips go, and the largest flows", unit="visits", flows=lines
            )
        }
        most = float(max(model.starts.max(), model.ends.max()))
        pairs = (("starts", "Where trips start", model.starts), ("ends", "Where trips end", model.ends))
        drawn |= {
            name: place_map(places, values, title, width=_HALF, most=most) for name, title, values in pairs
        }
        return drawn | self._by_hour()

    def _by_hour(self) -> dict[str, str]:
        if self.trips.departures is None:
            return {}
        places, paths = self.model.places, self.trips.paths
        hour = np.mod(self.trips.departures, 86_400) // 3_600
        early = (hour >= _MORNING[0]) & (hour < _MORNING[1])
        size = len(places)
        home, work = (np.bincount(side[early], minlength=size) for side in (paths.starts, paths.ends))
        span = f"from {_MORNING[0]} to {_MORNING[1]} h"
        most = float(max(home.max(), work.max()))
        drawn = {
            "home": place_map(places, home, f"Starts {span}: where people live", width=_HALF, most=most),
            "work": place_map(places, work, f"Ends {span}: where people work", width=_HALF, most=most),
        }
        panels = [
            np.bincount(paths.ends[(hour >= a) & (hour < b)], minlength=size) / (b - a)
            for _, a, b in _PERIODS
        ]
        top = float(max(panel.max() for panel in panels))
        small = [
            place_map(places, panel, f"{name}", unit="ends an hour", width=_SMALL, most=top, legend=False)
            for (name, _, _), panel in zip(_PERIODS, panels, strict=True)
        ]
        return drawn | {"hours": "".join(small)}

    def html(self) -> str:
        """The page."""
        has_times = self.trips.departures is not None
        pictures = {"lengths": lengths_figure(self.trips)}
        if has_times:
            pictures |= {
                "by_hour": hours_figure(self.trips),
                "by_day": days_figure(self.trips),
                "durations": durations_figure(self.trips),
            }
        return page(
            "trips.html",
            package="veil.trips.report",
            report=self,
            model=self.model,
            release=self.release,
            maps=self.maps(),
            pictures={name: figures.svg(figure) for name, figure in pictures.items()},
            has_times=has_times,
            guess=best_guess(self.release.profile),
            beliefs=beliefs(self.release.worst_loss),
        )
