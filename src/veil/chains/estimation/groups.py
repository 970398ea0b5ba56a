"""Counts of several groups that share their states: each borrows from all of them together (estimates.md).

Few transitions of one group would drown in the noise. The mean of a cell of a group is therefore the row of
all groups together, times how many of the group leave that state; a factor whose law is learnt from all
groups says how far a group goes its own way. Groups that have nothing in common with the others are better
described on their own: those whose noisy counts are more likely under their own margins are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.chains.estimation.transition_table import TableEstimate, mean_share
from veil.core.arrays import Floats
from veil.core.numerics.count_grid import Noise
from veil.core.numerics.count_laws import BinnedLaws, CellPosterior
from veil.core.numerics.denoise import denoised, independent_means, mixture


class GroupEstimates(NamedTuple):
    """together: what is known of all groups as one. counts: [group, from, to], positive."""

    together: TableEstimate
    counts: Floats

    @classmethod
    def of(cls, noisy: Floats, noise: Noise, *, rank: int | None = None) -> GroupEstimates:
        """From noisy counts [group, from, to]. rank: of all groups as one, if it is not to be chosen."""
        values = np.asarray(noisy, dtype=np.float64)
        # From the sum of the noisy tables: what was taken for noise in each would be missing in all.
        of_sum = Noise("gaussian", noise.deviation * float(np.sqrt(len(values))))
        together = TableEstimate.of(values.sum(axis=0), of_sum, rank=rank)
        return cls(together, _group_counts(values, noise, together, rank))


def _group_counts(values: Floats, noise: Noise, together: TableEstimate, rank: int | None) -> Floats:
    of_sums = Noise("gaussian", noise.deviation * float(np.sqrt(values.shape[2])))
    sizes = denoised(values.sum(axis=2), of_sums)
    common = together.mean / together.mean.sum(axis=1, keepdims=True)
    whole = np.ones(common.shape, dtype=bool)
    borrowed = _known(values, sizes[:, :, None] * common, noise)
    own = _known(values, np.stack([independent_means(table, whole, noise) for table in values]), noise)
    shape = (len(values), -1)
    gains = (borrowed.log_likelihood - own.log_likelihood).reshape(shape).sum(axis=1)
    counts = mixture(borrowed.mean, borrowed.median, mean_share(noise)).reshape(values.shape)
    for group in np.flatnonzero(gains < 0.0):
        counts[group] = TableEstimate.of(values[group], noise, rank=rank).counts
    return np.asarray(counts)


def _known(values: Floats, means: Floats, noise: Noise) -> CellPosterior:
    laws = BinnedLaws(values.ravel(), means.ravel(), noise)
    return laws.posterior(values.ravel(), means.ravel())
