"""Drawn graphs: nodes in their communities, routes as arrows, and flows between groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.arrays import Floats
from veil.report.figures import BLUE, GREEN, GREY, ORANGE, RED, axes_of, short_labels
from veil.report.layout import packed, spread, sunflower

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# By Okabe and Ito, for every eye; groups beyond them are grey, and all are numbered or named besides.
COLOURS = (BLUE, ORANGE, GREEN, "#cc79a7", RED, "#56b4e9", "#b8a800")
# Nodes that are named beside their circles; edges that are drawn at most.
MOST_NAMED, MOST_EDGES = 40, 6_000
_RIBBON_POINTS = 24


def colour_of(group: int) -> str:
    """The colour of a group by its number."""
    return COLOURS[group] if group < len(COLOURS) else GREY


def network_figure(edges: Any, groups: Any) -> Figure:
    """A network with its communities: each a disc of its nodes, the best connected in the middle.

    edges: pairs of numbers of nodes; of very many only the first are drawn. groups: the community of each
    node; below 0 for those that are not drawn.
    """
    from matplotlib.collections import LineCollection

    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    of = np.asarray(groups, dtype=np.int64)
    pairs = pairs[(of[pairs] >= 0).all(axis=1)]
    count = int(of.max(initial=-1)) + 1
    sizes = np.bincount(of[of >= 0], minlength=count)
    links = np.zeros((count, count))
    np.add.at(links, (of[pairs[:, 0]], of[pairs[:, 1]]), 1.0)
    links = links + links.T
    radii = np.sqrt(sizes.astype(float))
    centres = packed(radii.tolist(), links)
    degrees = np.bincount(pairs.ravel(), minlength=len(of))
    at = np.zeros((len(of), 2))
    for group in range(count):
        nodes = np.flatnonzero(of == group)
        nodes = nodes[np.argsort(-degrees[nodes], kind="stable")]
        at[nodes] = centres[group] + 0.95 * radii[group] * sunflower(len(nodes))
    figure, axes = axes_of(7.2, 6.2)
    axes.set_axis_off()
    axes.set_aspect("equal")
    drawn = pairs[:MOST_EDGES]
    apart = of[drawn[:, 0]] != of[drawn[:, 1]]
    faint = float(np.clip(60.0 / max(len(drawn), 1) ** 0.7, 0.06, 0.5))
    for kind, wide in ((apart, 0.5), (~apart, 0.6)):
        colours = [GREY if far else colour_of(int(of[a])) for (a, _), far in zip(drawn, apart, strict=True)]
        lines = LineCollection(
            list(at[drawn[kind]]),
            colors=[colour for colour, is_kind in zip(colours, kind, strict=True) if is_kind],
            linewidths=wide,
            alpha=faint,
            rasterized=len(drawn) > 500,
        )
        axes.add_collection(lines)
    shown = np.flatnonzero(of >= 0)
    dot = float(np.clip(2_500.0 / max(len(shown), 1), 3.0, 60.0))
    colours = [colour_of(int(group)) for group in of[shown]]
    axes.scatter(at[shown, 0], at[shown, 1], s=dot, c=colours, edgecolors="white", linewidths=0.3, zorder=3)
    for group in range(count):
        if sizes[group] >= max(2, 0.01 * len(shown)):
            x, y = centres[group] + [0.0, radii[group] * 1.02]
            _name(axes, x, y, f"{group + 1}", fontsize=11, fontweight="bold", va="bottom")
    axes.autoscale_view()
    axes.margins(0.03)
    return figure


def route_figure(
    routes: Sequence[tuple[int, int, float]],
    labels: Sequence[str],
    *,
    ways: Sequence[tuple[int, int]] = (),
    visits: Floats | None = None,
) -> Figure:
    """Routes on a drawn graph: an arrow for each, as thick as its weight; a ring where one stays.

    ways: pairs of nodes that are joined without being routes, as thin lines. visits: of each node; circles
    are as large.
    """
    from matplotlib.patches import Circle

    edges = [(a, b) for a, b, _ in routes if a != b] + [(a, b) for a, b in ways if a != b]
    at = spread(edges, len(labels))
    wide, high = (np.ptp(at, axis=0) if len(at) else np.zeros(2)) + 2.0
    figure, axes = axes_of(7.2, float(np.clip(6.4 * high / wide + 0.6, 3.0, 7.6)))
    axes.set_axis_off()
    axes.set_aspect("equal")
    share = np.ones(len(labels)) if visits is None else visits / max(float(visits.max()), 1e-300)
    radii = 0.07 + 0.11 * np.sqrt(share)
    for a, b in ways:
        axes.plot(*at[[a, b]].T, color=GREY, linewidth=0.8, alpha=0.35, zorder=1)
    heaviest = max((weight for _, _, weight in routes), default=1.0)
    for a, b, weight in routes:
        _arrow(axes, at, radii, a, b, weight / heaviest)
    for i, (x, y) in enumerate(at):
        axes.add_patch(Circle((x, y), radii[i], color=BLUE, zorder=3))
    if len(labels) <= MOST_NAMED:
        size = 9.0 if len(labels) <= 25 else 8.0
        for (x, y), radius, name in zip(at, radii, short_labels(labels, 22), strict=True):
            _name(axes, x, y - radius - 0.04, name, fontsize=size, va="top")
    axes.set_xlim(at[:, 0].min() - 0.8, at[:, 0].max() + 0.8)
    axes.set_ylim(at[:, 1].min() - 0.6, at[:, 1].max() + 0.5)
    return figure


def _arrow(axes: Axes, at: Floats, radii: Floats, a: int, b: int, weight: float) -> None:
    from matplotlib.patches import Circle, FancyArrowPatch

    looks: dict[str, Any] = {"color": RED, "linewidth": 0.7 + 4.3 * weight, "alpha": 0.75, "zorder": 2}
    if a == b:
        x, y = at[a] + [0.0, radii[a] + 0.08]
        axes.add_patch(Circle((x, y), 0.11, fill=False, **looks))
        return
    way = (at[b] - at[a]) / max(math.dist(at[a], at[b]), 1e-9)
    ends = at[a] + way * radii[a], at[b] - way * (radii[b] + 0.02)
    head: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 9 + 6 * weight}
    axes.add_patch(
        FancyArrowPatch(tuple(ends[0]), tuple(ends[1]), connectionstyle="arc3,rad=0.16", **head, **looks)
    )


def flow_figure(flows: Floats, names: Sequence[str], of: str) -> Figure:
    """Flows between groups as ribbons from left to right, as wide as their shares of all; of: of what."""
    shares = flows / max(float(flows.sum()), 1e-300)
    size = len(shares)
    figure, axes = axes_of(7.2, float(np.clip(0.55 * size + 1.6, 3.2, 6.8)))
    axes.set_axis_off()
    gap = 0.25 / max(size - 1, 1)
    tops = [_tops(shares.sum(axis=axis), gap) for axis in (1, 0)]
    left, right = tops[0].copy(), tops[1].copy()
    for i in range(size):
        for j in range(size):
            if shares[i, j] > 0.0:
                _ribbon(axes, left[i], right[j], float(shares[i, j]), colour_of(i), stays=i == j)
                left[i] -= shares[i, j]
                right[j] -= shares[i, j]
    short = short_labels(names, 24)
    for side, x, towards in ((0, 0.0, "right"), (1, 1.0, "left")):
        for group, share in enumerate(shares.sum(axis=1 - side)):
            middle = tops[side][group] - 0.5 * share
            axes.bar(x, share, bottom=middle - 0.5 * share, width=0.02, color=colour_of(group), zorder=3)
            between = "\n" if share > 0.04 else "  "
            text = f"{short[group]}{between}{100 * share:.2g} %"
            out = -0.02 if side == 0 else 0.02
            axes.text(x + out, middle, text, ha=towards, va="center", fontsize=9)
    for x, text in ((0.0, "from"), (1.0, "to")):
        axes.text(x, 1.0 + gap * (size - 1) + 0.05, text, ha="center", va="bottom", fontsize=10, color=GREY)
    axes.set_xlim(-0.42, 1.42)
    axes.set_ylim(-0.03, 1.0 + gap * (size - 1) + 0.1)
    axes.set_title(f"share of all {of}", fontsize=10, color=GREY)
    return figure


def _tops(shares: Floats, gap: float) -> Floats:
    height = 1.0 + gap * (len(shares) - 1)
    return np.asarray(height - gap * np.arange(len(shares)) - np.concatenate([[0.0], np.cumsum(shares)[:-1]]))


def _ribbon(axes: Axes, start: float, end: float, share: float, colour: str, *, stays: bool) -> None:
    x = np.linspace(0.01, 0.99, _RIBBON_POINTS)
    bend = 0.5 - 0.5 * np.cos(math.pi * x)
    top = start + (end - start) * bend
    # What stays within its group is darker: the others are what flows.
    axes.fill_between(x, top - share, top, color=colour, alpha=0.75 if stays else 0.4, linewidth=0.0)


def _name(axes: Axes, x: float, y: float, text: str, **looks: Any) -> None:
    from matplotlib.patheffects import withStroke

    axes.text(
        x,
        y,
        text,
        ha="center",
        zorder=5,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
        **looks,
    )
