"""Means of the cells of a table, each without a look at its own noisy count (estimates.md, section 1).

The cells are dealt into a few folds, but in large tables. For each fold, models are fitted to the other
cells, and give predictors of its own. A regression over all cells puts the predictors together: what it heeds
has shown that it tells something of counts it never saw. Of nested sets of predictors the one is taken that
is worth its size.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from veil.chains.estimation.bilinear_means import bilinear_means
from veil.chains.estimation.likeness import Singles, common_predictors, reverse_predictors
from veil.chains.estimation.regression import LogLinear
from veil.core.arrays import Booleans, Floats
from veil.core.numerics.count_grid import Noise
from veil.core.numerics.count_laws import FLOOR, MOST_BINS, BinnedLaws, CellPosterior
from veil.core.numerics.denoise import independent_means

# Folds, fewer for large tables, whose models lose less by what is hidden.
_FOLDS, _FEWEST_FOLDS, _MANY_STATES = 5, 2, 600
_SEED = 0
# In larger tables one cell hardly moves what is fitted to all of them: nothing is held out, nor done twice.
MOST_HELD_OUT = 1_500
# Smaller tables are taken to have independent rows and columns, by all their cells.
_FEWEST_STATES = 5
# Laws of counts within a fold, which lead to nothing but predictors.
_BINS = 3
# What a predictor must add to the log-likelihood (Akaike 1974).
_WORTH = 1.0
# By so much the log-likelihood must exceed that of independent rows and columns.
_CLEARLY_BETTER = 10.0
# How far above its noisy value a sum may be.
_DEVIATIONS = 3.0
# Of margins, in transitions.
_LEAST_MARGIN = 0.1


class Cells(NamedTuple):
    """Cells off the diagonal: their means [from, to], the laws around those, and what is known of each."""

    means: Floats
    laws: BinnedLaws
    posterior: CellPosterior

    @classmethod
    def of(cls, noisy: Floats, used: Booleans, means: Floats, noise: Noise, *, bins: int = MOST_BINS) -> Self:
        """Laws and posteriors of the cells that are used. bins: of means, that have laws of their own."""
        laws = BinnedLaws(noisy[used], means[used], noise, most=bins)
        return cls(means, laws, laws.posterior(noisy[used], means[used]))

    @property
    def log_likelihood(self) -> float:
        return float(self.posterior.log_likelihood.sum())

    def counts(self, used: Booleans) -> Floats:
        """[from, to]: posterior means where cells are used, else means."""
        found = self.means.copy()
        found[used] = self.posterior.mean
        return found


def held_out_cells(noisy: Floats, away: Booleans, noise: Noise, rank: int) -> Cells:
    """The cells off the diagonal by their held-out means. rank: hidden dimensions of the bilinear model."""
    if len(noisy) < _FEWEST_STATES:
        return Cells.of(noisy, away, independent_means(noisy, away, noise), noise)
    best = _worthiest(noisy, away, noise, *_gathered(noisy, away, noise, rank))
    # Only now by all cells: how busy each state is, where the sums of its noisy counts say otherwise.
    fitted = np.minimum(model_means(noisy, away, best, noise, 0), _most(noisy, away, noise))
    found = Cells.of(noisy, away, np.where(away, fitted, 1.0), noise)
    plain = Cells.of(noisy, away, independent_means(noisy, away, noise), noise)
    return found if found.log_likelihood > plain.log_likelihood + _CLEARLY_BETTER else plain


def _gathered(
    noisy: Floats, away: Booleans, noise: Noise, rank: int
) -> tuple[Floats, list[Singles], list[int]]:
    """Of cells off the diagonal: the logarithm of the model's means, predictors, and sizes of nested sets.

    Each cell's are from fits that have not seen it, unless the table is large.
    """
    if len(noisy) > MOST_HELD_OUT:
        model, sets = _predictors(noisy, away, away, noise, rank, twice=False)
        sizes, tables = np.cumsum([len(some) for some in sets]).tolist(), list(chain.from_iterable(sets))
        del sets
        return model[away], _flattened(tables, away), sizes
    number, folds = _dealt(len(noisy))
    offsets, gathered = np.empty(noisy.shape), list[Singles]()
    for fold in range(folds):
        hidden = away & (number == fold)
        model, sets = _predictors(noisy, away & ~hidden, away, noise, rank, twice=True)
        sizes = np.cumsum([len(some) for some in sets]).tolist()
        gathered = gathered or [np.empty(noisy.shape, np.float32) for _ in range(sizes[-1])]
        offsets[hidden] = model[hidden]
        for into, predictor in zip(gathered, chain.from_iterable(sets), strict=True):
            into[hidden] = predictor[hidden]
    return offsets[away], _flattened(gathered, away), sizes


def _flattened(tables: list[Singles], away: Booleans) -> list[Singles]:
    """The cells of each table, which is given up on the way: they need much memory."""
    for place, table in enumerate(tables):
        tables[place] = table[away]
    return tables


def _worthiest(
    noisy: Floats, away: Booleans, noise: Noise, offset: Floats, predictors: list[Singles], sizes: list[int]
) -> Floats:
    """The means [from, to] by the set of predictors that is worth its size."""
    seen = noisy[away]
    best, most = None, -np.inf
    for size in sizes:
        fit = LogLinear.fitted(offset, predictors[:size], seen, noise.deviation)
        means = np.ones(noisy.shape)
        means[away] = fit.means(offset, predictors[:size])
        worth = Cells.of(noisy, away, means, noise).log_likelihood - _WORTH * size
        if worth > most:
            best, most = means, worth
    assert best is not None
    return best


def _most(noisy: Floats, away: Booleans, noise: Noise) -> Floats:
    """[from, to]: no count is above the sums of its row and column, as far as noise lets them be known."""
    seen = np.where(away, noisy, 0.0)
    sums = [np.maximum(seen.sum(axis=axis, keepdims=True), 0.0) for axis in (1, 0)]
    return np.asarray(np.minimum(*sums) + _DEVIATIONS * noise.deviation * np.sqrt(len(noisy)))


def margin_means(noisy: Floats, shown: Booleans, away: Booleans, noise: Noise) -> Floats:
    """Means of independent rows and columns, by the cells that are shown alone."""
    seen, others = np.where(shown, noisy, 0.0), len(noisy) - 1
    rows, columns = (
        np.maximum(seen.sum(axis=axis) * (others / np.maximum(shown.sum(axis=axis), 1)), _LEAST_MARGIN)
        for axis in (1, 0)
    )
    filled = np.where(shown, noisy, rows[:, None] * columns / rows.sum())
    return independent_means(filled, away, noise)


def model_means(noisy: Floats, shown: Booleans, independent: Floats, noise: Noise, rank: int) -> Floats:
    """Of a bilinear model that is fitted to the cells that are shown."""
    return bilinear_means(noisy, shown, independent, noise.deviation, rank)


def _predictors(
    noisy: Floats, shown: Booleans, away: Booleans, noise: Noise, rank: int, *, twice: bool
) -> tuple[Floats, list[list[Singles]]]:
    """The logarithm of the model's means, and sets of predictors [from, to], by the shown cells alone.

    twice: whether there is a last set, from the counts that the others lead to.
    """
    deviation = noise.deviation
    independent = margin_means(noisy, shown, away, noise)
    means = model_means(noisy, shown, independent, noise, rank)
    first = Cells.of(noisy, shown, means, noise, bins=_BINS)
    model, counts = np.log(first.means), first.counts(shown)
    of_model = [model.astype(np.float32)]
    if rank:
        of_model.append((np.log(independent + FLOOR) - model).astype(np.float32))
    of_reverse = reverse_predictors(counts, first.means, model, deviation)
    of_common = common_predictors(counts, first.means, away)
    if not twice:
        return model, [of_model, of_reverse, of_common]
    every = [*of_model, *of_reverse, *of_common]
    fit = LogLinear.fitted(model[shown], [one[shown] for one in every], noisy[shown], deviation)
    again = Cells.of(noisy, shown, fit.means(model, every), noise, bins=_BINS)
    counts, logs = again.counts(shown), np.log(again.means)
    again_of = [(logs - model).astype(np.float32), *reverse_predictors(counts, again.means, model, deviation)]
    again_of += common_predictors(counts, again.means, away)
    return model, [of_model, of_reverse, of_common, again_of]


def _dealt(states: int) -> tuple[NDArray[np.int64], int]:
    """[from, to]: the fold of each cell, not that of the cell across the diagonal; and how many."""
    folds = max(_FEWEST_FOLDS, _FOLDS * _MANY_STATES // max(states, _MANY_STATES))
    rng = np.random.default_rng(_SEED)
    drawn, apart = rng.integers(0, folds, (states, states)), rng.integers(1, folds, (states, states))
    return np.where(np.tri(states, k=-1, dtype=bool), (drawn.T + apart) % folds, drawn), folds
