"""Trips as a kind of data: GPS points, tables of trips and check-ins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from veil.core.adjacency import Adjacency
from veil.core.brief import card_rows
from veil.core.job import Job
from veil.core.kind import Content, Kind, Places
from veil.core.mechanism import Mechanism
from veil.core.record import MOST_SHOWN, Release
from veil.trips.adjacency import WholeTrips

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACES_ARE_PUBLIC = "the places, and the area that they are in, were not chosen by looking at the data"
SPLIT_IS_PUBLIC = (
    "a trip is what the stated rules (gaps, stops) make of points: one trip of the data as it was read"
)
# About how many bytes a number takes in a file, and a point of a synthetic trip in a table.
_NUMBER, _POINT, _POINTS = 16, 60, 3_000_000
# The same synthetic trips for each release, whenever its value is written as a table.
SEED = 0


class TripKind(Kind):
    """Trips: from GPS points to synthetic trips, flows and maps."""

    name = "trips"
    module = "veil.trips"
    description = "trips: from GPS points to synthetic trips, flows and maps"
    mechanisms: ClassVar[Places] = {"PrivateTrips": "veil.trips.mechanisms.private_trips:PrivateTrips"}
    domains: ClassVar[Places] = {"TripsBetween": "veil.trips.trip_table:TripsBetween"}
    adjacencies: ClassVar[Places] = {"WholeTrips": "veil.trips.adjacency:WholeTrips"}
    short_adjacencies: ClassVar[Any] = {
        "trip": lambda size: WholeTrips("trip"),
        "traveller": lambda size: WholeTrips("user", 1),
    }
    read_request = "veil.trips.reading:TripRead"
    release_request = "veil.trips.requests:TripRelease"
    plan_request = "veil.trips.requests:TripPlanning"
    release_printer = "veil.trips.report.console:print_trip_release"
    commands: ClassVar[Places] = {"trips": "veil.trips.commands:DrawTrips"}
    audit_subject = "veil.trips.auditing:TripAudit"
    table_endings = (".csv", ".parquet", ".geojson")

    def stated_epsilon(self, mechanism: Any) -> float:
        return float(mechanism.epsilon)

    def assumptions(self, mechanism: Mechanism, adjacency: Adjacency, valid: Any) -> tuple[str, ...]:
        return ()

    def data_findings(self, job: Job[Any]) -> tuple[str, ...]:
        """What was left out, and why."""
        return tuple(f"{number:,} {reason} were left out" for reason, number in job.value.treatment.left_out)

    def draw(self, mechanism: Any, valid: Any, rng: Any) -> Content:
        from veil.core.progress import tell
        from veil.trips.model.trip_model import fit

        tables = mechanism.sample(valid, rng=rng)
        model = fit(tables, mechanism.scales(tables), mechanism.layout, cap=mechanism.cap, tell=tell)
        return Content(model, tables)

    # Files

    def texts(self, job: Job[Any]) -> Mapping[str, Any]:
        return {}

    def encode(self, release: Release[Any]) -> dict[str, Any]:
        from veil.trips.codec import encode_model

        return encode_model(release.value)

    def decode(self, content: Mapping[str, Any], mechanism: Any) -> Content:
        from veil.trips.codec import decode_model, decode_tables

        tables = decode_tables(content.get("tables", {}), mechanism)
        return Content(decode_model(content["value"], mechanism), tables)

    def room(self, job: Job[Any]) -> int:
        mechanism: Any = job.mechanism
        cells = sum(math.prod(shape) for shape in mechanism.layout.shapes.values())
        places: int = len(mechanism.places)
        return int(super().room(job) + _NUMBER * (cells + places**2) + _POINT * _POINTS)

    def rows(self, release: Release[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
        points = self._synthetic(release).points
        return tuple(points), list(zip(*(column.tolist() for column in points.values()), strict=True))

    def _synthetic(self, release: Release[Any]) -> Any:
        from veil.trips.synthetic_trips import synthetic

        return release.derived("synthetic", lambda: synthetic(release, rng=SEED))

    def to_pandas(self, release: Release[Any]) -> Any:
        return self._synthetic(release).to_pandas()

    def write_table(
        self, path: Path, release: Release[Any], job: Job[Any], *, overwrite: bool, csv_safe: bool = False
    ) -> Release[Any]:
        from veil.trips.outputs import write_trips

        write_trips(self._synthetic(release), path, overwrite=overwrite, csv_safe=csv_safe)
        return release

    def check_output(self, path: Path, job: Job[Any], *, csv_safe: bool = False) -> None:
        from veil.core.formulas import safe_texts

        if csv_safe:
            safe_texts(list(job.mechanism.domain.places.labels))  # type: ignore[attr-defined]

    # Words

    def size(self, release: Release[Any]) -> str:
        model = release.value
        users = "" if model.users is None else f" of about {model.users:,.0f} users"
        return f"a model of about {model.number:,.0f} trips{users} between {len(model.places):,} places"

    def sizes(self, release: Release[Any]) -> dict[str, Any]:
        return {"trips": round(release.value.number), "places": len(release.value.places)}

    def details(self, release: Release[Any]) -> tuple[str, ...]:
        parts = f"Released tables: {', '.join(release.tables)}."
        return (f"Places: {release.value.places.words}.", parts)

    # Pictures and pages

    def page(self, release: Release[Any], *, plan: Any = None, record: Path | None = None) -> str:
        from veil.trips.report.page import TripReport

        return TripReport.of(release, self._synthetic(release)).html()

    def card(self, release: Release[Any]) -> str:
        from veil.trips.area_flows import flows

        found = flows(release, blocks=4)[:MOST_SHOWN]
        lines = [(one.origin, one.destination, f"{one.trips:,.0f}") for one in found]
        return card_rows(("from", "to", "trips"), lines)

    def views(self, release: Release[Any]) -> Sequence[Any]:
        import numpy as np

        from veil.trips.report.views import trip_views

        codes = self._synthetic(release).paths.codes
        return trip_views(release, np.bincount(codes, minlength=len(release.value.places)).astype(np.float64))

    def plot(self, release: Release[Any]) -> Figure:
        from veil.trips.report.figures import map_figure

        return map_figure(release.value, self._synthetic(release))
