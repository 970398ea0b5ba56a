"""Algorithm 2 of the XOR paper as printed: Hamiltonian motion that knows no walls.

The coordinates swing from normal places with normal velocities for a time T, and the bits are their signs.
The potential of Pi jumps where a coordinate changes its sign, and nothing in the printed motion notices:
y(T) = y(0) cos T + q(0) sin T is normal again, its signs are fair coins, whatever Pi is.
samplers/bernoulli_hmc.py has the motion with its walls.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from veil.bits.numerics.quadratic import Quadratic
from veil.core.random.streams import Rng

Bits = NDArray[np.bool_]


def sample_as_printed(rng: Rng, *, quadratic: Quadratic, size: int, travel: float) -> Bits:
    """So many tables by Algorithm 2, of shape (size, N, P). Of the parameters only the shape matters."""
    places = rng.standard_normal((size, *quadratic.shape))
    speeds = rng.standard_normal((size, *quadratic.shape))
    ends = places * math.cos(travel) + speeds * math.sin(travel)
    return np.asarray(ends > 0.0)
