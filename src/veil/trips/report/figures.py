"""Figures of released trips: lengths, times, and a map for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from veil.report.figures import BLUE, ORANGE, axes_of
from veil.trips.model.trip_model import TripModel
from veil.trips.synthetic_trips import SyntheticTrips

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def lengths_figure(trips: SyntheticTrips) -> Figure:
    """How many trips have how many moves."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = axes_of(7.2, 2.4)
    counts = np.bincount(trips.paths.sizes - 1)
    axes.bar(np.arange(len(counts)), counts, color=BLUE, alpha=0.85)
    axes.set_xlabel("moves between places in a trip")
    axes.set_ylabel("trips")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    return figure


def hours_figure(trips: SyntheticTrips) -> Figure:
    """How many trips start in each hour."""
    assert trips.departures is not None
    figure, axes = axes_of(7.2, 2.4)
    hour = (np.mod(trips.departures, 86_400) // 3_600).astype(int)
    axes.bar(np.arange(24), np.bincount(hour, minlength=24), color=BLUE, alpha=0.85)
    axes.set_xlabel("hour of the day in which trips start")
    axes.set_ylabel("trips")
    axes.set_xticks(range(0, 24, 3))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    return figure


def days_figure(trips: SyntheticTrips) -> Figure:
    """How many trips start on each day of the week."""
    assert trips.departures is not None
    figure, axes = axes_of(7.2, 2.2)
    counts = np.bincount((trips.departures // 86_400).astype(int), minlength=7)
    axes.bar(_DAYS, counts, color=BLUE, alpha=0.85)
    axes.set_ylabel("trips")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    return figure


def durations_figure(trips: SyntheticTrips) -> Figure:
    """How long trips take."""
    figure, axes = axes_of(7.2, 2.4)
    minutes = trips.seconds / 60.0
    axes.hist(np.minimum(minutes, np.percentile(minutes, 99.5)), bins=40, color=BLUE, alpha=0.85)
    axes.set_xlabel("minutes from start to end")
    axes.set_ylabel("trips")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    return figure


def map_figure(model: TripModel, trips: SyntheticTrips) -> Figure:
    """Visits of places, and the largest flows, as a Matplotlib figure."""
    from matplotlib.collections import PolyCollection

    from veil.trips.report.maps import block_flows

    places = model.places
    figure, axes = axes_of(6.4, 6.4 * places.box.height / places.box.width + 0.6)
    visits = np.bincount(trips.paths.codes, minlength=len(places))
    outlines: list[Any] = []
    shades: list[float] = []
    for place in range(len(places)):
        for ring in places.rings(place)[:1]:
            outlines.append(ring)
            shades.append(float(np.sqrt(visits[place])))
    drawn = PolyCollection(outlines, array=np.array(shades), cmap="Blues", edgecolors="white", linewidths=0.4)
    axes.add_collection(drawn)
    found = block_flows(places, model.flows, model.layout.blocks[8], 25)
    for start, end, number in found:
        style = f"Simple,tail_width={0.4 + 2.5 * number / found[0][2]:.2f},head_width=5,head_length=5"
        axes.annotate(
            "", xy=(end[0], end[1]), xytext=(start[0], start[1]),
            arrowprops={
                "arrowstyle": style, "color": ORANGE, "alpha": 0.8, "connectionstyle": "arc3,rad=0.2"
            },
        )  # fmt: skip
    axes.set_xlim(0.0, places.box.width)
    axes.set_ylim(0.0, places.box.height)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title("Visits of places, and the largest flows", loc="left", fontsize=11)
    return figure
