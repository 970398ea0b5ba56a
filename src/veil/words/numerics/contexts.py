"""What is known of a word around a position: its last nodes before it, or its next nodes after it.

A context is a path of a few nodes; its last node is the reference, the node of the word at the position
itself. The past of a position is a path in the graph, its future a path in the reversed graph, so that one
code serves both sides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.core.arrays import Floats, Ints, Places
from veil.words.numerics.graph import WordGraph, begins, edges_after


class Side(NamedTuple):
    """A graph in one direction of reading.

    The successors of v are targets[starts[v] : starts[v + 1]] and its predecessors into[begin[v] :
    begin[v + 1]], both in rising order; weight belongs to `into`. relatives[near[v] : near[v + 1]]: the nodes
    that share a predecessor with v. initial: the value of every node where reading begins.
    """

    starts: Places
    targets: Ints
    begin: Places
    into: Ints
    weight: Floats
    near: Places
    relatives: Ints
    initial: Floats


def sides(graph: WordGraph) -> tuple[Side, Side]:
    """The graph as it is read forwards, for the past, and backwards, for the future."""
    opening, closing = np.where(graph.first, graph.first_weight, 0.0), np.where(graph.last, 1.0, 0.0)
    forwards = _side(graph.sources, graph.targets, graph.weight, opening)
    return forwards, _side(graph.targets, graph.sources, graph.weight, closing)


def _side(sources: Ints, targets: Ints, weight: Floats, initial: Floats) -> Side:
    from scipy.sparse import csr_array

    size = len(initial)
    out, into = np.lexsort((targets, sources)), np.lexsort((sources, targets))
    steps = csr_array((np.ones(len(sources), dtype=np.int32), (sources, targets)), shape=(size, size))
    shared = csr_array(steps.T @ steps)
    return Side(
        begins(np.bincount(sources, minlength=size)),
        targets[out],
        begins(np.bincount(targets, minlength=size)),
        sources[into],
        weight[into],
        shared.indptr.astype(np.int64),
        shared.indices.astype(np.int32),
        initial,
    )


class Contexts(NamedTuple):
    """All paths of the same number of nodes, one per row; their last nodes are the references.

    The paths that continue path p by one node are the rows begin[p] : begin[p + 1] of the next table, in the
    order of the successors. onward[begin[p] : begin[p + 1]]: the rows of the contexts after one more step.
    """

    paths: Ints
    begin: Places
    onward: Places


def context_tables(side: Side, memory: int) -> list[Contexts]:
    """The contexts of 0, 1, ..., memory + 1 nodes. Shorter ones grow; the longest forget their first node."""
    size = len(side.initial)
    tables = [Contexts(np.full((1, 1), -1, dtype=np.int32), np.array([0, size]), np.arange(size))]
    # forgotten: the row of each path without its first node, in the table before.
    paths, forgotten = np.arange(size, dtype=np.int32)[:, None], np.zeros(size, dtype=np.int64)
    for count in range(1, memory + 2):
        counts, edges = edges_after(side.starts, paths[:, -1])
        begin, added = begins(counts), side.targets[edges]
        # The continuation of a path without its first node: the same continuation, of the path without it.
        moved = added.astype(np.int64)
        if count > 1:
            first = tables[-1].begin[forgotten] - side.starts[paths[:, -1]]
            moved = edges + np.repeat(first, counts)
        tables.append(Contexts(paths, begin, np.arange(begin[-1]) if count <= memory else moved))
        if count <= memory:
            paths = np.column_stack((np.repeat(paths, counts, axis=0), added)).astype(np.int32)
            forgotten = moved
    return tables


class Runs(NamedTuple):
    """All paths of a number of nodes, that is all that may stand at the positions of a run.

    weight: the product of the weights of their edges. starting[v] : starting[v + 1]: the paths that begin in
    node v. through[at[i, symbol] : at[i, symbol + 1]]: the paths whose node number i reads the symbol.
    """

    paths: Ints
    weight: Floats
    starting: Places
    at: Places
    through: Places


def runs(graph: WordGraph, count: int) -> Runs:
    """The paths of `count` nodes in the graph."""
    paths, weight = np.arange(graph.size, dtype=np.int32)[:, None], np.ones(graph.size)
    for _ in range(count - 1):
        counts, edges = edges_after(graph.starts, paths[:, -1])
        paths = np.column_stack((np.repeat(paths, counts, axis=0), graph.targets[edges]))
        weight = np.repeat(weight, counts) * graph.weight[edges]
    starting = begins(np.bincount(paths[:, 0], minlength=graph.size))
    read = graph.symbol[paths]
    at = np.stack(
        [begins(np.bincount(read[:, i], minlength=graph.alphabet)) + i * len(paths) for i in range(count)]
    )
    through = np.concatenate([np.argsort(read[:, i], kind="stable") for i in range(count)])
    return Runs(np.ascontiguousarray(paths, dtype=np.int32), weight, starting, at, through.astype(np.int64))
