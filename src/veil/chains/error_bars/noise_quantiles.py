"""The law of (1 - p) Z - p W, with Z the noise of one count and W that of all other counts of its row.

If C of N transitions of a row go to one state, p = C/N, and the noisy numbers are Y = C + Z and
S = N + Z + W, then Y - p S is exactly (1 - p) Z - p W: the unknown numbers cancel (Fieller, J. R. Stat. Soc.
B 16, 1954). So its quantiles, which are public, decide which p the noisy numbers are compatible with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from veil.chains.error_bars.noise_reach import sum_reach
from veil.core.arrays import Floats
from veil.core.numerics.denoise import Noise

# Steps of the tables to a scale of the noise; rounding to a step is added to the quantile.
_STEPS = 32
_SHARES = 200
_HALVINGS = 44
# What lies beyond the tables, compared with the tail that is asked for.
_BEYOND = 1e-3


@dataclass(frozen=True, slots=True)
class _Law:
    """Chances of `unit` times -m, ..., m."""

    unit: float
    chances: Floats

    @property
    def values(self) -> Floats:
        half = len(self.chances) // 2
        return self.unit * np.arange(-half, half + 1, dtype=np.float64)

    def above(self, points: Floats) -> Floats:
        """The chance of a value above each point."""
        half = len(self.chances) // 2
        # A point that is a value but for rounding counts as below it: the tail comes out larger.
        place = np.clip(np.floor(points / self.unit - 1e-9), -half - 1.0, half)
        tails = np.concatenate([np.cumsum(self.chances[::-1])[::-1], [0.0]])
        return np.asarray(tails[(place + half + 1.0).astype(np.intp)], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Quantiles:
    """For each share p of the grid: what |(1 - p) Z - p W| exceeds upwards, and downwards, with the tail."""

    shares: Floats
    reach: Floats


@lru_cache(maxsize=16)
def share_quantiles(noise: Noise, columns: int, times: int, tail: float) -> Quantiles:
    """For rows of `columns` counts, each with the sum of `times` noises."""
    wanted = tail * (1.0 - 4.0 * _BEYOND)
    unit = float(max(1, int(noise.scale / _STEPS)))
    single = _sum_law(noise, times, unit, tail)
    others = _coarser(_sum_law(noise, times * (columns - 1), unit, tail), noise, times * (columns - 1))
    first = 1e-3 / np.sqrt(columns)
    shares = np.concatenate([[0.0], np.geomspace(first, 1.0, _SHARES)])
    left = np.maximum(1.0 - shares, 1e-300)[:, None]
    moved = shares[:, None] * others.values
    low = np.zeros(len(shares))
    high = (1.0 - shares) * single.values[-1] + shares * others.values[-1] + 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        points = np.clip((middle[:, None] + moved) / left, -1e15, 1e15)
        chance = single.above(points) @ others.chances
        low, high = np.where(chance > wanted, middle, low), np.where(chance > wanted, high, middle)
    rounding = (1.0 - shares) * (single.unit > 1.0) * single.unit + shares * (others.unit > 1.0) * others.unit
    return Quantiles(shares, high + 0.5 * rounding)


def _sum_law(noise: Noise, count: int, unit: float, tail: float) -> _Law:
    """The law of a sum of `count` noises, in steps of `unit`, by the Fourier transform."""
    half = int(np.ceil(sum_reach(noise, count, tail * _BEYOND) / unit)) + 1
    one = int(np.ceil(sum_reach(noise, 1, tail * _BEYOND) / unit)) + 1
    half = max(half, one)
    steps = np.arange(-one, one + 1, dtype=np.float64)
    chances = noise.weights(steps * unit)
    chances /= chances.sum()
    if count == 1:
        return _Law(unit, chances)
    length = 1 << (2 * half + 1).bit_length()
    round_table = np.zeros(length)
    round_table[np.arange(-one, one + 1)] = chances
    # The law is symmetric, so its transform is real.
    powers = np.fft.rfft(round_table).real ** count
    sums = np.maximum(np.fft.irfft(powers, length), 0.0)
    return _Law(unit, np.asarray(sums[np.arange(-half, half + 1)] / sums.sum(), dtype=np.float64))


def _coarser(law: _Law, noise: Noise, count: int) -> _Law:
    """The same law in steps that suit its own width."""
    group = int(noise.deviation * np.sqrt(count) / _STEPS / law.unit)
    group -= 1 - group % 2
    if group < 3:
        return law
    half = len(law.chances) // 2
    blocks = -(-(half - group // 2) // group)
    padded = np.zeros((2 * blocks + 1) * group)
    start = (len(padded) - len(law.chances)) // 2
    padded[start : start + len(law.chances)] = law.chances
    return _Law(law.unit * group, padded.reshape(-1, group).sum(axis=1))
