"""Read, plan and release graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from veil.core.account import Account
from veil.core.job import run_with_warnings
from veil.core.record import Release
from veil.graphs.graph import Graph
from veil.graphs.reading import EdgeSource
from veil.graphs.requests import GraphPlanning, GraphRead, GraphRelease


def read(
    source: Any,
    *,
    origin: str | None = None,
    destination: str | None = None,
    nodes: Any = None,
    kind: str = "undirected",
    loops: str = "refuse",
    table: str | None = None,
    query: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> EdgeSource:
    """Read a graph from a list of edges, two labels for each. It is sensitive data, not a release.

    source: a path or glob, or "-" for standard input: text with spaces, tabs, commas or semicolons between
        (also packed), Parquet, JSON lines; a pandas, Polars or Arrow table; an array of two columns or a list
        of pairs; a DuckDB file, connection or relation, a "postgresql://" address, a Spark session or frame.
        What else a line holds is left out.
    origin, destination: the columns, by default the first two.
    nodes: the public list of nodes: labels, the path of a file with one per line, or n for 0 to n-1; of a
        bipartite graph a pair of these. Without it the nodes are those that have an edge, which is then
        assumed to be public: nodes without edges would be missing.
    kind: "undirected", where a,b and b,a are one edge; "directed"; or "bipartite", where origins and
        destinations are nodes of two sets.
    loops: what becomes of edges from a node to itself: "refuse", "keep" or "drop".
    table, query: which table of a database, or one SELECT, of a database, or of a file or frame, which it
        calls input.
    header, delimiter: of text; whether the first line has names, and what separates cells. Both are found out
        from the file where that can be done without losing an edge.

    Labels in files are whole numbers if all of them are, text otherwise; those found are sorted.

    >>> from veil import graphs
    >>> friends = graphs.read([("ann", "bob"), ("bob", "cid"), ("bob", "ann")])
    >>> friends.labels, friends.graph.labelled_edges()
    (('ann', 'bob', 'cid'), [('ann', 'bob'), ('bob', 'cid')])
    """
    return GraphRead.given(locals()).read()


def plan(
    *,
    nodes: str | int | tuple[int, int],
    epsilon: float,
    edges: int | None = None,
    kind: str = "undirected",
    statistics: Sequence[str] | str = (),
    share: float | None = None,
    typical: Any = None,
) -> Any:
    """What to expect of a released graph with so many nodes, from public numbers alone.

    nodes: how many there are; two numbers for a bipartite graph. epsilon: what the release may cost. edges:
    about how many there are, if that is public. kind: as for `read`. statistics, share: as for `release`.
    With a share of 1 the plan, a `FactPlan`, is of the facts alone; otherwise it is a `GraphPlan`. typical: a
    public graph like the true one, as a path or in memory, on which the errors of facts are measured; made-up
    graphs of several kinds otherwise.

    >>> from veil import graphs
    >>> plan = graphs.plan(nodes=4039, epsilon=1.0, edges=88_234)
    >>> f"{plan.false_edges:.3g} false edges, at most {100 * plan.kept:.1f} % kept by one of as many edges"
    '2.17e+06 false edges, at most 2.9 % kept by one of as many edges'
    """
    return GraphPlanning.given(locals()).plan()


def release(
    graph: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str = "auto",
    statistics: Sequence[str] | str = (),
    share: float | None = None,
    alpha: float = 1.0,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release[Graph]:
    """Release a graph. Whether any two nodes are joined is hidden.

    graph: what `read` returned, the path of a list of edges, a list of pairs of nodes or a frame of two
        columns, a NetworkX graph, a SciPy sparse adjacency matrix, or a `graphs.Graph`. Nodes without an edge
        are in none of the lists: `read` takes the list of all nodes.
    epsilon: what it costs together. delta: not needed, since these mechanisms are pure; nothing is spent on
        it.
    mechanism: "auto" is "response", which errs least on every single pair; or "published" for the XOR paper's
        Algorithm 3 with parameters for which it states this epsilon (alpha: their part within rows). What
        those really cost is computed, charged and far less.
    statistics: facts to release besides, some of "degrees", "edges" and "triangles". share: the part of
        epsilon for those, by default a tenth; 1 releases them alone: the value is then {fact: numbers}.
    ledger: the dataset to charge. rng: a seed for experiments, which makes the release not private.

    `decode` finds the most likely graph behind the release, at no further cost; `estimates` what the release
    says of the true graph.

    >>> import networkx
    >>> from veil import graphs
    >>> out = graphs.release(networkx.karate_club_graph(), epsilon=3.0, statistics=["edges"], rng=1)
    >>> out.value.space.nodes, out.epsilon, list(out.tables)
    (34, 3.0, ['edges'])
    """
    request = GraphRelease.given(locals())
    return run_with_warnings(request.prepare(graph, rng=rng), ledger=ledger, rng=rng)
