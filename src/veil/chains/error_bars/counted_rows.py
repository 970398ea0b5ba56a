"""What private tables say of the rows of a chain, and how far noise reaches (counted_chain_intervals.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from veil.chains.mechanisms.private_chain import PrivateChain, Tables
from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.core.numerics.denoise import Noise
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts

# Beyond this, Dirichlet noise is below what a double can show.
_MOST = 1e15
_BISECTIONS = 60
# Points of the grids on which exponential moments are bounded.
_RATES, _CUTS = 400, 2_000
_UP = 1.0 + 2.0**-40
# Steps of the tables to a scale of the noise; rounding to a step is added to the quantile.
_STEPS = 32
_SHARES = 200
_HALVINGS = 44
# What lies beyond the tables, compared with the tail that is asked for.
_BEYOND = 1e-3


class NoisyRows(NamedTuple):
    """Noisy counts [from, to], each with a sum of `times` noises."""

    counts: Floats
    noise: Noise
    times: int


@dataclass(frozen=True, slots=True)
class SmoothedRows:
    """Rows of Dirichlet(k_i m_i), m_i = (scale c_i + prior) / k_i, and bounds for the unknown k_i.

    sizes_known: the bounds come from a noisy number of records, in their middle, or from the rows alone.
    """

    rows: Floats
    least: Floats
    most: Floats
    prior: float
    sizes_known: bool

    def stretch(self, k: Floats) -> Floats:
        """By how much an unsmoothed row is farther from the uniform one than its smoothed version."""
        return np.asarray(k / (k - self.rows.shape[1] * self.prior), dtype=np.float64)


def noisy_rows(mechanism: PrivateChain, tables: Tables) -> NoisyRows:
    """The noisy counts of all groups together."""
    part = mechanism.first["transitions"]
    assert part.noise is not None
    counts = np.asarray(tables[part.key], dtype=np.float64)
    times = 1
    if counts.ndim == 3:
        times, counts = len(counts), counts.sum(axis=0)
    return NoisyRows(counts, part.noise, times)


def smoothed_rows(
    mechanism: PrivateChain, tables: Tables, failure: float, records: int | None = None
) -> SmoothedRows:
    """Dirichlet rows and bounds of their k; each row's fail with probability at most `failure`."""
    part = mechanism.first["transitions"]
    hides = part.mechanism
    assert isinstance(hides, DirichletCounts)
    rows = np.asarray(tables[part.key], dtype=np.float64)
    if rows.ndim == 3:
        raise InvalidArgument("release", expected="a chain of one table", found="Dirichlet rows of groups")
    fixed = hides.prior * hides.size
    # A frequency needs a record.
    fewest = fixed + hides.scale
    most = _MOST if records is None else hides.scale * records + fixed
    least, highest = _least_k(hides, rows, 0.5 * failure), np.full(len(rows), _MOST)
    sizes = mechanism.first.get("sizes")
    if sizes is not None:
        assert sizes.noise is not None
        noisy = hides.scale * np.asarray(tables[sizes.key], dtype=np.float64) + fixed
        reach = hides.scale * sum_reach(sizes.noise, 1, 0.5 * failure)
        least, highest = np.maximum(least, noisy - reach), noisy + reach
    least = np.clip(least, fewest, max(fewest, most))
    highest = np.clip(highest, least, max(fewest, most))
    return SmoothedRows(rows, least, highest, hides.prior, sizes is not None)


def _least_k(hides: DirichletCounts, rows: Floats, failure: float) -> Floats:
    """No entry has a shape below the prior, so that the smallest one cannot be small unless k is large."""
    smallest = np.nextafter(rows.min(axis=1), 1.0)
    low = np.full(len(rows), np.log(hides.prior * hides.size))
    high = np.full(len(rows), np.log(_MOST))
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        chance = hides.size * betainc(hides.prior, np.exp(middle) - hides.prior, smallest)
        low, high = np.where(chance <= failure, middle, low), np.where(chance <= failure, high, middle)
    return np.asarray(np.exp(low), dtype=np.float64)


def sum_reach(noise: Noise, count: int, failure: float) -> float:
    """What the absolute value of a sum of so many noises exceeds with probability at most `failure`."""
    logs = math.log(2.0 / failure)
    if noise.kind == "gaussian":
        return noise.scale * math.sqrt(2.0 * count * logs) * _UP
    if count == 1:
        # Exactly: P(|Z| > q) = 2 a^(q + 1) / (1 + a), a = exp(-1/scale), for whole q.
        excess = math.log(2.0 / failure) - math.log1p(math.exp(-1.0 / noise.scale))
        return max(0.0, math.ceil(noise.scale * excess * _UP) - 1.0)
    # Chernoff: every rate below 1/scale gives a bound; the least over a grid is taken.
    rates = np.geomspace(1e-6, 1.0 - 1e-6, _RATES) / noise.scale
    inverse = 1.0 / noise.scale
    # E exp(rate Z) = sinh^2(1/2s) / (sinh((1/s - rate)/2) sinh((1/s + rate)/2)), in logarithms of 2 sinh x.
    halves = 0.5 * np.stack([np.full_like(rates, inverse), inverse - rates, inverse + rates])
    whole, below, above = halves + np.log(-np.expm1(-2.0 * halves))
    exponents = 2.0 * whole - (below + above)
    return float(((count * exponents + logs) / rates).min()) * _UP


