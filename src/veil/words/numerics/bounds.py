"""Boxes around the forward and backward vectors of all words at once.

For a context, low[x] and high[x] bound the value of node x divided by the value of the reference node, for
every word with that context. The proof, rounding included, is words/mechanisms/words.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints
from veil.core.numerics.compiled import compiled
from veil.words.numerics.contexts import Contexts, Side
from veil.words.numerics.graph import WordGraph

# Bounds beyond these are given up: every product of two of them and some weights stays a normal number.
SMALLEST, LARGEST = 1e-100, 1e100
UNIT = 2.0**-53
# A bound that has to give way, far from the ends, gives way by this much more, so that it soon need not.
_MARGIN = 1e-6


class Boxes(NamedTuple):
    """Boxes for the contexts of `nodes` nodes, one per row, at one position or at all from one on (is_tail).

    active: which contexts there are at all.
    """

    nodes: int
    low: Floats
    high: Floats
    active: Booleans
    is_tail: bool


def box_levels(
    side: Side, contexts: list[Contexts], graph: WordGraph, decay: float, own: int
) -> list[Boxes] | None:
    """The boxes after 1, 2, ... nodes: those of the first `own` positions, then one for all others.

    None: a bound left the range in which the rounding is bounded.
    """
    memory = len(contexts) - 2
    boxes = [_first_boxes(side)]
    waiting = boxes[0].active.copy()
    while len(boxes) < graph.length:
        old = boxes[-1]
        nodes = min(old.nodes + 1, memory + 1)
        shape = (len(contexts[nodes].paths), graph.size)
        # Boxes that serve several positions have contexts of full length.
        is_tail = len(boxes) >= max(own, memory)
        new = Boxes(nodes, np.zeros(shape), np.zeros(shape), np.zeros(shape[0], np.bool_), is_tail)
        changed = np.zeros(shape[0], np.bool_)
        if not _advance(old, waiting, contexts[old.nodes], new, changed, side, graph.symbol, decay, 0.0):
            return None
        waiting = new.active.copy()
        boxes.append(new)
        if new.is_tail:
            # In place: each pass covers one more position at least. Once no box waits, all are covered.
            for _ in range(graph.length - len(boxes)):
                if not _advance(
                    new, waiting, contexts[nodes], new, waiting, side, graph.symbol, decay, _MARGIN
                ):
                    return None
                if not waiting.any():
                    break
            break
    return boxes


def _first_boxes(side: Side) -> Boxes:
    begins = side.initial > 0.0
    low, high = np.zeros((len(begins), len(begins))), np.zeros((len(begins), len(begins)))
    ratio = side.initial[None, :] / side.initial[begins, None]
    low[begins], high[begins] = ratio * (1.0 - 4.0 * UNIT), ratio * (1.0 + 4.0 * UNIT)
    np.fill_diagonal(low, 1.0)
    np.fill_diagonal(high, 1.0)
    return Boxes(1, low, high, begins, False)


@compiled
def _advance(
    old: Boxes,
    waiting: Booleans,
    contexts: Contexts,
    new: Boxes,
    changed: Booleans,
    side: Side,
    symbol: Ints,
    decay: float,
    margin: float,
) -> bool:
    """Join to the new boxes what one more step makes of the old ones that wait, and mark those that change.

    Old and new boxes may be the same arrays, and so may the marks. A bound that has to give way gives way by
    the margin more. Returns False where one left the range in which the rounding is bounded.
    """
    size = len(symbol)
    widest = np.diff(side.begin).max()
    rounding = (4.0 * widest + 64.0) * UNIT
    low, high = np.empty(size), np.empty(size)
    sum_low, sum_high = np.empty(size), np.empty(size)
    ratio_low, ratio_high = np.empty(size), np.empty(size)
    shared = np.empty((5, widest))
    for p in range(len(contexts.paths)):
        if not waiting[p]:
            continue
        # Before its steps are joined: one of them may lead back and change it.
        waiting[p] = False
        here = contexts.paths[p, -1]
        for z in range(size):
            factor = 1.0 if symbol[z] == symbol[here] else decay
            low[z], high[z] = factor * old.low[p, z], factor * old.high[p, z]
        for x in range(size):
            sum_low[x], sum_high[x] = 0.0, 0.0
            for i in range(side.begin[x], side.begin[x + 1]):
                sum_low[x] += side.weight[i] * low[side.into[i]]
                sum_high[x] += side.weight[i] * high[side.into[i]]
        for edge in range(side.starts[here], side.starts[here + 1]):
            y = side.targets[edge]
            over_low, over_high = 1.0 / sum_low[y], 1.0 / sum_high[y]
            for x in range(size):
                ratio_low[x], ratio_high[x] = sum_low[x] * over_high, sum_high[x] * over_low
            for i in range(side.near[y], side.near[y + 1]):
                x = side.relatives[i]
                ratio_low[x], ratio_high[x] = _extremes(x, y, side, low, high, shared)
            q = contexts.onward[contexts.begin[p] + edge - side.starts[here]]
            if not new.active[q]:
                new.active[q], changed[q] = True, True
                new.low[q, :], new.high[q, :] = np.inf, 0.0
                new.low[q, y], new.high[q, y] = 1.0, 1.0
            # The value of the reference itself is one: no bound gives way.
            ratio_low[y], ratio_high[y] = 2.0, 0.0
            joined = _join(new.low[q], new.high[q], ratio_low, ratio_high, rounding, margin)
            if joined < 0:
                return False
            if joined > 0:
                changed[q] = True
    return True


@compiled
def _join(
    low: Floats, high: Floats, ratio_low: Floats, ratio_high: Floats, rounding: float, margin: float
) -> int:
    """Widen a box as far as it must be, see _advance; the number of bounds that gave way, -1 if out of range.

    Without branches, for the vector instructions.
    """
    changes, largest = 0, 0.0
    for x in range(len(low)):
        least, most = ratio_low[x] * (1.0 - rounding), ratio_high[x] * (1.0 + rounding)
        least = least if least >= SMALLEST else 0.0
        most = most if most >= SMALLEST or most == 0.0 else SMALLEST
        largest = max(largest, most)
        changes += (least < low[x]) + (most > high[x])
        low[x] = least * (1.0 - margin) if least < low[x] else low[x]
        high[x] = most * (1.0 + margin) if most > high[x] else high[x]
    return changes if largest <= LARGEST else -1


@compiled
def _extremes(x: int, y: int, side: Side, low: Floats, high: Floats, shared: Floats) -> tuple[float, float]:
    """The least and the largest ratio of the sums over the predecessors of x and over those of y.

    The values of the predecessors range over a box; one of those of y has the value one. A predecessor of
    both pushes the ratio towards the quotient of its two weights: for the largest ratio, those with large
    quotients are high and the others low. shared: working space.
    """
    begin, into, weight = side.begin, side.into, side.weight
    top_low, top_high, bottom_low, bottom_high = 0.0, 0.0, 0.0, 0.0
    i, j, count = begin[x], begin[y], 0
    while i < begin[x + 1] or j < begin[y + 1]:
        if j == begin[y + 1] or (i < begin[x + 1] and into[i] < into[j]):
            top_low += weight[i] * low[into[i]]
            top_high += weight[i] * high[into[i]]
            i += 1
        elif i == begin[x + 1] or into[j] < into[i]:
            bottom_low += weight[j] * low[into[j]]
            bottom_high += weight[j] * high[into[j]]
            j += 1
        else:
            # Kept by falling quotients.
            place, quotient = count, weight[i] / weight[j]
            while place > 0 and shared[0, place - 1] < quotient:
                shared[:, place] = shared[:, place - 1]
                place -= 1
            shared[0, place] = quotient
            shared[1, place], shared[2, place] = weight[i], weight[j]
            shared[3, place], shared[4, place] = low[into[i]], high[into[i]]
            count += 1
            i += 1
            j += 1
    least, most = np.inf, 0.0
    for cut in range(count + 1):
        # Between equal quotients there is no need to cut.
        if 0 < cut < count and shared[0, cut - 1] == shared[0, cut]:
            continue
        top_most, bottom_most, top_least, bottom_least = top_high, bottom_low, top_low, bottom_high
        for k in range(count):
            for_most, for_least = shared[3, k], shared[4, k]
            if k < cut:
                for_most, for_least = for_least, for_most
            top_most += shared[1, k] * for_most
            bottom_most += shared[2, k] * for_most
            top_least += shared[1, k] * for_least
            bottom_least += shared[2, k] * for_least
        most = max(most, top_most / bottom_most)
        least = min(least, top_least / bottom_least)
    return least, most
