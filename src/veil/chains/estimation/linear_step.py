"""The stationary distribution, and how far noisy counts or unsure ones move it, to first order.

Of estimated rows. Noisy counts tell without any model of the counts, but with their own noise, how far the
estimate is off; variances of counts tell how far it may be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats

# States by their share of time: the busiest 16, the next 32, and so on.
_FIRST_GROUP = 16


class LinearStep(NamedTuple):
    """The stationary distribution of estimated rows, and one linear step from it.

    shares: the distribution. inverse: the group inverse of I - rows. mean: rows times inverse. weights:
    shares by sizes of rows. moved: how far the noisy counts say it should move. variances: of the noise in
    that.
    """

    shares: Floats
    inverse: Floats
    mean: Floats
    weights: Floats
    moved: Floats
    variances: Floats

    @classmethod
    def of(
        cls, rows: Floats, noisy: Floats, sizes: Floats, deviation: float, trust: Floats | None = None
    ) -> LinearStep:
        """sizes: estimated transitions from each state. trust: [from, to], the part of each cell to heed."""
        states, shares = len(rows), cls.stationary(rows)
        inverse = np.linalg.inv(np.eye(states) - rows + shares) - shares
        weights = shares / sizes
        mean = rows @ inverse
        if trust is None:
            moved = (weights @ (noisy - noisy.sum(axis=1, keepdims=True) * rows)) @ inverse
            middle = inverse.mean(axis=0)
            squares = ((inverse - middle) ** 2).sum(axis=0) + states * (mean - middle) ** 2
        else:
            off = trust * (noisy - sizes[:, None] * rows)
            moved = (weights @ (off - off.sum(axis=1, keepdims=True) * rows)) @ inverse
            square = trust**2
            squares = square @ inverse**2 - 2.0 * (square @ inverse) * mean
            squares += square.sum(axis=1, keepdims=True) * mean**2
        return cls(shares, inverse, mean, weights, moved, deviation**2 * (weights**2 @ squares))

    def spread(self, variances: Floats) -> Floats:
        """Standard deviations of the shares, to first order, if counts [from, to] have these variances."""
        squares = variances @ self.inverse**2 - 2.0 * (variances @ self.inverse) * self.mean
        squares += variances.sum(axis=1, keepdims=True) * self.mean**2
        return np.sqrt(np.maximum(self.weights**2 @ squares, 1e-300))

    @staticmethod
    def stationary(rows: Floats) -> Floats:
        """The stationary distribution of rows of a chain."""
        states = len(rows)
        system = np.eye(states) - rows.T
        system[-1] = 1.0
        shares = np.maximum(np.linalg.solve(system, np.eye(states)[-1]), 0.0)
        return np.asarray(shares / shares.sum())

    def chance(self, group: NDArray[np.intp]) -> float:
        """The standard deviation of the mean of `moved**2 / variances` over these states, if noise is all."""
        centred = self.inverse[:, group] - self.inverse[:, group].mean(axis=0)
        likeness = centred.T @ centred
        lengths = np.sqrt(np.diag(likeness))
        likeness /= lengths[:, None] * lengths
        return float(np.sqrt(2.0 * (likeness**2).sum())) / len(group)


def groups_by_share(shares: Floats) -> list[NDArray[np.intp]]:
    """States from the busiest on, in groups that double in size; a short rest joins the last."""
    order, groups, first, size = np.argsort(-shares), [], 0, _FIRST_GROUP
    while first < len(order):
        last = first + size if len(order) - first - size >= size else len(order)
        groups.append(order[first:last])
        first, size = last, 2 * size
    return groups
