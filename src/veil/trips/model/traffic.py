"""How often each move is made: what is behind its noisy table, from the whole area down to single moves.

At each level the noisy sums are taken together with what the level above expects (empirical Bayes, as in
core.numerics.denoise): blocks of the area, then places, then both ways between two neighbours, then each way.
So what is empty comes out as nearly empty, and what is busy stays as it was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.denoise import Noise, posterior
from veil.trips.places.place_graph import SECTORS
from veil.trips.tables import Layout

_TINY = 1e-9
_SWEEPS = 10
# From here on a sum of geometric noise is as good as normal.
_NORMAL_FROM = 3.0
_VISITS = {4: "visits of 4 x 4 blocks", 8: "visits of 8 x 8 blocks"}


def traffic(noisy: Mapping[str, Floats], scales: Mapping[str, float], layout: Layout) -> Floats:
    """Expected moves, in trips: each move of a trip of L counts 1 / L.

    noisy: the noisy tables in trips. scales: of their noise.
    """
    graph = layout.places.graph
    size, tails, heads = len(graph), graph.tails, graph.heads
    moves, scale = noisy["moves"], scales["moves"]
    total = max(float(moves.sum()), 1.0)

    # Every move visits two places.
    means = np.full(1, 2.0 * total)
    within: Any = np.zeros(size, dtype=np.int64)
    for side in (4, 8):
        block = layout.blocks[side]
        number = int(block.max()) + 1
        share = _shared(means, within, block, number)
        sums = np.bincount(block[tails], moves, number) + np.bincount(block[heads], moves, number)
        same = block[tails] == block[heads]
        cells = np.bincount(block[tails], 1.0 + same, number) + np.bincount(block[heads], 1.0 + same, number)
        variance = 2.0 * scale**2 * np.maximum(cells, 1.0)
        if _VISITS[side] in noisy:
            # Of a trip of L moves, L + 1 visits; those of both ends of all moves are nearly the same, twice.
            seen, of_seen = 2.0 * noisy[_VISITS[side]], 8.0 * scales[_VISITS[side]] ** 2
            weight = of_seen / (of_seen + variance)
            sums, variance = weight * sums + (1.0 - weight) * seen, variance * weight
        level = _level(sums, variance, share, scale)
        means, within = level * (2.0 * total / max(float(level.sum()), _TINY)), block

    around = np.maximum(np.bincount(tails, minlength=size), 1)
    even = (means / np.maximum(np.bincount(within), 1))[within]
    smooth = 0.5 * (even + np.bincount(tails, even[heads], size) / around)
    sums = np.bincount(tails, moves, size) + np.bincount(heads, moves, size)
    visits = _level(sums, 4.0 * scale**2 * around, smooth, scale)
    visits *= (means / np.maximum(np.bincount(within, visits), _TINY))[within]
    return _moves(moves, scale, np.maximum(visits, _TINY), layout)


def _moves(moves: Floats, scale: float, visits: Floats, layout: Layout) -> Floats:
    """Each move, given how often its two places are visited."""
    graph = layout.places.graph
    size, tails, heads = len(graph), graph.tails, graph.heads
    expected = visits[tails] * visits[heads] / (visits[tails] + visits[heads])
    line = graph.sector % (SECTORS // 2)
    of_line = np.bincount(line, moves, SECTORS // 2), np.bincount(line, expected, SECTORS // 2)
    expected *= np.maximum(of_line[0] / np.maximum(of_line[1], _TINY), 0.01)[line]
    for _ in range(_SWEEPS):
        found = np.bincount(tails, expected, size) + np.bincount(heads, expected, size)
        factor = np.sqrt(visits / np.maximum(found, _TINY))
        expected *= factor[tails] * factor[heads]
    both = np.unique(np.minimum(np.arange(graph.moves), graph.back), return_inverse=True)[1]
    sums = np.bincount(both, moves)
    together = _level(sums, np.full(len(sums), 4.0 * scale**2), np.bincount(both, expected), scale)
    each = _level(moves, np.full(len(moves), 2.0 * scale**2), 0.5 * together[both], scale)
    return np.asarray(each * (together[both] / np.maximum(each + each[graph.back], _TINY)))


def _shared(means: Floats, within: Any, block: Any, number: int) -> Floats:
    """What the places of each block have of the larger blocks that they are in, by their number."""
    even = (means / np.maximum(np.bincount(within), 1))[within]
    return np.asarray(np.bincount(block, even, number), dtype=np.float64)


def _level(sums: Any, variance: Any, means: Any, scale: float) -> Floats:
    """What is behind noisy sums; those of about the same noise together, which learn one law."""
    answer = np.zeros(len(sums))
    group = np.rint(np.log2(variance)).astype(np.int64)
    for one in np.unique(group):
        chosen = group == one
        parts = float(variance[chosen].mean()) / (2.0 * scale**2)
        # A sum of few terms of geometric noise has its shape.
        kind: Literal["gaussian", "geometric"] = "gaussian" if parts >= _NORMAL_FROM else "geometric"
        deviation = scale * np.sqrt(parts) * (np.sqrt(2.0) if kind == "gaussian" else 1.0)
        noise = Noise(kind, float(max(deviation, 0.05)))
        answer[chosen] = posterior(np.rint(sums[chosen]), np.maximum(means[chosen], 1e-6), noise).mean
    return answer
