"""One step of the bounds on the ratios of all pairs of nodes. The proof is words/mechanisms/words.md."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.numerics.compiled import compiled
from veil.words.numerics.bounds import LARGEST, SMALLEST, UNIT
from veil.words.numerics.contexts import Side


class Pairs(NamedTuple):
    """For every string just read: a bound for each two nodes, and the nodes where a word may stand now."""

    high: Floats
    reach: Booleans


@compiled
def advance(
    old: Pairs,
    waiting: Booleans,
    onward: Places,
    new: Pairs,
    changed: Booleans,
    side: Side,
    symbol: Ints,
    decay: float,
    margin: float,
) -> None:
    """Join to the new bounds what one more symbol makes of the old ones that wait, and mark what changes.

    Old and new may be the same arrays, and so may the marks.
    """
    size = len(symbol)
    image, work = np.empty((size, size)), np.empty((size, size))
    over, share_low, share_high = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    factor, ahead = np.empty(size), np.empty(size, dtype=np.bool_)
    rounding = (4.0 * np.diff(side.begin).max() + 64.0) * UNIT
    for p in range(len(waiting)):
        if not waiting[p]:
            continue
        # Before its steps are joined: one of them may lead back and change it.
        waiting[p] = False
        for read in range(onward.shape[1]):
            q = onward[p, read]
            if q < 0:
                continue
            ahead[:] = False
            for x in range(size):
                factor[x] = 1.0 if symbol[x] == read else decay
                if symbol[x] == read and old.reach[p, x]:
                    ahead[side.targets[side.starts[x] : side.starts[x + 1]]] = True
            if not ahead.any():
                continue
            _image(old.high[p], factor, side, rounding, image, work, over, share_low, share_high)
            for x in range(size):
                if ahead[x] and not new.reach[q, x]:
                    new.reach[q, x], changed[q] = True, True
                if _join(new.high[q, x], image[x], 1.0 + rounding, 1.0 + margin) > 0:
                    changed[q] = True


@compiled
def _join(high: Floats, found: Floats, rounding: float, margin: float) -> int:
    """Raise bounds as far as they must be; the number of those that gave way. Without branches."""
    changes = 0
    for y in range(len(high)):
        most = found[y] * rounding
        most = most if most >= SMALLEST or most == 0.0 else SMALLEST
        changes += most > high[y]
        most = most * margin if most > high[y] else high[y]
        high[y] = most if most <= LARGEST else np.inf
    return changes


@compiled
def _image(
    high: Floats,
    factor: Floats,
    side: Side,
    rounding: float,
    image: Floats,
    work: Floats,
    over: Floats,
    share_low: Floats,
    share_high: Floats,
) -> None:
    """Bounds on the ratios of the sums over the predecessors of each two nodes; all but image: work space.

    share_low, share_high[z, y]: bounds on the value of z divided by the sum of y.
    """
    size = len(factor)
    for x in range(size):
        for y in range(size):
            work[x, y] = 1.0 / high[x, y]
    _transpose(work, over)
    _one_over_sums(high, factor, side, work)
    _transpose(work, share_low)
    _one_over_sums(over, factor, side, work)
    _transpose(work, share_high)
    # The sum of x against every predecessor of y.
    _one_over_sums(share_low, factor, side, work)
    _transpose(work, image)
    # Every predecessor of x against the sum of y.
    sums = work[0]
    for x in range(size):
        _sum(share_high, x, factor, side, sums)
        for y in range(size):
            image[x, y] = min(image[x, y], sums[y])
    for y in range(size):
        for k in range(side.near[y], side.near[y + 1]):
            x = side.relatives[k]
            if x != y and image[x, y] > 0.0:
                bound = _common(x, y, side, factor, rounding, share_low, share_high)
                image[x, y] = min(image[x, y], bound)
        image[y, y] = min(image[y, y], 1.0)


@compiled
def _transpose(source: Floats, target: Floats) -> None:
    """In blocks, which stay in the cache."""
    size = len(source)
    for x_from in range(0, size, 16):
        for y_from in range(0, size, 16):
            for x in range(x_from, min(x_from + 16, size)):
                for y in range(y_from, min(y_from + 16, size)):
                    target[y, x] = source[x, y]


@compiled
def _sum(values: Floats, x: int, factor: Floats, side: Side, sums: Floats) -> None:
    """The weighted sum of the rows of the predecessors of x."""
    sums[:] = 0.0
    for i in range(side.begin[x], side.begin[x + 1]):
        each, row = side.weight[i] * factor[side.into[i]], values[side.into[i]]
        for r in range(len(sums)):
            sums[r] += each * row[r]


@compiled
def _one_over_sums(values: Floats, factor: Floats, side: Side, answer: Floats) -> None:
    for x in range(len(factor)):
        row = answer[x]
        _sum(values, x, factor, side, row)
        for r in range(len(row)):
            row[r] = 1.0 / row[r]


@compiled
def _common(
    x: int, y: int, side: Side, factor: Floats, rounding: float, share_low: Floats, share_high: Floats
) -> float:
    """The same for nodes with common predecessors: a multiple of the sum of y, and what is left over."""
    begin, into, weight = side.begin, side.into, side.weight
    best, tried = np.inf, 0.0
    for a in range(begin[x], begin[x + 1]):
        for b in range(begin[y], begin[y + 1]):
            multiple = weight[a] / weight[b]
            if into[a] != into[b] or multiple == tried:
                continue
            tried = multiple
            more, less, all_terms = multiple, 0.0, multiple
            i, j = begin[x], begin[y]
            while i < begin[x + 1] or j < begin[y + 1]:
                top, bottom = 0.0, 0.0
                if j == begin[y + 1] or (i < begin[x + 1] and into[i] <= into[j]):
                    z, top = into[i], weight[i]
                else:
                    z = into[j]
                if j < begin[y + 1] and into[j] == z:
                    bottom = multiple * weight[j]
                    j += 1
                if i < begin[x + 1] and into[i] == z:
                    i += 1
                if top > bottom:
                    more += (top - bottom) * factor[z] * share_high[z, y]
                elif bottom > top:
                    less += (bottom - top) * factor[z] * share_low[z, y]
                all_terms += (top + bottom) * factor[z] * (share_high[z, y] + share_low[z, y])
            bound = more + rounding * all_terms - less
            # Not a number, or nothing left by rounding: no bound.
            if bound > 0.0:
                best = min(best, bound)
    return float(best)
