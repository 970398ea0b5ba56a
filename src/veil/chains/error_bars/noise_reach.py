"""How far sums and lengths of independent noises reach, with a proof (counted_chain_intervals.md)."""

from __future__ import annotations

import math

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.denoise import Noise

_RATES = 400
_STEPS = 2_000
_UP = 1.0 + 2.0**-40


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
    # E exp(rate Z) = sinh^2(1/2s) / (sinh((1/s - rate)/2) sinh((1/s + rate)/2)), in logarithms.
    exponents = 2.0 * _log_sinh(np.full_like(rates, 0.5 * inverse))
    exponents -= _log_sinh(0.5 * (inverse - rates)) + _log_sinh(0.5 * (inverse + rates))
    return float(((count * exponents + logs) / rates).min()) * _UP


def _log_sinh(x: Floats) -> Floats:
    """log 2 sinh x for x > 0."""
    return np.asarray(x + np.log(-np.expm1(-2.0 * x)))


def length_reach(noise: Noise, size: int, failure: float, *, times: int = 1) -> float:
    """The same for the Euclidean length of `size` numbers that are sums of `times` noises each."""
    if noise.kind == "gaussian":
        logs = math.log(1.0 / failure)
        square = size + 2.0 * math.sqrt(size * logs) + 2.0 * logs
        return noise.scale * math.sqrt(times * square) * _UP
    # |Z| is stochastically at most an exponential variable plus one half; lengths of sums add at most.
    each = noise.scale * _exponential_length(size, failure / times) + 0.5 * math.sqrt(size)
    return times * each * _UP


def _exponential_length(size: int, failure: float) -> float:
    """The same for standard exponential variables: cut off where half of `failure` lies, then Chernoff."""
    cut = math.log(2.0 * size / failure)
    logs = math.log(2.0 / failure)
    edges = np.linspace(0.0, cut, _STEPS + 1)
    # exp(rate x^2 - x) is at most exp(rate b^2 - a) on [a, b].
    widths = cut / _STEPS
    rates = np.geomspace(1e-4, 4.0, _RATES // 4) / cut
    exponents = rates[:, None] * edges[1:] ** 2 - edges[:-1]
    top = exponents.max(axis=1)
    moments = top + np.log((np.exp(exponents - top[:, None]) * widths).sum(axis=1))
    square = float(((size * moments + logs) / rates).min())
    return math.sqrt(min(square, size * cut * cut))
