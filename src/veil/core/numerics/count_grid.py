"""Tables of what counts can be behind noisy ones, for laws that are learnt (count_laws.py)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import gammainc, gammaln, ndtri

from veil.core.arrays import Floats

# Ratio of neighbouring values of theta on the logarithmic grid, as a logarithm: finer gains nothing.
STEP = 0.4
# From so many noise scales on, a count is taken as it stands: shrinking would move it by a tenth of one.
_REACH = 20.0
# Units of the count to a noise scale, once that is large.
_UNITS = 6
# Smallest mean of a count on the grid, in units. Below it, nothing can be told from zero anyway.
LOWEST = 1e-6


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

    def quantile(self, level: float) -> float:
        """The least value that the noise does not exceed with this probability."""
        if self.kind == "gaussian":
            return float(np.rint(self.scale * ndtri(level)))
        # P(z <= k) = 1 - a^(k + 1) / (1 + a), and symmetric.
        tail = np.log(min(level, 1.0 - level)) + np.log1p(np.exp(-1.0 / self.scale))
        reach = max(0.0, float(np.ceil(-tail * self.scale - 1.0)))
        return reach if level >= 0.5 else -reach


@dataclass(frozen=True, slots=True)
class CountGrid:
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
        return np.asarray(np.log(np.maximum(means / self.unit, LOWEST) / LOWEST) / STEP)

    def columns(self, noisy: Floats) -> Floats:
        """Where noisy counts stand among the values, as fractions."""
        return np.asarray(np.clip((noisy - self.values[0]) / self.unit, 0.0, len(self.values) - 1.0))

    def quantile(self, heights: Floats, joint: Floats, level: float) -> Floats:
        """Of each noisy value: where the joint law with the count, summed up in heights, reaches it."""
        wanted = level * heights[:, -1]
        cell = np.minimum((heights < wanted[:, None]).sum(axis=1), joint.shape[1] - 1)
        if self.unit == 1.0:
            return np.asarray(self.edges[cell])
        each, previous = np.arange(len(joint)), np.maximum(cell - 1, 0)
        before = np.where(cell > 0, heights[each, previous], 0.0)
        part = np.clip((wanted - before) / np.maximum(joint[each, cell], 1e-300), 0.0, 1.0)
        low = self.edges[previous]
        return np.asarray(low + part * (self.edges[cell] - low))


@lru_cache(maxsize=8)
def grid_of(noise: Noise) -> CountGrid:
    unit = float(max(1, int(noise.scale / _UNITS)))
    steps = int(np.ceil(max(_REACH * noise.scale / unit, _REACH)))
    cells = np.arange(2 * steps + 1, dtype=np.float64)
    nodes = LOWEST * np.exp(STEP * np.arange(int(np.log(1.5 * steps / LOWEST) / STEP) + 2))[:, None]
    shape = 1.0 / STEP**2
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
        squares = nodes**2 * (1.0 + STEP**2) * np.diff(gammainc(shape + 2.0, bounds), axis=1)
        edges = np.concatenate([[0.0], cells + 0.5])
    zero = np.zeros((1, len(cells) + 1))
    zero[0, 0] = 1.0
    none = np.zeros((len(nodes), 1))
    values = np.arange(-steps, steps + 1, dtype=np.float64)
    weights = noise.weights((values[:, None] - np.concatenate([[0.0], cells])) * unit)
    return CountGrid(
        unit=unit,
        reach=steps * unit,
        values=values * unit,
        edges=edges * unit,
        laws=np.vstack([zero, np.hstack([none, laws])]),
        shares=np.vstack([0.0 * zero, np.hstack([none, shares * unit])]),
        squares=np.vstack([0.0 * zero, np.hstack([none, squares * unit**2])]),
        weights=weights,
    )
