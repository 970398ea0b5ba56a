"""The model behind released trips: where they go from and to, which ways, and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.arrays import Floats
from veil.trips.model.demand import demand
from veil.trips.model.routes import ROUNDS, Routes, Wanted, fit_routes
from veil.trips.model.times import Times
from veil.trips.model.traffic import traffic
from veil.trips.places.places import Places
from veil.trips.tables import UNIT, Layout

if TYPE_CHECKING:
    from veil.matrices.chain import Chain

# What stands for nothing, in trips.
_GRAIN = 0.2
# Smaller numbers are none.
_LEAST = 1e-35
# Where turns are not counted: straight on is likely, back is not. Public.
USUAL_TURNS = np.array([0.62, 0.12, 0.04, 0.015, 0.03, 0.015, 0.04, 0.12])


@dataclass(frozen=True, eq=False, repr=False)
class TripModel:
    """What is known of the trips: post-processing of noisy tables, so private as they are.

    places: the public places. longest: the most moves of a trip. number: of trips; users: of users, where
    those are hidden. flows: expected trips [from, to]. routes: which ways they take. times: when they start
    and how long they take, where that was asked for.
    """

    places: Places
    longest: int
    number: float
    users: float | None
    flows: Floats
    routes: Routes
    times: Times | None

    def __repr__(self) -> str:
        return f"<trips.TripModel of about {self.number:,.0f} trips between {len(self.places):,} places>"

    @cached_property
    def layout(self) -> Layout:
        """The places as tables have them."""
        return Layout(self.places, self.longest)

    @property
    def starts(self) -> Floats:
        """Expected trips that start in each place."""
        return np.asarray(self.flows.sum(axis=1))

    @property
    def ends(self) -> Floats:
        """Expected trips that end in each place."""
        return np.asarray(self.flows.sum(axis=0))

    def chain(self) -> Chain:
        """Moves from place to place as a Markov chain: how often each place follows each, along trips."""
        from veil.matrices.chain import Chain
        from veil.trips.model.routes import Expectation

        moves, _, _ = Expectation(self.layout).of(self.routes, self.flows)
        graph, size = self.places.graph, len(self.places)
        table = np.zeros((size, size))
        table[graph.tails, graph.heads] = moves
        sums = table.sum(axis=1, keepdims=True)
        # Where nobody goes on, nobody leaves.
        table = np.where(sums > 0.0, table / np.maximum(sums, 1e-300), np.eye(size))
        return Chain(table / table.sum(axis=1, keepdims=True), states=self.places.labels)


def in_trips(tables: Mapping[str, Any]) -> dict[str, Floats]:
    """Noisy tables as numbers of trips (or of users)."""
    return {name: np.asarray(table, dtype=np.float64) / UNIT for name, table in tables.items()}


def fit(
    tables: Mapping[str, Any],
    scales: Mapping[str, float],
    layout: Layout,
    *,
    cap: int | None,
    rounds: int = ROUNDS,
    tell: Callable[[str], None] | None = None,
) -> TripModel:
    """The model that noisy tables stand for.

    tables: whole numbers, of which UNIT stands for one. scales: of their noise, in trips. cap: the most trips
    of a user; None where trips are hidden one by one. rounds: of fitting routes.
    """
    noisy = in_trips(tables)
    weight, number = float(max(noisy["number"][0], 1.0)), float(max(noisy["number"][0], 1.0))
    users = None
    if cap is not None:
        # One half counts users, the other their trips over the cap.
        weight = users = max(2.0 * weight, 1.0)
        number = float(np.clip(2.0 * cap * noisy["number"][1], users, users * cap))
    say = tell or (lambda text: None)
    say("estimating where trips go")
    flows = demand(noisy, scales, layout, weight)
    say("estimating moves")
    moves = traffic(noisy, scales, layout)
    turns = np.maximum(noisy["turns"], _GRAIN) if "turns" in noisy else USUAL_TURNS * weight
    detours = np.maximum(noisy["detours"], 0.0)
    routes = fit_routes(Wanted(moves, turns, detours, _GRAIN), flows, layout, rounds=rounds, tell=tell)
    times = Times.of(noisy, scales, layout) if layout.times else None
    flows = as_written(flows * (number / weight))
    kept = Routes(*map(as_written, (routes.moves, routes.turns, routes.detours)))
    return TripModel(layout.places, layout.longest, number, users, flows, kept, times and times.as_written())


def as_written(numbers: Any) -> Floats:
    """As files hold them: 32 bits each, and nothing below what these can hold."""
    short = np.asarray(numbers, dtype=np.float32)
    return np.where(np.abs(short) < _LEAST, 0.0, short).astype(np.float64)
