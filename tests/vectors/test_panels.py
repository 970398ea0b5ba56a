"""The pictures of many released vectors: a panel for each, and how one of them is found."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import veil
from veil import vectors
from veil.vectors.report.figures import MOST_DRAWN
from veil.vectors.report.panels import MOST_PANELS, leading_entries, panels_of

LABELS = ["A", "B", "C", "<D>"]


def _released(number: int, entries: int = 4) -> veil.Release[Any]:
    counts = np.random.default_rng(number).integers(0, 90, (number, entries)).tolist()
    rows = {f"course {i:03d} & co": dict(zip(LABELS, row, strict=True)) for i, row in enumerate(counts)}
    return vectors.release(rows, epsilon=1.0, public_row_labels=True, rng=1)


def test_every_vector_has_a_panel_on_one_scale() -> None:
    out = _released(30)
    page = out.kind.page(out)
    assert page.count('<div class="panel">') == 30
    assert page.count('class="bar"') == 30 * 4
    assert "course 029 &amp; co" in page
    assert "<D>" not in page
    # Every name leads to its line of the table.
    assert re.findall(r'href="#(vector-\d+)"', page)[:30] == [f"vector-{i}" for i in range(30)]
    assert all(page.count(f'<tr id="vector-{i}">') == 1 for i in range(30))
    panels = panels_of(out.value, out.row_labels or (), LABELS, None)
    widths = [entry.width for panel in panels.shown for entry in panel.entries]
    assert max(widths) == pytest.approx(100.0)
    shares = np.array([[entry.share for entry in panel.entries] for panel in panels.shown])
    assert shares == pytest.approx(out.value)
    assert [entry.mark for entry in panels.shown[3].entries] == pytest.approx(
        100.0 * out.value.mean(axis=0) / out.value.max()
    )


def test_how_many_more_there_are_is_said() -> None:
    out = _released(MOST_PANELS + 7)
    page = out.kind.page(out)
    assert page.count('<div class="panel">') == MOST_PANELS
    assert "And 7 more: find them by name" in page
    assert page.count('href="#vector-126"') == 1
    assert "more vectors have no panel here" in out.plot().get_supxlabel()
    assert len([axes for axes in out.plot().axes if axes.get_visible()]) == MOST_DRAWN


def test_small_entries_are_one_bar() -> None:
    rows = np.random.default_rng(1).dirichlet([9, 1, 8, 1, 7, 1], 50)
    labels, shares = leading_entries(rows, list("abcdef"), 4)
    assert labels == ["a", "c", "e", "other 3"]
    assert shares.sum(axis=1) == pytest.approx(np.ones(50))
    assert shares[:, 3] == pytest.approx(rows[:, [1, 3, 5]].sum(axis=1))
    assert leading_entries(rows, list("abcdef"), 6)[1] is rows


def test_a_notebook_shows_a_line_for_each() -> None:
    out = _released(30)
    card = out._repr_html_()
    assert card.count("<tr>") == 1 + 12 + 1
    assert "and 18 more; 30 vectors of 4 entries" in card
    assert "course 011 &amp; co" in card
