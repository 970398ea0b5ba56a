"""Smooth positive tables behind noisy sums of their cells: log-linear effects with normal priors.

    log mean[cell] = offset[cell] + effect_1[level of cell] + effect_2[level of cell] + ...

Each effect is normal with mean 0 and a stated deviation, so that what the noise hides is taken from what is
around it: from the block, from the opposite direction, from the distance. The answer is the mode of the
posterior, by a quasi-Newton method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats

_MOST_STEPS = 250
# Logarithms of means stay in here, so that no step of the search overflows.
_LEAST_LOG, _MOST_LOG = -30.0, 30.0
_SHARPEST = 0.15
_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Effect:
    """One level for each cell. deviation: of the prior of each level."""

    level: NDArray[Any]
    deviation: float

    @property
    def levels(self) -> int:
        return int(self.level.max()) + 1


@dataclass(frozen=True, eq=False)
class Sums:
    """Noisy sums of cells. row: the sum that each cell is part of; None if each is its own.

    less: the sum that each cell is taken away from, if any. noisy: the sums. scale: of the two-sided
    geometric noise on each. grain: the variance of a true sum around its mean, for a mean of 1.
    """

    noisy: Floats
    scale: float
    row: NDArray[Any] | None = None
    grain: float = 1.0
    less: NDArray[Any] | None = None

    def of(self, means: Floats) -> Floats:
        """The sums of these cells."""
        if self.row is None:
            return means
        sums = np.bincount(self.row, weights=means, minlength=len(self.noisy))
        less = 0.0 if self.less is None else np.bincount(self.less, means, len(self.noisy))
        return np.asarray(sums - less, dtype=np.float64)

    def by_cell(self, by_sum: Floats) -> Floats:
        """What a small change of each cell does, from what one of each sum does."""
        if self.row is None:
            return by_sum
        return np.asarray(by_sum[self.row] - (0.0 if self.less is None else by_sum[self.less]))

    def widths(self, means: Floats) -> Floats:
        """How far from its mean a noisy sum may be before what it says counts less: see `_loss`."""
        deviation = np.sqrt(self.grain * np.maximum(self.of(means), 0.0))
        width = deviation**2 + 2.0 * self.scale**2 * deviation / (deviation + self.scale)
        return np.asarray(np.maximum(width, (_SHARPEST * self.scale) ** 2))


def field(sums: Sequence[Sums], effects: Sequence[Effect], offset: Floats) -> Floats:
    """The means of the cells."""
    return fitted(sums, effects, offset)[0]


def fitted(sums: Sequence[Sums], effects: Sequence[Effect], offset: Floats) -> tuple[Floats, list[Floats]]:
    """The means of the cells, and the levels of each effect."""
    from scipy.optimize import minimize

    sizes = [effect.levels for effect in effects]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    inverse = np.concatenate([np.full(n, e.deviation**-2.0) for n, e in zip(sizes, effects, strict=True)])
    total = max(1.0, float(sums[0].noisy.sum()))
    start = (
        offset
        - np.log(max(float(np.exp(offset - offset.max()).sum()), 1e-300))
        - offset.max()
        + np.log(total)
    )
    levels = np.zeros(bounds[-1])

    def means_of(levels: Floats) -> Floats:
        log = start.copy()
        for effect, a, b in zip(effects, bounds[:-1], bounds[1:], strict=True):
            log += levels[a:b][effect.level]
        return np.asarray(np.exp(np.clip(log, _LEAST_LOG, _MOST_LOG)))

    for _ in range(_ROUNDS):
        widths = [one.widths(means_of(levels)) for one in sums]

        def objective(levels: Floats, widths: Any = widths) -> tuple[float, Floats]:
            means = means_of(levels)
            value, slope = 0.5 * float(levels @ (inverse * levels)), np.zeros(len(means))
            for one, width in zip(sums, widths, strict=True):
                loss, by_sum = _loss(one.of(means) - one.noisy, width, one.scale)
                value += loss
                slope += one.by_cell(by_sum)
            slope *= means
            gradient = inverse * levels
            for effect, a, b in zip(effects, bounds[:-1], bounds[1:], strict=True):
                gradient[a:b] += np.bincount(effect.level, weights=slope, minlength=b - a)
            return value, gradient

        found = minimize(
            objective, levels, jac=True, method="L-BFGS-B", options={"maxiter": _MOST_STEPS, "maxcor": 20}
        )
        if not np.isfinite(found.x).all():
            break
        levels = found.x
    return means_of(levels), [levels[a:b] for a, b in pairwise(bounds)]


def _loss(apart: Floats, width: Floats, scale: float) -> tuple[float, Floats]:
    """Quadratic near zero with curvature 1 / width, and of slope 1 / scale far away; and its derivative.

    The logarithm of the density of Laplace noise on a normal variable has this shape.
    """
    bend = width / scale
    root = np.sqrt(1.0 + (apart / bend) ** 2)
    return float(np.sum(bend**2 / width * (root - 1.0))), apart / (width * root)
