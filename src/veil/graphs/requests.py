"""What can be asked of graphs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from veil.bits.mechanisms.matrix_bernoulli import xor_parameters
from veil.core.checks import choice, integer, items, positive, shown
from veil.core.errors import InvalidArgument
from veil.core.job import Job
from veil.core.kind import Progress
from veil.core.preview import Preview
from veil.core.request import PlanRequest, ReadRequest, ReleaseRequest, mechanism_option, option, texts
from veil.graphs.accuracy import GraphProfile
from veil.graphs.graph import Graph, Graphs
from veil.graphs.intake import are_pairs
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.graphs.numerics.pairs import KINDS, PairSpace
from veil.graphs.planning import FactPlan, GraphPlan, profiles_for
from veil.graphs.reading import LOOPS, EdgeSource, read_edges
from veil.tables.dialect import delimiter_option, header_option
from veil.tables.given import files_among
from veil.tables.source_options import query_option, table_option

FOR_GRAPHS = ("response", "published")
_KIND = "undirected (a b is b a), directed, or bipartite (two sets of nodes)."
_STATISTICS = "Facts to release besides, more exact in large graphs: degrees,triangles,edges."
_SHARE = "The part of epsilon for {statistics}; 0.1 unless given. 1: no graph, facts only."


@dataclass(frozen=True, kw_only=True)
class GraphRead(ReadRequest):
    """Read a graph from a list of edges."""

    source: Any = option(
        help="Edges, two nodes per line: text, CSV, Parquet, JSON lines, a .duckdb file, postgresql://...",
        secret=True,
    )
    origin: str | None = option(
        None, help="The column of the first node.", flag="--from", group="Input", column=True
    )
    destination: str | None = option(
        None, help="The column of the second node.", flag="--to", group="Input", column=True
    )
    nodes: Any = option(
        None,
        help="The public list of nodes: a file with one per line, or N for 0 to N-1; two with a comma for a "
        "bipartite graph. Otherwise those that have an edge, assumed public.",
        group="Input",
    )
    kind: str = option("undirected", help=_KIND, choices=KINDS, group="Input")
    loops: str = option(
        "refuse", help="Edges from a node to itself: refuse, keep or drop.", choices=LOOPS, group="Input"
    )
    table: str | None = table_option()
    query: str | None = query_option("read")
    header: bool | None = header_option()
    delimiter: str | None = delimiter_option()

    @property
    def inputs(self) -> tuple[str, ...]:
        sides = texts("nodes", self.nodes) if isinstance(self.nodes, str) else self.nodes
        return files_among(self.source, sides)

    def read(self, progress: Progress | None = None) -> EdgeSource:
        self.check()
        return read_edges(self)


@dataclass(frozen=True, kw_only=True)
class GraphRelease(ReleaseRequest):
    """Release a private graph: friendships, contacts, links. Whether any two nodes are joined is hidden.

    At small epsilon most edges of the release are false; decoding it finds the likely ones.
    """

    examples = (
        ("", {"source": "edges.txt", "epsilon": 3, "output": "private.txt", "report": "private.html"}),
        (
            "With facts",
            {
                "source": "edges.txt",
                "epsilon": 3,
                "statistics": ("degrees", "edges"),
                "output": "private.txt",
            },
        ),
    )

    mechanism: str = mechanism_option(
        FOR_GRAPHS, help="auto (response), response, or published: the paper's XOR mechanism."
    )
    statistics: Sequence[str] | str = option((), help=_STATISTICS, flag="--with", group="Output")
    share: float | None = option(None, help=_SHARE, least=0.0, most=1.0, group="Privacy")
    alpha: float = option(
        1.0,
        help="With mechanism published: the part of epsilon for theta, above 0 to 1.",
        group="Mechanism",
        advanced=True,
    )

    def check(self) -> None:
        super().check()
        if self.mechanism != "published":
            self._response()
        elif _facts(self.statistics) or self.share:
            raise InvalidArgument("statistics", expected="none with the published mechanism", found="some")

    def _response(self) -> PrivateGraph | RandomizedResponse:
        facts = _facts(self.statistics)
        if facts or self.share:
            return PrivateGraph(self.epsilon, statistics=facts, share=self.share)
        return RandomizedResponse(self.epsilon)

    def prepare(self, data: Any, *, rng: Any = None, progress: Progress | None = None) -> Job[Graph]:
        self.check()
        graph, assumptions = _taken(data)
        epsilon = positive("epsilon", self.epsilon)
        chosen, made = "response", None
        if self.mechanism == "published":
            nodes = Graphs().validate(graph).space.rows
            chosen, made = "published", XorGraph(xor_parameters(epsilon, self.alpha, nodes, nodes, 2))
            # What it really costs, which is far less than what is stated for it.
            epsilon = made.certified_epsilon()
        return Job.prepare(
            made or self._response(),
            graph,
            epsilon=epsilon,
            assumptions=assumptions,
            chosen=chosen,
            request=self,
            source=data,
        )


@dataclass(frozen=True, kw_only=True)
class GraphPlanning(PlanRequest):
    """What this epsilon can and cannot do for a graph, without any data."""

    examples = (("", {"nodes": 4039, "edges": 88_000, "epsilon": 3}),)

    nodes: str | int | tuple[int, int] = option(
        help="How many nodes; two numbers with a comma for a bipartite graph.", short="-n"
    )
    epsilon: float = option(help="Privacy loss; smaller is more private.", short="-e")
    edges: int | None = option(None, help="About how many edges, if that is public.", short="-m", least=0)
    kind: str = option("undirected", help=_KIND, choices=KINDS)
    statistics: Sequence[str] | str = option((), help=_STATISTICS, flag="--with")
    share: float | None = option(None, help=_SHARE, least=0.0, most=1.0)
    typical: Any = option(
        None,
        help="A public graph like the true one to plan for, its loops left out; graphs of several kinds "
        "unless given.",
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.typical)

    def plan(self, progress: Progress | None = None) -> FactPlan:
        self.check()
        epsilon, space = positive("epsilon", self.epsilon), self._space()
        typical = self._typical(space)
        edges = self.edges if typical is None or self.edges is not None else len(typical)
        if self.edges is not None and self.edges > space.count:
            expected = f"at most the {space.count:,} pairs there are"
            raise InvalidArgument("edges", expected=expected, found=f"{self.edges}")
        mechanism = PrivateGraph(epsilon, statistics=_facts(self.statistics), share=self.share)
        mechanism.check_kind(space.kind)
        if typical is None:
            profiles = profiles_for(space, edges, mechanism.statistics)
        elif space.kind == "undirected":
            profiles = (GraphProfile.given(typical, space.rows),)
        else:
            profiles = ()
        made = FactPlan if self.share == 1.0 else GraphPlan
        return made(space, epsilon, edges, mechanism, profiles)

    def preview(self, plan: Any) -> Preview | None:
        from veil.graphs.preview import preview_graph

        given = None if self.typical is None else self._typical(plan.space)
        # One that has fewer nodes than are planned for is another graph.
        return preview_graph(plan, given if given is not None and given.space == plan.space else None)

    def _typical(self, space: PairSpace) -> Graph | None:
        """The public graph, checked to be of the kind and not to have more nodes than are planned for."""
        if self.typical is None:
            return None
        given = self.typical
        if isinstance(given, (str, os.PathLike)) or are_pairs(given):
            loops = "refuse" if space.kind == "bipartite" else "drop"
            given = GraphRead(source=given, kind=space.kind, loops=loops).read()
        graph = given.graph if isinstance(given, EdgeSource) else Graph.of(given)
        sides = (graph.space.rows, graph.space.columns)
        if graph.space.kind != space.kind or sides[0] > space.rows or sides[1] > space.columns:
            size = " and ".join(f"{side:,}" for side in dict.fromkeys((space.rows, space.columns)))
            raise InvalidArgument(
                "typical",
                expected=f"a graph that is {space.kind}, of at most {size} nodes",
                found=f"one that is {graph.space.kind}, of {graph.space.nodes:,} nodes",
            )
        return graph

    def _space(self) -> PairSpace:
        nodes, kind = _numbers(self.nodes), choice("kind", self.kind, KINDS)
        is_bipartite = kind == "bipartite"
        if len(nodes) != 1 + is_bipartite:
            expected = "two numbers for a bipartite graph" if is_bipartite else "one number"
            raise InvalidArgument("nodes", expected=expected, found=shown(self.nodes))
        if is_bipartite:
            return PairSpace.between(*(integer("nodes", side, least=1) for side in nodes))
        return PairSpace.among(integer("nodes", nodes[0], least=2), directed=kind == "directed")


def _facts(statistics: Sequence[str] | str) -> tuple[str, ...]:
    """The facts that are asked for, as a list or as text with commas."""
    if not isinstance(statistics, str):
        return tuple(items("statistics", statistics, expected="a list of facts"))
    return tuple(name for name in texts("statistics", statistics) if name)


def _numbers(nodes: Any) -> tuple[Any, ...]:
    """A number of nodes, or two, also where they are given as text."""
    if not isinstance(nodes, str):
        return tuple(nodes) if isinstance(nodes, (list, tuple)) else (nodes,)
    parts = [part.strip() for part in nodes.split(",")]
    if not all(part.isdecimal() for part in parts) or len(parts) > 2:
        raise InvalidArgument("nodes", expected="a number, or two with a comma", found=repr(nodes)[:40])
    return tuple(map(int, parts))


def _taken(data: Any) -> tuple[Graph, tuple[str, ...]]:
    """The graph that was read, is named by a path, or is held in memory; and what was assumed to read it."""
    if isinstance(data, (str, os.PathLike)) or are_pairs(data):
        data = GraphRead(source=data).read()
    return (data.graph, data.assumptions) if isinstance(data, EdgeSource) else (Graph.of(data), ())
