"""Laws of counts that are learnt from noisy counts, and what they say of each count (empirical Bayes).

    count = Poisson(mean * theta),  theta drawn from one unknown law for all cells.

The law of theta is the one of highest likelihood on a logarithmic grid, zero included (Kiefer and Wolfowitz,
Ann. Math. Stat. 27, 1956), found by EM. Posteriors are looked up in tables by mean and noisy value, so that
they cost the same for any number of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaln

from veil.core.arrays import Floats

# Ratio of neighbouring values of theta on the logarithmic grid, as a logarithm: finer gains nothing.
_STEP = 0.4
# From so many noise scales on, a count is taken as it stands: shrinking would move it by a tenth of one.
_REACH = 20.0
# Units of the count to a noise scale, once that is large.
_UNITS = 6
# Smallest mean of a count on the grid, in units. Below it, nothing can be told from zero anyway.
_LOWEST = 1e-6
# The law of theta starts from, and is kept near in so many cells' worth, a wide law around 1.
PRIOR_CELLS, _PRIOR_WIDTH, _PRIOR_ZERO = 2.0, 1.5, 0.2
_LEAST_THETA, _MOST_THETA = 1e-12, 1e6
# By how many nodes each theta of the grid shifts a mean.
_OFFSETS = np.arange(round(np.log(_LEAST_THETA) / _STEP), round(np.log(_MOST_THETA) / _STEP) + 1)
# The law of theta, zero first, before anything is seen: around 1, and far from certain.
_AROUND = np.exp(-np.abs(_OFFSETS) * _STEP / _PRIOR_WIDTH)
_WIDE_LAW = np.concatenate([[_PRIOR_ZERO * _AROUND.sum()], _AROUND])
_WIDE_LAW /= _WIDE_LAW.sum()
_ROUNDS, _SETTLED = 60, 1e-4
# So that nothing that can hold a count is ever zero, whatever underflows.
FLOOR = 1e-12
# Bins of means that have a law each, as many cells as the common law weighs in it, and the fewest cells.
_BINS, _BIN_CELLS, _LEAST_IN_BIN = 12, 30.0, 200


class Noise(NamedTuple):
    """Whole-number noise z: P(z) ~ exp(-|z| / scale) if geometric, exp(-z^2 / (2 scale^2)) if gaussian."""

    kind: Literal["geometric", "gaussian"]
    scale: float

    @property
    def deviation(self) -> float:
        """The standard deviation; for gaussian noise its bound, the scale."""
        if self.kind == "gaussian":
            return self.scale
        half = min(0.5 / self.scale, 300.0)
        return float(np.sqrt(0.5) / np.sinh(half))

    def weights(self, gaps: Floats) -> Floats:
        """How likely each gap is, up to a common factor."""
        if self.kind == "gaussian":
            return np.asarray(np.exp(-0.5 * (gaps / self.scale) ** 2))
        return np.asarray(np.exp(-np.abs(gaps) / self.scale))


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
        law, grid = _WIDE_LAW if start is None else start, _grid(noise)
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
        grid = _grid(self.noise)
        places, far = grid.places(means), noisy > grid.reach
        near = ~far
        answer = np.empty((4, len(noisy)))
        shifts = _shifts(grid, noisy[far], places[far])
        answer[0, far] = answer[1, far] = noisy[far]
        answer[2, far] = self.noise.deviation**2
        # Far from zero the noise is negligible: the density of theta there, as that of the noisy value.
        densities = np.maximum(self.theta[shifts], 1e-12) / (_STEP * noisy[far])
        answer[3, far] = np.log(densities * grid.weights[len(grid.weights) // 2].sum() * grid.unit)
        if near.any():
            down, across = places[near], grid.columns(noisy[near])
            # Bilinear interpolation.
            first = int(down.min())
            tables = self._tables(first, np.unique(np.floor(down).astype(np.intp)) - first)
            down = down - first
            row, column = down.astype(np.intp), np.minimum(across.astype(np.intp), len(grid.values) - 2)
            lower, right = down - row, across - column
            above = tables[:, row, column] * (1.0 - right) + tables[:, row, column + 1] * right
            below = tables[:, row + 1, column] * (1.0 - right) + tables[:, row + 1, column + 1] * right
            answer[:, near] = above * (1.0 - lower) + below * lower
        answer[0] = np.maximum(answer[0], FLOOR)
        return CellPosterior(*answer)

    def _tables(self, first: int, rows: NDArray[np.intp]) -> Floats:
        """[what, row, noisy value]: mean, median, variance and log-likelihood, at these rows and the next."""
        grid = _grid(self.noise)
        top = len(grid.laws) - 1
        tables = np.zeros((4, int(rows.max()) + 2, len(grid.values)))
        for row in np.unique(np.concatenate([rows, rows + 1])):
            targets = np.clip(first + row + _OFFSETS, 0, top - 1) + 1
            law = np.bincount(np.concatenate([[0], targets]), self.theta, minlength=top + 1)
            joint = grid.weights * (law @ grid.laws)
            totals = np.maximum(joint.sum(axis=1), 1e-300)
            mean = (grid.weights @ (law @ grid.shares)) / totals
            squares = (grid.weights @ (law @ grid.squares)) / totals
            variance = np.maximum(squares - mean**2, 0.0)
            tables[:, row] = mean, _medians(joint, totals, grid), variance, np.log(totals)
        return tables


class BinnedLaws:
    """Laws of theta for means of every size: one for each bin of means, near the one that all share."""

    def __init__(self, noisy: Floats, means: Floats, noise: Noise) -> None:
        common = FactorLaw.learnt(noisy, means, noise)
        bins = max(1, min(_BINS, len(noisy) // _LEAST_IN_BIN))
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


@dataclass(frozen=True, slots=True)
class _Grid:
    """Tables for one law of noise. Counts are gathered into cells of `unit`; the first is zero alone.

    values: the noisy counts. laws[l, c]: the law of the count's cell, shares[l, c] its part of the mean and
    squares[l, c] of the mean square, when the count's mean is node l: zero, or lowest * exp(step * (l - 1)).
    weights[v, c]: of the noise.
    """

    unit: float
    reach: float
    values: Floats
    edges: Floats
    laws: Floats
    shares: Floats
    squares: Floats
    weights: Floats

    def places(self, means: Floats) -> Floats:
        """Where means stand on the logarithmic grid of nodes, as fractions."""
        return np.asarray(np.log(np.maximum(means / self.unit, _LOWEST) / _LOWEST) / _STEP)

    def columns(self, noisy: Floats) -> Floats:
        """Where noisy counts stand among the values, as fractions."""
        return np.asarray(np.clip((noisy - self.values[0]) / self.unit, 0.0, len(self.values) - 1.0))


@lru_cache(maxsize=8)
def _grid(noise: Noise) -> _Grid:
    unit = float(max(1, int(noise.scale / _UNITS)))
    steps = int(np.ceil(max(_REACH * noise.scale / unit, _REACH)))
    cells = np.arange(2 * steps + 1, dtype=np.float64)
    nodes = _LOWEST * np.exp(_STEP * np.arange(int(np.log(1.5 * steps / _LOWEST) / _STEP) + 2))[:, None]
    shape = 1.0 / _STEP**2
    if unit == 1.0:
        # Poisson, its mean spread over about a step of the grid, which leaves no gaps between the nodes.
        logs = gammaln(cells + shape) - gammaln(shape) - gammaln(cells + 1.0)
        logs = logs - shape * np.log1p(nodes / shape) + cells * np.log(nodes / (nodes + shape))
        laws = np.exp(logs)
        shares, squares = laws * cells, laws * cells**2
        edges = np.concatenate([[0.0], cells])
    else:
        # The noise hides that counts are whole: only the spread of the mean is left.
        bounds = np.concatenate([[0.0], cells[:-1] + 0.5, [np.inf]]) * shape / nodes
        laws = np.diff(gammainc(shape, bounds), axis=1)
        shares = nodes * np.diff(gammainc(shape + 1.0, bounds), axis=1)
        squares = nodes**2 * (1.0 + _STEP**2) * np.diff(gammainc(shape + 2.0, bounds), axis=1)
        edges = np.concatenate([[0.0], cells + 0.5])
    zero = np.zeros((1, len(cells) + 1))
    zero[0, 0] = 1.0
    none = np.zeros((len(nodes), 1))
    values = np.arange(-steps, steps + 1, dtype=np.float64)
    weights = noise.weights((values[:, None] - np.concatenate([[0.0], cells])) * unit)
    return _Grid(
        unit=unit,
        reach=steps * unit,
        values=values * unit,
        edges=edges * unit,
        laws=np.vstack([zero, np.hstack([none, laws])]),
        shares=np.vstack([0.0 * zero, np.hstack([none, shares * unit])]),
        squares=np.vstack([0.0 * zero, np.hstack([none, squares * unit**2])]),
        weights=weights,
    )


def _learnt(seen: Floats, first: int, start: Floats, known: Floats, grid: _Grid) -> Floats:
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


def _shifts(grid: _Grid, noisy: Floats, places: Floats) -> NDArray[np.intp]:
    """Which theta, zero first, takes a mean to a count that is known well."""
    shifts = np.rint(np.log(noisy / grid.unit / _LOWEST) / _STEP - places) - _OFFSETS[0]
    return np.asarray(np.clip(shifts, 0, len(_OFFSETS) - 1).astype(np.intp) + 1)


def _medians(joint: Floats, totals: Floats, grid: _Grid) -> Floats:
    """Of each noisy value: where the joint law of noisy value and count reaches half of its sum."""
    heights, half = np.cumsum(joint, axis=1), 0.5 * totals
    cell = np.minimum((heights < half[:, None]).sum(axis=1), joint.shape[1] - 1)
    if grid.unit == 1.0:
        return np.asarray(grid.edges[cell])
    each, previous = np.arange(len(joint)), np.maximum(cell - 1, 0)
    before = np.where(cell > 0, heights[each, previous], 0.0)
    part = np.clip((half - before) / np.maximum(joint[each, cell], 1e-300), 0.0, 1.0)
    low = grid.edges[previous]
    return np.asarray(low + part * (grid.edges[cell] - low))
