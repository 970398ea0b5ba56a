"""Fast floating-point stand-ins for the exact discrete samplers, for plans and simulations only.

They have the same distribution up to rounding. A release never uses them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veil.core.random.streams import Rng


def simulate_discrete_laplace(rng: Rng, *, scale: float, size: tuple[int, ...]) -> NDArray[np.int64]:
    """The difference of two geometric variables."""
    success = -np.expm1(-1.0 / scale)
    return rng.geometric(success, size) - rng.geometric(success, size)


def simulate_discrete_gaussian(rng: Rng, *, sigma: float, size: tuple[int, ...]) -> NDArray[np.int64]:
    """By inversion of the tabulated distribution; a rounded normal where the table would be long."""
    if sigma > 1e4:
        return np.rint(rng.normal(0.0, sigma, size)).astype(np.int64)
    reach = int(np.ceil(12.0 * sigma)) + 2
    support = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * (support / sigma) ** 2)
    cumulative = np.cumsum(weights)
    drawn: NDArray[np.int64] = support[np.searchsorted(cumulative, rng.random(size) * cumulative[-1])]
    return drawn
