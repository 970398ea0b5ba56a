"""Pictures of where sequences start and end, and of how long they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from veil.chains.sequence_model import LengthLaw
from veil.core.arrays import Floats
from veil.report.figures import BLUE, axes_of, short_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SHARES = 12
# Up to here each length has a bar of its own.
_MOST_LENGTHS = 40
_NEARLY_ALL = 0.999


def share_figure(shares: Floats, labels: Sequence[str], of: str) -> Figure:
    """The largest shares as bars, with their numbers."""
    order = np.argsort(-shares, kind="stable")[:MOST_SHARES]
    figure, axes = axes_of(7.2, max(1.6, 0.28 * len(order) + 0.9))
    axes.barh(np.arange(len(order)), shares[order], color=BLUE, height=0.62, alpha=0.85)
    for place, i in enumerate(order):
        axes.annotate(
            f"{100 * shares[i]:.3g} %",
            (float(shares[i]), place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    axes.set_yticks(np.arange(len(order)), short_labels([labels[i] for i in order]))
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlim(0.0, 1.12 * float(shares[order[0]]))
    rest = f" (the {len(order)} largest of {len(shares)} states)" if len(order) < len(shares) else ""
    axes.set_xlabel(f"share of {of}{rest}")
    return figure


def length_figure(law: LengthLaw) -> Figure:
    """Short lengths as bars; long ones as the share that is at least so long, on a logarithmic scale."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = axes_of(7.2, 2.8)
    below = np.cumsum(law.probabilities)
    last = min(int(np.searchsorted(below, _NEARLY_ALL)), len(below) - 1)
    if law.lengths[last] <= _MOST_LENGTHS:
        axes.bar(law.lengths[: last + 1], law.probabilities[: last + 1], color=BLUE, width=0.75, alpha=0.85)
        axes.set_xlabel("states in a sequence")
        axes.set_ylabel("share of sequences")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return figure
    at_least = 1.0 - np.concatenate([[0.0], below[:-1]])
    axes.step(law.lengths, np.clip(at_least, 0.0, 1.0), where="post", color=BLUE, linewidth=2.0)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(0.0, 1.03)
    axes.set_xlabel("states in a sequence (logarithmic scale)")
    axes.set_ylabel("share that is at least so long")
    return figure
