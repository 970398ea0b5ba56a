"""Figures as SVG text, made to be read by everyone (Okabe-Ito colours, direct labels)."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.intake import Floats
from veil.core.privacy.profile import PrivacyProfile
from veil.report.labels import shorts
from veil.vectors.comparison import Comparison
from veil.vectors.published_bounds import Published

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#6b6b6b"
NAMES = {
    "dirichlet": "Dirichlet",
    "laplace": "Laplace",
    "gaussian": "Gaussian",
    "geometric": "Geometric",
    "discrete-gaussian": "Discrete Gaussian",
}
COLOURS = {
    "dirichlet": BLUE,
    "laplace": ORANGE,
    "gaussian": GREEN,
    "geometric": RED,
    "discrete-gaussian": "#cc79a7",
}
MARKERS = {"dirichlet": "o", "laplace": "s", "gaussian": "^", "geometric": "D", "discrete-gaussian": "v"}
_MOST_BARS = 40


def _axes(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=10)
    return figure, axes


def svg(figure: Figure) -> str:
    """The figure as an inline SVG element, the same bytes for the same picture."""
    import matplotlib as mpl

    out = io.StringIO()
    with (
        mpl.rc_context({"svg.hashsalt": "veil", "svg.fonttype": "none", "font.family": "sans-serif"}),
        warnings.catch_warnings(),
    ):
        # The text stays text: the reader's browser has the letters that this machine's font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def vector_figure(value: Floats, labels: Sequence[str], bars: Floats | None, bars_are: str) -> Figure:
    """The released vector as bars; with an interval around each where one is known."""
    shown = min(len(value), _MOST_BARS)
    figure, axes = _axes(7.2, max(2.2, 0.34 * shown + 1.0))
    places = np.arange(shown)
    axes.barh(places, value[:shown], color=BLUE, height=0.62, alpha=0.85, label="released share")
    if bars is not None:
        low, high = bars[:shown, 0], bars[:shown, 1]
        axes.hlines(places, low, high, color="black", linewidth=1.6, label=bars_are)
        axes.plot(low, places, "|", color="black", markersize=9)
        axes.plot(high, places, "|", color="black", markersize=9)
    axes.set_yticks(places, _shorts(labels[:shown]))
    axes.invert_yaxis()
    axes.set_xlim(left=0.0)
    axes.set_xlabel("probability")
    if shown < len(value):
        axes.set_title(f"the first {shown} of {len(value)} entries", fontsize=10, color=GREY)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.18 - 0.4 / shown), ncols=2, frameon=False, fontsize=9
    )
    return figure


def privacy_figure(
    profile: PrivacyProfile, *, epsilon: float, delta: float, published: Published | None
) -> Figure:
    """delta against epsilon on a logarithmic scale, with the charged point and the paper's."""
    figure, axes = _axes(7.2, 3.6)
    top = max(1.6 * epsilon, 1.15 * published.epsilon if published is not None else 0.0)
    grid = np.linspace(0.0, top, 121)
    deltas = np.array([_drawn_delta(profile, float(point)) for point in grid])
    floor = min(1e-9, delta if delta > 0.0 else 1e-9, published.delta if published else 1.0) / 100.0
    kept = deltas >= floor
    axes.semilogy(grid[kept], deltas[kept], color=BLUE, linewidth=2.2, label="proved for this release (Veil)")
    axes.set_ylim(floor, 2.0)
    axes.set_xlim(0.0, top)
    if delta > 0.0:
        axes.plot([epsilon], [delta], "o", color=BLUE, markersize=9, label="charged for this release")
    else:
        axes.axvline(epsilon, color=BLUE, linestyle=":", label="charged for this release (delta = 0)")
    if published is not None:
        axes.plot(
            [published.epsilon],
            [published.delta],
            "X",
            color=RED,
            markersize=10,
            label=f"what the paper proves ({published.theorem})",
        )
    axes.set_xlabel("privacy loss ε (smaller is more private)")
    axes.set_ylabel("failure probability δ")
    axes.legend(frameon=False, fontsize=9)
    return figure


def _drawn_delta(profile: PrivacyProfile, epsilon: float) -> float:
    """delta as a picture needs it: where a proof of each point takes long, to a millionth of itself."""
    if epsilon >= profile.pure_epsilon:
        return 1e-300
    return max(1e-300, math.exp(min(0.0, profile.likely_log_delta(epsilon))))


def comparison_figure(comparison: Comparison) -> Figure:
    """The expected error of each mechanism at equal privacy, with the error of unlucky releases."""
    rows = [row for row in comparison.rows if row.errors is not None]
    figure, axes = _axes(7.2, 0.55 * max(len(rows), 1) + 1.5)
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
    figure, axes = _axes(7.2, 3.8)
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


def _shorts(labels: Sequence[str], most: int = 26) -> list[str]:
    """Short labels; a $ is a dollar, not a formula."""
    return [label.replace("$", r"\$") for label in shorts(labels, most)]
