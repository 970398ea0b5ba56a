"""Second-order chains from noisy counts, falling back on the first order as far as the noise asks for it.

For one pair of states (before, from) the counts of what came next are few, and there are states^3 of them.
So each is taken to be what the first order makes of the pair, times a factor of a law that all cells share
and that is learnt from them (`core.numerics.denoise`): pairs that drown in the noise keep the first order's
row, clear ones their own, and nobody sets the weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.numerics.denoise import Floats, Noise, denoised, posterior

# How much of the transitions the cap on second-order counts is to keep.
_KEPT = 2.0 / 3.0
_TINY = 1e-300


def second_order(
    noisy: NDArray[Any],
    noise: Noise,
    joint: Floats,
    support: NDArray[np.bool_] | None = None,
) -> Floats:
    """Probabilities [before, from, to] of a second-order chain; one row more than states before: the start.

    noisy: counts [before, from, to] with noise on every cell. joint: what is known of the counts [from, to]
    of all transitions, positive where they are possible (`support`).
    """
    counts = np.asarray(noisy, dtype=np.float64)
    mask = joint > 0.0 if support is None else np.asarray(support, dtype=bool)
    rows = np.where(mask, joint, 0.0).sum(axis=1, keepdims=True)
    first = np.where(mask, joint, 0.0) / np.maximum(rows, _TINY)
    # How often each pair came about: its row of cells summed, with the noise of as many cells.
    inside = np.where(mask, counts, 0.0)
    summed = Noise("gaussian", max(noise.deviation * float(np.sqrt(mask.sum(axis=1).mean())), 1e-3))
    pairs = denoised(inside.sum(axis=2), summed)
    means = pairs[:, :, None] * first
    cells = np.broadcast_to(mask, counts.shape)
    answer = np.zeros(counts.shape)
    answer[cells] = posterior(counts[cells], means[cells], noise).mean
    # What a cap leaves out, it leaves out of long sequences most. The first order knows of them: the
    # transitions [from, to] after any state must add up to its own.
    answer *= joint / np.maximum(answer.sum(axis=0), _TINY)
    sums = answer.sum(axis=2, keepdims=True)
    return np.asarray(np.where(sums > 0.0, answer / np.maximum(sums, _TINY), first))


def planned_second_cap(lengths: Floats) -> int:
    """The least cap that keeps two thirds of all transitions, from users by exact length.

    >>> planned_second_cap(np.array([0.0, 5.0, 4.0, 3.0, 0.0, 0.0, 0.0, 1.0]))
    2
    """
    longer = np.cumsum(np.asarray(lengths, dtype=np.float64)[::-1])[::-1][2:]
    counted = np.cumsum(longer)
    if len(counted) == 0 or counted[-1] <= 0.0:
        return 1
    return int(np.searchsorted(counted, _KEPT * counted[-1])) + 1
