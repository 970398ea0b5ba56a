"""Pictures of matrices and chains, and of what privacy costs a decision process, in reward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.arrays import Floats
from veil.matrices.planning import MatrixPlan
from veil.matrices.value_losses import LossRow, Spread, ValueLoss
from veil.report.figures import BLUE, GREY, RED, axes_of, short_labels
from veil.vectors.report.figures import curves_figure, draw_shares

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
    labels = short_labels([*rows, *columns]) if height + width <= 2 * MOST_TICKS else []
    aside = max(0, max(map(len, labels), default=0) - 10) * size * _LETTER
    tall = float(np.clip(side * height / max(width, height) + 0.6 * aside, 2.4, 8.4))
    figure, axes = axes_of(min(8.6, side + 0.8 + aside), tall)
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
        for (i, j), entry in np.ndenumerate(matrix):
            colour = "white" if entry < 0.55 * matrix.max() else "black"
            axes.text(j, i, f"{entry:.2f}", ha="center", va="center", color=colour, fontsize=8)
    figure.colorbar(image, ax=axes, label="transition probability", shrink=0.85)
    return figure


def stationary_figure(stationary: Floats, labels: Sequence[str], bars: Floats | None) -> Figure:
    """The long-run share of time in each state, the largest first, with error bars where there are any."""
    order = np.argsort(-stationary, kind="stable")[:_MOST_BARS]
    figure, axes = axes_of(7.2, max(2.2, 0.3 * len(order) + 1.2))
    names, called = [labels[i] for i in order], ("this chain", "the true chain, with 95 % confidence")
    draw_shares(axes, stationary[order], names, None if bars is None else bars[order], called)
    if bars is not None:
        # Above: wherever it stood inside, it would cover a bar of some chain.
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize=9, borderaxespad=0.2
        )
    axes.set_ylim(len(order) - 0.4, -0.6)
    cut = f" (the {len(order)} largest of {len(stationary)} states)" if len(order) < len(stationary) else ""
    axes.set_xlabel(f"long-run share of time{cut}")
    return figure


def graph_figure(matrix: Floats, labels: Sequence[str], stationary: Floats | None) -> Figure:
    """A small chain as a graph: circles as large as their share of time, arrows as thick as likely."""
    from matplotlib.patches import Circle

    size = len(matrix)
    figure, axes = axes_of(6.4, 6.0)
    axes.set_axis_off()
    angles = 0.5 * math.pi - 2.0 * math.pi * np.arange(size) / size
    centres = np.stack([np.cos(angles), np.sin(angles)], axis=1) if size > 1 else np.zeros((1, 2))
    shares = np.full(size, 1.0 / size) if stationary is None else stationary
    radii = 0.05 + 0.16 * np.sqrt(shares / max(shares.max(), 1e-12)) * min(1.0, 6.0 / size)
    least = min(0.1, max(0.05, 0.8 / size))
    for i, j in np.argwhere(matrix >= least):
        _arrow(axes, centres, radii, i, j, float(matrix[i, j]), named=size <= 6)
    names = short_labels(labels)
    for i, (x, y) in enumerate(centres):
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

    line: dict[str, Any] = {"color": GREY, "linewidth": 0.6 + 3.4 * probability}
    text: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "zorder": 5}
    if i == j:
        out = centres[i] / max(float(np.hypot(*centres[i])), 1e-9)
        middle = centres[i] + out * (radii[i] + 0.08)
        axes.add_patch(Arc(tuple(middle), 0.24, 0.24, alpha=0.8, **line))
        if named:
            x, y = middle + out * 0.04
            axes.text(x, y, f"{probability:.2f}", **text)
        return
    way = centres[j] - centres[i]
    length = float(np.hypot(*way))
    unit = way / length
    start, end = centres[i] + unit * radii[i], centres[j] - unit * (radii[j] + 0.02)
    head: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 9 + 5 * probability, "alpha": 0.75}
    patch = FancyArrowPatch(tuple(start), tuple(end), connectionstyle="arc3,rad=0.14", **head, **line)
    axes.add_patch(patch)
    if named:
        normal = np.array([unit[1], -unit[0]])
        x, y = centres[i] + 0.36 * way + normal * (0.13 * length * 0.5 + 0.04)
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85}
        axes.text(x, y, f"{probability:.2f}", bbox=paper, **text)


def plan_figure(curve: Sequence[MatrixPlan], chosen: float) -> Figure:
    """The expected error of a row against epsilon, for each mechanism."""
    points = [
        (row.name, plan.epsilon, row.row_tv)
        for plan in curve
        for row in plan.rows
        if row.mechanism is not None
    ]
    ticks = [plan.epsilon for plan in curve]
    meaning = "expected error of a row (total variation)"
    return curves_figure(points, ticks, chosen, meaning, baselines=curve[-1].baselines)


_MOST_LABELS = 9
# An uninformed answer that loses far more than every release would only flatten the curve, and one that
# loses nothing would lie on the line of zero: these are said in words.
_TOO_LOW, _TOO_FAR = 0.1, 2.5
# Below this share of the picture a number is rounding.
_ROUNDING = 1e-9


def value_figure(loss: ValueLoss) -> Figure:
    """Lost reward against epsilon: the mean, 90 of 100 releases, and an answer that knows nothing.

    Where the transitions are hidden a second panel shows the error of the predicted value. The picture
    is as sensitive as the process that the numbers come from.
    """
    from matplotlib.figure import Figure

    errors = [row.value_error for row in loss.rows if row.value_error is not None]
    figure = Figure(figsize=(7.2, 6.4 if errors else 3.9), layout="constrained")
    panels = figure.subplots(2 if errors else 1, 1, sharex=True, squeeze=False)[:, 0]
    if loss.hide == "policy":
        meaning = "Reward lost by acting on the released policy instead of the true one"
    else:
        meaning = "Reward lost by planning with the released transitions"
    axes = panels[0]
    _panel(axes, loss.rows, [row.loss for row in loss.rows], BLUE)
    _uninformed(axes, loss.uninformed, "loses")
    nothing = f"no privacy: nothing lost, a return of {loss.true_return:.4g}"
    _describe(axes, meaning, "lost return (units of reward)", nothing)
    if errors:
        assert loss.uninformed_value_error is not None
        axes = panels[1]
        _panel(axes, loss.rows, errors, RED)
        _uninformed(axes, loss.uninformed_value_error, "is off by")
        meaning = "How wrong the value is that the released transitions predict"
        _describe(axes, meaning, "error of the value (units of reward)", "no privacy: no error")
    axes.set_xlabel(
        f"privacy loss ε at δ = {loss.delta:.3g} (smaller is more private)\n"
        f"line: mean of {loss.draws} releases; band: 90 of 100 releases"
    )
    return figure


def _panel(axes: Axes, rows: Sequence[LossRow], spreads: Sequence[Spread], colour: str) -> None:
    from matplotlib.patheffects import withStroke

    epsilons = [row.epsilon for row in rows]
    means = [spread.mean for spread in spreads]
    low, high = [spread.low for spread in spreads], [spread.high for spread in spreads]
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xscale("log")
    axes.fill_between(epsilons, low, high, color=colour, alpha=0.2, linewidth=0.0)
    axes.plot(epsilons, means, color=colour, marker="o", linewidth=2.0)
    axes.axhline(0.0, color=GREY, linewidth=1.2)
    _make_room(axes, min([*low, 0.0]), max(high))
    shown = range(0, len(rows), math.ceil(len(rows) / _MOST_LABELS))
    for place in shown:
        axes.annotate(
            _shown(axes, means[place]),
            (epsilons[place], means[place]),
            xytext=(5, 6),
            textcoords="offset points",
            fontsize=9,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
    axes.set_xticks([epsilons[place] for place in shown], [f"{epsilons[place]:.3g}" for place in shown])
    axes.minorticks_off()
    axes.margins(x=0.06)


def _make_room(axes: Axes, bottom: float, top: float) -> None:
    span = (top - bottom) or 1.0
    axes.set_ylim(bottom - 0.16 * span, bottom + 1.14 * span)


def _uninformed(axes: Axes, uninformed: float, verb: str) -> None:
    """The uninformed answer as a line, or in words alone; at the right, where the curve is low."""
    bottom, top = axes.dataLim.y0, axes.dataLim.y1
    as_line = _TOO_LOW * top < uninformed <= _TOO_FAR * top
    if as_line:
        axes.axhline(uninformed, color=GREY, linestyle="--", linewidth=1.2)
        _make_room(axes, min(bottom, 0.0), max(top, uninformed))
    axes.annotate(
        f"an answer that ignores the data {verb} {_shown(axes, uninformed)}",
        (1.0, uninformed if as_line else 0.92),
        xycoords=("axes fraction", "data" if as_line else "axes fraction"),
        xytext=(0, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=9,
        color=GREY,
    )


def _shown(axes: Axes, number: float) -> str:
    low, high = axes.get_ylim()
    return f"{number if abs(number) > _ROUNDING * (high - low) else 0.0:.3g}"


def _describe(axes: Axes, title: str, unit: str, note: str) -> None:
    """note: below the line of zero, where no curve comes."""
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_ylabel(unit)
    axes.text(0.01, 0.02, note, transform=axes.transAxes, fontsize=9, color=GREY)
