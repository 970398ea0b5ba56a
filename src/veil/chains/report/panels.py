"""Pictures that only counted chains have: a small panel for each group, and routes as arrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from veil.core.arrays import Floats
from veil.matrices.chain import Chain
from veil.report.figures import small_panels
from veil.report.networks import route_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 24
_MOST_STATES = 6


def group_panels(chain: Chain, groups: Mapping[str, Chain]) -> Figure | None:
    """One panel for each group: its share of time in the states that lead in all of them together.

    A black mark is the share of all groups. None where some chain has no single long run.
    """
    some = dict(list(groups.items())[:MOST_PANELS])
    if not some or not all(one.is_irreducible for one in (chain, *some.values())):
        return None
    together = chain.stationary()
    leading = np.argsort(-together, kind="stable")[:_MOST_STATES]
    panels = [(name, one.stationary()[leading]) for name, one in some.items()]
    states = [str(chain.states[i]) for i in leading]
    return small_panels(panels, together[leading], states, "share of time; black mark: all groups together")


def routes_figure(joint: Floats, labels: Sequence[str], most: int) -> Figure:
    """The most frequent transitions as arrows between the states that they join."""
    cells = [divmod(int(place), len(joint)) for place in np.argsort(-joint, axis=None, kind="stable")[:most]]
    cells = [(i, j) for i, j in cells if joint[i, j] > 0.0]
    states = sorted({state for cell in cells for state in cell})
    number = {state: place for place, state in enumerate(states)}
    routes = [(number[i], number[j], float(joint[i, j])) for i, j in cells]
    return route_figure(routes, [labels[i] for i in states], visits=joint.sum(axis=1)[states])
