"""What a released graph says of the true one: counts without bias, with intervals, and degrees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import integer, within
from veil.core.errors import InvalidArgument
from veil.core.record import Release, checked_release
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import PrivateGraph, read_space, triangle_costs
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.numerics import debias
from veil.graphs.numerics.debias import CountEstimates, Estimate, debiased_distribution
from veil.graphs.numerics.degrees import L1_SENSITIVITY, DegreeProfile, degree_distribution
from veil.graphs.numerics.ladder import ladder_reach, ladder_rule
from veil.graphs.numerics.pairs import Codes, PairSpace
from veil.graphs.numerics.structure import PathLengths, path_lengths, spectral_communities
from veil.graphs.numerics.triangles import Neighbours, Shape, neighbours, shape

# Beyond so many released edges, triangles and wedges are not counted.
MOST_COUNTED = 20_000_000


@dataclass(frozen=True)
class GraphEstimate:
    """One fact about the true graph, with its interval. released: the same of the released graph, as it is.

    direct: it was asked directly, not read off the graph.
    """

    name: str
    value: float
    low: float
    high: float
    released: float | None = None
    direct: bool = False


@dataclass(frozen=True)
class GraphReading:
    """Estimates from a released graph, or from facts that were asked directly."""

    release: Release[Any]
    confidence: float = 0.95

    @property
    def graph(self) -> Graph | None:
        """The released graph; None where facts were released alone."""
        return self.release.value if isinstance(self.release.value, Graph) else None

    @property
    def flip_rate(self) -> float:
        mechanism = self.release.mechanism
        assert isinstance(mechanism, (RandomizedResponse, PrivateGraph))
        return mechanism.flip_rate

    @cached_property
    def space(self) -> PairSpace:
        """Which pairs there are; public."""
        return read_space(self.release.tables["nodes"]) if self.graph is None else self.graph.space

    @property
    def nodes(self) -> int:
        """How many nodes there are; of a bipartite graph, on both sides."""
        return self.space.nodes

    @property
    def pairs(self) -> int:
        return self.space.count

    def _cost(self, key: str) -> float:
        mechanism = self.release.mechanism
        assert isinstance(mechanism, PrivateGraph)
        return mechanism.costs[key]

    @cached_property
    def edges(self) -> GraphEstimate:
        """The number of edges: asked directly, or read off the graph, whichever is known more closely."""
        seen, read = None if self.graph is None else len(self.graph), None
        if seen is not None or "edges" not in self.release.tables:
            count = len(self._needed("edges"))
            read = debias.edge_number(count, pairs=self.pairs, flip=self.flip_rate)
        closest = self._closest("edges", read, seen, self.pairs)
        assert closest is not None
        return closest

    def _closest(
        self, name: str, read: Estimate | None, released: float | None, most: int
    ) -> GraphEstimate | None:
        """The closer of what was asked directly and what was read off the graph; None if neither was."""
        known = []
        if name in self.release.tables:
            asked, failing = int(self.release.tables[name][0]), 1.0 - self.confidence
            reach = (
                self._triangle_reach() if name == "triangles" else _laplace_reach(self._cost(name), failing)
            )
            value, low, high = (float(min(max(asked + side * reach, 0), most)) for side in (0, -1, 1))
            known.append(GraphEstimate(name, value, low, high, released, direct=True))
        if read is not None:
            known.append(self._named(name, read, released))
        return min(known, key=lambda fact: fact.high - fact.low) if known else None

    @property
    def says_little(self) -> bool:
        """Whether the number of edges is hardly known: most that is said of them is noise."""
        width = self.edges.high - self.edges.low
        return width > max(self.edges.value, 1.0) or width > 0.5 * self.pairs

    def _named(self, name: str, read: Estimate, released: float | None) -> GraphEstimate:
        low, high = read.interval(self.confidence)
        return GraphEstimate(name, min(max(read.value, read.least), read.most), low, high, released)

    @cached_property
    def _shape(self) -> Shape | None:
        """The counts of the released graph; None where there are none or they would take too long."""
        graph = self.graph
        if graph is None or graph.space.kind != "undirected" or len(graph) > MOST_COUNTED:
            return None
        return shape(self._neighbours())

    def _neighbours(self) -> Neighbours:
        """The released graph without its loops."""
        graph = self._needed()
        return neighbours(graph.space.rows, *graph.edges(loops=False))

    @cached_property
    def counts(self) -> CountEstimates | None:
        """Edges, wedges, triangles and transitivity, read off the graph; undirected graphs only."""
        return None if self._shape is None else debias.debiased_counts(self._shape, self.flip_rate)

    @cached_property
    def triangles(self) -> GraphEstimate | None:
        """The number of triangles, as for edges: on small graphs what is read off can be closer."""
        released = None if self._shape is None else float(self._shape.triangles)
        read = None if self.counts is None else self.counts.triangles
        return self._closest("triangles", read, released, math.comb(self.nodes, 3))

    def _triangle_reach(self) -> int:
        """How far the noise on triangles reaches, from what was released: see numerics/ladder.py."""
        counting, sharing = triangle_costs(self._cost("triangles"))
        shared = int(self.release.tables["triangles"][1])
        # A quarter of what may fail is left to the neighbours that two nodes share.
        failing = 1.0 - self.confidence
        far = _laplace_reach(sharing, failing / 4.0)
        return ladder_reach(
            ladder_rule(self.nodes, counting),
            least=max(shared - far, 0),
            most=max(shared + far, 0),
            confidence=1.0 - 0.75 * failing,
        )

    @cached_property
    def facts(self) -> list[GraphEstimate]:
        """All single numbers that are known."""
        known: list[GraphEstimate] = []
        if self.graph is not None or "edges" in self.release.tables:
            known.append(self.edges)
            if self.pairs:
                known += [self._per("density", self.pairs), self._mean_degree()]
        if self.triangles is not None:
            known.append(self.triangles)
        if self.counts is not None and self._shape is not None:
            known.append(self._named("wedges", self.counts.wedges, float(self._shape.wedges)))
            if math.isfinite(self.counts.transitivity.error):
                known.append(self._named("clustering", self.counts.transitivity, self._shape.transitivity))
        return known

    def _mean_degree(self) -> GraphEstimate:
        names = {"undirected": "average degree", "directed": "average out-degree"}
        name = names.get(self.space.kind, "average degree of the first side")
        return self._per(name, self.space.rows / (2.0 if self.space.kind == "undirected" else 1.0))

    def _per(self, name: str, size: float) -> GraphEstimate:
        fact = self.edges
        released = None if fact.released is None else fact.released / size
        ends = fact.low / size, fact.high / size
        return GraphEstimate(name, fact.value / size, *ends, released, fact.direct)

    @property
    def false_share(self) -> float | None:
        """The part of the released edges that are to be expected false."""
        if self.graph is None or not len(self.graph) or self.says_little:
            return None
        true = min(self.edges.value * (1.0 - self.flip_rate), len(self.graph))
        return 1.0 - true / len(self.graph)

    # Degrees

    def node_degrees(self) -> tuple[Floats, float]:
        """The degree of every node without bias, and the standard error that all of them have.

        Of a directed graph the out-degrees, of a bipartite one those of its first side.
        """
        possible = self._needed().space.most_neighbours
        return debias.node_degrees(self.released_degrees(), possible=possible, flip=self.flip_rate)

    def _needed(self, what: str = "") -> Graph:
        if self.graph is None:
            expected = f"a released graph, or {what} asked directly" if what else "a released graph"
            raise InvalidArgument("release", expected=expected, found="other facts alone")
        return self.graph

    def released_degrees(self) -> Codes:
        """The degrees of the released graph, as they are; out-degrees, or those of the first side."""
        return out_degrees(self._needed())

    @cached_property
    def degree_distribution(self) -> Floats:
        """The share of nodes with degree 0, 1, 2 ...; asked directly where that was done.

        Of a directed graph of the out-degrees, of a bipartite one of the first side.
        """
        if "degrees" in self.release.tables:
            return degree_distribution(self.falling_degrees, nodes=self.nodes)
        possible = self._needed().space.most_neighbours
        return debiased_distribution(self.released_degrees(), possible=possible, flip=self.flip_rate)

    @cached_property
    def falling_degrees(self) -> Codes:
        """The degrees from the largest to the least, if they were asked directly."""
        noisy = self.release.tables.get("degrees")
        if noisy is None:
            raise InvalidArgument("release", expected="degrees that were asked directly", found="none")
        scale = L1_SENSITIVITY / self._cost("degrees")
        return DegreeProfile.among(self.nodes).degrees(noisy, scale=scale)

    def paths(self) -> PathLengths:
        """Diameter and mean path length of the released graph, as it is.

        False edges shorten all paths: they say nothing of the true graph, and nothing mends that. Those of a
        decoded graph are nearer to it.
        """
        self._undirected()
        return path_lengths(self._neighbours())

    def _undirected(self) -> None:
        kind = self._needed().space.kind
        if kind != "undirected":
            raise InvalidArgument("release", expected="an undirected graph", found=kind)

    def communities(self, count: int | None = None) -> Codes:
        """A group for every node, by the leading eigenvectors of the debiased matrix.

        count: how many groups; None for as many as stand out of the noise.
        """
        self._undirected()
        if count is not None:
            count = integer("count", count, least=1)
        return spectral_communities(self._neighbours(), self.flip_rate, communities=count)


def _laplace_reach(rate: float, failing: float) -> int:
    """The least k that noise with P(z) proportional to e^(-rate |z|) exceeds so rarely, rounded up."""
    # P(|z| > k) = 2 r^(k + 1) / (1 + r), r = e^-rate.
    r = math.exp(-rate)
    return max(0, math.ceil(math.log(failing * (1.0 + r) / 2.0) / -rate - 1.0))


def out_degrees(graph: Graph) -> Codes:
    """The degrees of a graph: of a directed one out-degrees, of a bipartite one those of its first side."""
    rows, columns = graph.edges()
    if graph.space.kind == "undirected":
        rows = np.append(rows, columns[rows != columns])
    return np.bincount(rows, minlength=graph.space.rows)


def estimates(release: Release[Any], *, confidence: float = 0.95) -> GraphReading:
    """Read a released graph: edges, density, degrees, triangles, clustering, without bias and with intervals.

    >>> import networkx
    >>> from veil import graphs
    >>> club = networkx.karate_club_graph()
    >>> reading = graphs.estimates(graphs.release(club, epsilon=3.0, rng=1))
    >>> reading.edges.low < club.number_of_edges() < reading.edges.high
    True
    """
    confidence = within("confidence", confidence, 0.5, 0.9999, expected="a number between 0.5 and 0.9999")
    checked_release(release)
    if not isinstance(release.mechanism, (RandomizedResponse, PrivateGraph)):
        found = f"{release.size}, by {release.mechanism.name}"
        raise InvalidArgument("release", expected="a graph by randomised response", found=found)
    return GraphReading(release, confidence)
