"""The counts behind a noisy table of transitions between the same states (estimates.md).

Every cell is its mean under a model, times a factor whose law is learnt (`core.numerics.count_laws`). The
model: states that stay are counted apart, the other means are bilinear in a few hidden dimensions. How many
is decided by how well cells that were held out are predicted. All of this is a function of the noisy table
and the public noise: post-processing, with fixed seeds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.chains.estimation.held_out_means import MOST_HELD_OUT, held_out_cells, model_means
from veil.chains.estimation.matched_quantiles import LEVELS, estimated_counts
from veil.chains.estimation.sums import balanced, few_in_small_cells
from veil.core.arrays import Floats
from veil.core.numerics.count_grid import Noise
from veil.core.numerics.count_laws import BinnedLaws, FactorLaw
from veil.core.numerics.denoise import independent_means

# Hidden dimensions that are tried; each needs so many states.
RANKS, _STATES_PER_RANK = (0, 2, 4, 8), 8
# One cell in so many is held out, of the busiest states if there are more than this.
_HELD_OUT, _MOST_TRIED, _SEED = 6, 400, 0
# Of the regression for the diagonal.
_STEPS, _LONGEST_STEP, _LEAST_MARGIN = 25, 0.5, 0.1


class TableEstimate(NamedTuple):
    """What is known of the counts [from, to].

    counts: the estimate, positive. mean, variance: of each count. prior: its mean by the model alone, from
    what other cells say. rank: hidden dimensions of the model.
    """

    counts: Floats
    mean: Floats
    variance: Floats
    prior: Floats
    rank: int

    @classmethod
    def of(cls, noisy: Floats, noise: Noise, *, rank: int | None = None) -> TableEstimate:
        """The estimate. rank: taken as given instead of chosen, for repetitions of one table."""
        values, deviation = np.asarray(noisy, dtype=np.float64), noise.deviation
        away = ~np.eye(len(values), dtype=bool)
        dimensions = (
            chosen_rank(values, independent_means(values, away, noise), noise) if rank is None else rank
        )
        known = held_out_cells(values, away, noise, dimensions)
        mean, variance, quantiles = (
            np.empty(values.shape),
            np.empty(values.shape),
            np.empty((len(LEVELS), *values.shape), np.float32 if len(values) > MOST_HELD_OUT else np.float64),
        )
        found = known.posterior
        mean[away], variance[away] = found.mean, found.variance
        quantiles[:, away] = known.laws.quantiles(values[away], known.means[away], LEVELS)
        staying, moving = values[~away], np.where(away, mean, 0.0)
        means_of_staying = _diagonal_means(staying, moving.sum(axis=1), moving.sum(axis=0), deviation)
        law = FactorLaw.learnt(staying, means_of_staying, noise)
        found = law.posterior(staying, means_of_staying)
        mean[~away], variance[~away] = found.mean, found.variance
        quantiles[:, ~away] = law.quantiles(staying, means_of_staying, LEVELS)
        prior = known.means.copy()
        prior[~away] = means_of_staying
        mean = few_in_small_cells(mean, known.means, values, deviation)
        mean = balanced(mean, variance, values, deviation)
        return cls(estimated_counts(quantiles, mean, noise), mean, variance, prior, dimensions)


def chosen_rank(noisy: Floats, independent: Floats, noise: Noise) -> int:
    """The number of hidden dimensions that predicts held-out cells best."""
    ranks = [rank for rank in RANKS if rank * _STATES_PER_RANK <= len(noisy)]
    if len(ranks) == 1:
        return ranks[0]
    if len(noisy) > _MOST_TRIED:
        busiest = np.sort(np.argsort(-(independent.sum(axis=0) + independent.sum(axis=1)))[:_MOST_TRIED])
        noisy, independent = (table[np.ix_(busiest, busiest)] for table in (noisy, independent))
    away = ~np.eye(len(noisy), dtype=bool)
    held = away & (np.random.default_rng(_SEED).integers(0, _HELD_OUT, noisy.shape) == 0)
    shown = away & ~held
    scores = []
    for rank in ranks:
        means = model_means(noisy, shown, independent, noise, rank) if rank else independent
        laws = BinnedLaws(noisy[shown], means[shown], noise)
        scores.append(float(laws.posterior(noisy[held], means[held]).log_likelihood.sum()))
    return ranks[int(np.argmax(scores))]


def _diagonal_means(staying: Floats, leaving: Floats, arriving: Floats, deviation: float) -> Floats:
    """Means of how often each state is followed by itself, from how busy it is: a log-linear regression."""
    leaving, arriving = leaving + _LEAST_MARGIN, arriving + _LEAST_MARGIN
    features = np.stack(
        [np.ones(len(leaving)), np.log(arriving / leaving), np.log(leaving / leaving.mean())], axis=1
    )
    slopes = np.zeros(3)
    for _ in range(_STEPS):
        means = leaving * np.exp(np.clip(features @ slopes, -30.0, 30.0))
        weights = means / (deviation**2 + means + means**2)
        pull = features.T @ ((staying - means) * weights) - slopes
        curvature = (features * (means * weights)[:, None]).T @ features + np.eye(3)
        step = np.clip(np.linalg.solve(curvature, pull), -_LONGEST_STEP, _LONGEST_STEP)
        slopes = slopes + step
        if np.abs(step).max() < 1e-4:
            break
    return np.asarray(leaving * np.exp(np.clip(features @ slopes, -30.0, 30.0)))
