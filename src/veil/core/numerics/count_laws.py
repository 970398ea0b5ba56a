"""Laws of counts that are learnt from noisy counts, and what they say of each count (empirical Bayes).

    count = Poisson(mean * theta),  theta drawn from one unknown law for all cells.

The law of theta is the one of highest likelihood on a logarithmic grid, zero included (Kiefer and Wolfowitz,
Ann. Math. Stat. 27, 1956), found by EM. Posteriors are looked up in tables by mean and noisy value, so that
they cost the same for any number of cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.numerics.count_grid import LOWEST, STEP, CountGrid, Noise, grid_of

# The law of theta starts from, and is kept near in so many cells' worth, a wide law around 1.
PRIOR_CELLS, _PRIOR_WIDTH, _PRIOR_ZERO = 2.0, 1.5, 0.2
_LEAST_THETA, _MOST_THETA = 1e-12, 1e6
# By how many nodes each theta of the grid shifts a mean.
_OFFSETS = np.arange(round(np.log(_LEAST_THETA) / STEP), round(np.log(_MOST_THETA) / STEP) + 1)
# The law of theta, zero first, before anything is seen: around 1, and far from certain.
_AROUND = np.exp(-np.abs(_OFFSETS) * STEP / _PRIOR_WIDTH)
_WIDE_LAW = np.concatenate([[_PRIOR_ZERO * _AROUND.sum()], _AROUND])
_WIDE_LAW /= _WIDE_LAW.sum()
_ROUNDS, _SETTLED = 60, 1e-4
# So that nothing that can hold a count is ever zero, whatever underflows.
FLOOR = 1e-12
# Bins of means that have a law each, as many cells as the common law weighs in it, and the fewest cells.
MOST_BINS, _BIN_CELLS, _LEAST_IN_BIN = 12, 300.0, 200


class CellPosterior(NamedTuple):
    """What is known of each count. log_likelihood: of its noisy value, up to a constant of the noise."""

    mean: Floats
    median: Floats
    variance: Floats
    log_likelihood: Floats


@dataclass(frozen=True)
class FactorLaw:
    """The law of theta, zero first, behind counts that were released with this noise."""

    noise: Noise
    theta: Floats

    @classmethod
    def learnt(
        cls,
        noisy: Floats,
        means: Floats,
        noise: Noise,
        start: Floats | None = None,
        cells: float = PRIOR_CELLS,
    ) -> Self:
        """The law of highest likelihood for noisy counts of these means.

        start: the law that a similar table had; it weighs as much as so many cells.
        """
        law, grid = _WIDE_LAW if start is None else start, grid_of(noise)
        places, far = grid.places(means), noisy > grid.reach
        # How many of the counts that are known well enough have each theta, zero first.
        known = np.bincount(_shifts(grid, noisy[far], places[far]), minlength=len(_OFFSETS) + 1) + cells * law
        if far.all():
            return cls(noise, known / known.sum())
        across, down = grid.columns(noisy[~far]), places[~far]
        first = int(down.min())
        seen = np.zeros((int(down.max()) - first + 2, len(grid.values)))
        np.add.at(seen, (np.rint(down - first).astype(np.intp), np.rint(across).astype(np.intp)), 1.0)
        return cls(noise, _learnt(seen, first, law, known, grid))

    def posterior(self, noisy: Floats, means: Floats) -> CellPosterior:
        """Mean, median and variance of each count, given its noisy value and its mean without theta."""
        grid = grid_of(self.noise)
        answer = self._looked_up(noisy, means, self._known_at, 4)
        far = noisy > grid.reach
        shifts = _shifts(grid, noisy[far], grid.places(means[far]))
        answer[0, far] = answer[1, far] = noisy[far]
        answer[2, far] = self.noise.deviation**2
        # Far from zero the noise is negligible: the density of theta there, as that of the noisy value.
        densities = np.maximum(self.theta[shifts], 1e-12) / (STEP * noisy[far])
        answer[3, far] = np.log(densities * grid.weights[len(grid.weights) // 2].sum() * grid.unit)
        answer[0] = np.maximum(answer[0], FLOOR)
        return CellPosterior(*answer)

    def quantiles(self, noisy: Floats, means: Floats, levels: tuple[float, ...]) -> Floats:
        """[level, count]: what each count does not exceed with these probabilities."""
        answer = self._looked_up(noisy, means, partial(self._quantiles_at, levels=levels), len(levels))
        far = noisy > grid_of(self.noise).reach
        answer[:, far] = noisy[far] + np.array([[self.noise.quantile(level)] for level in levels])
        return answer

    def _looked_up(
        self, noisy: Floats, means: Floats, at: Callable[[Floats], tuple[Floats, ...]], what: int
    ) -> Floats:
        """[what, count]: between the answers for the nearest means and noisy values; 0 where noise is small.

        at: the answers of one joint law of noisy value and count, by noisy value.
        """
        grid = grid_of(self.noise)
        near, answer = noisy <= grid.reach, np.zeros((what, len(noisy)))
        if not near.any():
            return answer
        down, across = grid.places(means[near]), grid.columns(noisy[near])
        row, column = down.astype(np.intp), np.minimum(across.astype(np.intp), len(grid.values) - 2)
        first, top = int(row.min()), len(grid.laws) - 1
        tables = np.zeros((what, int(row.max()) - first + 2, len(grid.values)))
        for node in np.unique(np.concatenate([row, row + 1])):
            targets = np.clip(node + _OFFSETS, 0, top - 1) + 1
            law = np.bincount(np.concatenate([[0], targets]), self.theta, minlength=top + 1)
            tables[:, node - first] = at(np.asarray(law, dtype=np.float64))
        # Bilinear interpolation.
        lower, right, row = down - row, across - column, row - first
        above = tables[:, row, column] * (1.0 - right) + tables[:, row, column + 1] * right
        below = tables[:, row + 1, column] * (1.0 - right) + tables[:, row + 1, column + 1] * right
        answer[:, near] = above * (1.0 - lower) + below * lower
        return answer

    def _known_at(self, law: Floats) -> tuple[Floats, ...]:
        grid = grid_of(self.noise)
        joint = grid.weights * (law @ grid.laws)
        heights = np.cumsum(joint, axis=1)
        totals = np.maximum(heights[:, -1], 1e-300)
        mean = (grid.weights @ (law @ grid.shares)) / totals
        squares = (grid.weights @ (law @ grid.squares)) / totals
        variance = np.maximum(squares - mean**2, 0.0)
        return mean, grid.quantile(heights, joint, 0.5), variance, np.log(totals)

    def _quantiles_at(self, law: Floats, levels: tuple[float, ...]) -> tuple[Floats, ...]:
        grid = grid_of(self.noise)
        joint = grid.weights * (law @ grid.laws)
        heights = np.cumsum(joint, axis=1)
        return tuple(grid.quantile(heights, joint, level) for level in levels)


class BinnedLaws:
    """Laws of theta for means of every size: one for each bin of means, near the one that all share."""

    def __init__(self, noisy: Floats, means: Floats, noise: Noise, *, most: int = MOST_BINS) -> None:
        common = FactorLaw.learnt(noisy, means, noise)
        bins = max(1, min(most, len(noisy) // _LEAST_IN_BIN))
        self.edges = np.sort(means)[[len(means) * place // bins for place in range(1, bins)]]
        self.laws = [
            FactorLaw.learnt(noisy[inside], means[inside], noise, common.theta, _BIN_CELLS)
            if inside.any()
            else common
            for inside in self._inside(means)
        ]

    def _inside(self, means: Floats) -> list[NDArray[np.bool_]]:
        places = np.searchsorted(self.edges, means, side="right")
        return [places == place for place in range(len(self.edges) + 1)]

    def posterior(self, noisy: Floats, means: Floats) -> CellPosterior:
        """As of a single law, each count by the law of its bin."""
        answer = np.empty((4, len(noisy)))
        for law, inside in zip(self.laws, self._inside(means), strict=True):
            if inside.any():
                answer[:, inside] = law.posterior(noisy[inside], means[inside])
        return CellPosterior(*answer)

    def quantiles(self, noisy: Floats, means: Floats, levels: tuple[float, ...]) -> Floats:
        """As of a single law, each count by the law of its bin."""
        answer = np.empty((len(levels), len(noisy)))
        for law, inside in zip(self.laws, self._inside(means), strict=True):
            if inside.any():
                answer[:, inside] = law.quantiles(noisy[inside], means[inside], levels)
        return answer


def _learnt(seen: Floats, first: int, start: Floats, known: Floats, grid: CountGrid) -> Floats:
    """EM for the law of theta that all means share. known: how many other cells have each theta."""
    top = len(grid.laws) - 1
    rows = np.arange(len(seen))[:, None]
    targets = np.clip(first + rows + _OFFSETS, 0, top - 1) + 1
    targets = np.hstack([np.zeros((len(seen), 1), dtype=np.intp), targets])
    flat = (targets + rows * (top + 1)).ravel()
    used = seen.sum(axis=0) > 0.0
    likelihoods = grid.laws @ grid.weights[used].T
    seen = seen[:, used]
    theta = start
    for _ in range(_ROUNDS):
        spread = np.bincount(flat, np.tile(theta, len(seen)), minlength=len(seen) * (top + 1))
        laws = np.asarray(spread.reshape(len(seen), top + 1), dtype=np.float64)
        chances = np.maximum(laws @ likelihoods, 1e-300)
        gains = np.take_along_axis((seen / chances) @ likelihoods.T, targets, axis=1).sum(axis=0)
        better = theta * gains + known
        better /= better.sum()
        change = float(np.abs(better - theta).sum())
        theta = better
        if change < _SETTLED:
            break
    return theta


def _shifts(grid: CountGrid, noisy: Floats, places: Floats) -> NDArray[np.intp]:
    """Which theta, zero first, takes a mean to a count that is known well."""
    shifts = np.rint(np.log(noisy / grid.unit / LOWEST) / STEP - places) - _OFFSETS[0]
    return np.asarray(np.clip(shifts, 0, len(_OFFSETS) - 1).astype(np.intp) + 1)
