"""The picture of what privacy costs a decision process, in reward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from veil.matrices.value_losses import LossRow, Spread, ValueLoss
from veil.report.figures import BLUE, GREY, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    axes.set_ylabel("lost return (units of reward)")
    axes.set_title(meaning, fontsize=11, loc="left")
    _note(axes, f"no privacy: nothing lost, a return of {loss.true_return:.4g}")
    if errors:
        assert loss.uninformed_value_error is not None
        axes = panels[1]
        _panel(axes, loss.rows, errors, RED)
        _uninformed(axes, loss.uninformed_value_error, "is off by")
        axes.set_ylabel("error of the value (units of reward)")
        axes.set_title(
            "How wrong the value is that the released transitions predict", fontsize=11, loc="left"
        )
        _note(axes, "no privacy: no error")
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


def _note(axes: Axes, text: str) -> None:
    """Words below the line of zero, where no curve comes."""
    axes.text(0.01, 0.02, text, transform=axes.transAxes, fontsize=9, color=GREY)
