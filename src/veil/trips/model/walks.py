"""Loops over walks between places: how likely they are, what they add up to, and random ones.

A walk from o to d of r moves has the weight of its moves times the weight of its turns. Sums over all walks
are exact, by recursion over how many moves are left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.compiled import compiled

# The "direction" before the first move, after those of places.place_graph.
_NONE = 8


@compiled
def walks_to(
    end: int, most: int, first: Any, heads: Any, sector: Any, weight: Any, turn: Any, steps: Any, sums: Any
) -> None:
    """Fill sums[r, place, direction] with the weight of all walks of r moves to `end`.

    direction: of the move that led to the place. steps: from each place to `end`, at least.
    """
    size = len(first) - 1
    for left in range(most + 1):
        for place in range(size):
            for way in range(9):
                sums[left, place, way] = 0.0
    for way in range(9):
        sums[0, end, way] = 1.0
    for left in range(1, most + 1):
        for place in range(size):
            if steps[place] < 0 or steps[place] > left:
                continue
            for move in range(first[place], first[place + 1]):
                after = weight[move] * sums[left - 1, heads[move], sector[move]]
                if after == 0.0:
                    continue
                out = sector[move]
                for way in range(8):
                    sums[left, place, way] += after * turn[(out - way) & 7]
                sums[left, place, 8] += after


@compiled
def length_laws(
    most: int, steps: Any, sums: Any, distance_bin: Any, detour_bin: Any, factor: Any, laws: Any
) -> None:
    """Fill laws[place, r] with how likely a trip from there to the end has r moves; or 0."""
    for place in range(len(steps)):
        total = 0.0
        near = steps[place]
        for left in range(most + 1):
            laws[place, left] = 0.0
            if near >= 0 and left >= near:
                laws[place, left] = factor[distance_bin[near], detour_bin[left - near]] * sums[left, place, 8]
                total += laws[place, left]
        if total > 0.0:
            for left in range(most + 1):
                laws[place, left] /= total


@compiled
def expected_moves(
    most: int,
    first: Any,
    heads: Any,
    sector: Any,
    weight: Any,
    turn: Any,
    sums: Any,
    laws: Any,
    trips: Any,
    moves: Any,
    turns: Any,
    flow: Any,
) -> None:
    """Add to `moves` and `turns` what trips to the end make, each move with the weight 1 / length.

    trips: how many start in each place. flow: [2, place, 9], to work in.
    """
    size = len(first) - 1
    for place in range(size):
        for way in range(9):
            flow[0, place, way] = 0.0
            flow[1, place, way] = 0.0
    now = 0
    for left in range(most, 0, -1):
        for place in range(size):
            if trips[place] > 0.0 and laws[place, left] > 0.0 and sums[left, place, 8] > 0.0:
                flow[now, place, 8] += trips[place] * laws[place, left] / (left * sums[left, place, 8])
        then = 1 - now
        for place in range(size):
            used = False
            for way in range(9):
                if flow[now, place, way] > 0.0:
                    used = True
            if not used:
                continue
            for move in range(first[place], first[place + 1]):
                out, head = sector[move], heads[move]
                after = weight[move] * sums[left - 1, head, out]
                if after == 0.0:
                    continue
                total = 0.0
                for way in range(8):
                    one = flow[now, place, way] * turn[(out - way) & 7]
                    turns[(out - way) & 7] += one * after
                    total += one
                total += flow[now, place, 8]
                moves[move] += total * after
                flow[then, head, out] += total * weight[move]
            for way in range(9):
                flow[now, place, way] = 0.0
        now = then


@compiled
def random_walks(
    seed: int,
    most: int,
    origins: Any,
    points: Any,
    first: Any,
    heads: Any,
    sector: Any,
    weight: Any,
    turn: Any,
    sums: Any,
    laws: Any,
    codes: Any,
    lengths: Any,
) -> None:
    """Fill codes[trip, :] with the places of random walks from each origin to the end, and how many moves
    they have.

    points: one number from 0 to 1 for each, which chooses its length.
    """
    np.random.seed(seed)  # noqa: NPY002
    for trip in range(len(origins)):
        place, way = origins[trip], 8
        point, left = points[trip], 0
        for number in range(most + 1):
            if laws[place, number] > 0.0:
                left = number
                point -= laws[place, number]
                if point < 0.0:
                    break
        lengths[trip] = left
        codes[trip, 0] = place
        for step in range(left):
            remaining = left - step
            point = np.random.random() * sums[remaining, place, way]  # noqa: NPY002
            chosen = -1
            for move in range(first[place], first[place + 1]):
                after = weight[move] * sums[remaining - 1, heads[move], sector[move]]
                if way < 8:
                    after *= turn[(sector[move] - way) & 7]
                if after > 0.0:
                    chosen = move
                    point -= after
                    if point < 0.0:
                        break
            place, way = heads[chosen], sector[chosen]
            codes[trip, step + 1] = place


def room(places: int, most: int) -> Floats:
    """An array for `walks_to`."""
    return np.zeros((most + 1, places, _NONE + 1))
