"""The command that draws synthetic trips from a released model, and writes flows."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veil.core.formulas import safe_cell
from veil.core.kind import Progress
from veil.core.request import CSV_SAFE, CommandRequest, option
from veil.core.writing import write_text
from veil.report.terminal import say
from veil.trips.area_flows import Flow, flows
from veil.trips.outputs import ENDINGS, write_trips
from veil.trips.synthetic_trips import SyntheticTrips, synthetic

_SHOWN = 8


@dataclass(frozen=True, kw_only=True)
class DrawTrips(CommandRequest):
    """Draw synthetic trips from released ones. It costs no privacy: only the release is read."""

    examples = (
        ("", {"source": "model.json", "number": 100_000, "output": "trips.csv", "flows": "flows.csv"}),
    )

    source: Path = option(help="Released trips (.json).", flag="RELEASE")
    number: int | None = option(
        None, help="How many; as many as there were, about, unless given.", short="-n", least=1
    )
    output: Path | None = option(
        None,
        help="Where to write the trips: .csv or .parquet (trip, place, lat, lng, second), or .geojson.",
        short="-o",
        group="Output",
    )
    flows: Path | None = option(
        None,
        help="Where to write how many trips go from area to area (.csv), with intervals.",
        group="Output",
    )
    blocks: int = option(
        8, help="Areas of flows: 4 or 8 blocks to each side of the box.", least=4, most=8, group="Output"
    )
    csv_safe: bool = option(False, help=CSV_SAFE, group="Output")
    seed: int | None = option(None, help="The same trips again; costs no privacy.", least=0)

    @property
    def outputs(self) -> dict[str, tuple[Path | None, tuple[str, ...]]]:
        return {"output": (self.output, ENDINGS), "flows": (self.flows, (".csv",))}

    def run(self, *, overwrite: bool, progress: Progress | None = None) -> DrawnTrips:
        from veil.core.files import load

        release = load(self.source)
        found = flows(release, blocks=self.blocks)
        made = synthetic(release, self.number, rng=self.seed)
        if self.output is not None:
            write_trips(made, self.output, overwrite=overwrite, csv_safe=self.csv_safe)
        if self.flows is not None:
            write_text(self.flows, _csv(found, csv_safe=self.csv_safe), overwrite=overwrite)
        written = tuple(str(path) for path in (self.output, self.flows) if path is not None)
        return DrawnTrips(made, tuple(found), written)


@dataclass(frozen=True, slots=True)
class DrawnTrips:
    """Synthetic trips, flows, and where they were written."""

    made: SyntheticTrips
    flows: tuple[Flow, ...]
    written: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "trips": len(self.made),
            "places": len(self.made.places),
            "mean_moves": float((self.made.paths.sizes - 1).mean()),
            "largest_flows": [flow.to_dict() for flow in self.flows[:_SHOWN]],
            "written": list(self.written),
        }

    def show(self) -> None:
        say(f"{len(self.made):,} trips of {(self.made.paths.sizes - 1).mean():.3g} moves on average.")
        say("Most trips go, from block to block (row-column from the south-west):")
        for flow in self.flows[:_SHOWN]:
            between = "" if flow.low is None else f"  (95 %: {flow.low:,.0f} to {flow.high:,.0f})"
            say(f"  {flow.origin} -> {flow.destination}  {flow.trips:,.0f}{between}")
        for path in self.written:
            say(f"Written: {path}")
        if not self.written:
            say("Not saved: add -o FILE.csv to keep them.")


def _csv(found: list[Flow], *, csv_safe: bool) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["from", "to", "trips", "low", "high"])
    for flow in found:
        numbers = ["" if n is None else round(n, 2) for n in (flow.trips, flow.low, flow.high)]
        names = [safe_cell(name) if csv_safe else name for name in (flow.origin, flow.destination)]
        writer.writerow([*names, *numbers])
    return out.getvalue()
