"""veil plan graph: what a budget buys for a graph, before any data is touched."""

from __future__ import annotations

from typing import Annotated

import typer

from veil.cli import options
from veil.cli.output import print_json
from veil.cli.release_graph import KindOption, ShareOption, WithOption, facts_of
from veil.core.errors import InvalidArgument


def plan(
    nodes: Annotated[
        list[int], typer.Option("--nodes", "-n", min=1, help="How many nodes; twice for a bipartite graph.")
    ],
    epsilon: options.Epsilon,
    edges: Annotated[
        int | None, typer.Option("--edges", "-m", min=0, help="About how many edges, if that is public.")
    ] = None,
    kind: KindOption = "undirected",
    facts: WithOption = None,
    share: ShareOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """What this epsilon can and cannot do for a graph, without any data.

    Example: veil plan graph --nodes 4039 --edges 88000 --epsilon 3
    """
    from veil.graphs.planning import plan_graph

    if len(nodes) > 2 or (len(nodes) == 2) != (kind == "bipartite"):
        expected = "twice for a bipartite graph" if kind == "bipartite" else "once"
        raise InvalidArgument("--nodes", expected=expected, found=f"{len(nodes)} times")
    found = plan_graph(
        nodes[0] if len(nodes) == 1 else (nodes[0], nodes[1]),
        epsilon,
        edges=edges,
        kind=kind,
        statistics=facts_of(facts),
        share=share,
    )
    if as_json:
        print_json(found.to_dict())
        return
    from veil.graphs.report.console import print_graph_plan

    print_graph_plan(found)
