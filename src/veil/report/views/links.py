"""Weighted links between named nodes, and the strongest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veil.core.arrays import Floats
from veil.report.views.view import Look


@dataclass(frozen=True, eq=False)
class Links:
    """Links from one node to another. ends: pairs of places in the labels; weights: how strong each is."""

    labels: Sequence[str]
    ends: np.ndarray
    weights: Floats

    @classmethod
    def of_table(cls, labels: Sequence[str], table: Floats) -> Links:
        """A link for every entry of a square table that is above zero, none from a node to itself."""
        rows, columns = np.nonzero(table > 0.0)
        apart = rows != columns
        ends = np.stack([rows[apart], columns[apart]], axis=1)
        return cls(labels, ends, table[rows[apart], columns[apart]])

    def strongest(self, look: Look) -> list[tuple[int, int, float]]:
        """The strongest links that touch what is searched, the strongest first."""
        found = np.array([look.finds(label) for label in self.labels], dtype=bool)
        touching = np.flatnonzero(found[self.ends].any(axis=1)) if len(self.ends) else np.array([], int)
        order = touching[np.argsort(-self.weights[touching], kind="stable")][: look.most]
        return [(int(self.ends[at, 0]), int(self.ends[at, 1]), float(self.weights[at])) for at in order]
