"""What can be explored of a released matrix, or of a chain."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import VeilError
from veil.core.record import Release
from veil.matrices.chain import Chain
from veil.report.views import Bars, Flows, HeatMap, Network, View
from veil.report.views.links import Links
from veil.vectors.array_kind import numbered

# More states than this are not shown as a table, and their long run is not computed for a page.
_MOST_STATES = 2_000


def matrix_views(release: Release[Any]) -> tuple[View, ...]:
    """The rows of the matrix; of one that is a chain its flows too."""
    value = np.atleast_2d(release.value)
    value = value.reshape(-1, value.shape[-1])
    rows = list(map(str, release.row_labels or numbered(len(value))))
    columns = list(map(str, release.labels or numbered(value.shape[1])))
    shown = HeatMap("Every row", rows, columns, value)
    if rows != columns:
        return (shown,)
    return (shown, *chain_views(Chain(value, rows))[1:])


def chain_views(chain: Chain, shares: Floats | None = None) -> tuple[View, ...]:
    """Next states, flows, the network of them, and the long run.

    shares: the intervals of the long-run shares, where they are known.
    """
    labels = list(map(str, chain.states))
    weights = long_run(chain)
    links = _flows(chain, weights)
    views: list[View] = []
    if len(chain) <= _MOST_STATES:
        views.append(HeatMap("Next states", labels, labels, chain.to_numpy(), weights))
    views += [Flows("Flows", links, of="all steps"), Network("Network", links, of="share of all steps")]
    if weights is not None:
        views.append(Bars("Long-run shares", labels, weights, shares, of="share of time"))
    return tuple(views)


def long_run(chain: Chain) -> Floats | None:
    """The stationary distribution, where there is one and it is quick to find."""
    if len(chain) > _MOST_STATES or not chain.is_irreducible:
        return None
    try:
        return chain.stationary()
    except VeilError:
        return None


def _flows(chain: Chain, weights: Floats | None) -> Links:
    """How much of all steps goes from each state to each other one."""
    steps = chain.to_scipy().tocoo()
    each = np.full(len(chain), 1.0 / len(chain)) if weights is None else weights
    apart = steps.row != steps.col
    ends = np.stack([steps.row[apart], steps.col[apart]], axis=1)
    return Links(list(map(str, chain.states)), ends, each[steps.row[apart]] * steps.data[apart])
