"""The pictures of a run: a bar for every ratio, a plot for every cost that grows."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from veil_papers.reproduction.drawing import picture
from veil_papers.reproduction.finding import Curve, Finding, Panel

from bench.measure import Growth, Ratio
from veil.report.figures import BLUE, GREY, ORANGE, svg

# Okabe-Ito, and hatched where the peer wins: told apart without colours too.
_STYLES = {"wins": (BLUE, ""), "even": (GREY, ""), "loses": (ORANGE, "///")}


def times(ratio: float) -> str:
    """A ratio as people read it: 0.17x, 1.02x, 7.2x, 170x, 40,000x."""
    if not math.isfinite(ratio):
        return "∞"
    if ratio < 10:
        return f"{ratio:.2f}×"
    rounded = float(f"{ratio:.2g}") if ratio >= 1000 else ratio
    return f"{rounded:,.0f}×"


def bars(ratios: Sequence[Ratio]) -> str:
    """How many times better Veil is, on a logarithmic axis on which 1 is even."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.6, 0.7 + 0.52 * len(ratios)), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right", "left"]].set_visible(False)
    logs = [math.log10(min(max(one.ratio, 1e-6), 1e9)) for one in ratios]
    for place, (one, length) in enumerate(zip(ratios, logs, strict=True)):
        colour, hatch = _STYLES[one.verdict]
        axes.barh(place, length, height=0.62, color=colour, hatch=hatch, edgecolor="black", linewidth=0.5)
        axes.annotate(
            times(one.ratio),
            (length, place),
            xytext=(5 if length >= 0 else -5, 0),
            textcoords="offset points",
            va="center",
            ha="left" if length >= 0 else "right",
            fontsize=9,
        )
    axes.axvline(0.0, color="black", linewidth=1.0)
    names = [f"{textwrap.shorten(one.what, 62, placeholder=' …')}\nagainst {one.peer}" for one in ratios]
    axes.set_yticks(range(len(ratios)), names, fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    # Not so near that a difference of one percent looks like something.
    low, high = min(-0.3, *logs) - 0.35, max(0.3, *logs) + 0.45
    axes.set_xlim(low, high)
    between = (1.0,) if high - low > 3.0 else (1.0, 2.0, 5.0)
    steps = [unit * 10.0**power for power in range(-6, 10) for unit in between]
    shown = [step for step in steps if low <= math.log10(step) <= high]
    axes.set_xticks(
        [math.log10(step) for step in shown],
        [f"{step:,.0f}×" if step >= 1.0 else f"{step:g}×" for step in shown],
        fontsize=9,
    )
    axes.set_xlabel("how many times better Veil is (left of the line the peer is better)", fontsize=9)
    return svg(figure)


def law(growth: Growth, *, peer: bool = False) -> str:
    """By which law the seconds grow: n^1.02, or a factor a step."""
    found = growth.peer_exponent if peer else growth.exponent
    if not math.isfinite(found):
        return "too few sizes"
    return f"× {found:.2g} for each more" if peer and growth.law == "exponential" else f"size^{found:.2f}"


def plots(growths: Sequence[Growth]) -> str:
    """Seconds over sizes, both logarithmic, with the fitted laws."""
    panels = []
    for growth in growths:
        curves = [Curve("Veil", list(growth.sizes), list(growth.seconds), role="paper")]
        title = f"{textwrap.fill(growth.what, 44)}\nVeil {law(growth)}"
        if growth.peer_sizes:
            x, y = list(growth.peer_sizes), list(growth.peer_seconds)
            curves.append(Curve("the peer", x, y, role="other", style="dashed"))
            title += f"\n{growth.peer} {law(growth, peer=True)}"
        panels.append(Panel(title, growth.axis, "seconds", curves, log_x=True, log_y=True))
    return picture(Finding([], panels))
