"""Figures as SVG text, made to be read by everyone (Okabe-Ito colours, direct labels)."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.baseline import NO_BETTER, Baseline
from veil.core.mechanism import Published
from veil.core.privacy.profile import PrivacyProfile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Longer labels are cut even where two of them then look the same.
_LONGEST = 50
# Errors that are larger times that of an answer without data have a bar of this length.
_LONGEST_BAR = 2.5
# Small panels side by side.
_COLUMNS = 4
BLUE, ORANGE, GREEN, RED, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#6b6b6b"


def axes_of(width: float, height: float) -> tuple[Figure, Axes]:
    """A new figure with plain axes, so many inches wide and high."""
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
    return text[text.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{_spoken(figure)}"', 1)


def _spoken(figure: Figure) -> str:
    """What the picture shows, for those who hear it: its titles and what its axes say."""
    told = [figure.get_suptitle(), figure.get_supxlabel()]
    for axes in figure.axes:
        told += [axes.get_title(), axes.get_title(loc="left"), axes.get_ylabel(), axes.get_xlabel()]
    words = [" ".join(text.replace(r"\$", "$").split()) for text in dict.fromkeys(told) if text.strip()]
    return escape("Picture: " + "; ".join(words) if words else "Picture, described in the text beside it")


def privacy_figure(
    profile: PrivacyProfile, *, epsilon: float, delta: float, published: Published | None
) -> Figure:
    """delta against epsilon on a logarithmic scale, with the charged point and the paper's."""
    figure, axes = axes_of(7.2, 3.6)
    top = max(1.6 * epsilon, 1.15 * published.epsilon if published is not None else 0.0)
    grid = np.linspace(0.0, top, 121)
    # As a picture needs it: where a proof of each point takes long, to a millionth of itself.
    logs = [-math.inf if e >= profile.pure_epsilon else profile.likely_log_delta(float(e)) for e in grid]
    deltas = np.exp(np.clip(logs, math.log(1e-300), 0.0))
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


def draw_nothing(
    axes: Axes, error: float, *, upright: bool = False, below: bool = False, colour: str = GREY
) -> None:
    """The dashed line of the error of an answer that uses no data, with its name beside it.

    upright: the error is on the horizontal axis. below: the name is under the line, not above it.
    """
    line: dict[str, Any] = {"color": colour, "linestyle": "--", "linewidth": 1.4}
    text: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9, "color": colour}
    if upright:
        axes.axvline(error, **line)
        place: Any = {"xy": (error, 1.0), "xycoords": ("data", "axes fraction"), "xytext": (0, 3)}
        axes.annotate(NO_BETTER, **place, ha="center", va="bottom", **text)
        return
    axes.axhline(error, **line)
    # At the right, where errors are small.
    place = {"xy": (1.0, error), "xycoords": ("axes fraction", "data"), "xytext": (0, -3 if below else 3)}
    axes.annotate(NO_BETTER, **place, ha="right", va="top" if below else "bottom", **text)


def _short(measure: str) -> str:
    """What an error is of, without its metric and what is taken for granted."""
    return measure.partition(" (")[0].partition(" if ")[0]


def baseline_figure(baselines: Sequence[Baseline]) -> Figure:
    """A bar for each error of a release, in units of the same error of an answer that uses no data."""
    figure, axes = axes_of(7.2, 0.62 * len(baselines) + 1.25)
    for place, baseline in enumerate(baselines):
        ratio = baseline.expected / max(baseline.nothing, 1e-300)
        length = min(ratio, _LONGEST_BAR)
        looks: dict[str, Any] = {"color": RED, "hatch": "//"} if baseline.useless else {"color": BLUE}
        axes.barh(place, length, height=0.5, edgecolor="white", **looks)
        at: Any = {"xy": (length, place), "xytext": (4, 0), "textcoords": "offset points"}
        axes.annotate(_times(ratio), **at, va="center", fontsize=10)
    draw_nothing(axes, 1.0, upright=True)
    names = short_labels([_short(baseline.measure) for baseline in baselines], 36)
    axes.set_yticks(range(len(baselines)), names)
    axes.set_ylim(len(baselines) - 0.5, -0.5)
    axes.set_xlim(0.0, 1.12 * _LONGEST_BAR)
    axes.set_xlabel("expected error, in units of that of an answer without data")
    return figure


def _times(ratio: float) -> str:
    """A ratio in few letters; an answer without data may be off by nothing at all."""
    if ratio >= 1e6:
        return "over a million"
    return f"{ratio:,.3g}" if ratio < 1000 else f"{ratio:,.0f}"


def short_labels(labels: Sequence[str], most: int = 26, *, drawn: bool = True) -> list[str]:
    """All of them short, but never so short that two different ones look the same.

    Long labels often differ at their end only, so the middle goes. drawn: by Matplotlib, for which a $
    would begin a formula.
    """
    cut: list[str] = []
    for allowed in range(most, _LONGEST + 1, 4):
        end = (allowed - 6) // 2
        cut = [x if len(x) <= allowed else f"{x[: allowed - end - 2]}…{x[-end:]}" for x in labels]
        if len(set(cut)) == len(set(labels)):
            break
    return [label.replace("$", r"\$") for label in cut] if drawn else cut


def small_panels(
    panels: Sequence[tuple[str, Floats]], usual: Floats, entries: Sequence[str], meaning: str
) -> Figure:
    """A small panel of bars for each (title, shares), on one scale; black marks are the usual shares."""
    from matplotlib.figure import Figure

    columns = min(_COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(7.2, rows * (0.2 * len(entries) + 0.5) + 0.4), layout="constrained")
    drawn = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    places = np.arange(len(entries))
    titles = short_labels([title for title, _ in panels], 20)
    for axes, title, (_, shares) in zip(drawn, titles, panels, strict=False):
        axes.barh(places, shares, color=BLUE, height=0.66, alpha=0.85)
        axes.plot(usual, places, "|", color="black", markersize=9, markeredgewidth=1.6)
        axes.set_title(title, fontsize=9, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    for axes in drawn[len(panels) :]:
        axes.set_visible(False)
    drawn[0].set_yticks(places, short_labels(entries, 18))
    drawn[0].set_ylim(len(entries) - 0.4, -0.6)
    drawn[0].set_xlim(left=0.0)
    figure.supxlabel(meaning, fontsize=9)
    return figure
