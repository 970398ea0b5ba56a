"""Which ways trips take: moves, turns and detours, fitted until what they add up to is what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from veil.core.arrays import Floats
from veil.trips.model.walks import expected_moves, length_laws, room, walks_to
from veil.trips.tables import Layout

ROUNDS, STEP = 24, 0.25
# Destinations that are looked at in one round.
_MOST_ENDS = 300
_LEAST, _MOST = 1e-6, 1e3
# Of one move after another without an end: walks die out, so that open-ended detours stay finite.
_RADIUS = 0.8


@dataclass(frozen=True, eq=False)
class Routes:
    """The law of the way between two places: weights of moves, of turns and of (distance, detour)."""

    moves: Floats
    turns: Floats
    detours: Floats


@dataclass(frozen=True, eq=False)
class Wanted:
    """What trips should add up to, as laws. grain: what stands for nothing, in trips."""

    moves: Floats
    turns: Floats
    detours: Floats
    grain: float


class Expectation:
    """What trips with such routes add up to, exactly."""

    def __init__(self, layout: Layout) -> None:
        self.layout, graph = layout, layout.places.graph
        self.most = layout.longest
        self.first, self.heads, self.sector = graph.first, graph.heads, graph.sector
        self.sums = room(len(graph), self.most)
        self.laws = np.zeros((len(graph), self.most + 1))
        self.flow = np.zeros((2, len(graph), 9))

    def towards(self, end: int, routes: Routes, most: int | None = None) -> None:
        """Fill `sums` and `laws` for trips to this place."""
        layout, steps = self.layout, self.layout.places.graph.steps[:, end]
        most = self.most if most is None else most
        walks_to(end, most, self.first, self.heads, self.sector, routes.moves, routes.turns, steps, self.sums)
        self.laws[:] = 0.0
        length_laws(most, steps, self.sums, layout.distance_bin, layout.detour_bin, routes.detours, self.laws)

    def of(self, routes: Routes, demand: Floats, ends: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """Moves, turns and (distance, detour) of trips. ends: for each place a factor on the trips to it."""
        layout = self.layout
        moves, turns = np.zeros(len(self.heads)), np.zeros(8)
        detours = np.zeros_like(routes.detours)
        steps = layout.places.graph.steps
        lefts = np.arange(self.most + 1)
        for end in range(len(demand)):
            factor = 1.0 if ends is None else float(ends[end])
            trips = demand[:, end] * factor
            if factor == 0.0 or trips.sum() <= 0.0:
                continue
            self.towards(end, routes)
            expected_moves(
                self.most, self.first, self.heads, self.sector, routes.moves, routes.turns,
                self.sums, self.laws, trips, moves, turns, self.flow,
            )  # fmt: skip
            near = steps[:, end]
            known = near >= 0
            rows = layout.distance_bin[near[known]]
            beyond = np.clip(lefts[None, :] - near[known][:, None], 0, self.most)
            cells = rows[:, None] * detours.shape[1] + layout.detour_bin[beyond]
            mass = trips[known][:, None] * self.laws[known]
            detours += np.bincount(cells.ravel(), mass.ravel(), detours.size).reshape(detours.shape)
        return moves, turns, detours


def fit_routes(
    wanted: Wanted,
    demand: Floats,
    layout: Layout,
    *,
    rounds: int = ROUNDS,
    tell: Callable[[str], None] | None = None,
) -> Routes:
    """Routes whose trips add up to what is wanted, as nearly as routes can."""
    expectation, graph = Expectation(layout), layout.places.graph
    base = wanted.moves + wanted.grain
    out = np.bincount(graph.tails, base, len(graph))
    start = np.log(base / out[graph.tails])
    moves, turns, detours = start.copy(), np.zeros(8), np.zeros_like(wanted.detours)
    rng = np.random.default_rng(len(graph))
    by_end = demand.sum(axis=0)
    for number in range(rounds):
        if tell is not None:
            tell(f"fitting routes, round {number + 1} of {rounds}")
        routes = _routes(moves, turns, detours, layout)
        ends = _some(by_end, rng)
        found = expectation.of(routes, demand, ends)
        # Small steps at the end: large ones go round in circles.
        step = STEP if ends is None else STEP * min(1.0, 8.0 / (number + 8.0))
        moves += step * _ratio(wanted.moves, found[0], wanted.grain)
        moves = np.clip(moves, start - 6.0, start + 6.0)
        turns += step * _ratio(wanted.turns, found[1], wanted.grain)
        detours += 2.0 * step * _ratio(wanted.detours, found[2], wanted.grain)
        detours = np.clip(detours, -12.0, 12.0)
    return _routes(moves, turns, detours, layout)


def _some(by_end: Floats, rng: np.random.Generator) -> Floats | None:
    """A factor for each destination, where there are many: a few stand for all, large ones for themselves."""
    if np.count_nonzero(by_end) <= _MOST_ENDS:
        return None
    shares = by_end / by_end.sum()
    chance = np.minimum(1.0, shares * _MOST_ENDS)
    chosen = rng.random(len(shares)) < chance
    return np.where(chosen, 1.0 / np.maximum(chance, 1e-12), 0.0)


def _ratio(wanted: Floats, found: Floats, grain: float) -> Floats:
    """By how much the logarithms are apart, as laws."""
    scaled = found * (wanted.sum() / max(found.sum(), 1e-300))
    return np.asarray(np.clip(np.log((wanted + grain) / (scaled + grain)), -2.0, 2.0))


def _routes(moves: Floats, turns: Floats, detours: Floats, layout: Layout) -> Routes:
    from scipy.sparse import csr_array

    graph = layout.places.graph
    weights = np.exp(moves)
    matrix = csr_array((weights, graph.heads, graph.first), shape=(len(graph), len(graph)))
    vector, radius = np.ones(len(graph)), 1.0
    for _ in range(30):
        vector = matrix @ vector
        radius = max(float(vector.max()), 1e-12)
        vector /= radius
    return Routes(
        np.maximum(weights * (_RADIUS / radius), 1e-200),
        np.exp(turns - turns.max()),
        np.exp(detours - detours.max()),
    )
