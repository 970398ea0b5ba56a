"""Released trips and their plans in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from veil.core.job import Job
from veil.core.record import Release
from veil.report.console import (
    bar,
    new_console,
    plain_table,
    print_baselines,
    print_guarantee,
    print_written,
)
from veil.trips.area_flows import flows
from veil.trips.planning import TripPlan

_FLOWS = 8
_TOLD = {
    "density": "where trips go (divergence)",
    "squares_touched": "share of trips through an area (relative error)",
    "trip_4": "start and end, 4 x 4 areas (divergence)",
    "trip_8": "start and end, 8 x 8 areas (divergence)",
    "length": "lengths (divergence)",
    "patterns": "100 busiest routes found (F1, 1 is all)",
}


def print_trip_release(release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
    """The largest flows, how many trips, and what is guaranteed."""
    console, model = new_console(), release.value
    blocks = 8 if "pairs of 8 x 8 blocks" in release.tables else 4
    largest = flows(release, blocks=blocks)[:_FLOWS]
    table = plain_table("from", "to", "trips", "95 % interval", "", left=2)
    for flow in largest:
        between = "" if flow.low is None else f"{flow.low:,.0f} to {flow.high:,.0f}"
        table.add_row(
            flow.origin, flow.destination, f"{flow.trips:,.0f}", between, bar(flow.trips / largest[0].trips)
        )
    console.print(table)
    console.print(f"Areas are {blocks} x {blocks} blocks, named row-column from the south-west.")
    console.print()
    users = "" if model.users is None else f" of about {model.users:,.0f} users"
    console.print(
        f"About {model.number:,.0f} trips{users} between {len(model.places):,} places: {model.places.words}."
    )
    print_baselines(console, release)
    print_guarantee(console, release)
    for text in (*job.notes, *(f"WARNING: {text}" for text in job.warnings)):
        console.print(f"{text}.")
    print_written(console, written)


def print_trip_plan(plan: TripPlan) -> None:
    """The measures to expect, beside those of trips that use no data."""
    console = new_console()
    people = "" if plan.users is None else f" of about {plan.users:,} users"
    console.print(f"About {plan.trips:,} trips{people} between {len(plan.best.places):,} places.")
    console.print(f"epsilon = {plan.epsilon:g}.")
    console.print(f"Hidden: {plan.best.adjacency.words}.")
    table = plain_table("error", "expected", "range", "without data")
    for name, words in _TOLD.items():
        each = [getattr(one, name) for one in plan.expected.values()]
        span = f"{min(each):.2g} to {max(each):.2g}"
        table.add_row(words, f"{plan.mean(name):.2g}", span, f"{plan.mean(name, nothing=True):.2g}")
    console.print(table)
    console.print("Divergences are Jensen-Shannon: 0 is best, 0.69 the worst.")
