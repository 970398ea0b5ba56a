"""The report of a released graph: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.privacy.profile import beliefs, best_guess
from veil.core.record import Release
from veil.graphs.estimation import GraphEstimate, estimates, out_degrees
from veil.graphs.graph import Graph
from veil.graphs.likely_graph import decoding
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.graphs.numerics.pairs import Codes
from veil.graphs.planning import GraphPlan
from veil.graphs.report.network import Network
from veil.report.figures import BLUE, GREEN, GREY, RED, axes_of, draw_nothing, svg
from veil.report.page import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Decoding takes some ten seconds for so many nodes.
MOST_DECODED = 6_000


def graph_page(release: Release[Any]) -> str:
    """The page, from the release and public facts alone: post-processing, which costs no privacy."""
    graph: Graph | None = release.value if isinstance(release.value, Graph) else None
    # Of a graph by the published mechanism nothing is estimated.
    reading = None if isinstance(release.mechanism, XorGraph) else estimates(release)
    plan = decoded = None
    edges = degrees = ""
    if reading is not None and graph is not None:
        mechanism = release.mechanism
        if not isinstance(mechanism, PrivateGraph):
            mechanism = PrivateGraph(release.epsilon)
        # What was to be expected of a graph with as many edges as are estimated.
        plan = GraphPlan(graph.space, release.epsilon, round(reading.edges.value), mechanism)
        decoded = decoding(release) if graph.space.nodes <= MOST_DECODED else None
        if reading.false_share is not None:
            edges = svg(_edges_figure(1.0 - reading.false_share))
    if reading is not None and (graph is not None or "degrees" in release.tables):
        degrees = svg(value_figure(release))
    return page(
        "graph.html",
        package="veil.graphs.report",
        release=release,
        graph=graph,
        reading=reading,
        plan=plan,
        # Only where it means anything.
        decoded=None if decoded is None or decoded.says_little else decoded,
        network=None if decoded is None or decoded.says_little else Network.of(decoded),
        guess=best_guess(release.profile),
        beliefs=beliefs(release.worst_loss),
        edges=edges,
        degrees=degrees,
    )


def value_figure(release: Release[Any]) -> Figure:
    """The degrees of a released graph, or the facts that were released in its place."""
    if isinstance(release.mechanism, XorGraph):
        return _degrees_figure(None, _shares(out_degrees(release.value)), direct=False)
    reading = estimates(release)
    if reading.graph is None and "degrees" not in release.tables:
        return _facts_figure([fact for fact in reading.facts if fact.name in release.tables])
    released = None if reading.graph is None else _shares(reading.released_degrees())
    return _degrees_figure(reading.degree_distribution, released, direct="degrees" in release.tables)


def _shares(degrees: Codes) -> Floats:
    """The share of nodes with degree 0, 1, 2 ..."""
    return np.bincount(degrees) / max(1, len(degrees))


def _degrees_figure(estimated: Floats | None, released: Floats | None, *, direct: bool) -> Figure:
    """The share of nodes with a degree of at least k: estimated for the true graph, and as released."""
    figure, axes = axes_of(7.2, 3.2)
    label = "asked directly" if direct else "estimated for the true graph"
    for shares, colour, dash, text in (
        (estimated, BLUE, "-", label),
        (released, RED, "--", "of the released graph, as it is"),
    ):
        if shares is None:
            continue
        above = np.cumsum(shares[::-1])[::-1]
        kept = above > 1e-9
        degrees = np.arange(len(shares))[kept]
        axes.step(
            np.maximum(degrees, 0.7), above[kept], where="post", color=colour, linestyle=dash, label=text
        )
    axes.set(xscale="log", yscale="log", xlabel="degree k", ylabel="share of nodes with degree ≥ k")
    axes.grid(color=GREY, alpha=0.25)
    axes.legend(frameon=False, fontsize=9, loc="lower left")
    return figure


def _facts_figure(facts: Sequence[GraphEstimate]) -> Figure:
    """Single numbers about a graph, each with its interval."""
    figure, axes = axes_of(7.2, 0.9 + 0.4 * len(facts))
    for place, fact in enumerate(reversed(facts)):
        axes.hlines([place], fact.low, fact.high, color=BLUE, linewidth=2.2, alpha=0.55)
        axes.plot([fact.value], [place], "o", color=BLUE, markersize=5)
    axes.set_yticks(range(len(facts)), [fact.name for fact in reversed(facts)])
    axes.set(ylim=(-0.7, len(facts) - 0.3), xscale="symlog", xlabel="of the true graph, with a 95 % interval")
    axes.grid(axis="x", color=GREY, alpha=0.25)
    return figure


def _edges_figure(true: float) -> Figure:
    """Of the released edges, the part that is to be expected true, and the rest."""
    figure, axes = axes_of(7.2, 1.35)
    axes.barh([0], [true], color=GREEN, height=0.6)
    axes.barh([0], [1.0 - true], left=[true], color=RED, height=0.6, hatch="//", edgecolor="white")
    axes.set(yticks=[], xlim=(0.0, 1.0), ylim=(-0.4, 0.85), xlabel="part of the released edges")
    for share, text, side in ((true, "true", "left"), (1.0 - true, "false", "right")):
        place = 0.005 if side == "left" else 0.995
        axes.text(place, 0.42, f"{text} {100 * share:.3g} %", ha=side, va="bottom", fontsize=10)
    return figure


def plans_figure(plans: Sequence[GraphPlan], chosen: float) -> Figure:
    """Wrong pairs of a released graph against epsilon, and how many true edges it keeps."""
    figure, axes = axes_of(7.2, 3.8)
    x = [plan.epsilon for plan in plans]
    axes.loglog(x, [plan.wrong_pairs for plan in plans], color=BLUE, marker="o", label="wrong pairs")
    axes.loglog(x, [plan.true_edges for plan in plans], color=GREEN, marker="s", label="true edges kept")
    for baseline in plans[-1].baselines:
        draw_nothing(axes, baseline.nothing)
    axes.axvline(chosen, color=GREY, linestyle=":", linewidth=1.2)
    axes.set_xlabel("privacy loss ε (smaller is more private)")
    axes.set_ylabel("pairs of nodes")
    axes.set_xticks(x, [f"{epsilon:.3g}" for epsilon in x])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=9, loc="lower left")
    return figure
