"""By how much one edge can change the triangles of a graph, of its neighbours, and so on outwards.

Adding or removing the edge ij changes the number of triangles by a_ij, the neighbours that i and j share. The
local sensitivity at distance t is the largest such change in any graph that t edges or fewer lead to:

    S_t = min(n - 2, max over pairs of a_ij + floor((t + min(t, b_ij)) / 2)),

b_ij the other nodes that are joined to exactly one of i and j. Proof. Fix the pair. A node joined to exactly
one of the two becomes shared by one edge, a node joined to none by two, and no change of one edge adds more
than one shared node. So t edges make x + y more of them at most, x <= b_ij and x + 2 y <= t, and there are
n - 2 nodes in all; x = min(t, b_ij), y = floor((t - x) / 2) is best, and x + y = floor((t + x) / 2). The
edges used all end in i or j but are not ij itself, so this many are reached. (Zhang, Cormode, Procopiuc,
Srivastava and Xiao, SIGMOD 2015, state the same; the test compares it with all graphs of 5 nodes.)

With s_ij = 2 a_ij + b_ij = d_i + d_j - 2 A_ij the term of a pair is min(a_ij + t, floor((t + s_ij) / 2)): it
grows in both a and s, so of all pairs with equal a only the largest s counts. Two things follow.

 1. S_t(g) <= S_{t+1}(h) for neighbours g, h: what t edges reach from g, t + 1 reach from h.
 2. |S_t(g) - S_t(h)| <= 1. One edge changes the a and the s of any pair by one at most: the edge ij itself
    changes neither a_ij nor s_ij (the degrees gain two, A_ij takes them away), and another edge changes one
    of the two degrees at most, by one, and a_ij by one at most.

Pairs that share a neighbour are found by walking two edges from every node, the nodes of the largest degrees
first. A pair in which d is the lesser degree has a <= d and s <= d + the largest degree; once a pair is found
that has as much of both, no later one matters. So on graphs with hubs few nodes are looked at. Pairs that
share no neighbour matter by their s alone, and only if it is the largest of all: it is enough to know it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veil.core.numerics.compiled import compiled
from veil.graphs.numerics.triangles import Integers, Neighbours, by_degree, tally_shared


@dataclass(frozen=True)
class TriangleSensitivity:
    """S_t of a graph: the pairs (a, s) of which the largest min(a + t, floor((t + s) / 2)) is taken."""

    nodes: int
    shared: Integers
    reach: Integers

    @property
    def most(self) -> int:
        """What it never exceeds: the sensitivity of the worst graph."""
        return max(self.nodes - 2, 0)

    def at(self, distances: Integers) -> Integers:
        """The local sensitivity at distances t >= 0."""
        t = np.asarray(distances, dtype=np.int64)
        reached = np.zeros(t.shape, dtype=np.int64)
        for shared, reach in zip(self.shared.tolist(), self.reach.tolist(), strict=True):
            np.maximum(reached, np.minimum(shared + t, (t + reach) // 2), out=reached)
        return np.minimum(reached, self.most)

    def settled(self) -> int:
        """The first distance at which the sensitivity is the largest possible."""
        # A pair reaches n - 2 once both of its terms do.
        most = self.most
        reached = np.maximum(most - self.shared, 2 * most - self.reach)
        return max(int(reached.min()), 0) if len(reached) else 0


def triangle_sensitivity(graph: Neighbours) -> TriangleSensitivity:
    """The local sensitivities of the number of triangles.

    >>> import numpy as np
    >>> from veil.graphs.numerics.triangles import neighbours
    >>> path = neighbours(5, np.array([0, 1, 2, 3]), np.array([1, 2, 3, 4]))
    >>> triangle_sensitivity(path).at(np.arange(6)).tolist()
    [1, 2, 3, 3, 3, 3]
    """
    if graph.size < 3:
        none = np.zeros(0, dtype=np.int64)
        return TriangleSensitivity(graph.size, none, none)
    ranked = by_degree(graph)
    reach = _reach_by_shared(ranked.starts, ranked.nodes)
    reach[0] = max(int(reach[0]), _largest_reach(graph))
    # Only what no pair with more shared neighbours exceeds: the largest s from here upwards, where it drops.
    upwards = np.maximum.accumulate(reach[::-1])[::-1]
    kept = np.flatnonzero(upwards > np.append(upwards[1:], -1))
    return TriangleSensitivity(graph.size, kept.astype(np.int64), upwards[kept])


def _largest_reach(graph: Neighbours) -> int:
    """The largest d_i + d_j - 2 A_ij of all pairs.

    It lies between the sum of the two largest degrees and two less. A larger one than that needs two nodes
    with such a sum of degrees that are not joined: for each node, count the nodes of the other degree, and
    those of them that are its neighbours.
    """
    degrees = graph.degrees
    top = np.sort(np.partition(degrees, len(degrees) - 2)[-2:])
    many = np.bincount(degrees)
    rows, columns = graph.ends()
    for target in (int(top.sum()), int(top.sum()) - 1):
        wanted = target - degrees
        possible = (wanted >= 0) & (wanted < len(many))
        others = np.where(possible, many[np.where(possible, wanted, 0)], 0) - (wanted == degrees)
        meeting = degrees[rows] + degrees[columns] == target
        joined = np.bincount(rows[meeting], minlength=len(degrees))
        joined += np.bincount(columns[meeting], minlength=len(degrees))
        if bool((others > joined).any()):
            return target
    return int(top.sum()) - 2


@compiled
def _reach_by_shared(starts: Integers, nodes: Integers) -> Integers:
    """For each number of shared neighbours the largest d_i + d_j - 2 A_ij of the pairs that share so many.

    The degrees fall. -1 where no pair is found, nor is one left out that would matter.
    """
    count = len(starts) - 1
    most = starts[1] - starts[0]
    reach = np.full(most + 1, -1, np.int64)
    tally, met = np.zeros(count, np.int64), np.empty(count, np.int64)
    joined = np.full(count, -1, np.int64)
    enough = 0
    for i in range(count):
        degree = starts[i + 1] - starts[i]
        if degree <= enough:
            break
        for at in range(starts[i], starts[i + 1]):
            joined[nodes[at]] = i
        for at in range(tally_shared(starts, nodes, i, tally, met)):
            j = met[at]
            both = degree + starts[j + 1] - starts[j]
            if joined[j] == i:
                both -= 2
            reach[tally[j]] = max(reach[tally[j]], both)
            enough = max(enough, min(tally[j], both - most))
            tally[j] = 0
    return reach
