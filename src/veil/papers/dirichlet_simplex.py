"""Paper DS: "Differential privacy on the unit simplex via the Dirichlet mechanism"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veil.domains.simplex import Simplex
from veil.mechanisms.additive import Gaussian
from veil.samplers.dirichlet import sample_dirichlet
from veil.samplers.randomness import Rng

FIG_3_K, FIG_3_SIGMA = 3.0, 1.120


@dataclass(frozen=True, slots=True)
class MeanErrors:
    """Mean L1 errors of the two mechanisms of DS Fig. 3."""

    dirichlet: float
    gaussian: float


def figure_3(rng: Rng, *, vectors: int = 10_000) -> MeanErrors:
    """DS Fig. 3 (printed: 0.478 and 0.981): identity queries on uniform vectors of three entries.

    The paper sets the Gaussian's sigma for a sensitivity of 1, although its own adjacency moves at
    most b; `veil.compare` shows both at equal adjacency.
    """
    inputs = rng.dirichlet(np.ones(3), size=vectors)
    # sample_dirichlet, since the paper's inputs have no floor and the mechanism would refuse some
    private = sample_dirichlet(rng, shapes=FIG_3_K * inputs)
    noisy = Gaussian(FIG_3_SIGMA, Simplex(3)).sample(inputs, rng=rng)
    return MeanErrors(
        dirichlet=float(np.abs(private - inputs).sum(axis=1).mean()),
        gaussian=float(np.abs(noisy - inputs).sum(axis=1).mean()),
    )
