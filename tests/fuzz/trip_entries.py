"""The public names of trips, with good arguments."""

from __future__ import annotations

from functools import cache
from typing import Any

import veil

from .entry import Arguments, Entry

_BOX: Any = (0.0, 0.0, 0.1, 0.1)


def _grid() -> Any:
    return veil.trips.Grid(_BOX, 4, 4)


@cache
def _city() -> Any:
    return veil.trips.City.of(_grid())


@cache
def _table() -> Any:
    """Sixty trips of ten people, with times."""
    return _city().trips(60, users=10)


@cache
def _release() -> Any:
    return veil.trips.release(_table(), epsilon=1.0, rng=1)


def _planned() -> Arguments:
    # What is compiled once is no part of a call.
    _release()
    return {"places": "grid:3x3", "box": _BOX, "trips": 40, "epsilon": 1.0}


def _zones() -> list[Any]:
    return [
        [[(0.0, 0.0), (0.05, 0.0), (0.05, 0.1), (0.0, 0.1)]],
        [[(0.05, 0.0), (0.1, 0.0), (0.1, 0.1), (0.05, 0.1)]],
    ]


_WALKS = [[0, 1, 2], [5, 9], [15]]

PLACES = (
    Entry("trips.Box", veil.trips.Box, lambda: {"south": 0.0, "west": 0.0, "north": 0.1, "east": 0.1}),
    Entry("trips.Box.of", veil.trips.Box.of, lambda: {"given": _BOX}),
    Entry("trips.Grid", veil.trips.Grid, lambda: {"box": _BOX, "rows": 4, "columns": 4}),
    Entry(
        "trips.Grid.of_size",
        veil.trips.Grid.of_size,
        lambda: {"box": veil.trips.Box(*_BOX), "metres": 3000.0},
    ),
    Entry(
        "trips.Hexagons",
        veil.trips.Hexagons,
        lambda: {"box": _BOX, "resolution": 6, "cells": ("86754e64fffffff", "86754e65fffffff")},
    ),
    Entry("trips.Hexagons.in_box", veil.trips.Hexagons.in_box, lambda: {"box": _BOX, "resolution": 6}),
    Entry(
        "trips.Stations",
        veil.trips.Stations,
        lambda: {"box": _BOX, "names": ("a", "b"), "lat": (0.01, 0.05), "lng": (0.02, 0.08)},
    ),
    Entry("trips.Zones", veil.trips.Zones, lambda: {"box": _BOX, "names": ("a", "b"), "outlines": _zones()}),
    Entry("trips.WithElsewhere", veil.trips.WithElsewhere, lambda: {"inside": _grid()}),
)
TABLES = (
    Entry("trips.Paths", veil.trips.Paths, lambda: {"codes": [0, 1, 5], "first": [0, 2, 3]}),
    Entry("trips.Paths.of", veil.trips.Paths.of, lambda: {"trips": _WALKS}),
    Entry(
        "trips.TripTable",
        veil.trips.TripTable,
        lambda: {"places": _grid(), "paths": _WALKS},
        ("users", "departures", "arrivals", "longest", "treatment"),
    ),
)
ADJACENCIES = (Entry("trips.WholeTrips", veil.trips.WholeTrips, lambda: {"unit": "user", "cap": 3}),)
MECHANISMS = (
    Entry(
        "trips.PrivateTrips",
        veil.trips.PrivateTrips,
        lambda: {"places": _grid(), "epsilon": 1.0},
        ("cap", "longest", "times", "size"),
    ),
)
VERBS = (
    Entry("trips.City.of", veil.trips.City.of, lambda: {"grid": _grid(), "shape": "ring", "seed": 1}),
    Entry(
        "trips.City",
        veil.trips.City,
        lambda: {"grid": _grid(), **{name: [1 / 16] * 16 for name in ("homes", "goals", "speed")}},
    ),
    Entry(
        "trips.City.trips",
        lambda **given: _city().trips(**given),
        lambda: {"number": 5, "seed": 1},
        ("users", "longest"),
        ("number", "users"),
    ),
    Entry(
        "trips.made_up_points",
        veil.trips.made_up_points,
        lambda: {"table": _table(), "every": 30.0, "seed": 1},
    ),
    Entry(
        "trips.measures",
        veil.trips.measures,
        lambda: {"true": _WALKS, "synthetic": [[0, 1]], "grid": _grid()},
    ),
    Entry("trips.flows", veil.trips.flows, lambda: {"release": _release(), "blocks": 4, "level": 0.9}),
    Entry(
        "trips.synthetic",
        veil.trips.synthetic,
        lambda: {"release": _release(), "n": 5, "rng": 1},
        heavy=("n",),
    ),
    Entry(
        "trips.plan",
        veil.trips.plan,
        _planned,
        ("unit", "users", "cap", "times", "longest"),
        ("trips", "users"),
    ),
)
RELEASES = (
    Entry(
        "trips.release",
        veil.trips.release,
        lambda: {"trips": _table(), "epsilon": 1.0, "rng": 1},
        ("delta", "mechanism", "unit", "cap", "times"),
    ),
    Entry(
        "trips.release of users",
        veil.trips.release,
        lambda: {"trips": _table(), "epsilon": 1.0, "unit": "user", "cap": 3, "times": True},
        ("delta", "mechanism", "rng"),
    ),
    Entry(
        "release of trips",
        veil.release,
        lambda: {"mechanism": veil.trips.PrivateTrips(_grid(), 1.0), "value": _WALKS},
        ("adjacency", "epsilon", "delta", "rng"),
    ),
)
