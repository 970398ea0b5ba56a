"""How much the normaliser can change where a run of a word is replaced, given boxes for its past and future.

The proof, rounding included, is words/mechanisms/words.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.numerics.compiled import compiled
from veil.words.numerics.bounds import UNIT, Boxes
from veil.words.numerics.contexts import Contexts, Runs, Side


class Reading(NamedTuple):
    """What the symbols of a graph allow. unique: no two nodes share a symbol. step, last: see WordGraph."""

    symbol: Ints
    step: Ints
    last: Booleans
    unique: bool


class _Between(NamedTuple):
    """The boxes of past and future, and the runs between. powers: of the decay. levels: working space."""

    past: Boxes
    future: Boxes
    runs: Runs
    symbol: Ints
    powers: Floats
    levels: Floats
    rounding: float


@compiled
def sums_over_successors(values: Floats, future: Side) -> Floats:
    """For every row the weighted sum over the successors of each node; future: the reversed graph."""
    answer = np.zeros_like(values)
    for row in range(values.shape[0]):
        for x in range(values.shape[1]):
            for i in range(future.begin[x], future.begin[x + 1]):
                answer[row, x] += future.weight[i] * values[row, future.into[i]]
    return answer


@compiled
def worst_ratio(
    past: Boxes,
    before: Contexts,
    future: Boxes,
    after: Contexts,
    future_sums: Floats,
    forwards: Side,
    backwards: Side,
    runs: Runs,
    reading: Reading,
    decay: float,
    ends: bool,
) -> float:
    """The largest bound on Z(w') / Z(w) over all pasts, futures and two runs between; 0 if there are none.

    before, after: the contexts without the run. future_sums: the lower bounds of the future, summed over the
    nodes of the run but the first. ends: whether the words end where the contexts of the future do. Unless
    symbols are unique, runs have one node.
    """
    length = runs.paths.shape[1]
    rounding = (2.0 * (past.low.shape[1] * length + len(runs.paths)) + 64.0) * UNIT
    powers = np.ones(length + 1)
    for i in range(length):
        powers[i + 1] = powers[i] * decay
    levels = np.empty((4, 2 * length + 1))
    between = _Between(past, future, runs, reading.symbol, powers, levels, rounding)
    # The contexts by the node next to the run; -1 stands for none.
    past_node, future_node = before.paths[:, -1], after.paths[:, -1]
    past_order, future_order = np.argsort(past_node), np.argsort(future_node)
    past_node, future_node = past_node[past_order], future_node[future_order]
    fitting = np.empty((3, len(runs.paths)), dtype=np.int64)
    totals = np.empty(len(runs.paths))
    reached, starts = np.empty(past.low.shape[1], dtype=np.bool_), forwards.starts
    worst = 0.0
    a_from = 0
    while a_from < len(past_node):
        a = past_node[a_from]
        a_to = np.searchsorted(past_node, a, side="right")
        _mark_reached(a, runs, forwards, reached)
        c_from = 0
        while c_from < len(future_node):
            c = future_node[c_from]
            c_to = np.searchsorted(future_node, c, side="right")
            count = _fit(a, c, runs, forwards, backwards, fitting) if c < 0 or reached[c] else 0
            if count > 1 or (count == 1 and not reading.unique):
                for p in past_order[a_from:a_to]:
                    for f in future_order[c_from:c_to]:
                        rows = fitting[:, :count].copy()
                        rows[1] += before.begin[p]
                        rows[2] += after.begin[f]
                        _find_totals(rows, past, future, future_sums, totals)
                        if reading.unique:
                            worst = _worst_exchange(between, worst, rows, totals)
                        else:
                            following = after.paths[f]
                            for j in range(len(starts) - 1 if a < 0 else starts[a + 1] - starts[a]):
                                z = j if a < 0 else forwards.targets[starts[a] + j]
                                if past.active[before.begin[p] + j] and _is_read(z, following, ends, reading):
                                    worst = _worst_departure(between, worst, z, rows, totals)
            c_from = c_to
        a_from = a_to
    return float(worst * (1.0 + 2.0 * rounding))


@compiled
def _mark_reached(a: int, runs: Runs, forwards: Side, reached: Booleans) -> None:
    """Which nodes may follow a run that follows node a."""
    starts, targets = forwards.starts, forwards.targets
    reached[:] = a < 0
    for i in range(0 if a < 0 else starts[a], 0 if a < 0 else starts[a + 1]):
        for k in range(runs.starting[targets[i]], runs.starting[targets[i] + 1]):
            end = runs.paths[k, -1]
            reached[targets[starts[end] : starts[end + 1]]] = True


@compiled
def _fit(a: int, c: int, runs: Runs, forwards: Side, backwards: Side, fitting: Places) -> int:
    """The runs that lead from node a to node c, and their places among the continuations of both contexts."""
    count = 0
    starts, back = forwards.starts, backwards.starts
    for j in range(len(starts) - 1 if a < 0 else starts[a + 1] - starts[a]):
        node = j if a < 0 else forwards.targets[starts[a] + j]
        for k in range(runs.starting[node], runs.starting[node + 1]):
            end = runs.paths[k, -1]
            place = end
            if c >= 0:
                place = np.searchsorted(backwards.targets[back[c] : back[c + 1]], end)
                if place == back[c + 1] - back[c] or backwards.targets[back[c] + place] != end:
                    continue
            fitting[0, count], fitting[1, count], fitting[2, count] = k, j, place
            count += 1
    return count


@compiled
def _find_totals(rows: Places, past: Boxes, future: Boxes, future_sums: Floats, totals: Floats) -> None:
    """The lower bounds of all runs together, in units of each run that fits; -1 if no word has it."""
    for k in range(rows.shape[1]):
        p, f = rows[1, k], rows[2, k]
        totals[k] = -1.0
        if past.active[p] and future.active[f]:
            total = 0.0
            for x in range(past.low.shape[1]):
                total += past.low[p, x] * future_sums[f, x]
            totals[k] = total


@compiled
def _worst_exchange(between: _Between, worst: float, rows: Places, totals: Floats) -> float:
    """Each of the runs against each other, where nodes have symbols of their own."""
    for k in range(rows.shape[1]):
        for other in range(rows.shape[1]):
            y, z = rows[0, k], rows[0, other]
            if totals[k] < 0.0 or totals[other] < 0.0 or _meet(between.runs.paths, y, z):
                continue
            bound = _ratio(between, rows[1, k], rows[2, k], totals[k], y, z)
            if bound > worst:
                # The same two words, in units of the other run: both bounds hold.
                seen = _ratio(between, rows[1, other], rows[2, other], totals[other], y, z)
                worst = max(worst, min(bound, seen))
    return worst


@compiled
def _worst_departure(between: _Between, worst: float, z: int, rows: Places, totals: Floats) -> float:
    """Each node against another that may stand there, where the nodes after it may be others too."""
    for k in range(rows.shape[1]):
        if totals[k] >= 0.0 and between.symbol[rows[0, k]] != between.symbol[z]:
            worst = max(worst, _ratio(between, rows[1, k], rows[2, k], totals[k], rows[0, k], z))
    return worst


@compiled
def _is_read(node: int, following: Ints, ends: bool, reading: Reading) -> bool:
    """Whether the symbols of the nodes that follow can be read from a node, as far as the context tells."""
    for i in range(len(following) - 1, -1, -1):
        if node >= 0 and following[i] >= 0:
            node = reading.step[node, reading.symbol[following[i]]]
    return node >= 0 and not (ends and not reading.last[node])


@compiled
def _meet(paths: Ints, y: int, z: int) -> bool:
    """Whether two runs share a node at the same position."""
    meetings = 0
    for i in range(paths.shape[1]):
        meetings += paths[y, i] == paths[z, i]
    return meetings > 0


@compiled
def _ratio(between: _Between, p: int, f: int, total: float, y: int, z: int) -> float:
    """A bound on Z(w') / Z(w), or one if that is larger, where w has the run y and w' the run z.

    p, f: the boxes that are used. total: a lower bound, but for rounding, of all runs together. A run that
    is nearer to z than to y by l symbols pushes the ratio towards decay^-l: the levels collect the two
    normalisers by l, for low and for high values. Runs with no symbol of y or z are the rest.
    """
    past, future, runs, symbol, powers, levels, rounding = between
    paths, length = runs.paths, runs.paths.shape[1]
    levels[:, :] = 0.0
    touched = 0.0
    for i in range(length):
        for source in (y, z):
            read = symbol[paths[source, i]]
            for place in range(runs.at[i, read], runs.at[i, read + 1]):
                k = runs.through[place]
                is_new, from_y, from_z = True, 0, 0
                for j in range(length):
                    here = symbol[paths[k, j]]
                    from_y += here != symbol[paths[y, j]]
                    from_z += here != symbol[paths[z, j]]
                    if j < i and from_y + from_z < 2 * (j + 1):
                        is_new = False
                        break
                if not is_new:
                    continue
                first, last = paths[k, 0], paths[k, length - 1]
                low = past.low[p, first] * future.low[f, last] * runs.weight[k]
                high = past.high[p, first] * future.high[f, last] * runs.weight[k]
                touched += low
                level = length + from_z - from_y
                levels[0, level] += powers[from_z] * low
                levels[1, level] += powers[from_y] * low
                levels[2, level] += powers[from_z] * high
                levels[3, level] += powers[from_y] * high
    rest = max(0.0, total * (1.0 - rounding) - touched * (1.0 + rounding)) * powers[length]
    worst = 1.0
    for cut in range(1, length + 1):
        top, bottom = rest, rest
        for level in range(2 * length + 1):
            row = 2 if level < cut else 0
            top += levels[row, level]
            bottom += levels[row + 1, level]
        worst = max(worst, float(top / bottom))
    return worst
