"""The likeliest pairs that leave every node within a degree that is known for it.

Pairs are taken in falling order of their probability, each if both of its nodes still have room. That is a
greedy b-matching; its total probability is at least half of the best one's (Mestre, 2006).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veil.core.numerics.compiled import compiled
from veil.graphs.numerics.decoding import PairChances
from veil.graphs.numerics.pairs import Codes

# Pairs that are looked at, in multiples of those that are wanted.
_DEEP = 15


def likeliest_within(chances: PairChances, falling: Codes) -> Codes:
    """The sorted numbers of the pairs; falling: the degrees there are, the largest first, of no stated node.

    The nodes of the largest expected degrees get the largest degrees.
    """
    expected = chances.matrix.sum(axis=1, dtype=np.float64)
    room = np.empty(len(expected), dtype=np.int64)
    room[np.argsort(-expected, kind="stable")] = falling
    top = chances.likeliest(_DEEP * max(int(falling.sum()) // 2, 1))
    order = top[np.argsort(-chances.of(top), kind="stable")]
    rows, columns = chances.space.ends(order)
    return np.sort(order[_taken(rows, columns, room)])


@compiled
def _taken(rows: Codes, columns: Codes, room: Codes) -> NDArray[np.bool_]:
    taken = np.zeros(len(rows), dtype=np.bool_)
    for k in range(len(rows)):
        i, j = rows[k], columns[k]
        if room[i] > 0 and room[j] > 0:
            room[i] -= 1
            room[j] -= 1
            taken[k] = True
    return taken
