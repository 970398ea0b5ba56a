"""What can be explored of a released chain that was counted from data."""

from __future__ import annotations

from typing import Any

from veil.chains.error_bars.intervals import intervals
from veil.chains.sequence_model import mechanism_of, model
from veil.core.errors import VeilError
from veil.core.record import Release
from veil.matrices.report.views import chain_views, long_run
from veil.report.views import HeatMap, View

# Error bars of larger chains take longer than a page should.
_MOST_BARRED = 400


def counted_views(release: Release[Any]) -> tuple[View, ...]:
    """The chain with its intervals, and of a release with groups the chain of each."""
    shares = None
    if len(release.value) <= _MOST_BARRED:
        try:
            shares = intervals(release).stationary
        except VeilError:
            # None are known for a release of this form.
            shares = None
    views = list(chain_views(release.value, shares))
    if mechanism_of(release).groups is not None:
        for name, chain in model(release).groups.items():
            labels = list(map(str, chain.states))
            views.append(HeatMap(f"Next states: {name}", labels, labels, chain.to_numpy(), long_run(chain)))
    return tuple(views)
