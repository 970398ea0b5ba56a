"""Pictures of released vectors, and of what each mechanism is expected to miss by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from veil.core.arrays import Floats
from veil.core.baseline import Baseline
from veil.report.figures import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RED,
    axes_of,
    draw_nothing,
    short_labels,
    small_panels,
)
from veil.vectors.planning import Comparison
from veil.vectors.report.panels import leading_entries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
# Of many vectors: panels of a picture, and bars of each.
MOST_DRAWN, _MOST_ENTRIES = 24, 8


def vector_figure(value: Floats, labels: Sequence[str], bars: Floats | None, bars_are: str) -> Figure:
    """The released vector as bars; with an interval around each where one is known."""
    shown = min(len(value), _MOST_BARS)
    figure, axes = axes_of(7.2, max(2.2, 0.34 * shown + 1.0))
    limits = None if bars is None else bars[:shown]
    draw_shares(axes, value[:shown], labels[:shown], limits, ("released share", bars_are))
    axes.invert_yaxis()
    axes.set_xlabel("probability")
    if shown < len(value):
        axes.set_title(f"the first {shown} of {len(value)} entries", fontsize=10, color=GREY)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.18 - 0.4 / shown), ncols=2, frameon=False, fontsize=9
    )
    return figure


def draw_shares(
    axes: Axes, shares: Floats, labels: Sequence[str], limits: Floats | None, called: tuple[str, str]
) -> None:
    """Shares as bars, with limits (low, high) where they are known. called: the bars, and the limits."""
    places = np.arange(len(shares))
    axes.barh(places, shares, color=BLUE, height=0.62, alpha=0.85, label=called[0])
    if limits is not None:
        axes.hlines(places, *limits.T, color="black", linewidth=1.6, label=called[1])
        for ends in limits.T:
            axes.plot(ends, places, "|", color="black", markersize=9)
    axes.set_yticks(places, short_labels(labels))
    axes.set_xlim(left=0.0)


def panels_figure(rows: Floats, names: Sequence[str], labels: Sequence[str]) -> Figure:
    """A small panel for each of the first of many vectors, with the entries that lead on average."""
    entries, shares = leading_entries(rows, labels, _MOST_ENTRIES)
    panels = list(zip(names, shares[:MOST_DRAWN], strict=False))
    meaning = "released share; black mark: average of all vectors"
    if len(panels) < len(rows):
        meaning += f"; {len(rows) - len(panels):,} more vectors have no panel here"
    return small_panels(panels, shares.mean(axis=0), entries, meaning)


def comparison_figure(comparison: Comparison) -> Figure:
    """The expected error of each mechanism at equal privacy, with the error of unlucky releases."""
    errors = [(row.name, row.errors.tv, row.tv95) for row in comparison.rows if row.errors is not None]
    meaning = "expected error (total variation); the line: 95 of 100 releases stay below"
    return errors_figure(errors, meaning, comparison.baselines)


def errors_figure(
    errors: Sequence[tuple[str, float, float | None]], meaning: str, baselines: Sequence[Baseline] = ()
) -> Figure:
    """A bar for the error of each mechanism (name, error), with a line where 95 of 100 errors are below.

    baselines: the error of an answer that uses no data, as a dashed line.
    """
    figure, axes = axes_of(7.2, 0.55 * max(len(errors), 1) + 1.5)
    for place, (name, error, high) in enumerate(errors):
        axes.barh(place, error, color=COLOURS.get(name, GREY), height=0.55)
        if high is not None:
            axes.plot([high], [place], "|", color="black", markersize=16, markeredgewidth=2)
        axes.annotate(
            f" {error:.3g}",
            (max(error, high or 0.0), place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=10,
        )
    axes.set_yticks(range(len(errors)), [NAMES.get(name, name) for name, *_ in errors])
    axes.invert_yaxis()
    nothing = [baseline.nothing for baseline in baselines[:1]]
    for error in nothing:
        draw_nothing(axes, error, upright=True)
    farthest = max([*nothing, *(high or error for _, error, high in errors)], default=1.0)
    axes.set_xlim(0.0, 1.25 * farthest)
    axes.set_xlabel(meaning)
    return figure


def curve_figure(curve: Sequence[Comparison], chosen: float) -> Figure:
    """The expected error of each mechanism against epsilon."""
    points = [
        (row.name, table.epsilon, row.errors.tv)
        for table in curve
        for row in table.rows
        if row.errors is not None
    ]
    ticks = [table.epsilon for table in curve]
    meaning = "expected error (total variation)"
    return curves_figure(points, ticks, chosen, meaning, baselines=curve[-1].baselines)


def curves_figure(
    points: Sequence[tuple[str, float, float]],
    ticks: Sequence[float],
    chosen: float,
    meaning: str,
    *,
    baselines: Sequence[Baseline] = (),
) -> Figure:
    """A curve for each mechanism, from points (name, epsilon, error).

    baselines: the error of an answer that uses no data, as a dashed line.
    """
    figure, axes = axes_of(7.2, 3.8)
    for name in sorted({name for name, *_ in points}):
        axes.loglog(
            *zip(*(point for known, *point in points if known == name), strict=True),
            color=COLOURS.get(name, GREY),
            marker=MARKERS.get(name, "o"),
            label=NAMES.get(name, name),
        )
    for baseline in baselines[:1]:
        draw_nothing(axes, baseline.nothing)
    axes.axvline(chosen, color=GREY, linestyle=":", linewidth=1.2)
    axes.set_xlabel("privacy loss ε (smaller is more private)")
    axes.set_ylabel(meaning)
    axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=9)
    return figure
