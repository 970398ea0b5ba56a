"""Pictures of released tables of bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from veil.core.arrays import Floats
from veil.report.figures import BLUE, GREY, axes_of, short_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_COLUMNS = 40


def shares_figure(labels: Sequence[str], share: Floats, low: Floats, high: Floats) -> Figure:
    """The estimated share of ones in each column with its interval, a dot a column."""
    count = min(len(share), MOST_COLUMNS)
    names = short_labels(list(labels[:count]))
    figure, axes = axes_of(7.2, 0.9 + 0.27 * count)
    places = np.arange(count)[::-1]
    inside = np.clip(share[:count], 0.0, 1.0)
    axes.hlines(places, low[:count], high[:count], color=BLUE, linewidth=2.2, alpha=0.55)
    axes.plot(inside, places, "o", color=BLUE, markersize=5)
    axes.set_yticks(places, names)
    axes.set_ylim(-0.7, count - 0.3)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("estimated share of ones in the true table, with a 95 % interval")
    axes.grid(axis="x", color=GREY, alpha=0.25)
    return figure
