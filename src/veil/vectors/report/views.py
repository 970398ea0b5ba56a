"""What can be explored of released vectors."""

from __future__ import annotations

from typing import Any

from veil.core.errors import VeilError
from veil.core.record import Release
from veil.report.views import Bars, HeatMap, View
from veil.vectors.array_kind import numbered
from veil.vectors.error_bars import intervals


def vector_views(release: Release[Any]) -> tuple[View, ...]:
    """The entries of one vector with their intervals; of several a line for each."""
    size = release.value.shape[-1]
    labels = list(map(str, release.labels or numbered(size)))
    if release.value.ndim > 1:
        rows = release.value.reshape(-1, size)
        names = list(map(str, release.row_labels or numbered(len(rows))))
        return (HeatMap("Shares of each vector", names, labels, rows, of="share"),)
    try:
        bars = intervals(release)
    except VeilError:
        # Nobody knows them for this mechanism, or without the number of records.
        bars = None
    return (Bars("Shares", labels, release.value, bars),)
