"""Counts of several groups that share their states: each borrows from all of them together (estimates.md).

Few transitions of one group would drown in the noise. The mean of a cell of a group is therefore the row of
all groups together, times how many of the group leave that state; a factor whose law is learnt from all
groups says how far a group goes its own way. What a group says of itself, a whole model where it is large
and its margins else, has a part in the mean that is found by regression. Groups that have nothing in common
with the others are estimated as tables of their own: those whose noisy counts are more likely so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.chains.estimation.matched_quantiles import LEVELS, estimated_counts
from veil.chains.estimation.regression import LogLinear
from veil.chains.estimation.transition_table import TableEstimate
from veil.core.arrays import Floats
from veil.core.numerics.count_grid import Noise
from veil.core.numerics.count_laws import FLOOR, BinnedLaws
from veil.core.numerics.denoise import denoised, independent_means

# Groups with more transitions than so many deviations of the noise of all cells of a row, in every row.
_LARGE = 8.0


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
    states = values.shape[2]
    of_sums = Noise("gaussian", noise.deviation * float(np.sqrt(states)))
    sizes = denoised(values.sum(axis=2), of_sums)
    common = together.mean / together.mean.sum(axis=1, keepdims=True)
    borrowed = sizes[:, :, None] * common
    # What groups say of themselves: all of a table's model where they are large, else their margins.
    large = sizes.sum(axis=1) > _LARGE * noise.deviation * states**1.5
    own = [
        TableEstimate.of(table, noise, rank=rank) if of_itself else None
        for table, of_itself in zip(values, large, strict=True)
    ]
    whole = np.ones(values.shape[1:], dtype=bool)
    alone = np.stack(
        [
            independent_means(table, whole, noise) if found is None else found.prior
            for table, found in zip(values, own, strict=True)
        ]
    )
    means = np.stack(
        [_between(*group, noise.deviation) for group in zip(values, borrowed, alone, strict=True)]
    )
    laws = BinnedLaws(values.ravel(), means.ravel(), noise)
    counts = np.empty(values.shape)
    for group, (noisy, expected) in enumerate(zip(values, means, strict=True)):
        cells = noisy.ravel(), expected.ravel()
        known = laws.posterior(*cells)
        by_itself = alone[group].ravel()
        itself = BinnedLaws(cells[0], by_itself, noise).posterior(cells[0], by_itself)
        if itself.log_likelihood.sum() > known.log_likelihood.sum():
            counts[group] = (own[group] or TableEstimate.of(noisy, noise, rank=rank)).counts
        else:
            quantiles = laws.quantiles(*cells, LEVELS).reshape(len(LEVELS), *noisy.shape)
            counts[group] = estimated_counts(quantiles, known.mean.reshape(noisy.shape), noise)
    return counts


def _between(noisy: Floats, borrowed: Floats, alone: Floats, deviation: float) -> Floats:
    """Means of a group, between those it borrows and those it has by itself, by regression."""
    logs = np.log(np.maximum(np.stack([borrowed.ravel(), alone.ravel()]), FLOOR))
    predictors = [logs[0], logs[1] - logs[0]]
    fit = LogLinear.fitted(logs[0], predictors, noisy.ravel(), deviation)
    return fit.means(logs[0], predictors).reshape(noisy.shape)
