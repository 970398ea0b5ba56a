"""The data-driven chains paper, Section 3: its algorithm and its simulated delta."""

from __future__ import annotations

import numpy as np
import pytest
from veil_papers.data_driven_chains import algorithm_1, delta_by_monte_carlo, smallest_epsilon

from veil import vectors


def test_algorithm_1() -> None:
    out = algorithm_1([31, 28, 21, 10, 8], gamma=4e-4, floor=0.073, k=20.6, rng=1)
    assert out.value in vectors.Simplex(5)
    assert out.bound.epsilon == pytest.approx(2.212, abs=5e-4)
    assert out.bound.delta == pytest.approx(2e-3, rel=0.01)


def test_smallest_epsilon() -> None:
    # k = 3/(2 eta) = 20.548: the strongest privacy that the paper allows for its grade example
    assert smallest_epsilon(5, 98, floor=0.073, gamma=4e-4) == pytest.approx(2.206, abs=5e-3)


def test_delta_by_monte_carlo_agrees_with_the_exact_one() -> None:
    # alpha: five standard errors; power: the delta of a k 10 % larger is rejected
    estimate, error = delta_by_monte_carlo(
        5, k=20.6, floor=0.073, gamma=4e-4, samples=400_000, rng=np.random.default_rng(2)
    )
    domain, adjacency = vectors.Simplex(5, floor=0.073), vectors.Transfer.from_records(98)
    exact = vectors.Dirichlet(20.6, domain).published(adjacency, gamma=4e-4).delta
    assert abs(estimate - exact) < 5 * error
    wrong = vectors.Dirichlet(0.9 * 20.6, domain).published(adjacency, gamma=4e-4).delta
    assert abs(estimate - wrong) > 5 * error
