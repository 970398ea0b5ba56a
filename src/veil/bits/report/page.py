"""The report of a released table of bits: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.estimation import BitReading, estimates
from veil.bits.mechanisms.bit_mechanism import BitMechanism
from veil.bits.planning import BitPlan, plan_bits
from veil.core.privacy.profile import beliefs, best_guess
from veil.core.record import Release
from veil.report.figures import BLUE, GREY, RED, axes_of, draw_nothing, short_labels, svg
from veil.report.page import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_ROWS = 40
_SHOWN_PAIRS = 10


def bit_page(release: Release[Any]) -> str:
    """The page, from the release and public facts alone: post-processing and a plan cost no privacy."""
    reading = estimates(release)
    near, columns = cast("BitFlips", release.adjacency), len(reading.labels)
    flips = near.count if near.where == "anywhere" or near.count < columns else None
    unit = "row" if near.where == "row" else "bit"
    return page(
        "bits.html",
        package="veil.bits.report",
        release=release,
        reading=reading,
        near=near,
        plan=plan_bits(columns, release.epsilon, unit=unit, flips=flips, rows=reading.rows, measured=False),
        flip_rate=cast("BitMechanism", release.mechanism).flip_rate,
        columns=reading.listed[:_MOST_ROWS],
        pairs=reading.associations()[:_SHOWN_PAIRS],
        guess=best_guess(release.profile),
        beliefs=beliefs(release.worst_loss),
        picture=svg(shares_figure(reading)),
    )


def shares_figure(reading: BitReading) -> Figure:
    """The estimated share of ones in each column with its interval, a dot for each column."""
    share, low, high = reading.shares
    count = min(len(share), _MOST_ROWS)
    names = short_labels(list(reading.labels[:count]))
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


def plans_figure(plans: Sequence[BitPlan], chosen: float) -> Figure:
    """The errors of shares and of pairs of columns against epsilon, by the best mechanism at each."""
    figure, axes = axes_of(7.2, 4.0)
    curves = (("share of a column", BLUE, "o", "mean_error"), ("pair of columns", RED, "s", "pair_error"))
    for name, colour, marker, field in curves:
        points = [(plan.epsilon, getattr(plan.best, field)) for plan in plans]
        known = [(epsilon, span) for epsilon, span in points if span is not None]
        if not known:
            continue
        x = [epsilon for epsilon, _ in known]
        axes.loglog(x, [span.usual for _, span in known], color=colour, marker=marker, label=name)
        low, high = [span.low for _, span in known], [span.high for _, span in known]
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0.0)
    # At some epsilons the noise leaves nothing of pairs.
    most = max((plan.baselines for plan in plans), key=len)
    largest = max((baseline.nothing for baseline in most), default=0.0)
    for baseline, (_, colour, *_) in zip(most, curves, strict=False):
        draw_nothing(axes, baseline.nothing, below=baseline.nothing < largest, colour=colour)
    axes.axvline(chosen, color=GREY, linestyle=":", linewidth=1.2)
    axes.set_xlabel("privacy loss ε (smaller is more private)")
    axes.set_ylabel("expected error")
    axes.set_xticks([plan.epsilon for plan in plans], [f"{plan.epsilon:.3g}" for plan in plans])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=9, loc="lower left")
    return figure
