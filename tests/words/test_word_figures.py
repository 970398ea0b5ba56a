"""The pictures of words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, FancyArrowPatch
from veil_papers.hamming_automaton import HammingAutomaton, ProductAutomaton
from veil_papers.symbolic_trajectories import figure_2
from veil_papers.word_figures import MOST_STATES, automaton_figure, paths_figure

from veil.report.figures import BLUE, GREEN, svg
from veil.samples.streets import segments, streets
from veil.words.report.figures import error_figure

FIGURE_1 = HammingAutomaton(tuple("abc"), 2, tuple("abc"))
SUPPORT = {"y0": ["y1", "y2"], "y1": ["y2", "y3"], "y2": ["y1", "y3"], "y3": ["y0", "y2", "y3"]}
FIGURE_3 = ProductAutomaton(("y1", "y2", "y3"), 2, SUPPORT, "y0")
DENSE = ProductAutomaton(("y1", "y2", "y3"), 2, {state: list(SUPPORT) for state in SUPPORT}, "y0")


def kinds(figure: Any) -> tuple[int, int]:
    patches = figure.axes[0].patches
    return sum(isinstance(p, Circle) for p in patches), sum(isinstance(p, FancyArrowPatch) for p in patches)


def test_figure_1() -> None:
    """Six states, one of them a double circle; seven arrows and the one from outside; all of mu and V."""
    figure = automaton_figure(FIGURE_1)
    assert kinds(figure) == (7, 8)
    texts = [text.get_text() for text in figure.axes[0].texts]
    shares = [
        "a: 1/3",
        "b, c: 1/3 each",
        "a, c: 1/2 each",
        "b: 1/2",
        "a, c: 1/4 each",
        "a, b: 1/2 each",
        "c: 1",
    ]
    assert sorted(text for text in texts if ":" in text) == sorted(shares)
    assert sorted(int(text) for text in texts if text.isdigit()) == [1, 1, 2, 4, 4, 12]
    assert "$3^{2}$" in texts


def test_figure_3() -> None:
    """Nine states with their names, three of them double circles; only arrows that a word takes."""
    figure = automaton_figure(FIGURE_3)
    arrows = sum(len(FIGURE_3.policy(state)) for layer in FIGURE_3.layers[:-1] for state in layer)
    assert kinds(figure) == (9 + 3, arrows + 1)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(text for text in texts if text.startswith("y")) == [
        "y0", "y0", "y1", "y1", "y2", "y2", "y3", "y3", "y3",
    ]  # fmt: skip
    assert texts.count(str(Fraction(1, 2))) == 6


@pytest.mark.slow_for("automaton2")
@pytest.mark.parametrize("automaton", [FIGURE_1, FIGURE_3, DENSE])
def test_nothing_overlaps(automaton: Any) -> None:
    """Neither two texts, nor a probability and a circle; and all stay inside."""
    figure = automaton_figure(automaton)
    figure.set_dpi(100)
    figure.canvas.draw()
    axes: Any = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts]
    for i, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
        assert not any(box.overlaps(other) for other in boxes[:i])
    circles = [patch.get_window_extent() for patch in axes.patches if isinstance(patch, Circle)]
    probabilities = [
        box for text, box in zip(axes.texts, boxes, strict=True) if to_hex(text.get_color()) == "#d55e00"
    ]
    assert not any(box.overlaps(circle) for box in probabilities for circle in circles)


def test_too_many_states() -> None:
    word = tuple("ab" * 20)
    with pytest.raises(ValueError, match=f"at most {MOST_STATES} states can be drawn"):
        automaton_figure(HammingAutomaton(word, 5, ("a", "b")))
    many = automaton_figure(HammingAutomaton(tuple("ab"), 1, tuple("abcdef")))
    assert "5 symbols: 1/10 each" in [text.get_text() for text in many.axes[0].texts]


@pytest.mark.slow
def test_error_curves() -> None:
    curves = figure_2("b")
    figure = error_figure(curves, marks=(5.0,), x_label="length n of the word")
    axes: Any = figure.axes[0]
    lines = {line.get_label(): line for line in axes.get_lines()}
    for name, (x, y) in curves.items():
        assert np.array_equal(lines[name].get_xdata(), x)
        assert np.array_equal(lines[name].get_ydata(), y)
    drawn = [lines[name] for name in curves]
    assert len({line.get_color() for line in drawn}) == len({line.get_marker() for line in drawn}) == 4
    assert axes.get_ylim()[0] < 0.0
    figure.canvas.draw()
    assert all(float(tick).is_integer() for tick in axes.get_xticks())
    picture = svg(figure)
    assert "length n of the word" in picture
    assert "expected error (symbols that differ)" in picture
    above = error_figure({"one": ([0.5, 1.0], [3.0, 1.0])})
    assert above.axes[0].get_ylim()[0] == 0.0


def test_ways_on_the_map() -> None:
    roads, places = streets(), segments()
    rng = np.random.default_rng(1)
    words = []
    for _ in range(3):
        at, word = "Cedar 3rd-4th", []
        for _ in range(14):
            at = roads[at][rng.integers(4 if len(roads[at]) > 3 else 3)]
            word.append(at)
        words.append(word)
    private = {"private, ε = 5": words[1], "private, ε = $1$": words[2]}
    figure = paths_figure(places, words[0], private, start="Cedar 3rd-4th")
    axes: Any = figure.axes[0]
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert named == ["true way", "private, ε = 5", r"private, ε = \$1\$", "start (public)"]
    thick = [line for line in axes.get_lines() if line.get_linewidth() == 7.0]
    assert len(thick) == len(set(words[0]))
    assert {line.get_color() for line in thick} == {BLUE}
    for line, segment in zip(thick, dict.fromkeys(words[0]), strict=True):
        (x1, y1), (x2, y2) = places[segment]
        assert (list(line.get_xdata()), list(line.get_ydata())) == ([x1, x2], [y1, y2])
    assert [line.get_label() for line in axes.get_lines() if line.get_color() == GREEN] == ["start (public)"]
    assert paths_figure(places, words[0], {}).axes[0].get_legend() is not None
