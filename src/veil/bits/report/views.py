"""What can be explored of a released table of bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.bits.estimation import estimates
from veil.core.errors import InvalidArgument
from veil.core.record import Release
from veil.report.views import Bars, HeatMap, View


def bit_views(release: Release[Any]) -> tuple[View, ...]:
    """The shares of ones with their intervals, and which columns go together."""
    try:
        reading = estimates(release)
    except InvalidArgument:
        # The noise of this mechanism cannot be corrected for.
        return ()
    labels = list(map(str, reading.labels))
    share, low, high = reading.shares
    bars = np.clip(np.stack([low, high], axis=1), 0.0, 1.0)
    views: list[View] = [Bars("Shares of ones", labels, np.clip(share, 0.0, 1.0), bars)]
    if reading.has_associations:
        place = {label: number for number, label in enumerate(labels)}
        table = np.eye(len(labels))
        for first, second, phi, _ in reading.associations():
            at = place[str(first)], place[str(second)]
            table[at] = table[at[::-1]] = phi
        views.append(HeatMap("Columns that go together", labels, labels, table, of="correlation"))
    return tuple(views)
