"""The Dirichlet simplex paper (references.DIRICHLET_SIMPLEX): its figures and Lemma 5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veil.core.random.streams import Rng
from veil.vectors.mechanisms.additive import Gaussian
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_form import sample_dirichlet
from veil.vectors.simplex import Simplex, Transfer

FIG_3_K, FIG_3_SIGMA = 3.0, 1.120


@dataclass(frozen=True, slots=True)
class MeanErrors:
    """Mean L1 errors of the two mechanisms of Figure 3."""

    dirichlet: float
    gaussian: float


def figure_3(rng: Rng, *, vectors: int = 10_000) -> MeanErrors:
    """Figure 3 (printed: 0.478 and 0.981): identity queries on uniform vectors of three entries.

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


def figure_1(rng: Rng, *, vectors: int = 1_000) -> float:
    """Figure 1: the share of vectors that land on the boundary after N(0, 0.25 I) and projection."""
    inputs = rng.dirichlet(np.ones(3), size=vectors)
    projected = Gaussian(0.5, Simplex(3)).sample(inputs, rng=rng)
    return float((projected <= 0.0).any(axis=1).mean())


def figure_2(*, k: float, floor: float, slack: float, deltas: Sequence[float]) -> list[tuple[float, float]]:
    """Figure 2 (|W| = 3, b = 0.1): epsilon by Theorem 1 and by Corollary 1 at each delta, gamma optimised.

    The three parameter sets of the figure are not printed in the text; these are arguments.
    """
    mechanism = Dirichlet(k, Simplex(4, floor=floor, protected=(0, 1, 2), slack=slack))
    adjacency = Transfer.from_l1(0.1)
    return [
        (
            mechanism.published(adjacency, delta=delta).epsilon,
            mechanism.published(adjacency, delta=delta, form="corollary").epsilon,
        )
        for delta in deltas
    ]


def lemma_5(a: float, b: float) -> tuple[float, float]:
    """Lemma 5: exp(2 - a - b) <= B(a, b) <= (a+b-1) / ((2a-1)(2b-1)), for a, b > 1/2."""
    return math.exp(2.0 - a - b), (a + b - 1.0) / ((2.0 * a - 1.0) * (2.0 * b - 1.0))
