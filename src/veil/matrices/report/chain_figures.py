"""Pictures of matrices and chains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.arrays import Floats
from veil.matrices.planning import MatrixPlan
from veil.report.figures import BLUE, GREY, axes_of, short_labels
from veil.vectors.report.figures import COLOURS, MARKERS, NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_DRAWN = 16
MOST_TICKS = 70
_MOST_NUMBERS = 12
_MOST_BARS = 40
# Letters of a label, in a small and in a large picture.
_LONGEST, _SHORTER = 26, 18
# Inches: of a letter for each point of its size, and of what is beside the squares of a heat map.
_LETTER, _BESIDE = 0.0085, 2.6


def heat_map(matrix: Floats, rows: Sequence[str], columns: Sequence[str]) -> Figure:
    """The matrix in colours that keep their order for every eye, with numbers where they fit."""
    from matplotlib.colors import PowerNorm

    height, width = matrix.shape
    side = float(np.clip(0.42 * max(height, width) + 1.8, 3.6, 8.4))
    size = 9.0 if max(height, width) <= 40 else 5.5
    # Long labels must not take their room from the squares.
    letters = (
        max(map(len, short_labels([*rows, *columns])), default=0) if height + width <= 2 * MOST_TICKS else 0
    )
    aside = max(0, letters - 10) * size * _LETTER
    figure, axes = axes_of(
        min(8.6, side + 0.8 + aside),
        float(np.clip(side * height / max(width, height) + 0.6 * aside, 2.4, 8.4)),
    )
    axes.spines[["left", "bottom"]].set_visible(False)
    # In large matrices most entries are small: by their square root they can still be told apart.
    norm = PowerNorm(0.5 if max(height, width) > _MOST_NUMBERS else 1.0, 0.0, max(float(matrix.max()), 1e-9))
    image = axes.imshow(matrix, cmap="cividis", norm=norm, aspect="auto")
    if width <= MOST_TICKS:
        most = _LONGEST if width <= _MOST_NUMBERS else _SHORTER
        names = short_labels(columns, most)
        room = (figure.get_figwidth() - _BESIDE - aside) / width
        turned: dict[str, Any] = {}
        if max(map(len, names)) * size * _LETTER > room:
            # A slope is easier to read, but needs room as well.
            slope = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
            turned = slope if width <= _MOST_NUMBERS else {"rotation": 90}
        axes.set_xticks(range(width), names, fontsize=size, **turned)
    if height <= MOST_TICKS:
        most = _LONGEST if height <= _MOST_NUMBERS else _SHORTER
        axes.set_yticks(range(height), short_labels(rows, most), fontsize=size)
    axes.set_xlabel("to")
    axes.set_ylabel("from")
    if max(height, width) <= _MOST_NUMBERS:
        for i in range(height):
            for j in range(width):
                dark = matrix[i, j] < 0.55 * matrix.max()
                colour = "white" if dark else "black"
                axes.text(j, i, f"{matrix[i, j]:.2f}", ha="center", va="center", color=colour, fontsize=8)
    figure.colorbar(image, ax=axes, label="transition probability", shrink=0.85)
    return figure


def stationary_figure(stationary: Floats, labels: Sequence[str], bars: Floats | None) -> Figure:
    """The long-run share of time in each state, the largest first, with error bars where there are any."""
    order = np.argsort(-stationary, kind="stable")[:_MOST_BARS]
    figure, axes = axes_of(7.2, max(2.2, 0.3 * len(order) + 1.2))
    places = np.arange(len(order))
    axes.barh(places, stationary[order], color=BLUE, height=0.62, alpha=0.85, label="this chain")
    if bars is not None:
        low, high = bars[order, 0], bars[order, 1]
        axes.hlines(
            places, low, high, color="black", linewidth=1.6, label="the true chain, with 95 % confidence"
        )
        axes.plot(low, places, "|", color="black", markersize=8)
        axes.plot(high, places, "|", color="black", markersize=8)
        # Above: wherever it stood inside, it would cover a bar of some chain.
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize=9, borderaxespad=0.2
        )
    axes.set_yticks(places, short_labels([labels[i] for i in order]))
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlim(left=0.0)
    cut = f" (the {len(order)} largest of {len(stationary)} states)" if len(order) < len(stationary) else ""
    axes.set_xlabel(f"long-run share of time{cut}")
    return figure


def graph_figure(matrix: Floats, labels: Sequence[str], stationary: Floats | None) -> Figure:
    """A small chain as a graph: circles as large as their share of time, arrows as thick as likely."""
    size = len(matrix)
    figure, axes = axes_of(6.4, 6.0)
    axes.set_axis_off()
    angles = 0.5 * math.pi - 2.0 * math.pi * np.arange(size) / size
    centres = np.stack([np.cos(angles), np.sin(angles)], axis=1) if size > 1 else np.zeros((1, 2))
    shares = np.full(size, 1.0 / size) if stationary is None else stationary
    radii = 0.05 + 0.16 * np.sqrt(shares / max(shares.max(), 1e-12)) * min(1.0, 6.0 / size)
    least = min(0.1, max(0.05, 0.8 / size))
    for i in range(size):
        for j in range(size):
            if matrix[i, j] >= least:
                _arrow(axes, centres, radii, i, j, float(matrix[i, j]), named=size <= 6)
    names = short_labels(labels)
    for i, (x, y) in enumerate(centres):
        from matplotlib.patches import Circle

        axes.add_patch(Circle((x, y), radii[i], color=BLUE, alpha=0.9, zorder=3))
        reach = 1.0 + radii[i] + (0.26 if matrix[i, i] >= least else 0.07)
        side = "center" if abs(x) < 0.3 else "left" if x > 0 else "right"
        axes.text(x * reach, y * reach, names[i], ha=side, va="center", fontsize=10, zorder=4)
    axes.set_xlim(-1.75, 1.75)
    axes.set_ylim(-1.5, 1.5)
    axes.set_aspect("equal")
    axes.set_title(f"transitions of at least {100 * least:.0f} %", fontsize=10, color=GREY)
    return figure


def _arrow(
    axes: Axes, centres: Any, radii: Floats, i: int, j: int, probability: float, *, named: bool
) -> None:
    from matplotlib.patches import Arc, FancyArrowPatch

    width = 0.6 + 3.4 * probability
    if i == j:
        out = centres[i] / max(float(np.hypot(*centres[i])), 1e-9)
        middle = centres[i] + out * (radii[i] + 0.08)
        axes.add_patch(Arc(tuple(middle), 0.24, 0.24, color=GREY, linewidth=width, alpha=0.8))
        if named:
            x, y = middle + out * 0.04
            axes.text(x, y, f"{probability:.2f}", ha="center", va="center", fontsize=8, zorder=5)
        return
    way = centres[j] - centres[i]
    length = float(np.hypot(*way))
    unit = way / length
    start, end = centres[i] + unit * radii[i], centres[j] - unit * (radii[j] + 0.02)
    patch = FancyArrowPatch(
        tuple(start),
        tuple(end),
        connectionstyle="arc3,rad=0.14",
        arrowstyle="-|>",
        mutation_scale=9 + 5 * probability,
        linewidth=width,
        color=GREY,
        alpha=0.75,
    )
    axes.add_patch(patch)
    if named:
        normal = np.array([unit[1], -unit[0]])
        x, y = centres[i] + 0.36 * way + normal * (0.13 * length * 0.5 + 0.04)
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85}
        axes.text(x, y, f"{probability:.2f}", ha="center", va="center", fontsize=8, zorder=5, bbox=paper)


def plan_bars(plan: MatrixPlan) -> Figure:
    """The expected error of a row for each mechanism at equal privacy."""
    rows = [row for row in plan.rows if row.mechanism is not None]
    figure, axes = axes_of(7.2, 0.55 * max(len(rows), 1) + 1.4)
    for place, row in enumerate(rows):
        axes.barh(place, row.row_tv, color=COLOURS.get(row.name, GREY), height=0.55)
        axes.annotate(
            f" {row.row_tv:.3g}",
            (row.row_tv, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=10,
        )
    axes.set_yticks(range(len(rows)), [NAMES.get(row.name, row.name) for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.2 * max([row.row_tv for row in rows], default=1.0))
    axes.set_xlabel("expected error of the next step (total variation)")
    return figure


def plan_figure(curve: Sequence[MatrixPlan], chosen: float) -> Figure:
    """The expected error of a row against epsilon, for each mechanism."""
    figure, axes = axes_of(7.2, 3.8)
    for name in sorted({row.name for plan in curve for row in plan.rows}):
        points = [
            (plan.epsilon, row.row_tv)
            for plan in curve
            for row in plan.rows
            if row.name == name and row.mechanism is not None
        ]
        if points:
            colour, marker = COLOURS.get(name, GREY), MARKERS.get(name, "o")
            axes.loglog(*zip(*points, strict=True), color=colour, marker=marker, label=NAMES.get(name, name))
    axes.axvline(chosen, color=GREY, linestyle=":", linewidth=1.2)
    axes.set_xlabel("privacy loss ε (smaller is more private)")
    axes.set_ylabel("expected error of a row (total variation)")
    ticks = [plan.epsilon for plan in curve]
    axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=9)
    return figure
