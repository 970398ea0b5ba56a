"""Counts behind noisy counts: what whole-number noise of a public law leaves knowable of a table.

Every cell of a table, the empty ones too, was released as count + noise. Clipping at nought turns the noise
of the empty cells into mass that was never there; where most cells are empty that mass outweighs the rest.
The answer here is the posterior of each count under a law of counts that is learnt from the table itself
(empirical Bayes; Robbins, Proc. 3rd Berkeley Symp., 1956):

    count = Poisson(mean * theta),  theta drawn from one unknown law for all cells,

with `mean` what the cell would hold if rows and columns were independent. The law of theta is the one of
highest likelihood on a logarithmic grid, nought included (Kiefer and Wolfowitz, Ann. Math. Stat. 27, 1956),
found by EM. So large counts stay as they are, rows that drown in the noise fall back to the column profile,
and how far in between is learnt, not set.

Of the posterior we return a mixture of the median, which has the least expected absolute error (what total
variation adds up), and the mean, which has the least expected divergence and is never nought.

All of this is a function of the noisy table and the public noise: post-processing, and no random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaln, log_ndtr

Floats = NDArray[np.float64]

# Ratio of neighbouring values of theta on the logarithmic grid, as a logarithm: finer gains nothing.
_STEP = 0.4
# From so many noise scales on, a count is taken as it stands: shrinking would move it by a tenth of one.
_REACH = 20.0
# Units of the count to a noise scale, once that is large.
_UNITS = 6
# Smallest mean of a count on the grid, in units. Below it, nothing can be told from nought anyway.
_LOWEST = 1e-6
# The law of theta starts from, and is kept near in so many cells' worth, a wide law around 1.
_PRIOR_CELLS, _PRIOR_WIDTH, _PRIOR_ZERO = 2.0, 1.5, 0.2
_LEAST_THETA, _MOST_THETA = 1e-12, 1e6
_ROUNDS, _SETTLED = 60, 1e-4
# Weight of the posterior mean against the median. Measured from 5 to 257 states and from epsilon 0.1 to 4:
# 0.2 gains under a hundredth of the total variation on average and costs seven hundredths of the divergence;
# the mean alone costs three to five hundredths of the total variation on average, over a quarter at worst.
_MEAN_SHARE = 0.35
# So that nothing supported is ever nought, whatever underflows.
_FLOOR = 1e-12
_SWEEPS = 5


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


def denoised(noisy: Any, noise: Noise, support: Any = None) -> Floats:
    """Estimated counts of tables [..., rows, columns] that were released with this noise on every cell.

    support: which cells can hold anything, as the public knows; the others become 0 and count for nothing.
    Every supported cell comes out positive. Divide by sums to get rows of probabilities, or the joint law.

    >>> import numpy as np
    >>> table = np.zeros((40, 40), dtype=np.int64)
    >>> table[:, :2] = 500
    >>> noise = np.random.default_rng(1).geometric(0.2, (2, 40, 40))
    >>> noisy = table + noise[0] - noise[1]
    >>> false = denoised(noisy, Noise("geometric", 4.48))[:, 2:].sum()
    >>> bool(false < 0.4 * np.maximum(noisy, 0)[:, 2:].sum())
    True
    """
    values = np.asarray(noisy, dtype=np.float64)
    mask = np.ones(values.shape[-2:], dtype=bool) if support is None else np.asarray(support, dtype=bool)
    mask = np.broadcast_to(mask, values.shape)
    answer = np.zeros(values.shape)
    for at in np.ndindex(values.shape[:-2]):
        if mask[at].any():
            means = independent_means(values[at], mask[at], noise)[mask[at]]
            answer[at][mask[at]] = expected_counts(values[at][mask[at]], means, noise)
    return answer


class Posterior(NamedTuple):
    """What is known of counts: the mean and the median of each, and the law of theta that was learnt."""

    mean: Floats
    median: Floats
    theta: Floats

    @property
    def estimate(self) -> Floats:
        """The mixture of mean and median, positive."""
        return np.maximum(_MEAN_SHARE * self.mean + (1.0 - _MEAN_SHARE) * self.median, _FLOOR)


def expected_counts(noisy: Floats, means: Floats, noise: Noise) -> Floats:
    """Estimates of counts, of any shape, whose means are `means` times a factor from one common law."""
    return posterior(noisy, means, noise).estimate


def posterior(
    noisy: Floats, means: Floats, noise: Noise, theta: Floats | None = None, cells: float = _PRIOR_CELLS
) -> Posterior:
    """What noisy counts, of any shape, say of counts whose means are `means` times a factor theta.

    theta: the law that a like table had, to start from; it then weighs as much as so many cells.
    """
    start = _wide_law() if theta is None else theta
    values = np.asarray(noisy, dtype=np.float64).ravel()
    grid = _grid(noise)
    far = values > grid.reach
    mean, median = values.copy(), values.copy()
    near = ~far
    places = _places(np.asarray(means, dtype=np.float64).ravel(), grid)
    known = _far_thetas(values, places, far, grid) + cells * start
    theta = known / known.sum()
    if near.any():
        mean[near], median[near], theta = _near(values[near], places[near], start, known, grid)
    shape = np.shape(noisy)
    return Posterior(np.maximum(mean, _FLOOR).reshape(shape), median.reshape(shape), theta)


def independent_means(noisy: Floats, support: NDArray[np.bool_], noise: Noise) -> Floats:
    """Means of independent rows and columns: positive, with sums as near the noisy ones as those allow."""
    deviation = noise.deviation
    inside = np.where(support, noisy, 0.0)
    rows = _margins(inside.sum(axis=1), deviation * np.sqrt(support.sum(axis=1)))
    columns = _margins(inside.sum(axis=0), deviation * np.sqrt(support.sum(axis=0)))
    overall = _positive(inside.sum(keepdims=True), deviation * np.sqrt(support.sum(keepdims=True)))
    total = float(overall.item())
    rows *= total / rows.sum()
    columns *= total / columns.sum()
    # The full table is done after one sweep; holes in the support need a few.
    means = np.where(support, rows[:, None] * columns, 0.0)
    for _ in range(_SWEEPS):
        means *= _ratio(columns, means.sum(axis=0))
        means *= _ratio(rows, means.sum(axis=1))[:, None]
    return means


def _ratio(wanted: Floats, found: Floats) -> Floats:
    return np.asarray(np.divide(wanted, found, out=np.zeros_like(wanted), where=found > 0.0))


def _margins(sums: Floats, deviations: Floats) -> Floats:
    """Noisy sums, shrunk towards their mean by what of their spread is noise (James and Stein), positive."""
    used = deviations > 0.0
    answer = np.zeros_like(sums)
    size = int(used.sum())
    middle = sums[used].mean()
    spread = float(((sums[used] - middle) ** 2).sum())
    trust = 1.0
    if size > 3 and spread > 0.0:
        trust = max(0.0, 1.0 - (size - 3) / size * float((deviations[used] ** 2).sum()) / spread)
    left = deviations[used] * np.sqrt(max(trust, 1.0 / size))
    answer[used] = _positive(middle + trust * (sums[used] - middle), left)
    return answer


def _positive(values: Floats, deviations: Floats) -> Floats:
    """The mean of a normal law around each value, cut off at nought."""
    deviations = np.maximum(deviations, _FLOOR)
    ratios = values / deviations
    # Far below nought the formula would be a difference of large numbers; its limit is deviation / -ratio.
    safe = np.clip(ratios, -30.0, 1e8)
    usual = values + deviations * np.exp(-0.5 * safe**2 - 0.5 * np.log(2.0 * np.pi) - log_ndtr(safe))
    return np.asarray(np.where(ratios < -30.0, deviations / np.maximum(-ratios, 1.0), usual))


@dataclass(frozen=True, slots=True)
class _Grid:
    """Tables for one law of noise. Counts are gathered into cells of `unit`; the first is nought alone.

    values: the noisy counts. laws[l, c]: the law of the count's cell, and shares[l, c] its part of the mean,
    when the count's mean is node l: nought, or lowest * exp(step * (l - 1)). weights[v, c]: of the noise.
    """

    unit: float
    reach: float
    values: Floats
    edges: Floats
    laws: Floats
    shares: Floats
    weights: Floats


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
        shares = laws * cells
        edges = np.concatenate([[0.0], cells])
    else:
        # The noise hides that counts are whole: only the spread of the mean is left.
        bounds = np.concatenate([[0.0], cells[:-1] + 0.5, [np.inf]]) * shape / nodes
        laws = np.diff(gammainc(shape, bounds), axis=1)
        shares = nodes * np.diff(gammainc(shape + 1.0, bounds), axis=1)
        edges = np.concatenate([[0.0], cells + 0.5])
    nought = np.zeros((1, len(cells) + 1))
    nought[0, 0] = 1.0
    none = np.zeros((len(nodes), 1))
    values = np.arange(-steps, steps + 1, dtype=np.float64)
    weights = noise.weights((values[:, None] - np.concatenate([[0.0], cells])) * unit)
    return _Grid(
        unit=unit,
        reach=steps * unit,
        values=values * unit,
        edges=edges * unit,
        laws=np.vstack([nought, np.hstack([none, laws])]),
        shares=np.vstack([0.0 * nought, np.hstack([none, shares * unit])]),
        weights=weights,
    )


def _places(means: Floats, grid: _Grid) -> Floats:
    """Where means stand on the logarithmic grid of nodes, as fractions."""
    return np.asarray(np.log(np.maximum(means / grid.unit, _LOWEST) / _LOWEST) / _STEP)


def _offsets() -> NDArray[np.intp]:
    """By how many nodes each theta of the grid shifts a mean."""
    least, most = round(np.log(_LEAST_THETA) / _STEP), round(np.log(_MOST_THETA) / _STEP)
    return np.arange(least, most + 1)


def _far_thetas(values: Floats, places: Floats, far: NDArray[np.bool_], grid: _Grid) -> Floats:
    """How many of the counts that are known well enough have each theta, nought first."""
    offsets = _offsets()
    shifts = np.rint(np.log(values[far] / grid.unit / _LOWEST) / _STEP - places[far]) - offsets[0]
    known = np.bincount(np.clip(shifts, 0, len(offsets) - 1).astype(np.intp) + 1, minlength=len(offsets) + 1)
    return known.astype(np.float64)


def _wide_law() -> Floats:
    """The law of theta, nought first, before anything is seen: around 1, and far from certain."""
    around = np.exp(-np.abs(_offsets()) * _STEP / _PRIOR_WIDTH)
    law = np.concatenate([[_PRIOR_ZERO * around.sum()], around])
    return np.asarray(law / law.sum())


def _near(
    values: Floats, places: Floats, start: Floats, known: Floats, grid: _Grid
) -> tuple[Floats, Floats, Floats]:
    """Mean and median of the counts within reach of nought, and the law of theta.

    known: the cells with each theta that are no matter of these counts. Means and medians are looked up in
    tables by mean and noisy value, so that they cost the same for any number of cells.
    """
    across = np.clip((values - grid.values[0]) / grid.unit, 0.0, len(grid.values) - 1.0)
    first = int(places.min())
    down = places - first
    size = int(down.max()) + 2
    seen = np.zeros((size, len(grid.values)))
    np.add.at(seen, (np.rint(down).astype(np.intp), np.rint(across).astype(np.intp)), 1.0)
    theta, laws = _learnt(seen, first, start, known, grid)
    means, medians = np.empty(seen.shape), np.empty(seen.shape)
    occupied = np.unique(np.concatenate([np.floor(down), np.floor(down) + 1.0]).astype(np.intp))
    for row in occupied:
        means[row], medians[row] = _tables(laws[row], grid)
    return _between(means, down, across), _between(medians, down, across), theta


def _learnt(seen: Floats, first: int, start: Floats, known: Floats, grid: _Grid) -> tuple[Floats, Floats]:
    """EM for the law of theta that all means share, and the law of the nodes for each mean."""
    offsets = _offsets()
    top = len(grid.laws) - 1
    targets = np.clip(first + np.arange(len(seen))[:, None] + offsets, 0, top - 1) + 1
    targets = np.hstack([np.zeros((len(seen), 1), dtype=np.intp), targets])
    flat = (targets + np.arange(len(seen))[:, None] * (top + 1)).ravel()
    used = seen.sum(axis=0) > 0.0
    likelihoods = grid.laws @ grid.weights[used].T
    seen = seen[:, used]

    def spread(theta: Floats) -> Floats:
        laws = np.bincount(flat, np.tile(theta, len(seen)), minlength=len(seen) * (top + 1))
        return np.asarray(laws.reshape(len(seen), top + 1), dtype=np.float64)

    theta = start
    for _ in range(_ROUNDS):
        chances = np.maximum(spread(theta) @ likelihoods, 1e-300)
        gains = np.take_along_axis((seen / chances) @ likelihoods.T, targets, axis=1).sum(axis=0)
        better = theta * gains + known
        better /= better.sum()
        change = float(np.abs(better - theta).sum())
        theta = better
        if change < _SETTLED:
            break
    return theta, spread(theta)


def _tables(law: Floats, grid: _Grid) -> tuple[Floats, Floats]:
    """Mean and median of the count at each noisy value, under a law of the nodes."""
    joint = grid.weights * (law @ grid.laws)
    totals = np.maximum(joint.sum(axis=1), 1e-300)
    means = (grid.weights @ (law @ grid.shares)) / totals
    heights = np.cumsum(joint, axis=1)
    half = 0.5 * totals[:, None]
    cell = np.minimum((heights < half).sum(axis=1), joint.shape[1] - 1)
    if grid.unit == 1.0:
        return means, grid.edges[cell]
    rows = np.arange(len(joint))
    before = np.where(cell > 0, heights[rows, np.maximum(cell - 1, 0)], 0.0)
    part = np.clip((half[:, 0] - before) / np.maximum(joint[rows, cell], 1e-300), 0.0, 1.0)
    low = grid.edges[np.maximum(cell - 1, 0)]
    return means, low + part * (grid.edges[cell] - low)


def _between(table: Floats, down: Floats, across: Floats) -> Floats:
    """Bilinear interpolation."""
    row, column = down.astype(np.intp), np.minimum(across.astype(np.intp), table.shape[1] - 2)
    lower, right = down - row, across - column
    above = table[row, column] * (1.0 - right) + table[row, column + 1] * right
    below = table[row + 1, column] * (1.0 - right) + table[row + 1, column + 1] * right
    return np.asarray(above * (1.0 - lower) + below * lower)
