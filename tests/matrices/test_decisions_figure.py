"""The picture of lost reward: it holds the numbers, and its words do not run into each other."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from veil.matrices.adjacency import Rows
from veil.matrices.decisions import DecisionProcess
from veil.matrices.report.figures import value_figure
from veil.matrices.value_losses import ValueLoss, value_loss
from veil.report.figures import svg
from veil.vectors.simplex import Transfer

EPSILONS = [1.0, 2.0, 4.0, 8.0, 16.0]


def found(hide: str, **changes: Any) -> ValueLoss:
    rng = np.random.default_rng(1)
    process = DecisionProcess(rng.dirichlet(np.ones(4), size=(4, 3)), rng.normal(size=(4, 3)), 0.9)
    settings: dict[str, Any] = {
        "epsilons": EPSILONS,
        "delta": 1e-6,
        "draws": 60,
        "rng": 2,
        "floor": 0.1,
    } | changes
    return value_loss(process, hide=hide, adjacency=Rows(1, Transfer(0.01)), **settings)


@cache
def standard(hide: str) -> ValueLoss:
    return found(hide)


def words(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("hide", ["policy", "transitions"])
def test_the_figure_holds_the_numbers(hide: str) -> None:
    loss = standard(hide)
    figure = value_figure(loss)
    assert len(figure.axes) == (1 if hide == "policy" else 2)
    axes = figure.axes[0]
    assert axes.get_xscale() == "log"
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), EPSILONS)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [row.loss.mean for row in loss.rows])
    corners = np.asarray(axes.collections[0].get_paths()[0].vertices)[:, 1].tolist()
    for row in loss.rows:
        assert row.loss.low in corners
        assert row.loss.high in corners
        assert f"{row.loss.mean:.3g}" in words(axes)
    assert any(f"a return of {loss.true_return:.4g}" in text for text in words(axes))
    assert any(f"loses {loss.uninformed:.3g}" in text for text in words(axes))
    assert "units of reward" in axes.get_ylabel()
    assert "privacy loss ε at δ = 1e-06" in figure.axes[-1].get_xlabel()
    assert axes.get_title(loc="left").startswith("Reward lost by")


def test_the_error_of_the_value_has_a_panel_of_its_own() -> None:
    loss = standard("transitions")
    axes = value_figure(loss).axes[1]
    errors = [row.value_error.mean for row in loss.rows if row.value_error is not None]
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), errors)
    assert any(f"is off by {loss.uninformed_value_error:.3g}" in text for text in words(axes))


@pytest.mark.slow
def test_many_levels_get_few_labels_and_one_level_will_do() -> None:
    many = value_figure(found("policy", epsilons=list(np.geomspace(1.0, 16.0, 13)), draws=5))
    assert 5 <= len(many.axes[0].get_xticks()) <= 9
    alone = value_figure(found("policy", epsilons=[2.0], draws=5))
    assert svg(alone).startswith("<svg")


@pytest.mark.slow
@pytest.mark.parametrize("hide", ["policy", pytest.param("transitions", marks=pytest.mark.slow)])
def test_words_do_not_overlap_and_the_same_numbers_give_the_same_bytes(hide: str) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    loss = standard(hide)
    assert svg(value_figure(loss)) == svg(value_figure(loss))
    figure = value_figure(loss)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for axes in figure.axes:
        boxes = [text.get_window_extent(canvas.get_renderer()) for text in axes.texts]
        for place, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[place + 1 :])
