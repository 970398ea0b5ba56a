"""Pictures that only counted chains have: a small panel for each group, and routes as arrows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from veil.core.arrays import Floats
from veil.matrices.chain import Chain
from veil.report.figures import BLUE, short_labels
from veil.report.networks import route_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 24
_MOST_STATES, _COLUMNS = 6, 4


def group_panels(chain: Chain, groups: Mapping[str, Chain]) -> Figure | None:
    """One panel for each group: its share of time in the states that lead in all of them together.

    A black mark is the share of all groups. None where some chain has no single long run.
    """
    from matplotlib.figure import Figure

    some = dict(list(groups.items())[:MOST_PANELS])
    if not some or not all(one.is_irreducible for one in (chain, *some.values())):
        return None
    together = chain.stationary()
    leading = np.argsort(-together, kind="stable")[:_MOST_STATES]
    shares = {name: one.stationary()[leading] for name, one in some.items()}
    columns = min(_COLUMNS, len(some))
    rows = math.ceil(len(some) / columns)
    figure = Figure(figsize=(7.2, rows * (0.2 * len(leading) + 0.5) + 0.4), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    places = np.arange(len(leading))
    for axes, title, (_, values) in zip(panels, short_labels(list(some), 20), shares.items(), strict=False):
        axes.barh(places, values, color=BLUE, height=0.66, alpha=0.85)
        axes.plot(together[leading], places, "|", color="black", markersize=9, markeredgewidth=1.6)
        axes.set_title(title, fontsize=9, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    for axes in panels[len(some) :]:
        axes.set_visible(False)
    panels[0].set_yticks(places, short_labels([str(chain.states[i]) for i in leading], 18))
    panels[0].set_ylim(len(leading) - 0.4, -0.6)
    panels[0].set_xlim(left=0.0)
    figure.supxlabel("share of time; black mark: all groups together", fontsize=9)
    return figure


def routes_figure(joint: Floats, labels: Sequence[str], most: int) -> Figure:
    """The most frequent transitions as arrows between the states that they join."""
    cells = [divmod(int(place), len(joint)) for place in np.argsort(-joint, axis=None, kind="stable")[:most]]
    cells = [(i, j) for i, j in cells if joint[i, j] > 0.0]
    states = sorted({state for cell in cells for state in cell})
    number = {state: place for place, state in enumerate(states)}
    routes = [(number[i], number[j], float(joint[i, j])) for i, j in cells]
    return route_figure(routes, [labels[i] for i in states], visits=joint.sum(axis=1)[states])