def length_reach(noise: Noise, size: int, failure: float, *, times: int = 1) -> float:
    """The same for the Euclidean length of `size` numbers that are sums of `times` noises each."""
    if noise.kind == "gaussian":
        logs = math.log(1.0 / failure)
        square = size + 2.0 * math.sqrt(size * logs) + 2.0 * logs
        return noise.scale * math.sqrt(times * square) * _UP
    # |Z| is stochastically at most an exponential variable plus one half; lengths of sums add at most. Those
    # variables are cut off where half of the failure lies, then Chernoff.
    failure /= times
    cut, logs = math.log(2.0 * size / failure), math.log(2.0 / failure)
    edges = np.linspace(0.0, cut, _CUTS + 1)
    # exp(rate x^2 - x) is at most exp(rate b^2 - a) on [a, b].
    rates = np.geomspace(1e-4, 4.0, _RATES // 4) / cut
    exponents = rates[:, None] * edges[1:] ** 2 - edges[:-1]
    top = exponents.max(axis=1)
    moments = top + np.log((np.exp(exponents - top[:, None]) * (cut / _CUTS)).sum(axis=1))
    square = min(float(((size * moments + logs) / rates).min()), size * cut * cut)
    return times * (noise.scale * math.sqrt(square) + 0.5 * math.sqrt(size)) * _UP


class Quantiles(NamedTuple):
    """For each share p of the grid: what |(1 - p) Z - p W| exceeds upwards, and downwards, with the tail."""

    shares: Floats
    reach: Floats


@lru_cache(maxsize=16)
def share_quantiles(noise: Noise, columns: int, times: int, tail: float) -> Quantiles:
    """Quantiles of (1 - p) Z - p W for rows of `columns` counts, each with the sum of `times` noises.

    Z is the noise of one count and W that of all others of its row: for p = C/N and the noisy numbers
    Y = C + Z and S = N + Z + W it is exactly Y - p S (Fieller, J. R. Stat. Soc. B 16, 1954).
    """
    wanted = tail * (1.0 - 4.0 * _BEYOND)
    unit = float(max(1, int(noise.scale / _STEPS)))
    # Chances of -m, ..., m times a unit: of the noise of one count, and of all others in coarser steps.
    single, _ = _sum_law(noise, times, unit, tail)
    others, step = _sum_law(noise, times * (columns - 1), unit, tail, coarser=True)
    half, farthest = len(single) // 2, len(others) // 2
    values = step * np.arange(-farthest, farthest + 1, dtype=np.float64)
    tails = np.concatenate([np.cumsum(single[::-1])[::-1], [0.0]])
    first = 1e-3 / np.sqrt(columns)
    shares = np.concatenate([[0.0], np.geomspace(first, 1.0, _SHARES)])
    left = np.maximum(1.0 - shares, 1e-300)[:, None]
    moved = shares[:, None] * values
    low = np.zeros(len(shares))
    high = (1.0 - shares) * (unit * half) + shares * values[-1] + 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        points = np.clip((middle[:, None] + moved) / left, -1e15, 1e15)
        # A point that is a value but for rounding counts as below it: the tail comes out larger.
        place = np.clip(np.floor(points / unit - 1e-9), -half - 1.0, half)
        chance = tails[(place + half + 1.0).astype(np.intp)] @ others
        low, high = np.where(chance > wanted, middle, low), np.where(chance > wanted, high, middle)
    rounding = (1.0 - shares) * (unit > 1.0) * unit + shares * (step > 1.0) * step
    return Quantiles(shares, high + 0.5 * rounding)


def _sum_law(
    noise: Noise, count: int, unit: float, tail: float, *, coarser: bool = False
) -> tuple[Floats, float]:
    """The law of a sum of `count` noises by the Fourier transform, and the step between its values.

    The step is `unit`; or a multiple of it that suits the width of the law, if coarser.
    """
    one = int(np.ceil(sum_reach(noise, 1, tail * _BEYOND) / unit)) + 1
    half = max(int(np.ceil(sum_reach(noise, count, tail * _BEYOND) / unit)) + 1, one)
    steps = np.arange(-one, one + 1)
    chances = noise.weights(np.asarray(steps * unit, dtype=np.float64))
    chances /= chances.sum()
    if count > 1:
        length = 1 << (2 * half + 1).bit_length()
        round_table = np.zeros(length)
        round_table[steps] = chances
        # The law is symmetric, so its transform is real.
        powers = np.fft.rfft(round_table).real ** count
        sums = np.maximum(np.fft.irfft(powers, length), 0.0)
        chances = sums[np.arange(-half, half + 1)] / sums.sum()
    group = int(noise.deviation * np.sqrt(count) / _STEPS / unit)
    group -= 1 - group % 2
    if group < 3 or not coarser:
        return chances, unit
    blocks = -(-(len(chances) // 2 - group // 2) // group)
    padded = np.zeros((2 * blocks + 1) * group)
    start = (len(padded) - len(chances)) // 2
    padded[start : start + len(chances)] = chances
    return padded.reshape(-1, group).sum(axis=1), unit * group
