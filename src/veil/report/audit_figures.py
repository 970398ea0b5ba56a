"""Pictures of audits: what was found against what is claimed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from veil.core.audit.auditing import Audit
from veil.report.figures import BLUE, GREY, RED, axes_of
from veil.report.labels import shorts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_BARS = 40
_WIDEST = 50


def bounds_figure(names: Sequence[str], audits: Sequence[Audit]) -> Figure:
    """A bar for each pair up to the epsilon that was found, and a mark at the one that is claimed."""
    count = min(len(names), _MOST_BARS)
    shown = list(audits[:count])
    figure, axes = axes_of(8.4, 1.25 + 0.3 * count)
    finite = [number for one in shown for number in (one.lower, one.claimed) if math.isfinite(number)]
    right = 1.12 * max(finite, default=1.0) or 1.0
    for kind, colour, hatch in (("ε is at least this", BLUE, ""), ("at least this: a violation", RED, "//")):
        places = [i for i, one in enumerate(shown) if one.violated == (colour == RED)]
        lengths = [min(shown[i].lower, right) for i in places]
        if places:
            axes.barh(
                places,
                lengths,
                color=colour,
                alpha=0.8,
                height=0.6,
                hatch=hatch,
                edgecolor="white",
                label=kind,
            )
    for i, one in enumerate(shown):
        if math.isfinite(one.claimed):
            label = "claimed: at most this" if i == 0 else "_"
            axes.vlines(one.claimed, i - 0.4, i + 0.4, color="black", linewidth=2.0, label=label)
    axes.set_yticks(range(count), shorts(list(names[:count]), _WIDEST))
    axes.invert_yaxis()
    axes.set_xlim(0.0, right)
    axes.set_xlabel("privacy loss ε")
    axes.grid(axis="x", color=GREY, alpha=0.25)
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure
