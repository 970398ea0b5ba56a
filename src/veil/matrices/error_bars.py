"""Error bars for the entries of a true matrix, from the release alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.core.record import checked_release
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.vectors.error_bars import as_intervals, beta_mean_limits, tail_of


def intervals(release: Any, *, confidence: float = 0.95) -> Floats:
    """A confidence interval for every true entry behind a MatrixDirichlet release: (low, high) pairs.

    Each covers with the stated probability, one entry at a time, as those of `vectors.intervals` do.
    """
    tail_of(confidence)
    checked_release(release)
    if not isinstance(release.mechanism, MatrixDirichlet):
        raise InvalidArgument(
            "release",
            expected="a matrix released by a MatrixDirichlet mechanism",
            found=f"one of {release.mechanism.name}",
        )
    return entry_intervals(release.mechanism, np.asarray(release.value), confidence=confidence)


def entry_intervals(mechanism: MatrixDirichlet, matrix: Floats, *, confidence: float) -> Floats:
    """The intervals for the entries behind a matrix that the mechanism drew."""
    flat, tail = matrix.reshape(-1, matrix.shape[-1]), tail_of(confidence)
    k = np.array(mechanism.concentrations(len(flat)))[:, None]
    # Outside a public support the entries are what everyone knows.
    free = np.zeros(flat.shape, dtype=bool)
    for group in mechanism.domain.alike(flat):
        free[group.rows[:, None], group.columns] = True
    low, high = flat.copy(), flat.copy()
    low[free], high[free] = beta_mean_limits(np.broadcast_to(k, flat.shape)[free], flat[free], tail)
    return as_intervals(*(mechanism.unsmoothed(end).reshape(matrix.shape) for end in (low, high)))
