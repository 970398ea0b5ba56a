"""Which pairs of nodes an edge can join, each with a number of its own.

A pair is a cell (row, column) of the adjacency matrix, and the pairs are numbered row by row:

    undirected   the cells above the diagonal, each unordered pair once (with loops: the diagonal too)
    directed     all cells but the diagonal (with loops: the diagonal too)
    bipartite    all cells; rows are the nodes of one side, columns those of the other

So a graph is a set of numbers below `count`, and a bit for every number is the matrix that the XOR paper
releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Kind = Literal["undirected", "directed", "bipartite"]
KINDS = ("undirected", "directed", "bipartite")
# The numbers of pairs must stay whole in 64 bits, and their square roots in floats.
MOST_NODES = 2_000_000_000


@dataclass(frozen=True)
class PairSpace:
    """The pairs of `rows` x `columns` nodes that may be joined; columns equals rows unless bipartite."""

    kind: Kind
    rows: int
    columns: int
    loops: bool

    @classmethod
    def among(cls, nodes: int, *, directed: bool = False, loops: bool = False) -> PairSpace:
        """The pairs of one set of nodes."""
        return cls("directed" if directed else "undirected", nodes, nodes, loops)

    @classmethod
    def between(cls, rows: int, columns: int) -> PairSpace:
        """The pairs of two sets of nodes."""
        return cls("bipartite", rows, columns, True)

    @property
    def nodes(self) -> int:
        """How many nodes there are in all."""
        return self.rows + self.columns if self.kind == "bipartite" else self.rows

    @property
    def count(self) -> int:
        """How many pairs there are."""
        if self.kind == "undirected":
            return self.rows * (self.rows - 1 + 2 * self.loops) // 2
        return self.rows * self.most_neighbours

    @property
    def most_neighbours(self) -> int:
        """How many pairs a node of the rows is in."""
        return self.columns - (not self._has_diagonal)

    def codes(self, rows: Codes, columns: Codes) -> Codes:
        """The numbers of pairs; of an undirected one the ends may come in either order."""
        first, second = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
        if self.kind == "undirected":
            first, second = np.minimum(first, second), np.maximum(first, second)
            return self._begins(first) + second - first - (not self.loops)
        # Of a row without its cell on the diagonal, what follows that cell moves up.
        after = 0 if self._has_diagonal else second > first
        return first * self.most_neighbours + second - after

    def ends(self, codes: Codes) -> tuple[Codes, Codes]:
        """The two nodes of each pair, as row and column."""
        codes = np.asarray(codes, dtype=np.int64)
        if self.kind == "undirected":
            rows = self._row_of(codes)
            return rows, codes - self._begins(rows) + rows + (not self.loops)
        rows, columns = np.divmod(codes, max(self.most_neighbours, 1))
        return rows, columns if self._has_diagonal else columns + (columns >= rows)

    @property
    def _has_diagonal(self) -> bool:
        return self.kind == "bipartite" or self.loops

    def _begins(self, rows: Codes) -> Codes:
        """The number of the first pair of each row of the upper triangle."""
        # Row i of n holds n - i pairs with its loop, n - 1 - i without.
        return rows * (2 * (self.rows + self.loops) - rows - 1) // 2

    def _row_of(self, codes: Codes) -> Codes:
        """The row of the upper triangle in which a number lies: by a root, corrected by whole numbers."""
        left = self.count - 1 - codes
        # So many pairs come after it: rows from the end hold 1, 2, 3 ... pairs.
        from_end = ((np.sqrt(8.0 * left + 1.0) - 1.0) / 2.0).astype(np.int64)
        from_end -= from_end * (from_end + 1) // 2 > left
        from_end += (from_end + 1) * (from_end + 2) // 2 <= left
        rows: Codes = self.rows - 2 + self.loops - from_end
        return rows
