"""Panels as pictures: Okabe-Ito colours, a line style and a marker each, so that they read in grey too."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.report.figures import BLUE, GREEN, GREY, ORANGE, RED, svg
from veil_papers.hamming_automaton import DistanceAutomaton, HammingAutomaton, ProductAutomaton
from veil_papers.reproduction.finding import Curve, Finding, Panel
from veil_papers.word_figures import automaton_size, draw_automaton

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PURPLE = "#cc79a7"
_COLOURS = {
    "printed": "black",
    "paper": BLUE,
    "exact": ORANGE,
    "veil": GREEN,
    "truth": GREY,
    "other": RED,
    "another": PURPLE,
}
_MARKERS = {
    "printed": "x",
    "paper": "o",
    "exact": "s",
    "veil": "D",
    "truth": ".",
    "other": "^",
    "another": "v",
}
_LINES = {"line": "-", "dashed": "--", "dotted": ":", "steps": "-"}
_ACROSS = 3
# As many markers as can be told apart along a line.
_MARKS = 12


def picture(finding: Finding) -> str:
    """All panels of a finding as one inline SVG; "" if it has none."""
    if not finding.panels:
        return ""
    from matplotlib.figure import Figure

    count = len(finding.panels)
    across = count if count <= _ACROSS else (4 if finding.panels[0].kind == "image" else 2)
    if finding.panels[0].kind == "automaton":
        across = 1
    down = math.ceil(count / across)
    small = finding.panels[0].kind == "image"
    width = 2.0 * across if small else min(9.6, 6.4 if across == 1 else 4.3 * across)
    if across == 1:
        width = max(_size(panel)[0] for panel in finding.panels)
    heights = [_size(panel)[1] for panel in finding.panels[::across]]
    figure = Figure(figsize=(width, sum(heights)), layout="constrained")
    grid = figure.add_gridspec(down, across, height_ratios=heights)
    handles: dict[str, Any] = {}
    for number, panel in enumerate(finding.panels):
        axes = figure.add_subplot(grid[divmod(number, across)])
        _draw(axes, panel)
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if len(handles) > 1 or (handles and count > 1):
        # One legend for all, below: nothing in the picture is covered.
        columns = 1 if max(map(len, handles)) > 48 else 2 if max(map(len, handles)) > 26 else 3
        figure.legend(
            handles.values(),
            handles.keys(),
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            fontsize=9,
        )
    return svg(figure)


def _size(panel: Panel) -> tuple[float, float]:
    """The inches across, where it is alone in its row, and down."""
    if panel.kind == "automaton":
        return automaton_size(_automaton(panel))
    return 6.4, 2.3 if panel.kind == "image" else 3.4


def _automaton(panel: Panel) -> DistanceAutomaton:
    given: dict[str, Any] = {
        key: tuple(item) if isinstance(item, list) else item for key, item in panel.automaton.items()
    }
    return ProductAutomaton(**given) if "support" in given else HammingAutomaton(**given)


def _draw(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, fontsize=10.5)
    if panel.kind == "automaton":
        draw_automaton(axes, _automaton(panel))
        return
    if panel.kind == "image":
        axes.imshow(np.array(panel.image), cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
        return
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)
    if panel.kind == "triangle":
        _triangle(axes, panel)
        return
    bars = [curve for curve in panel.curves if curve.style == "bars"]
    for curve in panel.curves:
        _curve(axes, curve, bars, marked=panel.kind != "map")
    if panel.kind == "map":
        axes.set_aspect("equal")
        axes.axis("off")
        return
    if panel.ticks:
        axes.set_xticks(range(len(panel.ticks)), panel.ticks, fontsize=9)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    if panel.y_range is not None:
        axes.set_ylim(*panel.y_range)
    axes.set_xlabel(panel.x, fontsize=10)
    axes.set_ylabel(panel.y, fontsize=10)
    axes.grid(color=GREY, alpha=0.2)
    axes.set_axisbelow(True)


def _curve(axes: Axes, curve: Curve, bars: list[Curve], *, marked: bool) -> None:
    """One series. marked: with markers along its line; on a map they would look like stops."""
    colour, marker = _COLOURS[curve.role], _MARKERS[curve.role]
    if curve.style == "bars":
        width = 0.8 / len(bars)
        shift = (bars.index(curve) - (len(bars) - 1) / 2.0) * width
        hatch = {"printed": "//", "exact": "..", "other": "xx"}.get(curve.role, "")
        axes.bar(
            np.array(curve.x) + shift,
            curve.y,
            width=width,
            color=colour if curve.role != "printed" else "white",
            edgecolor="black",
            linewidth=0.6,
            hatch=hatch,
            label=curve.label,
        )
    elif curve.style == "points":
        count = len(curve.x)
        # Rings, where there are too many for signs and not so many that they hide one another.
        look = {"markersize": 6.0} if count <= 60 else {"markersize": 4.5, "markerfacecolor": "none"}
        if count > 300:
            look, marker = {"markersize": 2.0, "alpha": 0.5}, "."
        axes.plot(curve.x, curve.y, linestyle="none", marker=marker, color=colour, label=curve.label, **look)
    else:
        every = max(1, len(curve.x) // _MARKS)
        axes.plot(
            curve.x,
            curve.y,
            linestyle=_LINES[curve.style],
            drawstyle="steps-mid" if curve.style == "steps" else "default",
            marker=marker if marked and curve.style != "steps" and curve.role != "truth" else "",
            markevery=every,
            markersize=4.5,
            linewidth=1.7,
            color=colour,
            label=curve.label,
        )


def _triangle(axes: Axes, panel: Panel) -> None:
    """Points of the simplex of three entries, x and y the first two of them."""
    height = math.sqrt(3.0) / 2.0
    axes.plot([0.0, 1.0, 0.5, 0.0], [0.0, 0.0, height, 0.0], color="black", linewidth=1.0)
    for curve in panel.curves:
        first, second = np.array(curve.x), np.array(curve.y)
        axes.plot(
            second + 0.5 * (1.0 - first - second),
            height * (1.0 - first - second),
            linestyle="none",
            marker=".",
            markersize=2.0,
            alpha=0.6,
            color=_COLOURS[curve.role],
            label=curve.label,
        )
    axes.set_aspect("equal")
    axes.axis("off")
