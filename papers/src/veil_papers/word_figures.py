"""Pictures of the symbolic trajectories paper: automata, and ways through a street map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from veil.report.figures import BLUE, GREEN, GREY, RED, axes_of, short_labels
from veil.words.report.figures import COLOURS, DASHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Ends = tuple[tuple[float, float], tuple[float, float]]
Point = tuple[float, float]

MOST_STATES = 60
AUTOMATON_KEY = "red: probability of the next symbol; grey: words that lead on"
_RADIUS = 0.2
# How far apart, in units of the drawing, the columns and the states of a column stand.
_ACROSS, _DOWN = 2.1, 1.0
_INCHES = 1.3
# The places along an arrow where its label may stand, the best first.
_ALONG = (0.5, 0.36, 0.64, 0.28, 0.72, 0.22, 0.78)


class Automaton(Protocol):
    """What a drawing needs. A state is (symbols so far, errors so far), perhaps with a state of a chain."""

    @property
    def layers(self) -> Sequence[Sequence[Any]]: ...
    @property
    def accepting(self) -> frozenset[Any]: ...
    @property
    def paths(self) -> Mapping[Any, int]: ...
    def successors(self, state: Any) -> Mapping[str, Any]: ...
    def policy(self, state: Any) -> Mapping[str, Fraction]: ...


def automaton_figure(automaton: Automaton) -> Figure:
    """States in columns by their number of symbols, fewer errors higher.

    On the arrows stand the policy's symbols and probabilities, below a state how many words lead on from it.
    """
    figure, axes = axes_of(*automaton_size(automaton))
    draw_automaton(axes, automaton)
    axes.set_title(AUTOMATON_KEY, fontsize=9, color=GREY)
    return figure


def automaton_size(automaton: Automaton) -> tuple[float, float]:
    """The inches across and down at which all labels can be read."""
    right, top = _reach([list(layer) for layer in automaton.layers])
    return _INCHES * (right + 0.95), _INCHES * 2.0 * top + 0.4


def _reach(layers: list[list[Any]]) -> tuple[float, float]:
    """How far a drawing goes to the right and upwards."""
    most = max(map(len, layers))
    return _ACROSS * (len(layers) - 1) + _RADIUS + 0.1, _DOWN * (most - 1) / 2.0 + _RADIUS + 0.3


def draw_automaton(axes: Axes, automaton: Automaton) -> None:
    """The drawing of `automaton_figure`, on axes that are there."""
    layers = [list(layer) for layer in automaton.layers]
    if sum(map(len, layers)) > MOST_STATES:
        raise ValueError(f"at most {MOST_STATES} states can be drawn, found {sum(map(len, layers))}")
    centres = {
        state: (_ACROSS * column, _DOWN * ((len(layer) - 1) / 2.0 - row))
        for column, layer in enumerate(layers)
        for row, state in enumerate(layer)
    }
    right, top = _reach(layers)
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-0.95, right)
    axes.set_ylim(-top, top)
    places = _label_places(automaton, centres)
    for (source, target), symbols in _arrows(automaton, centres).items():
        _draw_arrow(axes, centres[source], centres[target])
        share = automaton.policy(source)[symbols[0]]
        # In the product the circle at the end says the symbol already.
        text = f"{share}" if len(target) > 2 else _symbols_text(symbols, share)
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.7}
        x, y = places[source, target]
        axes.text(x, y, text, color=RED, fontsize=9, ha="center", va="center", zorder=4, bbox=paper)
    for state, (x, y) in centres.items():
        _draw_state(axes, state, x, y, accepting=state in automaton.accepting)
        axes.text(
            x, y - _RADIUS - 0.05, f"{automaton.paths[state]}", ha="center", va="top", fontsize=8, color=GREY
        )
    x, y = centres[layers[0][0]]
    _draw_arrow(axes, (x - 0.85, y), (x, y), open_start=True)


def _arrows(automaton: Automaton, drawn: Mapping[Any, Point]) -> dict[tuple[Any, Any], list[str]]:
    """The symbols that lead from one state to another; only ways that some word takes."""
    found: dict[tuple[Any, Any], list[str]] = {}
    for state in drawn:
        if automaton.successors(state):
            for symbol in automaton.policy(state):
                found.setdefault((state, automaton.successors(state)[symbol]), []).append(symbol)
    return found


def _symbols_text(symbols: Sequence[str], share: Fraction) -> str:
    if len(symbols) == 1:
        return f"{short_labels(symbols, 12)[0]}: {share}"
    named = ", ".join(short_labels(symbols, 12)) if len(symbols) <= 3 else f"{len(symbols)} symbols"
    return f"{named}: {share} each"


def _label_places(automaton: Automaton, centres: Mapping[Any, Point]) -> dict[tuple[Any, Any], Point]:
    """Where the labels stand: each on its arrow, as far from other labels and arrows as its arrow allows."""
    arrows = list(_arrows(automaton, centres))
    found: dict[tuple[Any, Any], Point] = {}
    for source, target in arrows:
        begin, end = np.array(centres[source]), np.array(centres[target])
        best, room = begin, -1.0
        for share in _ALONG:
            place = begin + share * (end - begin)
            taken = [np.abs((place - other) / (1.0, 0.42)).max() for other in map(np.array, found.values())]
            crossed = [
                _gap(place, np.array(centres[a]), np.array(centres[b])) / 0.25
                for a, b in arrows
                if (a, b) != (source, target)
            ]
            here = min([1.0, *taken, *crossed])
            if here > room + 1e-9:
                best, room = place, here
        found[source, target] = (float(best[0]), float(best[1]))
    return found


def _gap(place: Any, begin: Any, end: Any) -> float:
    """The distance of a point from a line between two points."""
    way = end - begin
    share = float(np.clip((place - begin) @ way / (way @ way), 0.0, 1.0))
    return float(np.hypot(*(place - begin - share * way)))


def _draw_arrow(axes: Axes, begin: Point, end: Point, *, open_start: bool = False) -> None:
    from matplotlib.patches import FancyArrowPatch

    way = np.array(end) - np.array(begin)
    unit = way / np.hypot(*way)
    start = np.array(begin) if open_start else np.array(begin) + unit * _RADIUS
    stop = np.array(end) - unit * (_RADIUS + 0.03)
    axes.add_patch(
        FancyArrowPatch(
            tuple(start),
            tuple(stop),
            arrowstyle="-|>",
            mutation_scale=11,
            linewidth=1.1,
            color=GREY,
            shrinkA=0.0,
            shrinkB=0.0,
            zorder=2,
        )
    )


def _draw_state(axes: Axes, state: Any, x: float, y: float, *, accepting: bool) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle((x, y), _RADIUS, facecolor="white", edgecolor=BLUE, linewidth=1.6, zorder=3))
    if accepting:
        axes.add_patch(
            Circle((x, y), 0.83 * _RADIUS, facecolor="none", edgecolor=BLUE, linewidth=1.1, zorder=4)
        )
    # As in the symbolic trajectories paper: the base is the number of symbols, the exponent that of errors.
    axes.text(x, y, rf"${state[0]}^{{{state[1]}}}$", ha="center", va="center", fontsize=11, zorder=5)
    if len(state) > 2:
        axes.text(
            x,
            y + _RADIUS + 0.04,
            short_labels([str(state[2])], 12)[0],
            ha="center",
            va="bottom",
            fontsize=9,
            zorder=5,
        )


def paths_figure(
    segments: Mapping[str, Ends],
    true_word: Sequence[str],
    private_words: Mapping[str, Sequence[str]],
    *,
    start: str | None = None,
) -> Figure:
    """The true way and private ones on a street map. For made-up data only: it shows what is to be hidden.

    private_words: by the name that the legend gives them. start: the public first segment, in no word.
    """
    figure, axes = axes_of(6.6, 5.8)
    axes.set_axis_off()
    axes.set_aspect("equal")
    for (x1, y1), (x2, y2) in segments.values():
        axes.plot([x1, x2], [y1, y2], color="#c8c8c8", linewidth=1.6, solid_capstyle="round", zorder=1)
    for x, y in {end for ends in segments.values() for end in ends}:
        axes.plot([x], [y], "o", color="#c8c8c8", markersize=3.5, zorder=1)
    words = {"true way": true_word, **private_words}
    for number, (name, word) in enumerate(words.items()):
        # Side by side, so that no way hides another where they share a street.
        aside = 0.0 if number == 0 else 0.055 * ((number + 1) // 2) * (1 if number % 2 else -1)
        _draw_way(axes, segments, word, aside, number, short_labels([name], 40)[0])
    if start is not None:
        (x1, y1), (x2, y2) = segments[start]
        axes.plot(
            [(x1 + x2) / 2.0],
            [(y1 + y2) / 2.0],
            "o",
            color=GREEN,
            markeredgecolor="white",
            markersize=12,
            zorder=6,
            label="start (public)",
        )
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, frameon=False, fontsize=9)
    return figure


def _draw_way(
    axes: Axes, segments: Mapping[str, Ends], word: Sequence[str], aside: float, number: int, name: str
) -> None:
    """Each segment of a word beside its street: the true way thick and pale, the others thin and dashed."""
    looks: dict[str, Any] = {"color": BLUE, "linewidth": 7.0, "alpha": 0.45, "solid_capstyle": "round"}
    if number:
        style = 1 + (number - 1) % (len(COLOURS) - 1)
        # Green is the start's.
        colour = "black" if COLOURS[style] == GREEN else COLOURS[style]
        looks = {"color": colour, "linewidth": 2.2, "linestyle": DASHES[style]}
    for place, segment in enumerate(dict.fromkeys(word)):
        begin, end = (np.array(point) for point in segments[segment])
        way = end - begin
        # Always the same side of a street, whichever way it is stored or travelled.
        across = np.array([-way[1], way[0]]) / np.hypot(*way)
        across = across if tuple(across) > (0.0, 0.0) else -across
        (x1, y1), (x2, y2) = begin + aside * across, end + aside * across
        axes.plot([x1, x2], [y1, y2], zorder=3 + number, label=name if place == 0 else None, **looks)
