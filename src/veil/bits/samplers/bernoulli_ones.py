"""The expected number of ones of matrix-valued Bernoulli bits, with the error that the figure has."""

from __future__ import annotations

import math

import numpy as np

from veil.bits.numerics.expected_ones import expected_ones_in_closed_form
from veil.bits.numerics.quadratic import Quadratic
from veil.bits.samplers.matrix_bernoulli import sample_matrix_bernoulli
from veil.core.errors import InvalidArgument
from veil.core.random.streams import Rng

SAMPLES = 400
_AT_A_TIME = 2**22


def expected_ones(
    quadratic: Quadratic, *, rng: Rng | None = None, samples: int = SAMPLES
) -> tuple[float, float]:
    """E |B|^2 and its error: 0 for a closed form, else the standard error of a Monte Carlo mean.

    The error leaves out that a Hamiltonian chain, where no exact sampler is known, is only near its law.
    """
    closed = expected_ones_in_closed_form(quadratic)
    if closed is not None:
        return closed, 0.0
    if rng is None:
        raise InvalidArgument("rng", expected="a generator: there is no closed form", found="None")
    if samples < 2:
        raise InvalidArgument("samples", expected="at least 2", found=str(samples))
    together = max(1, _AT_A_TIME // quadratic.cells)
    sizes = [min(together, samples - begin) for begin in range(0, samples, together)]
    drawn = (sample_matrix_bernoulli(rng, quadratic=quadratic, size=size) for size in sizes)
    counts = np.concatenate([tables.sum(axis=(1, 2)) for tables in drawn]).astype(np.float64)
    return float(counts.mean()), float(counts.std(ddof=1)) / math.sqrt(samples)
