"""Released graphs, their plans and their decodings in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from veil.core.baseline import NO_BETTER
from veil.core.job import Job
from veil.core.numerics.rounding import rounded_up
from veil.core.privacy.profile import beliefs
from veil.core.record import Release
from veil.graphs.estimation import estimates
from veil.graphs.likely_graph import Decoding
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.graphs.numerics.decoding import MOST_ENTRIES
from veil.graphs.planning import FactPlan, GraphPlan
from veil.report.console import new_console, plain_table, print_baselines, print_guarantee, print_written
from veil.report.page import number


def print_graph_release(release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
    """What the release says of the true graph, what to expect of it, and what is guaranteed."""
    console = new_console()
    if isinstance(release.mechanism, XorGraph):
        console.print(f"{release.size}, by the published XOR mechanism.")
        console.print(
            f"Its paper states epsilon = {job.request.epsilon:g} for this noise; what really holds, and is "
            f"charged, is {rounded_up(release.epsilon)}. Mechanism response keeps far more at either."
        )
    else:
        _print_estimates(console, release, written)
    print_baselines(console, release)
    print_guarantee(console, release)
    for text in job.warnings:
        console.print(f"WARNING: {text}.")
    print_written(console, written, ".txt")


def _print_estimates(console: Console, release: Release[Any], written: Sequence[Path]) -> None:
    reading = estimates(release)
    graph = reading.graph
    table = plain_table("of the true graph", "estimate", "95 % interval", "as released", "")
    for fact in reading.facts:
        span = f"{number(fact.low)} to {number(fact.high)}"
        released = "" if fact.released is None else number(fact.released)
        table.add_row(fact.name, number(fact.value), span, released, "asked directly" if fact.direct else "")
    console.print(table)
    console.print()
    if graph is not None and reading.says_little:
        console.print(f"{release.size}.")
        console.print("WARNING: mostly noise: not even the number of edges is known; epsilon is too small.")
    elif graph is not None and reading.false_share is not None:
        console.print(
            f"{release.size}. About {100 * reading.false_share:.0f} of 100 released edges are false; the "
            "estimates are corrected for that."
        )
        if graph.space.rows * graph.space.columns <= MOST_ENTRIES:
            record = next((str(path) for path in written if path.suffix == ".json"), "RECORD.json")
            console.print(f"The likely edges: veil decode {record} -o likely.txt")


def print_graph_plan(plan: GraphPlan) -> None:
    """What this epsilon can and cannot do."""
    console = new_console()
    console.print(
        f"{plan.space.kind.capitalize()} graphs of {plan.space.nodes:,} nodes: {plan.space.count:,} pairs, "
        f"each hidden with epsilon = {plan.epsilon:g}."
    )
    _print_costs(console, plan)
    table = plain_table("what", "number", show_header=False)
    table.add_row("a pair is wrong with probability", f"{plan.flip_rate:.4g}")
    table.add_row("false edges in the release", number(plan.false_edges))
    if plan.true_edges is not None and plan.precision is not None and plan.kept is not None:
        table.add_row("true edges in the release", number(plan.true_edges))
        table.add_row("part of the released edges that are true", f"{100 * plan.precision:.3g} %")
        table.add_row(
            "true edges kept by any release of as many edges as there are, if it looks at each pair alone",
            f"at most {100 * plan.kept:.3g} %",
        )
    table.add_row("number of edges, read off the release", f"± {number(1.96 * plan.edge_error)}")
    table.add_row("degree of one node, read off the release", f"± {number(1.96 * plan.degree_error)}")
    _add_facts(table, plan)
    console.print(table)
    if plan.even is not None and plan.even > plan.mechanism.costs["graph"]:
        console.print(f"As many true edges as false ones would take epsilon = {plan.even:.3g}.")
    console.print(
        f"Decoding (veil decode) finds groups whose members have more than about {number(plan.degree_error)} "
        "friends within them; it cannot help where there is no structure."
    )
    console.print("Belief that two nodes are joined, before and at most after:")
    console.print(
        "  " + "   ".join(f"{100 * a:g} % -> {rounded_up(100 * b, 3)} %" for a, b in beliefs(plan.epsilon))
    )
    if not plan.mechanism.statistics:
        is_plain = plan.space.kind == "undirected"
        facts = "Degrees, triangles and the number of edges are" if is_plain else "The number of edges is"
        console.print(f"{facts} far more exact asked directly in large graphs (statistics).")
    if plan.edges is None:
        console.print(
            f"Pair by pair, the graph as released is {NO_BETTER} (no edges) unless there are more than "
            f"{number(plan.wrong_pairs)} edges."
        )
    console.print("No data was read.")


def print_fact_plan(plan: FactPlan) -> None:
    """What this epsilon tells of a graph where facts alone are asked for."""
    console = new_console()
    console.print(
        f"Facts about {plan.space.kind} graphs of {plan.space.nodes:,} nodes, with epsilon = "
        f"{plan.epsilon:g} for an edge; no graph is released."
    )
    _print_costs(console, plan)
    table = plain_table("what", "number", show_header=False)
    _add_facts(table, plan)
    console.print(table)
    console.print("No data was read.")


def _print_costs(console: Console, plan: FactPlan) -> None:
    if len(plan.mechanism.costs) > 1:
        parts = ", ".join(f"{name} {cost:.3g}" for name, cost in plan.mechanism.costs.items())
        console.print(f"Of that: {parts}.")


def _add_facts(table: Table, plan: FactPlan) -> None:
    for fact in plan.facts:
        table.add_row(f"{fact.name}, asked directly: mean error", fact.span.words)


def print_decoding(decoded: Decoding, release: Release[Any], *, written: Path | None) -> None:
    """How many edges were found and how sure they are."""
    console = new_console()
    console.print(f"{release.size} were released; about {number(decoded.expected_edges)} edges are true.")
    true = f"{100 * decoded.precision:.0f} of 100 are probably true."
    console.print(f"Decoded: {len(decoded.graph):,} edges, of which {true}")
    if decoded.says_little:
        console.print("WARNING: mostly noise: not even the number of edges is known; epsilon was too small.")
    else:
        console.print(
            f"Reconstruction rate: about {100 * decoded.reconstruction:.0f} of 100 true edges can be named "
            f"by any reader of this release (epsilon = {release.epsilon:g})."
        )
    console.print("These are expectations of a model, not guarantees. Decoding costs no privacy.")
    console.print(f"Written: {written}" if written is not None else "Not saved: add -o FILE.txt to keep it.")
