"""Pictures of released vectors, and of what each mechanism is expected to miss by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.arrays import Floats
from veil.report.figures import BLUE, GREEN, GREY, ORANGE, RED, axes_of, short_labels
from veil.vectors.planning import Comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of each mechanism: its name for people, its colour and its marker.
_STYLES = {
    "dirichlet": ("Dirichlet", BLUE, "o"),
    "laplace": ("Laplace", ORANGE, "s"),
    "gaussian": ("Gaussian", GREEN, "^"),
    "geometric": ("Geometric", RED, "D"),
    "discrete-gaussian": ("Discrete Gaussian", "#cc79a7", "v"),
}
NAMES, COLOURS, MARKERS = ({name: style[i] for name, style in _STYLES.items()} for i in range(3))
_MOST_BARS = 40


def vector_figure(value: Floats, labels: Sequence[str], bars: Floats | None, bars_are: str) -> Figure:
    """The released vector as bars; with an interval around each where one is known."""
    shown = min(len(value), _MOST_BARS)
    figure, axes = axes_of(7.2, max(2.2, 0.34 * shown + 1.0))
    places = np.arange(shown)
    axes.barh(places, value[:shown], color=BLUE, height=0.62, alpha=0.85, label="released share")
    if bars is not None:
        low, high = bars[:shown, 0], bars[:shown, 1]
        axes.hlines(places, low, high, color="black", linewidth=1.6, label=bars_are)
        axes.plot(low, places, "|", color="black", markersize=9)
        axes.plot(high, places, "|", color="black", markersize=9)
    axes.set_yticks(places, short_labels(labels[:shown]))
    axes.invert_yaxis()
    axes.set_xlim(left=0.0)
    axes.set_xlabel("probability")
    if shown < len(value):
        axes.set_title(f"the first {shown} of {len(value)} entries", fontsize=10, color=GREY)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.18 - 0.4 / shown), ncols=2, frameon=False, fontsize=9
    )
    return figure


def comparison_figure(comparison: Comparison) -> Figure:
    """The expected error of each mechanism at equal privacy, with the error of unlucky releases."""
    rows = [row for row in comparison.rows if row.errors is not None]
    figure, axes = axes_of(7.2, 0.55 * max(len(rows), 1) + 1.5)
    for place, row in enumerate(rows):
        assert row.errors is not None
        colour = COLOURS.get(row.name, GREY)
        axes.barh(place, row.errors.tv, color=colour, height=0.55)
        axes.plot([row.tv95], [place], "|", color="black", markersize=16, markeredgewidth=2)
        axes.annotate(
            f" {row.errors.tv:.3g}",
            (max(row.errors.tv, row.tv95), place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=10,
        )
    axes.set_yticks(range(len(rows)), [NAMES.get(row.name, row.name) for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.25 * max([row.tv95 for row in rows], default=1.0))
    axes.set_xlabel("expected error (total variation); the line: 95 of 100 releases stay below")
    return figure


def curve_figure(curve: Sequence[Comparison], chosen: float) -> Figure:
    """The expected error of each mechanism against epsilon."""
    figure, axes = axes_of(7.2, 3.8)
    names = [row.name for row in curve[0].rows]
    for name in sorted(names):
        points = [(table.epsilon, table[name].errors) for table in curve]
        known: list[Any] = [(epsilon, errors.tv) for epsilon, errors in points if errors is not None]
        if known:
            axes.loglog(
                *zip(*known, strict=True),
                color=COLOURS.get(name, GREY),
                marker=MARKERS.get(name, "o"),
                label=NAMES.get(name, name),
            )
    axes.axvline(chosen, color=GREY, linestyle=":", linewidth=1.2)
    axes.set_xlabel("privacy loss ε (smaller is more private)")
    axes.set_ylabel("expected error (total variation)")
    ticks = [table.epsilon for table in curve]
    axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=9)
    return figure
