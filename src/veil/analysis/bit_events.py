"""Tables of bits and graphs as an audit sees them: rows of numbers, one a draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.domains.bit_flips import BitFlips
from veil.domains.bits import Table
from veil.domains.graph import Graph
from veil.domains.intake import Floats
from veil.errors import InvalidArgument
from veil.mechanisms.private_graph import GraphDraw
from veil.numerics.graphs.pairs import Codes

# Pairs that are looked at besides those that differ.
_OTHERS = 16


def flips_between(first: Table | Graph, second: Table | Graph) -> BitFlips:
    """The tightest adjacency under which two tables, or two graphs, are neighbours."""
    if isinstance(first, Graph) and isinstance(second, Graph):
        if first.space != second.space:
            raise InvalidArgument("neighbour", expected="a graph on the same nodes", found="another")
        return BitFlips(max(1, len(np.setxor1d(first.codes, second.codes))))
    if isinstance(first, Graph) or isinstance(second, Graph) or first.shape != second.shape:
        raise InvalidArgument("neighbour", expected="one value like the first", found="another shape")
    changed = np.atleast_2d(first ^ second)
    one_row = np.count_nonzero(changed.any(axis=1)) <= 1
    return BitFlips(max(1, int(changed.sum())), where="row" if one_row else "anywhere")


def covers(stated: BitFlips, found: BitFlips) -> bool:
    """Whether neighbours of the one kind are neighbours of the other."""
    return found.count <= stated.count and (stated.where == "anywhere" or found.where == "row")


def watched(first: Graph, second: Graph) -> Codes:
    """The pairs whose bits are looked at: those that differ, and a few others."""
    changed = np.setxor1d(first.codes, second.codes)
    return np.union1d(changed, np.arange(min(_OTHERS, first.space.count)))


def graph_outputs(drawn: list[Any], pairs: Codes) -> Floats:
    """Each released graph as the bits of some pairs, and its facts."""
    return np.array([_numbers(one, pairs) for one in drawn])


def _numbers(drawn: Any, pairs: Codes) -> Floats:
    graph = drawn.graph if isinstance(drawn, GraphDraw) else drawn
    parts = [] if graph is None else [np.isin(pairs, graph.codes).astype(np.float64)]
    tables = drawn.tables if isinstance(drawn, GraphDraw) else {}
    for key, table in tables.items():
        if key != "nodes":
            parts.append(np.array([table.sum(), *table[:_OTHERS]], dtype=np.float64))
    return np.concatenate(parts)
