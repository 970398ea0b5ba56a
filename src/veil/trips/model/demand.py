"""How many trips go from each place to each: one table behind all that is known of starts, ends and pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.trips.model.fields import Effect, Sums, field
from veil.trips.tables import Layout

# Deviations of the priors of logarithms.
_BLOCK, _PLACE, _DISTANCE, _PAIR, _FINE_PAIR, _BOTH_WAYS = 0.8, 0.8, 1.0, 0.5, 0.5, 0.5


def demand(noisy: Mapping[str, Floats], scales: Mapping[str, float], layout: Layout, total: float) -> Floats:
    """Expected trips [from, to] that add up to `total`.

    noisy: the noisy tables in trips. scales: of their noise.
    """
    size = len(layout.places)
    steps = layout.places.graph.steps
    reachable = ((steps >= 0) & (steps <= layout.longest)).ravel()
    origin, end = (side[reachable] for side in np.divmod(np.arange(size * size), size))
    distance = layout.distance_bin[steps.ravel()[reachable]]
    few, many = layout.blocks[4], layout.blocks[8]
    wide, fine = int(few.max()) + 1, int(many.max()) + 1
    pair_few = few[origin].astype(np.int64) * wide + few[end]
    pair_many = many[origin].astype(np.int64) * fine + many[end]
    effects = [
        Effect(distance, _DISTANCE),
        *(Effect(levels[side], _BLOCK) for side in (origin, end) for levels in (few, many)),
        *(Effect(side, _PLACE) for side in (origin, end)),
        Effect(pair_few, _PAIR),
        Effect(_both_ways(many[origin], many[end], fine), _BOTH_WAYS),
        Effect(pair_many, _FINE_PAIR),
    ]
    rows: dict[str, Any] = {
        "pairs of 4 x 4 blocks": pair_few,
        "pairs of 8 x 8 blocks": pair_many,
        "starts": origin,
        "ends": end,
        "detours": distance,
    }
    sums = []
    for name, row in rows.items():
        if name in noisy:
            table = noisy[name]
            scale = scales[name]
            if name == "detours":
                # The noise of eight cells together, as if it were that of one of the same deviation.
                scale *= float(np.sqrt(table.shape[1]))
                table = table.sum(axis=1)
            sums.append(Sums(np.asarray(table, dtype=np.float64).ravel(), scale, row))
    means = field(sums, effects, np.zeros(len(origin)))
    answer = np.zeros(size * size)
    answer[reachable] = means * (total / means.sum())
    return answer.reshape(size, size)


def _both_ways(one: Any, other: Any, size: int) -> Any:
    low, high = np.minimum(one, other).astype(np.int64), np.maximum(one, other)
    return low * size + high
