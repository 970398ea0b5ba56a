"""Pictures of words: expected errors, and how often each symbol is visited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from veil.report.figures import BLUE, GREEN, GREY, ORANGE, RED, axes_of, draw_nothing, short_labels
from veil.words.word_batch import WordBatch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SYMBOLS = 40
COLOURS = (BLUE, RED, GREEN, ORANGE, "#cc79a7", "#56b4e9", GREY)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Nothing but thickness and dashes tells two curves apart on a grey print.
DASHES = ("-", "--", "-.", (0, (1, 1.2)), (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), "-")


def error_figure(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    marks: Sequence[float] = (),
    nothing: float | None = None,
    x_label: str = "privacy loss ε (smaller is more private)",
) -> Figure:
    """The expected error of several mechanisms, or bounds on it; marks: dotted lines at these places.

    nothing: the error of an answer that uses no data, as a dashed line.
    """
    figure, axes = axes_of(7.2, 3.8)
    for number, (name, (x, y)) in enumerate(curves.items()):
        style = number % len(COLOURS)
        looks: Any = {"color": COLOURS[style], "linestyle": DASHES[style], "marker": _MARKERS[style]}
        every, label = max(1, len(x) // 10), short_labels([name], 40)[0]
        axes.plot(x, y, **looks, markevery=every, markersize=5, label=label)
    lowest = min((min(y) for _, y in curves.values()), default=0.0)
    if lowest >= 0.0:
        axes.set_ylim(bottom=0.0)
    else:
        # A negative bound on a number of symbols says nothing.
        axes.axhline(0.0, color="black", linewidth=0.8)
    if all(float(place).is_integer() for x, _ in curves.values() for place in x):
        axes.locator_params(axis="x", integer=True)
    if nothing is not None:
        draw_nothing(axes, nothing)
    for mark in marks:
        axes.axvline(mark, color=GREY, linestyle=":", linewidth=1.2)
    axes.set_xlabel(x_label)
    axes.set_ylabel("expected error (symbols that differ)")
    axes.legend(frameon=False, fontsize=9)
    return figure


def errors_figure(
    errors: Mapping[str, float], *, of: int, chosen: str = "", nothing: float | None = None
) -> Figure:
    """The expected errors of several mechanisms at one epsilon, as bars; that of the chosen one is blue.

    nothing: the error of an answer that uses no data, as a dashed line.
    """
    figure, axes = axes_of(7.2, 0.8 + 0.42 * len(errors))
    names = list(errors)[::-1]
    values = [errors[name] for name in names]
    axes.barh(
        short_labels(names, 40),
        values,
        color=[BLUE if name == chosen else GREY for name in names],
        height=0.62,
    )
    for place, value in enumerate(values):
        axes.text(value, place, f" {value:.3g}", va="center", fontsize=9)
    if nothing is not None:
        draw_nothing(axes, nothing, upright=True)
    axes.set_xlim(0.0, 1.12 * max(*values, nothing or 0.0, 1e-9))
    axes.set_xlabel(f"expected number of wrong symbols, of {of}")
    axes.tick_params(axis="y", length=0)
    return figure


def visits_figure(words: WordBatch) -> Figure:
    """How often the words visit each symbol, the most frequent first."""
    labels, shares = zip(*words.most_visited(MOST_SYMBOLS)[::-1], strict=True)
    figure, axes = axes_of(7.2, 0.9 + 0.27 * len(labels))
    axes.barh(short_labels(list(map(str, labels))), shares, color=BLUE, height=0.62)
    axes.set_xlabel("share of the symbols of the private words")
    axes.tick_params(axis="y", length=0)
    return figure
