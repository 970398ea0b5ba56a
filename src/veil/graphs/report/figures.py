"""Pictures of released graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from veil.core.arrays import Floats
from veil.graphs.estimation import GraphEstimate
from veil.report.figures import BLUE, GREEN, GREY, RED, axes_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def degrees_figure(estimated: Floats | None, released: Floats | None, *, direct: bool) -> Figure:
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
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("degree k")
    axes.set_ylabel("share of nodes with degree ≥ k")
    axes.grid(color=GREY, alpha=0.25)
    axes.legend(frameon=False, fontsize=9, loc="lower left")
    return figure


def facts_figure(facts: Sequence[GraphEstimate]) -> Figure:
    """Single numbers about a graph, each with its interval."""
    figure, axes = axes_of(7.2, 0.9 + 0.4 * len(facts))
    for place, fact in enumerate(reversed(facts)):
        if fact.low is not None and fact.high is not None:
            axes.hlines([place], fact.low, fact.high, color=BLUE, linewidth=2.2, alpha=0.55)
        axes.plot([fact.value], [place], "o", color=BLUE, markersize=5)
    axes.set_yticks(range(len(facts)), [fact.name for fact in reversed(facts)])
    axes.set_ylim(-0.7, len(facts) - 0.3)
    axes.set_xscale("symlog")
    axes.set_xlabel("of the true graph, with a 95 % interval")
    axes.grid(axis="x", color=GREY, alpha=0.25)
    return figure


def edges_figure(true: float, false: float) -> Figure:
    """Of the released edges, how many are to be expected true and false."""
    figure, axes = axes_of(7.2, 1.35)
    total = true + false
    axes.barh([0], [true / total], color=GREEN, height=0.6)
    axes.barh([0], [false / total], left=[true / total], color=RED, height=0.6, hatch="//", edgecolor="white")
    axes.set_yticks([])
    axes.set_xlim(0.0, 1.0)
    axes.set_xlabel("part of the released edges")
    for share, text, side in ((true / total, "true", "left"), (false / total, "false", "right")):
        place = 0.005 if side == "left" else 0.995
        axes.text(place, 0.42, f"{text} {100 * share:.3g} %", ha=side, va="bottom", fontsize=10)
    axes.set_ylim(-0.4, 0.85)
    return figure
