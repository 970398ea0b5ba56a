"""Bounds on the ratios of all pairs of nodes, which make the boxes of the certificate narrower.

A box bounds every node against one reference, and forgets how the others depend on each other: at low rates
boxes widen from position to position. Bounds on the value of x divided by that of z, for all x and z, widen
far less. They are kept for the last few symbols of the word. The proof, rounding included, is
words/mechanisms/words.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.numerics.compiled import compiled
from veil.core.progress import tell
from veil.words.numerics.bounds import LARGEST, SMALLEST, UNIT, Boxes
from veil.words.numerics.contexts import Contexts, Side
from veil.words.numerics.graph import WordGraph

# Nodes, symbols that are told apart, and operations for one side.
_MOST_NODES, _MOST_MEMORY, _MOST_OPERATIONS = 100, 3, 4e9
# At higher rates boxes are nearly as narrow.
_LARGEST_RATE = 2.0
# A bound of a tail that has to give way gives way by this much more, so that it soon need not.
_MARGIN = 1e-6


class Pairs(NamedTuple):
    """For every string just read: a bound for each two nodes, and the nodes where a word may stand now."""

    high: Floats
    reach: Booleans


class Strings(NamedTuple):
    """The strings of the same number of symbols that can be read somewhere, one per row.

    onward[row, symbol]: the row of the string after one more symbol, -1 if it cannot be read. The strings of
    the last table forget their first symbol.
    """

    symbols: Ints
    onward: Places


def may_tighten(graph: WordGraph, rate: float) -> bool:
    """Whether bounds of all pairs are affordable and likely to help."""
    return graph.size <= _MOST_NODES and rate <= _LARGEST_RATE


def tighten(
    levels: list[Boxes], side: Side, contexts: list[Contexts], graph: WordGraph, decay: float
) -> None:
    """Make boxes narrower, in place, by bounds for all pairs of nodes."""
    most, tables = _MOST_OPERATIONS, _string_tables(side, graph, min(_MOST_MEMORY, len(contexts) - 2))
    each = 20.0 * graph.size**2
    while len(tables) > 1 and len(levels) * each * len(tables[-1].symbols) > most:
        tables.pop()
        tables[-1] = _forgetful(tables)
    memory = len(tables) - 1
    # What is left is for the passes over a tail.
    most -= len(levels) * each * len(tables[-1].symbols)
    pairs = _first_pairs(side)
    for i, boxes in enumerate(levels):
        tell(f"pairs of words, position {i + 1} of {len(levels)}")
        if i > 0:
            pairs = _next_pairs(pairs, tables[min(i - 1, memory)], tables[min(i, memory)], side, graph, decay)
        if boxes.is_tail:
            # In place: each pass covers one more position at least. Once nothing waits, all are covered.
            waiting = _present(pairs)
            for _ in range(graph.length - len(levels)):
                most -= each * waiting.sum()
                if most < 0.0:
                    return
                advance(
                    pairs, waiting, tables[memory].onward, pairs, waiting, side, graph.symbol, decay, _MARGIN
                )
                if not waiting.any():
                    break
        paths = contexts[boxes.nodes].paths
        rows = _rows_of(graph.symbol[paths[:, :-1]], tables, min(i, memory))
        _intersect(boxes.low, boxes.high, boxes.active, paths[:, -1].copy(), rows, pairs)


def _next_pairs(
    pairs: Pairs, old: Strings, new: Strings, side: Side, graph: WordGraph, decay: float
) -> Pairs:
    count = len(new.symbols)
    found = Pairs(np.zeros((count, graph.size, graph.size)), np.zeros((count, graph.size), np.bool_))
    changed = np.zeros(count, np.bool_)
    advance(pairs, _present(pairs), old.onward, found, changed, side, graph.symbol, decay, 0.0)
    return found


def _present(pairs: Pairs) -> Booleans:
    """The strings that a word may just have read."""
    return np.asarray(np.any(pairs.reach, axis=1))


def _string_tables(side: Side, graph: WordGraph, memory: int) -> list[Strings]:
    """The strings of 0, ..., memory symbols."""
    size, symbol = graph.size, graph.symbol
    steps = np.zeros((size, size), dtype=np.bool_)
    steps[np.repeat(np.arange(size), np.diff(side.starts)), side.targets] = True
    strings: list[tuple[int, ...]] = [()]
    ends = [np.ones(size, dtype=np.bool_)]
    tables: list[Strings] = []
    for count in range(memory + 1):
        onward = np.full((len(strings), graph.alphabet), -1, dtype=np.int64)
        longer: list[tuple[int, ...]] = []
        longer_ends = []
        for row, (string, end) in enumerate(zip(strings, ends, strict=True)):
            ahead = end if count == 0 else steps[end].any(axis=0)
            for read in np.unique(symbol[ahead]).tolist():
                onward[row, read] = len(longer)
                longer.append((*string, read))
                longer_ends.append(ahead & (symbol == read))
        tables.append(Strings(np.array(strings, dtype=np.int32).reshape(len(strings), count), onward))
        strings, ends = longer, longer_ends
    tables[-1] = _forgetful(tables)
    return tables


def _forgetful(tables: list[Strings]) -> Strings:
    """The last table, where strings lead to strings of the same table."""
    symbols, onward = tables[-1]
    number = {tuple(string): row for row, string in enumerate(symbols.tolist())}
    moved = np.full_like(onward, -1)
    for row, read in np.argwhere(onward >= 0).tolist():
        moved[row, read] = number[(*symbols[row].tolist(), read)[1:]] if symbols.shape[1] else 0
    return Strings(symbols, moved)


def _rows_of(read: Ints, tables: list[Strings], count: int) -> Places:
    """The row of the last `count` symbols of each context, among the strings of so many."""
    rows = np.zeros(len(read), dtype=np.int64)
    for k in range(count):
        rows = tables[k].onward[rows, read[:, read.shape[1] - count + k]]
    return rows


def _first_pairs(side: Side) -> Pairs:
    begins = side.initial > 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = side.initial[:, None] / side.initial[None, :] * (1.0 + 4.0 * UNIT)
    high = np.where(begins[:, None], np.where(ratio > LARGEST, np.inf, np.maximum(ratio, SMALLEST)), 0.0)
    return Pairs(high[None], begins[None].copy())


@compiled
def _intersect(
    low: Floats, high: Floats, active: Booleans, reference: Ints, rows: Places, pairs: Pairs
) -> None:
    """Narrow the boxes by the bounds of the pairs with their references."""
    for q in range(len(reference)):
        if not active[q]:
            continue
        y = reference[q]
        for x in range(low.shape[1]):
            most, least = pairs.high[rows[q], x, y], 1.0 / pairs.high[rows[q], y, x]
            if x != y and most < high[q, x]:
                high[q, x] = most
            if x != y and low[q, x] < least * (1.0 - 4.0 * UNIT) <= high[q, x]:
                low[q, x] = least * (1.0 - 4.0 * UNIT)


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
            image = _image(old.high[p], factor, side, rounding)
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
def _image(high: Floats, factor: Floats, side: Side, rounding: float) -> Floats:
    """Bounds on the ratios of the sums over the predecessors of each two nodes."""
    size = len(factor)
    # share_low, share_high[z, y]: bounds on the value of z divided by the sum of y.
    share_low = _transposed(_one_over_sums(high, factor, side))
    share_high = _transposed(_one_over_sums(_transposed(1.0 / high), factor, side))
    # The sum of x against every predecessor of y.
    image = _transposed(_one_over_sums(share_low, factor, side))
    # Every predecessor of x against the sum of y.
    sums = np.empty(size)
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
    return image


@compiled
def _transposed(source: Floats) -> Floats:
    """In blocks, which stay in the cache."""
    size, target = len(source), np.empty_like(source)
    for x_from in range(0, size, 16):
        for y_from in range(0, size, 16):
            for x in range(x_from, min(x_from + 16, size)):
                for y in range(y_from, min(y_from + 16, size)):
                    target[y, x] = source[x, y]
    return target


@compiled
def _sum(values: Floats, x: int, factor: Floats, side: Side, sums: Floats) -> None:
    """The weighted sum of the rows of the predecessors of x."""
    sums[:] = 0.0
    for i in range(side.begin[x], side.begin[x + 1]):
        each, row = side.weight[i] * factor[side.into[i]], values[side.into[i]]
        for r in range(len(sums)):
            sums[r] += each * row[r]


@compiled
def _one_over_sums(values: Floats, factor: Floats, side: Side) -> Floats:
    answer = np.empty_like(values)
    for x in range(len(factor)):
        row = answer[x]
        _sum(values, x, factor, side, row)
        for r in range(len(row)):
            row[r] = 1.0 / row[r]
    return answer


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
