"""Privacy losses of independent cells, put into bins and added: delta from below, whatever the cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import signal, stats
from scipy.special import gammaln

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Losses:
    """masses[i] is the probability (under P) of a loss of (first + i) step or a little more."""

    first: int
    masses: Floats
    step: float

    def __add__(self, other: Losses) -> Losses:
        assert self.step == other.step
        masses = signal.convolve(self.masses, other.masses, method="direct")
        return Losses(self.first + other.first, masses, self.step)

    def delta(self, epsilon: float) -> float:
        """E_P[(1 - e^(epsilon - loss))+]: not above the truth, since each loss was rounded down."""
        losses = self.step * (self.first + np.arange(len(self.masses)))
        return float(self.masses @ -np.expm1(-np.maximum(losses - epsilon, 0.0)))


def gamma_losses(p: float, q: float, step: float = 2.0**-9) -> Losses:
    """P = Gamma(p) against Gamma(q): the loss at x is (p - q) log x + log Gamma(q) - log Gamma(p)."""
    tilt, constant = p - q, float(gammaln(q) - gammaln(p))
    law = stats.gamma(p)
    ends = tilt * np.log([law.isf(1e-14), max(law.ppf(1e-14), 1e-300)]) + constant
    low, high = math.floor(ends.min() / step), math.ceil(ends.max() / step)
    edges = step * np.arange(low, high + 1)
    with np.errstate(over="ignore"):
        below = law.cdf(np.exp((edges - constant) / tilt))
    masses = np.diff(below if tilt > 0 else 1.0 - below)
    return Losses(low, np.asarray(masses), step)


def gaussian_losses(sigma: float, shift: int, step: float = 2.0**-9) -> Losses:
    """Discrete Gaussian noise around `shift` against 0; the loss at z is shift (2z - shift) / 2 sigma^2."""
    reach = math.ceil(12.0 * sigma) + 1
    z = shift + np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-((z - shift) ** 2) / (2.0 * sigma**2))
    return _binned((2.0 * shift * z - shift**2) / (2.0 * sigma**2), weights / weights.sum(), step)


def response_losses(each: float, step: float = 2.0**-9) -> Losses:
    """A randomised response."""
    keep = 1.0 / (1.0 + math.exp(-each))
    return _binned(np.array([-each, each]), np.array([1.0 - keep, keep]), step)


def _binned(losses: Floats, masses: Floats, step: float) -> Losses:
    places = np.floor(losses / step).astype(np.int64)
    first = int(places.min())
    return Losses(first, np.asarray(np.bincount(places - first, weights=masses), dtype=np.float64), step)


def together(cells: Sequence[Losses]) -> Losses:
    total = cells[0]
    for cell in cells[1:]:
        total = total + cell
    return total


def exact_gaussian_delta(sigma: float, shifts: Sequence[int], epsilon: float) -> float:
    """The same for discrete Gaussian noise by direct summation: the loss depends on sum_j u_j z_j alone."""
    low, masses = 0, np.ones(1)
    for shift in shifts:
        reach = math.ceil(38.0 * sigma) + 1
        noise = np.exp(-(np.arange(-reach, reach + 1, dtype=np.float64) ** 2) / (2.0 * sigma**2))
        spread = np.zeros(2 * reach * abs(shift) + 1)
        spread[:: abs(shift)] = noise / math.fsum(noise)
        masses = np.convolve(masses, spread)
        low -= reach * abs(shift)
    square = sum(shift**2 for shift in shifts)
    # z_j = u_j + noise under P, so the loss is (2 sum u_j noise_j + |u|^2) / 2 sigma^2.
    losses = (2.0 * (low + np.arange(len(masses))) + square) / (2.0 * sigma**2)
    return float(masses @ -np.expm1(-np.maximum(losses - epsilon, 0.0)))


def partitions(number: int, largest: int | None = None) -> list[tuple[int, ...]]:
    """All ways to write a number as a sum of positive ones."""
    if number == 0:
        return [()]
    largest = number if largest is None else largest
    return [
        (first, *rest)
        for first in range(min(number, largest), 0, -1)
        for rest in partitions(number - first, first)
    ]
