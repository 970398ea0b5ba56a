"""Take back what a model did to the stationary distribution, where the noisy counts say so (estimates.md).

Removing noise moves the stationary distribution. To first order, the noisy counts tell by how much without
any model, but with their own noise. Where busy states moved by far more than that noise explains, the model
is wrong about them and the move is undone, as far as it exceeds the noise; else nothing is done.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.numerics.count_grid import Noise

# States by their share of time: the busiest 16, the next 32, and so on.
_FIRST_GROUP = 16
# By how many standard deviations of its mean square a group must have moved.
_CLEARLY = 3.0
# The first order is trusted where the noise is below this part of the state's share of time.
_WELL_KNOWN = 0.25
_LEAST_LEFT = 0.3
_SWEEPS, _SETTLED = 200, 1e-10


class LinearStep(NamedTuple):
    """The stationary distribution of estimated rows, and one linear step from it.

    shares: the distribution. inverse: the group inverse of I - rows. weights: shares by sizes of rows. moved:
    how far the noisy counts say it should move. variances: of the noise in that.
    """

    shares: Floats
    inverse: Floats
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
        return cls(shares, inverse, weights, moved, deviation**2 * (weights**2 @ squares))

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


def flow_corrected(counts: Floats, noisy: Floats, sizes: Floats, noise: Noise) -> Floats:
    """The estimated counts [from, to], with rows changed where the stationary distribution is clearly off."""
    totals = counts.sum(axis=1, keepdims=True)
    rows = counts / totals
    try:
        step = LinearStep.of(rows, noisy, sizes, noise.deviation)
    except np.linalg.LinAlgError:
        return counts
    if not np.isfinite(step.variances).all() or not (step.variances > 0.0).all():
        return counts
    trust = np.zeros(len(counts))
    for group in groups_by_share(step.shares):
        if (np.sqrt(step.variances[group]) < _WELL_KNOWN * step.shares[group]).mean() < 0.5:
            continue
        seen = float((step.moved[group] ** 2 / step.variances[group]).mean())
        usual = 1.0 + _CLEARLY * step.chance(group)
        trust[group] = max(0.0, 1.0 - usual / seen) if seen > 0.0 else 0.0
    if not trust.any():
        return counts
    wanted = np.maximum(step.shares + trust * step.moved, _LEAST_LEFT * step.shares)
    wanted /= wanted.sum()
    flows = wanted[:, None] * rows
    for _ in range(_SWEEPS):
        flows *= wanted / flows.sum(axis=0)
        left = flows.sum(axis=1)
        flows *= (wanted / left)[:, None]
        if np.abs(left - wanted).sum() < _SETTLED:
            break
    return np.asarray(flows / flows.sum(axis=1, keepdims=True) * totals)


def groups_by_share(shares: Floats) -> list[NDArray[np.intp]]:
    """States from the busiest on, in groups that double in size; a short rest joins the last."""
    order, groups, first, size = np.argsort(-shares), [], 0, _FIRST_GROUP
    while first < len(order):
        last = first + size if len(order) - first - size >= size else len(order)
        groups.append(order[first:last])
        first, size = last, 2 * size
    return groups
